/*
** The profile: every step with its time, while somebody records. Private to run/ and api/.
*/
#ifndef TT_RUN_REPORT_PROFILE_H
#define TT_RUN_REPORT_PROFILE_H

#include "ir/plan.h"

TT_HIDDEN extern bool tt__profile_on;
TT_HIDDEN void tt__profile_start(void);
TT_HIDDEN void tt__profile_stop(void);
/* A step ran from `start` to `end` (tt__clock_ns). Session lock held. Dropped silently when memory is out. */
TT_HIDDEN void tt__profile_add(const tt_step *step, bool compiled, int64_t start, int64_t end);
/* The same of the first n steps of a launch of many. */
TT_HIDDEN void tt__profile_add_many(const tt_step *step, int n, bool compiled, int64_t start, int64_t end);
/* The same for what has a name of its own. */
TT_HIDDEN void tt__profile_add_named(const char *name, int64_t bytes, int64_t start, int64_t end);
/* The same of a function of the program's in a process of its own, for some items. */
TT_HIDDEN void tt__profile_add_worker(const char *name, int pid, int64_t items, int64_t start, int64_t end);
/* The same of a step that ran in pieces. */
TT_HIDDEN void tt__profile_add_pieces(const tt_step *step, int64_t pieces, int64_t start, int64_t end);
/* What a step does, in a few words: "exp mul". */
TT_HIDDEN void tt__profile_name(const tt_step *step, char *out, size_t size);
/* A table by kernel, and Chrome trace JSON; NULL when memory is out. Freed by tt__mem_free through tt_text_free. */
TT_HIDDEN char *tt__profile_table(void);
TT_HIDDEN char *tt__profile_trace(void);

#endif
