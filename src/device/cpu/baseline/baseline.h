/*
** Machine code for a program at once, before a compiler has looked at it: one walk over the statements, a place in a
** frame for every variable, registers for those that inner loops use most. It runs two to four times slower than what a
** compiler makes, and is there a hundred times sooner.
**
** It takes functions of real numbers and their arrays. What it does not know, it declines; the meaning of what it takes
** is that of the rendered C, to the bit: the same instructions where it writes them itself, the same functions of the
** prelude elsewhere (helpers.c).
*/
#ifndef TT_DEVICE_CPU_BASELINE_BASELINE_H
#define TT_DEVICE_CPU_BASELINE_BASELINE_H

#include "ir/user/program.h"

/* As tt_program_fn; not 0: the function failed. */
typedef int32_t (*tt_baseline_fn)(tt_pcall *call, const int64_t *word, int64_t *out);

typedef struct tt_baseline_host {
  void *ctx;
  /*
  ** Asked at the beginning of each turn of every loop while tt_baseline.over is not 0: `frame` is the function under
  ** way (ir/user/program.h), `function` its number in the program, `loop` the loop's, whose turn was decided. 0: go on
  ** here; 1: it was brought to its end elsewhere, and failed; 2: to its end, and the result is in `out`.
  */
  int32_t (*over)(void *ctx, tt_pcall *call, const int64_t *frame, int64_t *out, int64_t function, int64_t loop);
} tt_baseline_host;

typedef struct tt_baseline {
  tt_baseline_fn entry;
  int32_t *over; /* set (atomically) to be asked */
  void *memory;
  size_t size;
} tt_baseline;

/*
** Make it. False: declined; `why` (of `size`) is a clause for people. It refers to the program's text and to
** `host->ctx` as long as it lives. Thread-safe.
*/
TT_HIDDEN bool tt__baseline_make(const tt_proc *p, const tt_baseline_host *host, tt_baseline *out, char *why,
                                 size_t size);

/* Nobody may be in it. */
TT_HIDDEN void tt__baseline_free(tt_baseline *f);

#endif
