/*
** OpenCL C's words to those of CUDA C, and vectors to what the prelude has for them. Line by line the same.
*/
#ifndef TT_LANG_OPENCL_C_TRANSLATE_H
#define TT_LANG_OPENCL_C_TRANSLATE_H

#include "lang/cuda_c/scan.h"

typedef struct tt_opencl_how {
  const char *file; /* in messages */
  bool offset;      /* global indices do not begin at 0 */
  bool single;      /* numbers without a suffix are floats */
} tt_opencl_how;

/*
** Append the translation of `text`, preprocessed. TT_ECOMPILE, with the line: what is not there (images, pipes, queues
** of devices).
*/
TT_HIDDEN tt_code tt__opencl_translate(const char *text, size_t len, const tt_opencl_how *how, tt_str *out,
                                       tt_error *err);

/* ---- between the files: a text while it is translated */

enum {
  TT_OPENCL_VECTOR = 1,   /* a type that is a vector */
  TT_OPENCL_MEMBER = 2,   /* a member of a struct of the text */
  TT_OPENCL_VARIABLE = 4, /* a variable that is a vector */
  TT_OPENCL_LOCAL = 8,    /* one that is in local memory, or points there */
  TT_OPENCL_POINTER = 16  /* one whose elements are vectors */
};

typedef struct tt_opencl_insertion {
  int64_t before; /* word */
  const char *text;
  bool instead; /* of that word */
} tt_opencl_insertion;

typedef struct tt_opencl_text {
  tt_cudac_scan scan;
  const tt_opencl_how *how;
  unsigned char *mark; /* of each name: a sum of TT_OPENCL_VECTOR and its kin */
  int64_t *opens;      /* of each word: the bracket that it stands in, -1: none */
  TT_VEC(tt_opencl_insertion) insertion;
  tt_str body; /* what the body of the kernel begins with whose parameters were written */
  tt_str *out;
} tt_opencl_text;

/* Is word k spelled so? */
TT_HIDDEN bool tt__opencl_is(const tt_opencl_text *t, int64_t k, const char *spelling);
/* Its kind, 0 beyond the ends. */
TT_HIDDEN char tt__opencl_kind(const tt_opencl_text *t, int64_t k);
TT_HIDDEN const char *tt__opencl_word(const tt_opencl_text *t, int64_t k, size_t *len);
/* Has its name one of these marks? */
TT_HIDDEN bool tt__opencl_has(const tt_opencl_text *t, int64_t k, unsigned mark);
/* Write the ends of lines in words [from, to), which something replaced. */
TT_HIDDEN void tt__opencl_line_ends(tt_opencl_text *t, int64_t from, int64_t to);
/* Conditional expressions whose condition may be a vector become calls: insertions. */
TT_HIDDEN void tt__opencl_choices(tt_opencl_text *t);
/* Text that is written before a word that comes later, the first of a word first. */
TT_HIDDEN void tt__opencl_insert(tt_opencl_text *t, int64_t before, const char *text);

/* The end of a type's name that is a vector's, or a scalar's with `scalars`, at the beginning of `text`; 0: none. */
TT_HIDDEN size_t tt__opencl_type(const char *text, size_t len, bool scalars);
/* Marks of names, and what is refused. */
TT_HIDDEN void tt__opencl_note_names(tt_opencl_text *t);
TT_HIDDEN tt_code tt__opencl_refuse(const tt_opencl_text *t, tt_error *err);
/* Write what a function of the language at word k becomes; the word behind what was replaced, k: nothing. */
TT_HIDDEN int64_t tt__opencl_call(tt_opencl_text *t, int64_t k);
/* Components behind a dot or an arrow: word k is their name. The same. */
TT_HIDDEN int64_t tt__opencl_swizzle(tt_opencl_text *t, int64_t k);

#endif
