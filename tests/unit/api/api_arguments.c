/*
** Calls by name with fewer arguments than a function has: what is left out at the end is missing, for every function.
*/
#define TEST_KEEPS_MEMORY
#include "tutti/array.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

/* The last argument given is the last of a longer list whose rest would be taken for strings, if anybody looked. */
TEST(what_is_left_out_is_missing) {
  tt_error err;
  tt_array *a = NULL, *out[8];
  tt_result result;
  int64_t len[3] = {2, 3, 4};
  CHECK_INT(tt_full(TT_F64, 3, len, tt_v_int(1), &a, &err), TT_OK);
  for (int k = 0; tt_function(k); k++) {
    const char *name = tt_function(k)->name;
    if (strchr(name, '.') && strncmp(name, "nn.", 3) != 0 && strncmp(name, "fft.", 4) != 0) continue; /* no files */
    for (int n = 0; n < 4; n++) {
      tt_value arg[24];
      for (int i = 0; i < 24; i++) arg[i] = i < n ? tt_v_array(a) : (tt_value){.tag = TT_V_STRING, .as.s = (char *)1};
      if (tt_call(name, arg, n, out, 8, &result, &err) != TT_OK) continue;
      for (int i = 0; i < result.n; i++) tt_release(&out[i]);
    }
  }
  tt_release(&a);
}

TEST(more_than_there_are_is_refused) {
  tt_error err;
  tt_array *a = NULL, *out[8];
  CHECK_INT(tt_full(TT_F64, 0, NULL, tt_v_int(1), &a, &err), TT_OK);
  tt_value arg[24];
  for (int i = 0; i < 24; i++) arg[i] = tt_v_array(a);
  CHECK_INT(tt_call("nanquantile", arg, 9, out, 8, NULL, &err), TT_ETYPE);
  CHECK_STR(err.message, "nanquantile takes 8 arguments but 9 were given");
  CHECK_INT(tt_call("nansum", arg, 24, out, 8, NULL, &err), TT_ETYPE);
  tt_release(&a);
}

TEST_MAIN()
