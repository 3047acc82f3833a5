/*
** Shared by the files of the check: what is kept of each place, thread and finding.
*/
#ifndef TT_LANG_CHECK_CHECK_INT_H
#define TT_LANG_CHECK_CHECK_INT_H

#include "base/vec.h"
#include "lang/check/check.h"

enum { CHECK_THREADS = 1024, CHECK_SITES = 1024 };

/* An access that is remembered. */
typedef struct touch {
  uint32_t block;      /* number of the block + 1; 0: none */
  uint32_t stamp : 22; /* time of the block at the thread's last synchronisation */
  uint32_t thread : 10;
  uint32_t site : 30;
  uint32_t atomic : 1;
  uint32_t is_volatile : 1;
} touch;

/* Of four bytes, or of one where accesses of one or two bytes are made. */
typedef struct cell {
  touch write, read;
  touch other; /* a reader that nothing orders with `read`: another thread of its block */
  touch away;  /* a reader of another block than `read` */
} cell;

/* Areas that overlap, as one. */
typedef struct ground {
  char *base, *end;
  tt_check_space space;
  cell *word, *byte; /* NULL: not watched for races; a cell for each 4 bytes, each byte */
  uint32_t *written; /* SHARED: of each byte, the block that wrote it, + 1 */
} ground;

/* An array that was moved. */
typedef struct moved {
  void **slot;
  char *from, *to; /* `to` once it is moved */
  size_t size;
  bool writes;
  int area;
} moved;

/* What a thread did before a time of its block is known to whoever did an atomic operation after an event. */
typedef struct publication {
  uint32_t stamp, event;
} publication;

typedef struct thread_state {
  uint32_t stamp, epoch; /* times: of the last synchronisation, of the last barrier */
  uint32_t acquired;     /* event at the last atomic operation */
  publication published;
  bool fenced, returned;
} thread_state;

/* What is kept of a block. */
typedef struct block_state {
  uint32_t now, opened, opened_at, acquired;
  uint32_t met;       /* what it did before this time lies before the last barrier of the grid */
  unsigned ended;     /* threads */
  bool waits_outside; /* `waits` waits for other blocks */
  bool has_warps;
  bool is_lost; /* too much happened to be kept apart */
  touch waits;  /* the first thread at the barrier; block 0: nobody is */
  touch fell;   /* a thread that ended without a return of its own */
  thread_state *of;
  uint32_t (*knows)[32]; /* of a thread: time of each lane of its warp that it has an order with */
  uint32_t *told;        /* of a warp: lanes for which the last warp operation is noted already */
  char *kept;            /* (together) its shared memory, and by whom it was written, while other blocks run */
} block_state;

typedef enum finding_kind { NOTHING, OUTSIDE, BEYOND, STRAYS, UNWRITTEN, RACE, PARTED, SKIPPED, DESERTED } finding_kind;
typedef struct finding {
  finding_kind kind;
  touch now, before; /* PARTED, SKIPPED: two threads; DESERTED: a thread, one of a block that has ended */
  bool writes, wrote;
  const char *at;
  size_t size;
  const char *type; /* BEYOND, STRAYS: of the array, of the access */
  int64_t index;    /* BEYOND */
} finding;

struct tt_check {
  const char *kernel;
  unsigned grid[3], dim[3];
  tt_check_sites sites;
  bool loose, together;
  TT_VEC(tt_check_area) area;
  TT_VEC(ground) ground;
  TT_VEC(moved) moved;
  char *room; /* of moved arrays, with wide margins */
  size_t room_size;
  /* the block and thread that run */
  uint32_t block; /* number + 1 */
  unsigned thread, threads;
  block_state *at;
  block_state *state; /* one for all blocks, that each begins anew; together: of each */
  int64_t states;
  void *state_room; /* what they point at */
  size_t state_size;
  char *kept_room;
  size_t kept_size;
  uint32_t same_line[2]; /* two sites of barriers that turned out to be one */
  /* between blocks */
  touch meets;    /* the first thread at the barrier of the grid; block 0: nobody is */
  touch deserted; /* the last thread of a block that has ended; block 0: none has */
  uint32_t event;
  TT_VEC(publication) published; /* of blocks, by number */
  bool in_shared;                /* the access that is looked at */
  /* A write that nothing orders with another access is harmless if it changes nothing; a read that nothing orders with
     an atomic operation, if its thread goes on with one at the same place: so loops around atomicCAS begin. */
  finding write_pending, read_pending;
  finding
      unwritten; /* a read of shared memory that nobody wrote: told when nobody writes it too late, which says more */
  char old[16];
  /* An index beyond a declared array, of which nobody knows yet whether threads share it: then the access says more. */
  finding beyond;
  finding strange; /* the last access that is not ours to judge */
  finding found;
  int16_t hint[CHECK_SITES]; /* where a site found its ground last */
};

/* The area that `at` belongs to, or that it is nearest to; NULL: there is none. *distance: bytes before (negative) or
 * behind it, 0: inside. */
TT_HIDDEN const tt_check_area *tt__check_nearest(const tt_check *c, const char *at, int64_t *distance);

#endif
