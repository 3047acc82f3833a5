/*
** Losses that are the negative logarithm of a distribution's density: the normal one with a variance for each element,
** and Poisson's.
*/
#include <math.h>

#include "fn/term.h"
#include "fn/grad/leaf.h"
#include "fn/nn/nn.h"
#include "graph/tape.h"

/* A variance that is at least eps; what is raised keeps the slope 1. */
static tt_array *raised(tt_composer *c, tt_array *var, double eps) {
  tt_array *still = NULL, *low = tt__compose_opf(c, TT_LT, var, eps);
  if (!low || !tt__compose_keep(c, tt__leaf_detach(var, &still, c->err), &still)) return NULL;
  tt_array *least = tt__compose_opf(c, TT_ADD, tt__compose_op2(c, TT_SUB, var, still), eps);
  return least ? tt__compose_where(c, low, tt_v_array(least), tt_v_array(var)) : NULL;
}

/* The variance beside the input: of its shape, without its last axis, or with one of length 1. */
static tt_array *variance(tt_composer *c, const tt_call_frame *f, tt_array *x) {
  tt_array *var = tt__compose_cast(c, tt__arg_array(c, f, 2), (tt_dtype)x->dtype);
  if (!var || var->rank == 0) return var;
  const int64_t *own = tt__array_len(x), *have = tt__array_len(var);
  bool same = var->rank == x->rank, behind = var->rank == x->rank - 1;
  for (int d = 0; d < x->rank - 1; d++) {
    same = same && have[d] == own[d];
    behind = behind && have[d] == own[d];
  }
  if (behind) return tt__compose_expand(c, var, var->rank);
  if (same && (have[x->rank - 1] == own[x->rank - 1] || have[x->rank - 1] == 1)) return var;
  return tt__compose_fail(c, TT_EVALUE, "var is of incorrect size");
}

static bool check_variance(tt_composer *c, tt_array *var) {
  bool before = tt__session_tape;
  tt__session_tape = false;
  tt_array *below = tt__compose_opi(c, TT_LT, var, 0);
  tt_array *any = below && below->rank
                      ? tt__compose_reduce(c, TT_RED_ANY, below, ~UINT64_C(0) >> (64 - below->rank), false)
                      : below;
  const bool *found = tt__compose_peek(c, any);
  tt__session_tape = before;
  if (found && *found) tt__compose_fail(c, TT_EVALUE, "var has negative entry/entries");
  return found && !*found;
}

/* input, target, var, full, eps, reduction */
static tt_array *nn_gaussian_nll_loss(tt_composer *c, tt_call_frame *f) {
  tt_array *a[2];
  tt_dtype t;
  double eps = tt__arg_float(c, f, 4, 1e-6);
  bool full = tt__arg_bool(c, f, 3, false);
  tt_nn_reduction how = tt__nn_reduction(c, f, -1, 5);
  if (!tt__nn_meet(c, f, "gaussian_nll_loss", 2, a, &t) || c->code != TT_OK) return NULL;
  tt_array *var = variance(c, f, a[0]);
  if (!var || !check_variance(c, var)) return NULL;
  var = raised(c, var, eps);
  tt_array *apart = tt__compose_op1(c, TT_SQUARE, tt__compose_op2(c, TT_SUB, a[0], a[1]));
  tt_array *each = tt__compose_op2(c, TT_ADD, tt__compose_op1(c, TT_LOG, var), tt__compose_op2(c, TT_DIV, apart, var));
  each = tt__compose_opf(c, TT_MUL, each, 0.5);
  if (full) each = tt__compose_opf(c, TT_ADD, each, 0.91893853320467274178); /* half the logarithm of 2 pi */
  return tt__nn_reduced(c, each, how, t);
}
TT_HANDLER(nn_gaussian_nll_loss)

/* input, target, log_input, full, size_average, eps, reduce, reduction. The part of the target alone is Stirling's. */
static tt_array *nn_poisson_nll_loss(tt_composer *c, tt_call_frame *f) {
  static const char *const text[2] = {"x - y * log(x + a)", "exp(x) - y * x"};
  static const char more[] = "where(y > 1, xlogy(y, y) - y + 0.5 * log(6.2831853071795864769 * where(y > 1, y, 1)), 0)";
  static const tt_term *known[3];
  tt_array *a[2];
  tt_dtype t;
  bool logs = tt__arg_bool(c, f, 2, true), full = tt__arg_bool(c, f, 3, false);
  double eps = tt__arg_float(c, f, 5, 1e-8);
  tt_nn_reduction how = TT_NN_MEAN;
  if (tt__arg_given(f, 4) || tt__arg_given(f, 6)) /* size_average and reduce are not side by side here */
    how = !tt__arg_bool(c, f, 6, true) ? TT_NN_EACH : tt__arg_bool(c, f, 4, true) ? TT_NN_MEAN : TT_NN_SUM;
  else
    how = tt__nn_reduction(c, f, -1, 7);
  if (!tt__nn_meet(c, f, "poisson_nll_loss", 2, a, &t) || c->code != TT_OK) return NULL;
  if (!known[logs]) known[logs] = tt__term_read(text[logs]);
  if (!known[2]) known[2] = tt__term_read(more);
  if (!known[logs] || !known[2]) return tt__compose_fail(c, TT_ENOMEM, "out of memory");
  tt_value y, rest,
      value[TT_TERM_VALUES] = {
          [TT_TERM_X] = tt_v_array(a[0]), [TT_TERM_Y] = tt_v_array(a[1]), [TT_TERM_A] = tt_v_float(eps)};
  if (!tt__term_record(c, known[logs], value, &y)) return NULL;
  if (full && !tt__term_record(c, known[2], value, &rest)) return NULL;
  tt_array *each = full ? tt__compose_op2(c, TT_ADD, y.as.array, rest.as.array) : y.as.array;
  return tt__nn_reduced(c, each, how, t);
}
TT_HANDLER(nn_poisson_nll_loss)
