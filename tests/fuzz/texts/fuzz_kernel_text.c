/*
** libFuzzer entry: any bytes as kernel text. What is accepted must print, read back to the
** same key and build as an interpreter program.
*/
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu/vm.h"
#include "ir/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  tt_kernel *k, *again;
  tt_vm_program *p;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  if (tt__kernel_parse(text, &k, NULL) == TT_OK) {
    tt_str out = {0};
    tt__kernel_print(k, &out);
    assert(tt__kernel_parse(out.data, &again, NULL) == TT_OK);
    assert(memcmp(&k->key, &again->key, sizeof k->key) == 0);
    if (tt__vm_build(k, &p, NULL) == TT_OK) tt__vm_free(p);
    tt__str_free(&out);
    tt__kernel_free(k);
    tt__kernel_free(again);
  }
  free(text);
  return 0;
}
