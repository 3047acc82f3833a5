/*
** From the graph's types to register types: each complex value becomes two real ones,
** float16 and bfloat16 are loaded as float32 and rounded after each op.
*/
#include "kernel/decompose.h"

#include <assert.h>
#include <string.h>

#define MOST_INST 16384

/* The real values that stand for a step instruction's value; im is -1 for real types. */
typedef tt_pair value;

static void *grown(tt_decomposer *r, void *old, int n, int *cap, size_t elem) {
  if (n < *cap) return old;
  int more = *cap ? 2 * *cap : 64;
  void *p = tt__arena_alloc(r->arena, elem * (size_t)more);
  if (!p || more > MOST_INST) {
    r->failed = true;
    return old;
  }
  if (n) memcpy(p, old, elem * (size_t)n);
  *cap = more;
  return p;
}

int tt__decompose_inst(tt_decomposer *r, tt_rinst inst) {
  assert(r->failed || !tt__is_complex((tt_dtype)inst.dtype));
  assert(r->failed || inst.dtype < TT_DTYPE_COUNT);
  assert(r->failed || (inst.src[0] < r->ninst && inst.src[1] < r->ninst && inst.src[2] < r->ninst));
  r->inst = grown(r, r->inst, r->ninst, &r->cap_inst, sizeof *r->inst);
  if (r->failed) return -1;
  r->inst[r->ninst] = inst;
  return r->ninst++;
}

int tt__decompose_op(tt_decomposer *r, int op, uint8_t dtype, uint8_t from, int a, int b, int c) {
  return tt__decompose_inst(
      r, (tt_rinst){
             .op = (uint8_t)op, .dtype = dtype, .from = from, .slot = -1, .src = {(int16_t)a, (int16_t)b, (int16_t)c}});
}

static int add_scalar(tt_decomposer *r, tt_lscalar s, uint8_t dtype) {
  int old_cap = r->cap_scalar;
  r->scalar = grown(r, r->scalar, r->nscalar, &r->cap_scalar, sizeof *r->scalar);
  r->scalar_type = grown(r, r->scalar_type, r->nscalar, &old_cap, 1);
  if (r->failed) return -1;
  r->scalar[r->nscalar] = s;
  r->scalar_type[r->nscalar] = dtype;
  return tt__decompose_inst(
      r, (tt_rinst){.op = TT_K_CONST, .dtype = dtype, .slot = (int16_t)r->nscalar++, .src = {-1, -1, -1}});
}

/* Numbers that formulas need are literals of the lowering: the source is the value's own bits, kept in the step's
 * arena. */
int tt__decompose_number(tt_decomposer *r, uint8_t dtype, double x) {
  tt_lscalar s = {.ref = INT32_MIN, .dtype = TT_F64};
  for (int i = 0; i < r->nscalar; i++)
    if (r->scalar[i].ref == INT32_MIN && r->scalar_type[i] == dtype && memcmp(&r->scalar[i].number, &x, sizeof x) == 0)
      for (int k = 0; k < r->ninst; k++)
        if (r->inst[k].op == TT_K_CONST && r->inst[k].slot == i) return k;
  s.number = x;
  return add_scalar(r, s, dtype);
}

/* One part of a step access: the element itself, or a half of a complex one. */
static int add_access(tt_decomposer *r, const tt_paccess *a, int part) {
  assert(part >= 0 && part < 2);
  r->access = grown(r, r->access, r->naccess, &r->cap_access, sizeof *r->access);
  int naxes = r->step->space.naxes, parts = tt__is_complex((tt_dtype)a->dtype) ? 2 : 1;
  int64_t *step = tt__arena_alloc(r->arena, sizeof *step * (size_t)naxes);
  if (r->failed || !step) {
    r->failed = true;
    return -1;
  }
  for (int k = 0; k < naxes; k++) step[k] = a->step[k] * parts;
  r->access[r->naccess] = (tt_raccess){.operand = a->operand,
                                       .dtype = (uint8_t)tt__real_of((tt_dtype)a->dtype),
                                       .parts = (uint8_t)parts,
                                       .write = a->write,
                                       .off = a->off * parts + part,
                                       .step = step};
  return r->naccess++;
}

