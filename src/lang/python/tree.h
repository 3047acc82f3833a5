/*
** The text that a Python front end hands over: lists in parentheses, "strings", whole numbers,
** hexadecimal floats, words. It knows brackets and atoms only; python/lower.c knows what they mean.
**
**   (module (fn "name" LINE ("parameter" ...) (statement ...)) ...)
*/
#ifndef TT_LANG_PYTHON_TREE_H
#define TT_LANG_PYTHON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

typedef enum tt_tree_tag { TT_TREE_LIST, TT_TREE_WORD, TT_TREE_STRING, TT_TREE_INT, TT_TREE_FLOAT } tt_tree_tag;

typedef struct tt_tree tt_tree;
struct tt_tree {
  uint8_t tag;
  bool big; /* INT: beyond int64, up to uint64 */
  int32_t n;
  const char *text; /* WORD, STRING: NUL-terminated (an inner NUL is written C0 80) */
  int64_t i;
  double f;
  tt_tree **item;
};

/* Any bytes: a tree in `arena`, or TT_EVALUE. Nesting deeper than 200 is refused. */
TT_HIDDEN tt_code tt__tree_parse(const char *text, size_t size, tt_arena *arena, tt_tree **out, tt_error *err);

/* Is it a list that starts with this word? */
TT_HIDDEN bool tt__tree_is(const tt_tree *t, const char *word);

#endif
