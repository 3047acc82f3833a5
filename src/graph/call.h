/*
** The list of recorded launches of users' kernels (launch/record.h makes their nodes).
**
** Recorded launches stand in a list and run in its order, whatever is looked at first: kernels print, fail and share
** variables. The list holds its nodes, so that a launch whose arrays are gone runs too.
*/
#ifndef TT_GRAPH_CALL_H
#define TT_GRAPH_CALL_H

#include "ir/user/call.h"
#include "ir/node.h"

#define TT_CALLS_PENDING 32 /* recorded launches: one more, and all of them run */

/* Before one more is recorded: those that could not run before run now, or fail again. */
TT_HIDDEN tt_code tt__calls_make_room(tt_error *err);
/* It stands in the list from now on, which takes the hold on it. */
TT_HIDDEN void tt__calls_add(tt_node *node);
/* Are so many, or so many bytes, waiting that all are to run? */
TT_HIDDEN bool tt__calls_full(void);
/* It will not run: the list lets go of it. Nothing, if it is not there. */
TT_HIDDEN void tt__calls_remove(const tt_node *node);

/* Run what is recorded, in order. The first failure ends it; what comes after it stays recorded. May let others in. */
TT_HIDDEN tt_code tt__calls_run(tt_error *err);
/* The same for who does not hold the session's lock; afterwards everything that was evaluated has been asked of the
 * devices, too. */
TT_HIDDEN tt_code tt__calls_flush(tt_error *err);

/* For who runs them: the first launches of the list that run on one device and stream, at most `most`; 0: none. A
** launch leaves the list when it is evaluated (tt__calls_done) or when it fails for good. */
TT_HIDDEN int tt__calls_baseline(tt_node **out, int most);
TT_HIDDEN void tt__calls_done(void);
typedef tt_code (*tt_calls_fn)(tt_error *err);
TT_HIDDEN void tt__calls_set_runner(tt_calls_fn fn);
/* What asks devices for launches of evaluations that still wait. */
TT_HIDDEN void tt__calls_set_settle(void (*fn)(void));
/* Is something recorded, and none of it for the CPU? */
TT_HIDDEN bool tt__calls_on_devices(void);

#endif
