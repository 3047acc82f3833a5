/*
** CUDA C text, cut into words: which kernels and variables it declares, which kernels can meet a barrier, and the text
** itself with CUDA's own words replaced by C++'s. It is no parser: types are the compiler's business. Total: any bytes
** give an answer, if a useless one.
*/
#ifndef TT_LANG_CUDA_C_SCAN_H
#define TT_LANG_CUDA_C_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

#define TT_CUDAC_NAME 128

/* Other forms: none; tt_split_NAME runs a block; tt_thread_NAME is one thread that is told its place. */
typedef enum tt_cudac_form { TT_CUDAC_FORM_NONE, TT_CUDAC_FORM_SPLIT, TT_CUDAC_FORM_THREAD } tt_cudac_form;

typedef struct tt_cudac_kernel {
  char name[TT_CUDAC_NAME];   /* with its namespaces: "a::b::add" */
  char params[TT_CUDAC_NAME]; /* names of parameters, separated by commas; "" when they do not fit */
  bool is_template;
  bool is_overloaded; /* several of this name */
  bool sync;          /* its threads may wait for each other */
  bool together;      /* its blocks may: it names the group of the grid */
  tt_cudac_form form; /* (later) what other form there is of it */
  bool is_strip;      /* of FORM_THREAD: blocks side by side in x may run as one */
  bool tells;         /* other functions look at the thread's place */
  int most_threads;   /* __launch_bounds__, 0: none given in digits */
  int64_t asked;      /* (OpenCL C) the bracket with the block's size, 0: none */
  int def;
} tt_cudac_kernel;

typedef struct tt_cudac_global {
  char name[TT_CUDAC_NAME];
} tt_cudac_global;

/* A word of the text. */
typedef struct tt_cudac_word {
  uint32_t at, len;
  int32_t name; /* number of an identifier, -1 for other words */
  char kind;    /* 'i' identifier, 'n' number, 's' string or character, '#' directive, else the character itself */
} tt_cudac_word;

/* Something between braces at the outermost level: a function, a class. */
typedef struct tt_cudac_def {
  int32_t head, open, close; /* words: first of its head, the brace, the closing one (or the end) */
  bool visited;
} tt_cudac_def;

typedef struct tt_cudac_scan {
  const char *text;
  uint32_t len;
  TT_VEC(tt_cudac_word) word;
  TT_VEC(tt_cudac_def) def;
  TT_VEC(tt_cudac_kernel) kernel;
  TT_VEC(tt_cudac_global) global;
  TT_VEC(int32_t) slot;        /* hash table of identifiers: a word that spells it, + 1 */
  int32_t names;               /* how many */
  TT_VEC(int64_t) link;        /* name << 32 | def: what a name may lead to; sorted */
  TT_VEC(tt_cudac_word) space; /* open namespaces while scanning */
  bool all_share;              /* there is shared memory that all functions see: extern __shared__ */
} tt_cudac_scan;

/* `text` stays the caller's and must live as long as the scan. Only TT_ENOMEM. */
TT_HIDDEN tt_code tt__cudac_scan(tt_cudac_scan *s, const char *text, size_t len, tt_error *err);
TT_HIDDEN void tt__cudac_scan_free(tt_cudac_scan *s);

/* Whether what an expression names ("add<float, Sum>") can meet a barrier. */
TT_HIDDEN bool tt__cudac_expression_waits(tt_cudac_scan *s, const char *expression);

/* The text with CUDA's words replaced, line by line the same. `check`: what checks need to see is left or made
 * plain. */
TT_HIDDEN void tt__cudac_rewrite(const tt_cudac_scan *s, bool check, tt_str *out);
/* Macros that set a program's own types of fixed widths apart from those of our head. */
TT_HIDDEN void tt__cudac_name_widths(const tt_cudac_scan *s, tt_str *out);
/* Of a preprocessed text: TT_ECOMPILE, with the line, for what a C++ compiler only stumbles over, launches. */
TT_HIDDEN tt_code tt__cudac_refuse(const tt_cudac_scan *s, const char *file, tt_error *err);

/* (between the files) Is word k spelled so? False beyond the ends. */
TT_HIDDEN bool tt__cudac_is(const tt_cudac_scan *s, int64_t k, const char *spelling);
/* The bracket that opens the parameter list of the declaration of words [k, end), or -1. */
TT_HIDDEN int64_t tt__cudac_params(const tt_cudac_scan *s, int64_t k, int64_t end);
/* The end of "blockIdx.x * blockDim.x + threadIdx.x" that stands whole at word k, or -1. */
TT_HIDDEN int64_t tt__cudac_index_end(const tt_cudac_scan *s, int64_t k);
/* Whether anything that words [k, end) name, outside of them, has an identifier of which `test` says yes. */
typedef bool (*tt_cudac_test)(const char *text, size_t len);
TT_HIDDEN bool tt__cudac_callees_have(tt_cudac_scan *s, int64_t k, int64_t end, tt_cudac_test test);
/* Is it a function that waits for other threads? */
TT_HIDDEN bool tt__cudac_is_wait(const char *text, size_t len);
/* The end of "blockIdx.x * blockDim.x" at word k, or -1. */
TT_HIDDEN int64_t tt__cudac_base_end(const tt_cudac_scan *s, int64_t k);
/* The word that closes the bracket at k, or the end. */
TT_HIDDEN int64_t tt__cudac_close(const tt_cudac_scan *s, int64_t k);

#endif
