/* What the files of the cache share: its state, its blocks and its lock. */
#ifndef TT_DEVICE_CACHE_INT_H
#define TT_DEVICE_CACHE_INT_H

#include "base/lock.h"
#include "device/cache_alloc.h"

enum { TT_CACHE_BINS = 192 }; /* lists of free blocks by size: a quarter of an octave each */

typedef enum tt_dmem_state {
  TT_DMEM_LIVE = 0x11fe, /* somebody has it */
  TT_DMEM_FREE,
  TT_DMEM_WAITS, /* given back, other streams still use it */
  TT_DMEM_DEAD   /* a descriptor without memory */
} tt_dmem_state;

/* Another stream that uses a block, and the event it waits for once the block is given back. */
typedef struct tt_dmem_use tt_dmem_use;
struct tt_dmem_use {
  tt_stream *stream;
  tt_event *event;
  tt_dmem_use *next;
};

typedef struct tt_dmem_pool tt_dmem_pool;

struct tt_dmem {
  char *p;
  size_t size; /* asked for */
  size_t full; /* what it takes up */
  tt_dmem_state state;
  bool is_large;           /* of a segment for large blocks */
  bool is_first;           /* of its segment */
  bool is_lost;            /* a use could not be noted: never used again */
  tt_dmem_pool *pool;      /* of its stream */
  tt_dmem *left, *right;   /* neighbours in the segment */
  tt_dmem *above, *below;  /* first blocks: the segments before and after in the cache's list */
  tt_dmem *before, *after; /* FREE, WAITS, DEAD: in their list */
  tt_dmem_use *uses;       /* `own` first */
  tt_dmem_use own;         /* most blocks have no more than one */
};

/* The free blocks of one stream: lists by size, one set for small segments, one for large. */
struct tt_dmem_pool {
  tt_stream *stream;
  tt_dmem *bin[2][TT_CACHE_BINS];
  uint64_t full[2][TT_CACHE_BINS / 64]; /* a bit for each list that is not empty */
  tt_dmem_pool *next;
};

typedef struct tt_cache {
  tt_device *device;
  tt_dmem_pool *pools;
  tt_dmem *segments;           /* their first blocks */
  tt_dmem *waits, *waits_last; /* oldest first */
  tt_dmem *dead;
  struct tt_pinned_block *pinned; /* free pinned memory, linked through itself */
  tt_dmem_stats stats;
  bool poison;
  bool plain; /* TUTTI_CHECK: each block is the driver's own, given back at once, so that tools see its bounds */
} tt_cache;

static inline tt_cache *tt__cache_of(tt_device *d) { return d->cache; }

/* One lock for the caches of all devices, so that fork has one to take. */
TT_HIDDEN extern tt_lock tt__cache_lock;

/* (pinned.c) Give all free pinned memory back. Lock held. */
TT_HIDDEN void tt__pinned_trim(tt_cache *c);
/* Adds what is kept to the figures. */
TT_HIDDEN void tt__pinned_count(const tt_cache *c, tt_dmem_stats *s);

#endif
