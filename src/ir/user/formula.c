/*
** Formulas as data: their check, their print.
*/
#include "ir/user/formula.h"

#include <assert.h>

void tt__formula_free(tt_formula *f) {
  TT_VEC_FREE(&f->step);
  TT_VEC_FREE(&f->result);
}

static bool op_ok(const tt_formula *f, const tt_formula_step *s) {
  if (s->op >= TT_OP_COUNT) return false;
  const tt_op_info *op = &tt__ops[s->op];
  int first = s->op == TT_WHERE ? 1 : 0;
  for (int k = 0; k < op->arity; k++)
    if (k > first && f->step.data[s->src[k]].dtype != f->step.data[s->src[first]].dtype) return false;
  uint8_t from = f->step.data[s->src[first]].dtype;
  if (s->op == TT_WHERE) return f->step.data[s->src[0]].dtype == TT_BOOL && s->dtype == from;
  if (op->cls == TT_CLASS_COMPARE || op->cls == TT_CLASS_LOGIC || op->cls == TT_CLASS_TEST) return s->dtype == TT_BOOL;
  if (op->cls == TT_CLASS_ABS || op->cls == TT_CLASS_PART) return s->dtype == (uint8_t)tt__real_of((tt_dtype)from);
  return s->op == TT_CAST || s->dtype == from;
}

bool tt__formula_ok(const tt_formula *f, const tt_formula_param *param, int nparam) {
  if (f->result.n != nparam) return false;
  for (int64_t k = 0; k < f->step.n; k++) {
    const tt_formula_step *s = &f->step.data[k];
    int n = s->kind == TT_F_OP ? tt__ops[s->op].arity : s->kind == TT_F_LOAD ? 1 : 0;
    for (int j = 0; j < 3; j++)
      if (j < n ? s->src[j] < 0 || s->src[j] >= k : s->src[j] != -1) return false;
    bool of_param = s->kind == TT_F_ELEMENT || s->kind == TT_F_LEN || s->kind == TT_F_LOAD;
    if (of_param && (s->param < 0 || s->param >= nparam)) return false;
    if ((s->kind == TT_F_ELEMENT || s->kind == TT_F_LOAD) && s->dtype != param[s->param].dtype) return false;
    if (s->kind == TT_F_LOAD && f->step.data[s->src[0]].dtype != TT_I64) return false;
    if (s->kind == TT_F_OP && !op_ok(f, s)) return false;
  }
  for (int k = 0; k < nparam; k++) {
    int32_t r = f->result.data[k];
    if (r < -1 || r >= f->step.n || (r >= 0 && f->step.data[r].dtype != param[k].dtype)) return false;
  }
  return true;
}

static void print_value(const tt_formula_step *s, tt_str *out) {
  switch (tt__dtypes[s->dtype].kind) {
    case 'f':
      if (s->dtype == TT_F64) tt__str_addf(out, " %.17g", s->value.f64);
      if (s->dtype == TT_F32) tt__str_addf(out, " %.9g", (double)s->value.f32);
      if (tt__dtype_size((tt_dtype)s->dtype) == 2) tt__str_addf(out, " 0x%04x", s->value.u16);
      return;
    case 'c':
      tt__str_addf(out, " 0x%016llx%016llx", (unsigned long long)s->value.bits[1],
                   (unsigned long long)s->value.bits[0]);
      return;
    default:
      tt__str_addf(out, " %lld", (long long)s->value.i64);
  }
}

void tt__formula_print(const tt_formula *f, const tt_formula_param *param, tt_str *out) {
  assert(tt__formula_ok(f, param, (int)f->result.n));
  static const char *const kind[] = {"CONST", "ELEMENT", "INDEX", "COUNT", "LEN", "LOAD", ""};
  for (int64_t k = 0; k < f->step.n; k++) {
    const tt_formula_step *s = &f->step.data[k];
    const char *what = s->kind == TT_F_OP ? tt__ops[s->op].name : kind[s->kind];
    tt__str_addf(out, "%%%d = %s %s", (int)k, what, tt__dtypes[s->dtype].suffix);
    if (s->param >= 0) tt__str_addf(out, " %s", param[s->param].name);
    if (s->kind == TT_F_LEN) tt__str_addf(out, " %d", s->axis);
    if (s->kind == TT_F_CONST) print_value(s, out);
    for (int j = 0; j < 3 && s->src[j] >= 0; j++) tt__str_addf(out, " %%%d", s->src[j]);
    tt__str_add(out, s->guarded ? " guarded\n" : "\n");
  }
  for (int64_t k = 0; k < f->result.n; k++)
    if (f->result.data[k] >= 0) tt__str_addf(out, "%s = %%%d\n", param[k].name, f->result.data[k]);
}