static int on_access(tt_decomposer *r, int op, const tt_paccess *a, int part, int s0, int s1) {
  int access = add_access(r, a, part);
  uint8_t type = op == TT_K_INDEX ? TT_I64 : tt__register_type((uint8_t)tt__real_of((tt_dtype)a->dtype));
  return tt__decompose_inst(
      r, (tt_rinst){.op = (uint8_t)op, .dtype = type, .slot = (int16_t)access, .src = {(int16_t)s0, (int16_t)s1, -1}});
}

/* A flat index of complex elements as one of their parts. */
static int part_index(tt_decomposer *r, int at, int part) {
  int two = tt__decompose_number(r, TT_I64, 2), twice = tt__decompose_op(r, TT_MUL, TT_I64, TT_I64, at, two, -1);
  return part ? tt__decompose_op(r, TT_ADD, TT_I64, TT_I64, twice, tt__decompose_number(r, TT_I64, 1), -1) : twice;
}

/* What is stored in a narrow type is rounded by that: a rounding before it is none. */
static int unrounded(const tt_decomposer *r, int v, uint8_t stored) {
  if (v < 0) return v; /* out of memory */
  const tt_rinst *in = &r->inst[v];
  return in->op == TT_K_ROUND && in->from == stored ? in->src[0] : v;
}

static value real_memory(tt_decomposer *r, const tt_pinst *p, const value *v) {
  const tt_paccess *a = &r->step->access[p->ref];
  bool complex = tt__is_complex((tt_dtype)a->dtype);
  value out = {-1, -1};
  for (int part = 0; part <= (complex ? 1 : 0); part++) {
    int got, at = p->op == TT_P_LOADX || p->op == TT_P_STOREX ? v[p->src[0]].re : -1;
    if (at >= 0 && complex) at = part_index(r, at, part);
    switch (p->op) {
      case TT_P_LOAD:
        got = on_access(r, TT_K_LOAD, a, part, -1, -1);
        break;
      case TT_P_INDEX:
        got = on_access(r, TT_K_INDEX, a, part, -1, -1);
        break;
      case TT_P_LOADX:
        got = on_access(r, TT_K_LOADX, a, 0, at, -1);
        break;
      case TT_P_STORE:
        got = on_access(r, TT_K_STORE, a, part, unrounded(r, part ? v[p->src[0]].im : v[p->src[0]].re, a->dtype), -1);
        break;
      default:
        got = on_access(r, TT_K_STOREX, a, 0, at, part ? v[p->src[1]].im : v[p->src[1]].re);
        break;
    }
    *(part ? &out.im : &out.re) = got;
  }
  return out;
}

static value real_const(tt_decomposer *r, const tt_pinst *p) {
  value out = {-1, -1};
  uint8_t type = tt__register_type((uint8_t)tt__real_of((tt_dtype)p->dtype));
  out.re = add_scalar(r, (tt_lscalar){.ref = p->ref, .dtype = p->dtype}, type);
  if (tt__is_complex((tt_dtype)p->dtype))
    out.im = add_scalar(r, (tt_lscalar){.ref = p->ref, .dtype = p->dtype, .part = 1}, type);
  return out;
}

static int rounded(tt_decomposer *r, uint8_t dtype, int v) {
  if (dtype != TT_F16 && dtype != TT_BF16) return v;
  return tt__decompose_op(r, TT_K_ROUND, TT_F32, dtype, v, -1, -1);
}

