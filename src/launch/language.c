/* The table of languages; see language.h. */
#include "launch/language.h"

#include <assert.h>

const tt_language *const tt__languages[TT_LANGUAGES] = {[TT_CUDA_C] = &tt__cuda_c,
                                                        [TT_PYTHON] = &tt__python,
                                                        [TT_EXPRESSION] = &tt__expression,
                                                        [TT_OPENCL_C] = &tt__opencl_c};

tt_code tt__source_read(const tt_source *s, void **out, tt_error *err) {
  assert(s->language >= 0 && s->language < TT_LANGUAGES && out);
  *out = NULL;
  tt_code code = tt__languages[s->language]->parse(s, out, err);
  assert((code == TT_OK) == (*out != NULL));
  return code;
}
