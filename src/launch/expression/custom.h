/*
** Kernels given as expressions: what was read and compiled of them, and the launches of one call, which elementwise.c
** and reduction.c put together.
*/
#ifndef TT_LAUNCH_CUSTOM_H
#define TT_LAUNCH_CUSTOM_H

#include "graph/build.h"
#include "lang/expr/kernel.h"
#include "launch/expression/expression.h"
#include "launch/cuda_c/program.h"
#include "tutti/elementwise.h"

enum { TT_CUSTOM_ARGS = 256, TT_CUSTOM_GRAPH = 62, TT_CUSTOM_ENTRIES = 3 };

/* The text for some types, as operations of the graph. Never changes but for `why`, which is set once. */
typedef struct tt_custom_reading {
  struct tt_custom_reading *next;
  tt_expression *e;
  char *why; /* why it is for a compiler; NULL: it is not */
  tt_cx_types types;
  uint8_t form[]; /* (reductions) TT_CX_NUMBER where a number was given; a byte for each parameter */
} tt_custom_reading;

/* The text compiled for some types and ways of handing over arguments. Never changes. */
typedef struct tt_custom_build {
  struct tt_custom_build *next;
  tt_program *program;
  tt_entry *entry[TT_CUSTOM_ENTRIES];
  int64_t part; /* (reductions) bytes of a partial result */
  tt_cx_types types;
  uint8_t form[]; /* TT_CX_ADDRESS, ..., for each parameter */
} tt_custom_build;

struct tt_custom {
  bool is_reduction, c_form, has_raw;
  tt_cx_signature signature;
  tt_cx_texts text;
  char *declaration, *inner, *way; /* or NULL; `inner`: as it was given */
  char *file;                      /* its name in messages */
  char *before;                    /* the preamble for the graph: with what flags define */
  char *operation;                 /* with what stands before the loop */
  char **flag;
  int nflag;
  int64_t launches;
  /* Lists that only grow, at their end, under the session's lock; they are walked without it. */
  tt_custom_reading *read;
  tt_custom_build *built;
};

/* Copy and check the source (tt_elementwise_new, tt_reduction_new); its text is looked at by the first call. */
TT_HIDDEN tt_code tt__custom_new(const tt_custom_source *s, bool is_reduction, tt_custom **out, tt_error *err);
/* Forget it, with all that was read and compiled of it; nobody may be calling it. */
TT_HIDDEN void tt__custom_free(tt_custom *k);

/* As the public functions that are called so (tutti/elementwise.h). */
TT_HIDDEN tt_code tt__custom_parameter(const tt_custom *k, int i, tt_custom_parameter *out, tt_error *err);
/* Of how many sets of types it became operations of the graph, and was compiled. */
TT_HIDDEN void tt__custom_ways(const tt_custom *k, int *graph, int *compiled);
/* For each set of types the operations, or why it was compiled; NULL: no memory. */
TT_HIDDEN char *tt__custom_explain(const tt_custom *k);
/* The texts that were compiled, one behind the other; NULL: no memory. */
TT_HIDDEN char *tt__custom_text(const tt_custom *k);

/* The same of a call. Session lock held; given up while text is compiled. */
TT_HIDDEN tt_code tt__elementwise_call(tt_custom *k, const tt_custom_argument *arg, int n, int64_t size,
                                       const tt_launch_options *how, tt_array **out, tt_error *err);
/* And of a reduction. */
TT_HIDDEN tt_code tt__reduction_call(tt_custom *k, const tt_custom_argument *arg, int n, const int *axis, int naxis,
                                     bool keepdims, const tt_launch_options *how, tt_array **out, tt_error *err);

/* What the arguments say about placeholders. TT_ETYPE. */
TT_HIDDEN tt_code tt__custom_types(const tt_custom *k, const tt_custom_argument *arg, int n, tt_cx_types *out,
                                   tt_error *err);
