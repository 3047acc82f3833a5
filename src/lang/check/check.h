/*
** What is watched while a kernel runs under TUTTI_CHECK=1: every access to memory that threads share. It finds accesses
** beyond every array, shared memory that nobody wrote, two threads at one place with nothing that orders them, and
** barriers that not all threads of a block reach. It knows threads, blocks and bytes; where the calls come from
** (instrumented CUDA C, rendered Python kernels) it does not know.
**
** The threads of a launch run one at a time on one processor thread, block after block, so nothing here is locked and
** the same program has the same finding each time. What races is decided by what orders two accesses, not by when they
** happened: the barriers of the block and of the grid, the warp operations that both took part in, a fence followed by
** an atomic operation on one side and an atomic operation on the other.
**
** Arrays are copied into memory of the check's own, far apart, and back at the end: what lies beyond one is no other.
*/
#ifndef TT_LANG_CHECK_CHECK_H
#define TT_LANG_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tutti/types.h"

typedef struct tt_check tt_check;

/* TUTTI_CHECK: set and not "0". */
TT_HIDDEN bool tt__check_wanted(void);

/* Kinds of accesses: a sum. UPDATE: a write that depends on what was there. HEAP: none, but memory that is not ours. */
enum {
  TT_CHECK_READ = 0,
  TT_CHECK_WRITE = 1,
  TT_CHECK_ATOMIC = 2,
  TT_CHECK_VOLATILE = 4,
  TT_CHECK_UPDATE = 8,
  TT_CHECK_HEAP = 16
};

#define TT_CHECK_AXES 8

typedef enum tt_check_space {
  TT_CHECK_GLOBAL,
  TT_CHECK_SHARED,
  TT_CHECK_FREE /* a thread's own, or constant: nothing to find there */
} tt_check_space;

typedef struct tt_check_area {
  char *base;
  size_t size;
  tt_check_space space;
  int number; /* of an argument, from 1; 0: none */
  int item;   /* bytes of an element, 0: not known */
  int rank;   /* 2 or more: its elements are named by their place on axes of these lengths, in C order */
  int64_t len[TT_CHECK_AXES];
  char name[48] /* "" : it has none */, type[64];
} tt_check_area;

/*
** How sites, the places in a program that calls come from, are said: `where` puts one into words ("line 7"), counted
** from `base`; 30 bits of it are kept.
*/
typedef struct tt_check_sites {
  const char *base;
  void (*where)(void *ctx, uint32_t site, char *out, size_t size);
  void *ctx;
} tt_check_sites;

/* NULL: no memory. `kernel` must live as long. together: blocks wait for each other. */
TT_HIDDEN tt_check *tt__check_new(const char *kernel, const tt_grid *g, bool together, const tt_check_sites *sites);
TT_HIDDEN void tt__check_free(tt_check *c);

/* Accesses far from all areas are not ours to judge: the kernel may have been given addresses. */
TT_HIDDEN void tt__check_loose(tt_check *c);
/* No memory is there: such an access is found after all, if it was the last one. */
TT_HIDDEN void tt__check_faults(tt_check *c, const void *at);

/* Memory that may be touched where it is. False: no memory. */
TT_HIDDEN bool tt__check_add(tt_check *c, const tt_check_area *a);

/* An array that *slot points into; it is moved at tt__check_begin, and brought back, if `writes`, at tt__check_end. */
TT_HIDDEN bool tt__check_array(tt_check *c, const tt_check_area *a, void **slot, bool writes);
TT_HIDDEN tt_code tt__check_begin(tt_check *c, tt_error *err);
TT_HIDDEN void tt__check_end(tt_check *c);

/* ---- while it runs. False: something was found, and the launch is to be left. */

TT_HIDDEN void tt__check_block(tt_check *c, int64_t block); /* this one begins; it counts as the grid does, x first */
TT_HIDDEN void tt__check_thread(tt_check *c, unsigned thread); /* this one runs from now on */
TT_HIDDEN bool tt__check_touch(tt_check *c, const void *at, size_t size, unsigned kind, const void *site);
/*
** Before an access: its index is beyond the declared array, of a type that the compiler names ("float [16]"); it leaves
** the variable that it is made through. Names must live as long as the check. What lies in memory that threads share is
** left to the access itself, which knows the array's name.
*/
TT_HIDDEN bool tt__check_beyond(tt_check *c, const char *type, int64_t index, const void *site);
TT_HIDDEN bool tt__check_strays(tt_check *c, const char *type, const void *at, unsigned kind, const void *site);
/* The thread waits at a barrier of the block or the grid; goes on behind it, `opened` barriers having opened in this
 * block. */
TT_HIDDEN bool tt__check_arrives(tt_check *c, const void *site, bool of_grid);
TT_HIDDEN bool tt__check_passes(tt_check *c, unsigned thread, unsigned opened);
/* The thread goes on behind a warp operation in which the lanes `came` took part. */
TT_HIDDEN void tt__check_passes_warp(tt_check *c, unsigned thread, unsigned came);
TT_HIDDEN void tt__check_fence(tt_check *c);
/* The thread leaves by a return of its own; the thread has ended, so or at the end of the text. */
TT_HIDDEN void tt__check_returns(tt_check *c);
TT_HIDDEN bool tt__check_ends(tt_check *c);

/*
** (together) All threads of the block wait at a barrier of the grid, and other blocks run; all blocks have come to it
** or have ended; this block goes on behind it. Blocks share one place for their shared memory, which is kept meanwhile.
*/
TT_HIDDEN bool tt__check_meets(tt_check *c);
TT_HIDDEN bool tt__check_opens(tt_check *c);
TT_HIDDEN void tt__check_goes_on(tt_check *c, int64_t block);

/* What was found, as an error; TT_OK: nothing. */
TT_HIDDEN tt_code tt__check_tell(const tt_check *c, tt_error *err);
/* Where threads wait, for the message that they do for ever: " (line 7)", or "". */
TT_HIDDEN void tt__check_waits(const tt_check *c, char *out, size_t size);

#endif
