/*
** libFuzzer entry: any bytes as a C expression (before a zero byte) and its preamble (after it). What is accepted must
** be a formula that is whole.
*/
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lang/expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const tt_formula_param param[] = {{.name = "x", .dtype = TT_F32},
                                           {.name = "k", .dtype = TT_I32},
                                           {.name = "r", .dtype = TT_C64, .is_raw = true},
                                           {.name = "z", .dtype = TT_F64, .is_out = true},
                                           {.name = "w", .dtype = TT_U8, .is_out = true, .is_raw = true}};
  static const tt_cx_alias alias[] = {{"T", TT_F16}};
  char *text = malloc(size + 2);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = text[size + 1] = 0;
  tt_formula_param declared[8];
  int n;
  for (int form = 0; form < 2; form++) {
    tt_cx_source s = {.text = text,
                      .preamble = strlen(text) < size ? text + strlen(text) + 1 : NULL,
                      .file = "f",
                      .param = param,
                      .nparam = 5,
                      .alias = alias,
                      .nalias = 1,
                      .c_form = form};
    tt_formula f;
    if (tt__cx_statements(&s, &f, NULL) == TT_OK) assert(tt__formula_ok(&f, param, 5));
    tt__formula_free(&f);
    if (tt__cx_value(&s, &f, NULL) == TT_OK) assert(tt__formula_ok(&f, param, 5));
    tt__formula_free(&f);
  }
  (void)tt__cx_fold(text);
  (void)tt__cx_parameters(text, declared, 8, &n, NULL);
  free(text);
  return 0;
}