/*
** The neighbour of a narrow float is too far for float32's nextafter: go half of a narrow unit and a little further,
** and let the rounding find the neighbour. `half` is half a unit relative to a power of two, `least` that of the
** smallest number.
*/
static int narrow_nextafter(tt_decomposer *r, uint8_t dtype, int x, int y) {
  bool f16 = dtype == TT_F16;
  double half = f16 ? 0x1.004p-11 : 0x1.02p-8, least = f16 ? 0x1.8p-25 : 0x1.8p-134, largest = f16 ? 65504 : 0x1.fep127;
  int ax = tt__decompose_op(r, TT_ABS, TT_F32, TT_F32, x, -1, -1);
  int far = tt__decompose_op(r, TT_MUL, TT_F32, TT_F32, ax, tt__decompose_number(r, TT_F32, half), -1);
  far = tt__decompose_op(r, TT_MAXIMUM, TT_F32, TT_F32, far, tt__decompose_number(r, TT_F32, least), -1);
  int up = tt__decompose_op(r, TT_LT, TT_BOOL, TT_F32, x, y, -1),
      same = tt__decompose_op(r, TT_EQ, TT_BOOL, TT_F32, x, y, -1);
  int back = tt__decompose_op(r, TT_NEG, TT_F32, TT_F32, far, -1, -1);
  int moved =
      tt__decompose_op(r, TT_ADD, TT_F32, TT_F32, x, tt__decompose_op(r, TT_WHERE, TT_F32, TT_F32, up, far, back), -1);
  int edge = tt__decompose_op(r, TT_COPYSIGN, TT_F32, TT_F32, tt__decompose_number(r, TT_F32, largest), x, -1);
  int infinite = tt__decompose_op(r, TT_ISINF, TT_BOOL, TT_F32, x, -1, -1);
  moved = tt__decompose_op(r, TT_WHERE, TT_F32, TT_F32, infinite, edge, moved);
  moved = tt__decompose_op(r, TT_WHERE, TT_F32, TT_F32, same, y, moved);
  int lost = tt__decompose_op(r, TT_ISNAN, TT_BOOL, TT_F32, y, -1, -1);
  return tt__decompose_op(r, TT_WHERE, TT_F32, TT_F32, lost, y, moved);
}

/*
** float64 to a narrow float by way of float32 rounds twice, which is wrong where float32 lands halfway between two
** narrow numbers. There, the side on which the float64 value lies decides.
*/
static int narrow_from_f64(tt_decomposer *r, uint8_t to, int x) {
  int y = tt__decompose_op(r, TT_CAST, TT_F32, TT_F64, x, -1, -1),
      back = tt__decompose_op(r, TT_CAST, TT_F64, TT_F32, y, -1, -1);
  int inf = tt__decompose_number(r, TT_F32, __builtin_inf()), minus = tt__decompose_number(r, TT_F32, -__builtin_inf());
  int up = rounded(r, to, tt__decompose_op(r, TT_NEXTAFTER, TT_F32, TT_F32, y, inf, -1));
  int down = rounded(r, to, tt__decompose_op(r, TT_NEXTAFTER, TT_F32, TT_F32, y, minus, -1));
  int above = tt__decompose_op(r, TT_SUB, TT_F32, TT_F32, up, y, -1),
      below = tt__decompose_op(r, TT_SUB, TT_F32, TT_F32, y, down, -1);
  int halfway = tt__decompose_op(r, TT_EQ, TT_BOOL, TT_F32, above, below, -1);
  int larger = tt__decompose_op(r, TT_GT, TT_BOOL, TT_F64, x, back, -1),
      smaller = tt__decompose_op(r, TT_LT, TT_BOOL, TT_F64, x, back, -1);
  int go_up = tt__decompose_op(r, TT_LAND, TT_BOOL, TT_BOOL, halfway, larger, -1);
  int go_down = tt__decompose_op(r, TT_LAND, TT_BOOL, TT_BOOL, halfway, smaller, -1);
  int out = tt__decompose_op(r, TT_WHERE, TT_F32, TT_F32, go_down, down, rounded(r, to, y));
  return tt__decompose_op(r, TT_WHERE, TT_F32, TT_F32, go_up, up, out);
}

