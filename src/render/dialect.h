/*
** A dialect: the words in which the one emitter (render.c) speaks to one compiler. A row of
** strings and nothing else: what needs a loop over instructions belongs in the emitter.
** Element types are named tt_f32, tt_i64 ... in every dialect (prelude.h, or `before`).
*/
#ifndef TT_RENDER_DIALECT_H
#define TT_RENDER_DIALECT_H

#include <stdint.h>

#include "base/err.h"
#include "tutti/types.h"

typedef struct tt_dialect {
  const char *name;
  const char *before;      /* text above the prelude: what prelude.h lets a dialect define */
  const char *after;       /* text below it: argument structs, macros that the words below use */
  const char *kernel;      /* before a kernel's name */
  const char *params;      /* after it, in parentheses */
  const char *enter;       /* first statements: declare lo, hi, lane_lo, lane_hi, chunk_lo, chunk_hi, npartial, part */
  const char *global;      /* address space of buffers, before the element type */
  const char *buffer;      /* printf: an expression for buffer %d */
  const char *scratch;     /* printf: an expression for scratch %d */
  const char *partial;     /* printf: an expression for partial array %d */
  const char *scalar;      /* printf: an expression for scalar %d of suffix %s */
  const char *len;         /* the array of axis lengths */
  const char *off;         /* the array of access offsets */
  const char *step;        /* the array of access steps */
  const char *independent; /* a line before a loop whose turns do not depend on each other */
  const char *unrolled;    /* a line before a short loop of constant count: keep its arrays in registers; or NULL */
  const char *inbounds;    /* printf: access %d of buffer %d may touch index %s; records the fault when not */
  uint32_t lacks;          /* bit t: the dialect has no type t */
} tt_dialect;

TT_HIDDEN extern const tt_dialect tt__dialect_c; /* C11 with GNU extensions, for the system's compiler */

#endif
