/*
** Casting what enters a function or an elementwise operation, where the thread has asked for it (tutti/autocast.h).
** Calls that functions make of each other are not cast: they have what entered.
*/
#ifndef TT_FN_AUTOCAST_H
#define TT_FN_AUTOCAST_H

#include "fn/function.h"
#include "tutti/autocast.h"

/* Has any thread ever asked? One load where nobody has. */
TT_HIDDEN extern bool tt__autocast_used;
TT_HIDDEN bool tt__autocast_holds(void); /* on this thread */
static inline bool tt__autocast_on(void) {
  return __atomic_load_n(&tt__autocast_used, __ATOMIC_RELAXED) && tt__autocast_holds();
}

TT_HIDDEN tt_autocast tt__autocast_get(void);
/* Session lock held. */
TT_HIDDEN void tt__autocast_set(tt_autocast now);

/* Arguments cast for one call: `arg` in place of the caller's, and what must be given back after it. */
typedef struct tt_cast_call {
  const tt_value *arg;
  TT_VEC(tt_array *) hold;
  TT_VEC(tt_value *) list; /* copies of arguments, and of the items of tuples */
  TT_VEC(int64_t) size;    /* theirs */
} tt_cast_call;

typedef enum tt_cast_rule {
  TT_CAST_NONE,
  TT_CAST_LOW,
  TT_CAST_FULL
} tt_cast_rule; /* autocast.def says what they mean */

/* All zero at first. Session lock held, until tt__cast_end, which is called whatever comes of it. */
TT_HIDDEN tt_code tt__cast_row(tt_cast_call *c, const tt_function_row *row, const tt_value *arg, int n, tt_error *err);
TT_HIDDEN tt_code tt__cast_op(tt_cast_call *c, tt_op op, const tt_value *arg, int n, tt_error *err);
/* Arguments whose bit in `which` is set, cast by a rule; those of tuples, too. */
TT_HIDDEN tt_code tt__cast_arguments(tt_cast_call *c, tt_cast_rule r, uint32_t which, const tt_value *arg, int n,
                                     tt_error *err);
TT_HIDDEN void tt__cast_end(tt_cast_call *c);
/* The elementwise operation, of what enters it under mixed precision. */
TT_HIDDEN tt_code tt__cast_apply(tt_op op, const tt_value *arg, int n, const tt_apply_options *options, tt_array **out,
                                 tt_error *err);
/* Are operands of the operation cast? */
TT_HIDDEN bool tt__casts_op(tt_op op);

#endif