static int cast_real(tt_decomposer *r, uint8_t from, uint8_t to, int v) {
  if (from == TT_F64 && (to == TT_F16 || to == TT_BF16)) return narrow_from_f64(r, to, v);
  uint8_t rf = tt__register_type(from), rt = tt__register_type(to);
  if (to == TT_U32 && rf != from) { /* half floats, as the prelude's cast: what is out of range is so of 64 bits */
    v = tt__decompose_op(r, TT_CAST, TT_I64, rf, v, -1, -1);
    rf = TT_I64;
  }
  if (rf != rt) v = tt__decompose_op(r, TT_CAST, rt, rf, v, -1, -1);
  bool exact = from == to || from == TT_BOOL || from == TT_I8 || from == TT_U8;
  return exact ? v : rounded(r, to, v);
}

static value real_cast(tt_decomposer *r, const tt_pinst *p, uint8_t from, value a) {
  uint8_t rf = (uint8_t)tt__real_of((tt_dtype)from), rt = (uint8_t)tt__real_of((tt_dtype)p->dtype);
  if (!tt__is_complex((tt_dtype)from)) {
    value out = {cast_real(r, rf, rt, a.re), -1};
    if (tt__is_complex((tt_dtype)p->dtype)) out.im = tt__decompose_number(r, rt, 0);
    return out;
  }
  if (p->dtype == TT_BOOL) {
    int re = cast_real(r, rf, TT_BOOL, a.re), im = cast_real(r, rf, TT_BOOL, a.im);
    return (value){tt__decompose_op(r, TT_LOR, TT_BOOL, TT_BOOL, re, im, -1), -1};
  }
  value out = {cast_real(r, rf, rt, a.re), -1};
  if (tt__is_complex((tt_dtype)p->dtype)) out.im = cast_real(r, rf, rt, a.im);
  return out;
}

static bool real_complex(tt_decomposer *r, const tt_pinst *p, uint8_t from, const value *v, value *out) {
  uint8_t t = (uint8_t)tt__real_of((tt_dtype)from);
  tt_pair arg[3] = {{-1, -1}, {-1, -1}, {-1, -1}};
  for (int i = 0; i < 3; i++)
    if (p->src[i] >= 0) arg[i] = v[p->src[i]];
  if (p->op == TT_WHERE) {
    out->re = tt__decompose_op(r, TT_WHERE, t, t, arg[0].re, arg[1].re, arg[2].re);
    out->im = tt__decompose_op(r, TT_WHERE, t, t, arg[0].re, arg[1].im, arg[2].im);
    return true;
  }
  if (tt__is_complex((tt_dtype)p->dtype)) return tt__complex_op(r, p->op, t, arg, out);
  return tt__complex_to_real(r, p->op, t, arg, &out->re);
}

static bool real_reduce(tt_decomposer *r, const tt_pinst *p, uint8_t from, const value *v, value *out) {
  bool complex = tt__is_complex((tt_dtype)from);
  if (complex && p->red != TT_RED_SUM) return false;
  uint8_t vt = tt__register_type((uint8_t)tt__real_of((tt_dtype)from));
  uint8_t type = p->red == TT_RED_ARGMAX || p->red == TT_RED_ARGMIN ? TT_I64 : vt;
  for (int part = 0; part <= (complex ? 1 : 0); part++) {
    tt_rinst inst = {.op = TT_K_REDUCE,
                     .dtype = type,
                     .from = vt,
                     .red = p->red,
                     .slot = (int16_t)r->nred++,
                     .src = {(int16_t)(part ? v[p->src[0]].im : v[p->src[0]].re), -1, -1}};
    *(part ? &out->im : &out->re) = tt__decompose_inst(r, inst);
  }
  if (!complex && type != TT_I64) out->re = rounded(r, p->dtype, out->re);
  return true;
}

