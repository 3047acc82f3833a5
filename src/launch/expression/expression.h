/*
** Expressions as objects: text read once, recorded at every call. Where the language (lang/expr/expr.h) and the graph
** meet.
*/
#ifndef TT_LAUNCH_EXPRESSION_H
#define TT_LAUNCH_EXPRESSION_H

#include "base/str.h"
#include "graph/build.h"
#include "tutti/expression.h"

/* As the functions of tutti/expression.h that are called so. Text is read without the session lock. */
TT_HIDDEN tt_code tt__expression_new(const tt_expression_source *s, tt_expression **out, tt_error *err);
/* NULL is allowed. */
TT_HIDDEN void tt__expression_free(tt_expression *e);
/* How many it has. */
TT_HIDDEN int tt__expression_parameters(const tt_expression *e);
/* TT_EXPR_OUT and its kin of parameter k. */
TT_HIDDEN unsigned tt__expression_flags(const tt_expression *e, int k); /* 0 for k out of range */
/* The steps, for `explain`; a reduction's in two parts. */
TT_HIDDEN void tt__expression_print(const tt_expression *e, tt_str *out);
/* Under the session lock. */
TT_HIDDEN tt_code tt__expression_call(const tt_expression *e, const tt_value *arg, int64_t size, tt_array **out,
                                      tt_error *err);
/* A reduction over the axes in the set. */
TT_HIDDEN tt_code tt__expression_reduce(const tt_expression *e, const tt_value *arg, uint64_t axes, bool keepdims,
                                        tt_array **out, tt_error *err);
/* What a call made of no array among `n` arguments goes where the thread wants new ones. On failure out[] is NULL. */
TT_HIDDEN tt_code tt__expression_placed(const tt_value *arg, int n, tt_array **out, tt_error *err);

#endif