/* Is it left out, to be made? */
static inline bool tt__custom_missing(const tt_custom_argument *o) {
  return o->what.kind == TT_ARG_ARRAY && !o->what.as.array;
}

/* The text as operations of the graph, read if need be: *out is NULL where it is for a compiler. */
TT_HIDDEN tt_code tt__custom_read(tt_custom *k, const tt_cx_types *types, const uint8_t *form, tt_custom_reading **out,
                                  tt_error *err);
/* For a compiler after all. */
TT_HIDDEN tt_code tt__custom_refuse(tt_custom_reading *r, const char *why, tt_error *err);
/* The type of partial results: a dtype, or TT_DTYPE_NONE and what the text calls it. */
TT_HIDDEN tt_dtype tt__custom_inner(const tt_custom *k, const tt_cx_types *types, const char **name);

/* The text compiled for these types and this form. */
TT_HIDDEN tt_code tt__custom_build_for(tt_custom *k, const tt_cx_types *types, const uint8_t *form,
                                       tt_custom_build **out, tt_error *err);

/* ---- a call of compiled code */

/* What its launches are given, and arrays that live as long. */
typedef struct tt_custom_call {
  tt_custom *k;
  const tt_launch_options *how;
  bool copied;
  int place; /* where new arrays go: beside the first array given */
  tt_argument arg[TT_CUSTOM_ARGS];
  int narg;
  tt_array *held[TT_CUSTOM_ARGS];
  int nheld;
} tt_custom_call;

/* Begin a call with these arguments, n of them: new arrays go beside the first array among them. */
TT_HIDDEN void tt__custom_begin(tt_custom_call *c, tt_custom *k, const tt_custom_argument *arg, int n,
                                const tt_launch_options *how);
/* Let go of what it held, and tell whether memory of the caller was copied. */
TT_HIDDEN void tt__custom_end(tt_custom_call *c);
/* One more argument. TT_ETYPE: too many. */
TT_HIDDEN tt_code tt__custom_put(tt_custom_call *c, tt_argument a, tt_error *err);
/* The same for a number. */
TT_HIDDEN tt_code tt__custom_put_int(tt_custom_call *c, int64_t i, tt_error *err);
/* The same for an array, which is borrowed. */
TT_HIDDEN tt_code tt__custom_put_array(tt_custom_call *c, tt_array *a, tt_error *err);
/* Take the hold on an array, for the length of the call; NULL stays NULL. */
TT_HIDDEN tt_array *tt__custom_keep(tt_custom_call *c, tt_array *a);
/* The array in C order: itself or a copy that is kept; *a is changed. */
TT_HIDDEN tt_code tt__custom_dense(tt_custom_call *c, tt_array **a, tt_error *err);
/* The same, of what it broadcasts to. */
TT_HIDDEN tt_code tt__custom_spread(tt_custom_call *c, tt_array **a, int rank, const int64_t *len, tt_error *err);
/* A new array where the call's go. */
TT_HIDDEN tt_code tt__custom_empty(const tt_custom_call *c, tt_dtype dtype, int rank, const int64_t *len,
                                   tt_array **out, tt_error *err);
/* Launch over so many blocks with the arguments put so far; they are forgotten from `keep` on. */
TT_HIDDEN tt_code tt__custom_launch(tt_custom_call *c, tt_entry *e, int64_t blocks, int keep, tt_error *err);
/* What the arguments that `plain` marks broadcast to: arrays, and memory. */
TT_HIDDEN tt_code tt__custom_shape(const tt_custom_argument *arg, const bool *plain, int n, int *rank, int64_t *len,
                                   int64_t *size, tt_error *err);
/* Shape and number of elements of an array or of memory. */
TT_HIDDEN const int64_t *tt__custom_len(const tt_custom_argument *o, int *rank);
/* How many elements that is. */
TT_HIDDEN int64_t tt__custom_size(const tt_custom_argument *o);

#endif
