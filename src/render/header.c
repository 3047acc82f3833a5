/*
** What stands above kernels: the dialect's words around the prelude, of which a kernel gets what it calls.
*/
#include <assert.h>
#include <string.h>

#include "render/render_int.h"
#include "scalar/texts.h"

/* What the emitted loops call besides the prelude. The same in every dialect. */
static const char helpers[] =
    "TT_FN tt_i64 tt_min(tt_i64 a, tt_i64 b) { return a < b ? a : b; }\n"
    /* where the share of block i of all begins: n elements in whole units, as even as they go */
    "TT_FN tt_i64 tt_share(tt_i64 n, tt_i64 unit, tt_i64 i, tt_i64 all) {\n"
    "  const tt_i64 units = (n + unit - 1) / unit;\n"
    "  return tt_min(n, (units / all * i + units % all * i / all) * unit);\n"
    "}\n"
    /* the flat index of an index, the other way round, and the carry after the last axis was counted up */
    "TT_FN tt_i64 tt_dot(const tt_i64 *step, const tt_i64 *ix, int n) {\n"
    "  tt_i64 sum = 0;\n"
    "  for (int x = 0; x < n; x++) sum += step[x] * ix[x];\n"
    "  return sum;\n"
    "}\n"
    "TT_FN void tt_seek(const tt_i64 *len, int n, tt_i64 flat, tt_i64 *ix) {\n"
    "  for (int x = n - 1; x >= 0; x--) { ix[x] = flat % len[x]; flat /= len[x]; }\n"
    "}\n"
    "TT_FN void tt_carry(const tt_i64 *len, int n, tt_i64 *ix) {\n"
    "  for (int x = n - 1; x >= 0 && ix[x] >= len[x]; x--) { ix[x] = 0; if (x > 0) ix[x - 1]++; }\n"
    "}\n"
    /* b strictly better than a; NaN is better than all numbers, the first of equals is kept */
    "#define TT_ORDER(S) \\\n"
    "  TT_FN int tt_above_##S(tt_##S a, tt_##S b) { return (b > a) | ((b != b) & (a == a)); } \\\n"
    "  TT_FN int tt_below_##S(tt_##S a, tt_##S b) { return (b < a) | ((b != b) & (a == a)); }\n"
    "TT_ORDER(b8) TT_ORDER(i8) TT_ORDER(i16) TT_ORDER(i32) TT_ORDER(i64) TT_ORDER(u8) TT_ORDER(u16) TT_ORDER(u32)\n"
    "TT_ORDER(u64) TT_ORDER(f32) TT_ORDER(f64)\n"
    /* (value, index) pairs: is the second one the answer? An index of -1 is no element. */
    "TT_FN int tt_takes(int better, int worse, tt_i64 at, tt_i64 other) {\n"
    "  return other >= 0 && (at < 0 || better || (!worse && other < at));\n"
    "}\n";

tt_scalar_text tt__render_scalar_text(const tt_kernel *k) {
  tt_scalar_text most = TT_SCALAR_PLAIN;
  for (int i = 0; i < k->ninst; i++) {
    tt_scalar_text need = tt__op_scalar_text(k->inst[i].op, (tt_dtype)k->inst[i].from);
    if (need > most) most = need;
  }
  return most;
}

void tt__render_header(const tt_dialect *d, tt_scalar_text scalar, tt_str *out) {
  assert(scalar <= TT_SCALAR_SPECIAL);
  const char *end = scalar ? NULL : strstr(tt__prelude_text, "#ifndef TT_SCALAR_PRELUDE_F64_H"); /* prelude_f64.h */
  tt__str_add(out, d->before);
  tt__str_add_n(out, tt__prelude_text, end ? (size_t)(end - tt__prelude_text) : strlen(tt__prelude_text));
  if (scalar == TT_SCALAR_SPECIAL) tt__str_add(out, tt__special_text);
  tt__str_add(out, "\n");
  tt__str_add(out, d->after);
  tt__str_add(out, helpers);
}

void tt__render_header_for(const tt_dialect *d, const tt_kernel *k, tt_str *out) {
  bool narrow = true, wide = true;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    tt_dtype t = (tt_dtype)q->from;
    bool called = q->op < TT_OP_COUNT || q->op == TT_K_REDUCE;
    wide &= !called || !tt__is_int(t) || tt__dtype_size(t) == 8;
    if (q->op >= TT_OP_COUNT || !(tt__ops[q->op].flags & TT_OPF_SLOW) || !tt__is_float(t)) continue;
    narrow &= t == TT_F32 && tt__ops[q->op].flags & TT_OPF_NARROW;
  }
  if (wide) tt__str_add(out, "#define TT_ONLY_WIDE\n");
  if (narrow) tt__str_add(out, "#define TT_NARROW_MATH\n");
  tt__render_header(d, tt__render_scalar_text(k), out);
}

tt_digest tt__render_digest(const tt_dialect *d) {
  tt_str s = {0};
  tt__render_header(d, TT_SCALAR_SPECIAL, &s);
  tt_digest digest = {0, 0};
  if (!s.failed) digest = tt__digest(s.data, s.len);
  tt__str_free(&s);
  return digest;
}
