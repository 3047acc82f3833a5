/*
** Python functions, as a tree of untyped statements (python/tree.h), to typed programs.
**
** The language is Python's numeric core with Numba's typing: types follow from the arguments' types by
** a fixed point over assignments. What is not in the language is an error that names the Python line.
*/
#ifndef TT_LANG_PYTHON_PY_H
#define TT_LANG_PYTHON_PY_H

#include "base/str.h"
#include "ir/user/program.h"

typedef struct tt_py_options {
  bool kernel;       /* the entry is a kernel: threads, no result, divisions unchecked */
  bool check;        /* assertions hold (debug=True) */
  bool parallel;     /* prange runs in parallel */
  bool bounds;       /* every index is checked */
  bool numpy_errors; /* division by zero gives what NumPy gives */
  /* (optional) Types of a function of the library's, as launch/python/host_call.h has them. */
  tt_code (*ask)(const char *question, tt_str *answer, tt_error *err);
} tt_py_options;

/*
** Make a program of the module `text`, its entry being function 0, for arguments of the types in `signature`:
** comma-separated dtype suffixes (f64), Asuffix:rankLayout with layout C or A (Af64:2C; R after it: read-only), and
** tuples in parentheses; a second list after a '|' types the hidden arrays. TT_ETYPE with the Python line,
** TT_ENOTIMPL for what the language lacks. On failure *out is empty.
*/
TT_HIDDEN tt_code tt__py_lower(const char *text, size_t size, const char *signature, const tt_py_options *options,
                               tt_proc *out, tt_error *err);

#endif
