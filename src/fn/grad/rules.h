/*
** The rules of differentiation: each takes the cotangent of an entry's value to those of its operands, as recorded work
** over a calculation's arrays. They record through the same constructors as everybody else, so that a gradient has
** gradients. Under the session lock.
*/
#ifndef TT_FN_GRAD_RULES_H
#define TT_FN_GRAD_RULES_H

#include "fn/compose.h"
#include "graph/tape.h"

/* One entry whose cotangents are known. */
typedef struct tt_rule {
  tt_composer *c;
  tt_tape *t;
  bool taped;         /* what is recorded is followed in turn */
  tt_array *const *g; /* of its results: one, or nresult of them; NULL: none */
  tt_array **sum;     /* of operand 0, from others so far (or NULL): a rule may add to it, and give nothing */
  tt_array **out;     /* of its operands, NULL at first, borrowed from the calculation */
} tt_rule;

/* Does operand k want a cotangent? */
static inline bool tt__rule_wants(const tt_rule *r, int k) { return r->t->parent[k] != NULL; }
/* A kept operand, or the kept result; NULL is a failure. */
TT_HIDDEN tt_array *tt__rule_operand(const tt_rule *r, int k);
TT_HIDDEN tt_array *tt__rule_result(const tt_rule *r);
/* Result k of a row of the library that keeps them; NULL without a failure: nobody has it any more. */
TT_HIDDEN tt_array *tt__rule_pick(const tt_rule *r, int k);

/* An elementwise operation (derivative.c). */
TT_HIDDEN void tt__rule_op(const tt_rule *r);
/* The same of operands and a result that no entry keeps: cotangents of those whose bit is set, NULL for no slope.
 * False: a failure. */
TT_HIDDEN bool tt__rule_slopes(tt_composer *c, tt_op op, tt_array *const *operand, tt_array *result, tt_array *g,
                               unsigned wanted, tt_array **out);
/* Views, reductions, writes, places (structure.c). */
TT_HIDDEN void tt__rule_structure(const tt_rule *r);
/* A row of the library (library.c). */
TT_HIDDEN void tt__rule_library(const tt_rule *r);

/* ---- what rules are made of (structure.c) */
TT_HIDDEN tt_array *tt__rule_zeros(tt_composer *c, tt_dtype dtype, int rank, const int64_t *len, int device);
/* zeros of `size` with value[i] added at place[i], in order. `row`: how many places may follow each other, again and
 * again; whoever adds up looks whether they do. */
TT_HIDDEN tt_array *tt__rule_add_at(tt_composer *c, int64_t size, tt_array *place, int64_t row, tt_array *value,
                                    int device);
/* `old` with values written at flat places. */
TT_HIDDEN tt_array *tt__rule_scattered(tt_composer *c, tt_array *old, tt_array *place, tt_array *value);
/* The elements at flat places. */
TT_HIDDEN tt_array *tt__rule_gathered(tt_composer *c, tt_array *a, tt_array *place);
/* An array spread along the axes that a reduction took away, in the shape of its operand. */
TT_HIDDEN tt_array *tt__rule_spread(tt_composer *c, tt_array *a, const tt_tape *like, uint64_t axes);

#endif
