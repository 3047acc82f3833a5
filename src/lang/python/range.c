/*
** How far integers go: what is proved not negative needs no look at its sign where it is an index or divided, and
** loops over it become vector code.
**
** A proof holds for numbers that wrap: a sum or product that may leave its type is not called positive. One thing is
** taken from the world instead: nobody counts to 2^62 in steps of 16 or less, which takes years.
*/
#include "lang/python/py_int.h"

static const uint64_t counted = (uint64_t)1 << 62;
enum { SMALL_STEP = 16 };

static uint64_t type_top(tt_dtype t) {
  int bits = t == TT_BOOL ? 1 : (int)tt__dtypes[t].size * 8 - !tt__is_unsigned(t);
  return UINT64_MAX >> (64 - bits);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

uint64_t py__top(const expr *e) { return least(e->limit - 1, type_top((tt_dtype)e->type->dtype)); }

uint64_t py__higher(const expr *a, const expr *b) { return most(py__top(a), py__top(b)) + 1; }

/* `top` is what the value would be at most in numbers without end. */
static void not_negative(expr *e, unsigned __int128 top) {
  uint64_t end = type_top((tt_dtype)e->type->dtype);
  if (top > end) return;
  e->nonneg = true;
  e->limit = (uint64_t)top + 1;
}

void py__range_of_cast(expr *e, const expr *from) {
  e->nonneg = tt__is_unsigned((tt_dtype)e->type->dtype);
  if (from->nonneg || from->type->dtype == TT_BOOL) not_negative(e, py__top(from));
}

/* All bits below the highest one of `top`. */
static uint64_t all_bits(uint64_t top) { return top ? UINT64_MAX >> __builtin_clzll(top) : 0; }

static bool is_small(const expr *e) { return e->op == TT_X_CONST && e->nonneg && e->i <= SMALL_STEP; }

static void range_of_sum(expr *e, const expr *a, const expr *b) {
  unsigned __int128 top = (unsigned __int128)py__top(a) + py__top(b);
  bool counts = (is_small(a) && py__top(b) < counted) || (is_small(b) && py__top(a) < counted);
  if (counts && top >= counted && e->type->dtype == TT_I64) top = counted - 1;
  not_negative(e, top);
}

static void range_of_shift(expr *e, tt_op op, const expr *a, const expr *b) {
  bool known = b->op == TT_X_CONST && b->i >= 0 && b->i < 64;
  if (op == TT_SHR)
    not_negative(e, known ? py__top(a) >> b->i : py__top(a));
  else if (known)
    not_negative(e, (unsigned __int128)py__top(a) << b->i);
}

static void range_of_both(expr *e, tt_op op, const expr *a, const expr *b) {
  uint64_t x = py__top(a), y = py__top(b);
  switch (op) {
    case TT_ADD:
      range_of_sum(e, a, b);
      break;
    case TT_SUB: /* no number is further down than -2^63 */
      e->limit = x + 1;
      break;
    case TT_MUL:
      not_negative(e, (unsigned __int128)x * y);
      break;
    case TT_MINIMUM:
      not_negative(e, least(x, y));
      break;
    case TT_FLOORDIV:
      not_negative(e, x);
      break;
    case TT_OR:
    case TT_XOR:
      not_negative(e, all_bits(x | y));
      break;
    default:
      break;
  }
}

void py__range_of_elem(expr *e, tt_op op, const expr *a, const expr *b) {
  e->nonneg = tt__is_unsigned((tt_dtype)e->type->dtype);
  if (!b) {
    if (op == TT_ABS && a->nonneg) not_negative(e, py__top(a)); /* that of the least number is negative */
    return;
  }
  if (a->nonneg && b->nonneg) range_of_both(e, op, a, b);
  if (op == TT_MOD && b->nonneg) not_negative(e, a->nonneg ? least(py__top(a), py__top(b)) : py__top(b));
  if (op == TT_MAXIMUM && (a->nonneg || b->nonneg)) not_negative(e, most(py__top(a), py__top(b)));
  if (op == TT_AND && (a->nonneg || b->nonneg))
    not_negative(e, least(a->nonneg ? py__top(a) : UINT64_MAX, b->nonneg ? py__top(b) : UINT64_MAX));
  if ((op == TT_SHR || op == TT_SHL) && a->nonneg) range_of_shift(e, op, a, b);
}

bool py__may_wrap(const expr *e) {
  if (e->nonneg) return false;
  bool sum = e->op == TT_X_ELEM && e->elem == TT_ADD && e->type->dtype == TT_I64;
  if (!sum || !e->arg[0]->nonneg || !e->arg[1]->nonneg) return true;
  /* What overflows is so far below zero that no array's length brings it back. */
  return (unsigned __int128)py__top(e->arg[0]) + py__top(e->arg[1]) > UINT64_MAX - (uint64_t)TT_PROGRAM_LONGEST;
}

/* The first value is kept as it is; what grows from pass to pass takes large steps, so that it comes to an end. */
bool py__raise_limit(tt_plocal *v, const expr *value) {
  static const uint64_t stop[] = {(uint64_t)1 << 16, (uint64_t)1 << 32, (uint64_t)TT_PROGRAM_LONGEST + 1,
                                  (uint64_t)1 << 62};
  uint64_t before = v->limit, limit = 0;
  if (py__is_unknown(value) || !py__is_scalar(value) || value->limit - 1 <= before - 1) return false;
  for (int k = 3; k >= 0; k--)
    if (value->limit - 1 < stop[k]) limit = stop[k];
  v->limit = before == 1 ? value->limit : limit;
  return true;
}

bool py__may_overrun(const expr *start, const expr *stop, const expr *step) {
  if (!step->nonneg) return step->op != TT_X_CONST;
  if (step->op == TT_X_CONST && step->i == 1) return false;
  if (is_small(step) && start->nonneg && py__top(start) < counted) return false;
  return (unsigned __int128)py__top(stop) + py__top(step) > (uint64_t)INT64_MAX + 1;
}

bool py__raise_to_counter(tt_plocal *v, bool parallel, const expr *start, const expr *stop, const expr *step) {
  uint64_t last = most(py__top(stop), 1) - 1;
  if (!parallel && is_small(step) && start->nonneg && py__top(start) < counted) last = least(last, counted - 1);
  expr e = {.op = TT_X_LOCAL, .type = start->type, .limit = most(last, py__top(start)) + 1};
  return py__raise_limit(v, &e);
}