/* One step instruction in real arithmetic. False: kernels have no such thing. */
static bool real_inst(tt_decomposer *r, int i, value *v) {
  const tt_pinst *p = &r->step->inst[i];
  value out = {-1, -1};
  if (p->op == TT_P_CONST)
    out = real_const(r, p);
  else if (p->op == TT_P_REDUCE) {
    if (!real_reduce(r, p, r->step->inst[p->src[0]].dtype, v, &out)) return false;
  } else if (p->op >= TT_P_CONST)
    out = real_memory(r, p, v);
  else {
    int last = p->src[2] >= 0 ? p->src[2] : p->src[1] >= 0 ? p->src[1] : p->src[0];
    uint8_t from = (uint8_t)tt__op_type((tt_op)p->op, (tt_dtype)r->step->inst[last].dtype, (tt_dtype)p->dtype);
    if (p->op == TT_CAST)
      out = real_cast(r, p, from, v[p->src[0]]);
    else if (tt__is_complex((tt_dtype)from)) {
      if (!real_complex(r, p, from, v, &out)) return false;
    } else {
      int s[3] = {-1, -1, -1};
      for (int k = 0; k < 3; k++)
        if (p->src[k] >= 0) s[k] = v[p->src[k]].re;
      if (p->op == TT_NEXTAFTER && tt__register_type(from) != from)
        out.re = narrow_nextafter(r, from, s[0], s[1]);
      else
        out.re = tt__decompose_op(r, p->op, tt__register_type(p->dtype), tt__register_type(from), s[0], s[1], s[2]);
      out.re = rounded(r, p->dtype, out.re);
    }
  }
  v[i] = out;
  return true;
}

/* Without what no store needs: of a complex value one part is often enough, and a sum behind the other is none. */
static bool drop_unused(tt_decomposer *r) {
  int16_t *at = tt__arena_alloc(r->arena, sizeof *at * (size_t)r->ninst);
  if (!at) return false;
  memset(at, 0, sizeof *at * (size_t)r->ninst);
  for (int i = r->ninst - 1; i >= 0; i--) {
    const tt_rinst *in = &r->inst[i];
    if (in->op == TT_K_STORE || in->op == TT_K_STOREX) at[i] = 1;
    for (int k = 0; k < 3 && at[i]; k++)
      if (in->src[k] >= 0) at[in->src[k]] = 1;
  }
  int n = 0;
  r->nred = 0;
  for (int i = 0; i < r->ninst; i++) {
    if (!at[i]) continue;
    tt_rinst in = r->inst[i];
    if (in.op == TT_K_REDUCE) in.slot = (int16_t)r->nred++;
    for (int k = 0; k < 3; k++)
      if (in.src[k] >= 0) in.src[k] = at[in.src[k]];
    at[i] = (int16_t)n;
    r->inst[n++] = in;
  }
  r->ninst = n;
  return true;
}

tt_code tt__decompose(tt_decomposer *r, tt_error *err) {
  assert(r->step->kind == TT_STEP_KERNEL && r->step->ninst > 0);
  value *v = tt__arena_alloc(r->arena, sizeof *v * (size_t)r->step->ninst);
  if (!v) return tt__fail(err, TT_ENOMEM, "out of memory while lowering a kernel");
  for (int i = 0; i < r->step->ninst; i++) {
    if (!real_inst(r, i, v))
      return tt__fail(err, TT_ENOTIMPL, "complex numbers have no %s",
                      r->step->inst[i].op < TT_OP_COUNT ? tt__ops[r->step->inst[i].op].numpy : "such reduction");
    if (r->failed) return tt__fail(err, TT_ENOMEM, "out of memory while lowering a kernel");
  }
  if (!drop_unused(r)) return tt__fail(err, TT_ENOMEM, "out of memory while lowering a kernel");
  return TT_OK;
}
