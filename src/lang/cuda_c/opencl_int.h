/*
** CUDA C to OpenCL C, shared by its files: opencl_text.c goes through a program, opencl_words.c writes words,
** opencl_refuse.c says what cannot be written.
*/
#ifndef TT_LANG_CUDA_C_OPENCL_INT_H
#define TT_LANG_CUDA_C_OPENCL_INT_H

#include "base/err.h"
#include "base/str.h"
#include "lang/cuda_c/scan.h"

/* What is known of a name: the memory of an array or pointer, or another of these. */
enum { NAME_NOTHING, NAME_GLOBAL, NAME_LOCAL, NAME_PRIVATE, NAME_CONSTANT, NAME_TYPE, NAME_REFERENCE };

typedef struct cl_writer {
  tt_cudac_scan scan;
  const char *file;
  uint8_t *known;    /* [names]: NAME_* */
  tt_str *out;       /* where text goes now */
  uint32_t done;     /* the source before this is written, or left out */
  int64_t body, end; /* the function that is being written, its brace and the closing one; 0: none */
  int memory;        /* what pointers among its parameters point into */
  bool is_kernel;
  tt_error *err;
  tt_code code;
} cl_writer;

static inline bool clw_is(const cl_writer *c, int64_t k, const char *spelling) {
  return tt__cudac_is(&c->scan, k, spelling);
}
static inline char clw_kind_of(const cl_writer *c, int64_t k) {
  return k >= 0 && k < c->scan.word.n ? c->scan.word.data[k].kind : 0;
}
static inline uint8_t *clw_known_of(const cl_writer *c, int64_t k) {
  static uint8_t nothing;
  int32_t name = k >= 0 && k < c->scan.word.n ? c->scan.word.data[k].name : -1;
  return name >= 0 ? &c->known[name] : &nothing;
}
static inline const char *clw_spelled(const cl_writer *c, int64_t k, int *len) {
  const tt_cudac_word *w = &c->scan.word.data[k];
  *len = (int)w->len;
  return c->scan.text + w->at;
}

static inline uint32_t clw_end_of(const cl_writer *c, int64_t k) {
  return c->scan.word.data[k].at + c->scan.word.data[k].len;
}

/* ---- opencl_refuse.c */

TT_HIDDEN extern const char tt__clw_cpp[];
TT_HIDDEN int tt__clw_line(const cl_writer *c, int64_t k); /* of word k, from 1 */
/* An error at word k; the first one stays. */
TT_HIDDEN void tt__clw_refuse(cl_writer *c, int64_t k, const char *why);
/* Refuse what has no counterpart wherever it stands. */
TT_HIDDEN void tt__clw_refuse_all(cl_writer *c);

/* ---- opencl_words.c */

TT_HIDDEN bool tt__clw_is_type(const cl_writer *c, int64_t k);
/* Names of types that the text declares: "typedef float T;", "struct S {". */
TT_HIDDEN void tt__clw_note_types(cl_writer *c);
/* Copy the source up to `at`. */
TT_HIDDEN void tt__clw_copy_to(cl_writer *c, uint32_t at);
/* Words [from, to] are left out, but for the ends of their lines. */
TT_HIDDEN void tt__clw_leave_out(cl_writer *c, int64_t from, int64_t to);
TT_HIDDEN void tt__clw_write_instead(cl_writer *c, int64_t k, const char *text);
/* The type that words [from, to) spell, without what qualifies it and without stars. */
TT_HIDDEN void tt__clw_put_type(const cl_writer *c, int64_t from, int64_t to, tt_str *out);
/* What is declared at k lies in this memory (NAME_*). */
TT_HIDDEN void tt__clw_note_memory(cl_writer *c, int64_t k, int memory);
/* Write word k if it is written in another way; the last word that was. */
TT_HIDDEN int64_t tt__clw_write_word(cl_writer *c, int64_t k);
TT_HIDDEN void tt__clw_write_words(cl_writer *c, int64_t from, int64_t to);

#endif
