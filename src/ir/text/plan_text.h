/*
** Words of the plan's text form as they are read, shared by the parsers of plans and of decisions. Private to ir/.
*/
#ifndef TT_IR_TEXT_PLAN_TEXT_H
#define TT_IR_TEXT_PLAN_TEXT_H

#include "ir/decision.h"

typedef struct tt_plan_text {
  const char *at; /* in the current line, which ends at '\n' or NUL */
  int line;
  tt_error *err;
} tt_plan_text;

TT_HIDDEN tt_code tt__text_bad(const tt_plan_text *t, const char *what);

TT_HIDDEN void tt__text_skip(tt_plan_text *t); /* blanks */
/* Take `text`, blanks before it allowed. */
TT_HIDDEN bool tt__text_take(tt_plan_text *t, const char *text);
/* A word of at most 15 letters, digits and '_'. */
TT_HIDDEN bool tt__text_word(tt_plan_text *t, char word[16]);
/* `text` and a number in [lo, hi]. */
TT_HIDDEN bool tt__text_number(tt_plan_text *t, const char *text, int64_t lo, int64_t hi, int64_t *out);
/* `text` and numbers with commas between, at most `room`; none is allowed. */
TT_HIDDEN bool tt__text_list(tt_plan_text *t, const char *text, int64_t *out, int room, int *n);

/* (decision.c) What stands behind "move" and "place" in the lines that tt__decision_print writes; memory is the
 * arena's. */
TT_HIDDEN bool tt__transfer_parse(tt_plan_text *t, tt_transfer *out);
TT_HIDDEN tt_code tt__decision_parse(tt_plan_text *t, tt_arena *arena, tt_decision *out);

#endif
