/*
** libFuzzer entry: any bytes as plan text. What is accepted must have no fault, print, and read back to the
** same text.
*/
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/decision.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  tt_plan *plan, *again;
  tt_decisions placed, read;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  if (tt__plan_parse_placed(text, &plan, &placed, NULL) == TT_OK) {
    tt_str first = {0}, second = {0};
    assert(!tt__plan_check(plan));
    tt__plan_print_placed(plan, &placed, &first);
    assert(tt__plan_parse_placed(first.data, &again, &read, NULL) == TT_OK);
    tt__plan_print_placed(again, &read, &second);
    assert(strcmp(first.data, second.data) == 0);
    tt__str_free(&first);
    tt__str_free(&second);
    tt__decisions_free(&placed);
    tt__decisions_free(&read);
    tt__plan_free(plan);
    tt__plan_free(again);
  }
  free(text);
  return 0;
}
