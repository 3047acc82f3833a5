/*
** The JSON that headers of files are made of: objects, lists, strings and whole numbers, read one after the other by
** who knows what comes next. Nothing nests deeper than the reader asks, so nothing can.
*/
#ifndef TT_IO_JSON_H
#define TT_IO_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

typedef struct tt_json {
  const char *begin, *at, *end;
  tt_arena *arena; /* strings live here */
  tt_error *err;
} tt_json;

/* TT_EVALUE with the place. */
TT_HIDDEN tt_code tt__json_fail(const tt_json *j, const char *expected);
/* Go past this character, if it comes next behind blanks. */
TT_HIDDEN bool tt__json_take(tt_json *j, char c);
TT_HIDDEN tt_code tt__json_need(tt_json *j, char c);
/* Nothing but blanks may follow. */
TT_HIDDEN tt_code tt__json_end(tt_json *j);
/* A string, in UTF-8 and NUL-terminated. TT_EVALUE for one with a NUL inside. */
TT_HIDDEN tt_code tt__json_string(tt_json *j, const char **out);
/* A whole number that is not negative and fits. */
TT_HIDDEN tt_code tt__json_count(tt_json *j, int64_t *out);
/* Between members of an object or list that ends with `close`: is there another one? `first`: none was read yet. */
TT_HIDDEN tt_code tt__json_more(tt_json *j, char close, bool first, bool *more);

/* Write a string with its quotes. False: it is not UTF-8. */
TT_HIDDEN bool tt__json_write(tt_str *out, const char *text);

#endif
