/*
** Array functions as rows: name, signature, handler, doc (functions.def). A binding builds its functions from the rows,
** C reaches them through tt_call.
**
** Signature: parameters separated by ", ", each `name[:kind][=default]`; "*" starts keyword-only ones; "*name"
** collects the rest of the positional arguments in a tuple. A parameter without a default is required. Kinds tell
** bindings how to convert:
**   array   array-like: lists and buffers become arrays, Python scalars stay weak scalars
**   arrays  a sequence of array-likes (a tuple value)
**   index   what stands between square brackets
**   values  array-like that is written into the first argument: what lists hold becomes elements of its type
**   offset  an integer; one beyond 64 bits is their end
**   places  array-like, numbers of elements: floats in lists are cut
**   mask    which elements take part: an array, or the truth of another object
**   optional  as it is, and None means something
**   dtype   a dtype or its name
**   (no kind)  as it is; a default of True or False: the truth of any object; without a default or with a number for
**           one: not None
** Defaults in the text are documentation; a parameter left out reaches the handler as TT_V_MISSING.
*/
#ifndef TT_FN_FUNCTION_H
#define TT_FN_FUNCTION_H

#include "base/vec.h"
#include "graph/build.h"

typedef struct tt_call_frame {
  const tt_value *arg; /* one per parameter, in signature order, TT_V_MISSING when left out */
  int narg;
  TT_VEC_FEW(tt_array *, 4) out; /* results: holds given to the caller */
  bool scalar; /* the result is not an array: a rank-0 array to be unpacked (bool, int, float) by the binding */
  bool tuple;  /* results are to be returned as a tuple even when there is one, or none */
  bool none;   /* there is no result: the function only writes */
} tt_call_frame;

typedef tt_code (*tt_function_fn)(tt_call_frame *c, tt_error *err);

typedef struct tt_function_row {
  tt_function_info info;
  tt_function_fn run;
} tt_function_row;

TT_HIDDEN extern const tt_function_row tt__functions[];
TT_HIDDEN extern const int tt__function_count;
TT_HIDDEN const tt_function_row *tt__function_named(const char *name);
/* Run a row with the arguments that were given, which may be fewer than it has. Session lock held. */
TT_HIDDEN tt_code tt__function_call(const tt_function_row *row, tt_call_frame *f, tt_error *err);

#endif
