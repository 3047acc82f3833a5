/*
** A ring of bytes in memory that two processes have mapped: one writes messages, the other reads them. It knows no
** process: who sleeps is said by a word in it, waking is the caller's.
*/
#ifndef TT_PARALLEL_RING_H
#define TT_PARALLEL_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tutti/parallel.h"

/*
** The words of a ring. Invariants: read <= written <= read + TT_RING_BYTES, both multiples of TT_RING_GRAIN; the bytes
** between them are whole messages. Only the writer moves `written`, only the reader `read`.
*/
typedef struct tt_ring {
  _Alignas(64) _Atomic uint64_t written;
  _Atomic uint32_t writer_sleeps;
  _Alignas(64) _Atomic uint64_t read;
  _Atomic uint32_t reader_sleeps;
} tt_ring;

enum { TT_RING_BYTES = 4 * TT_LINE_MOST, TT_RING_GRAIN = 16 };

/* One end: the words, and the bytes that they speak of. */
typedef struct tt_ring_end {
  tt_ring *ring;
  char *data;
} tt_ring_end;

/* False: there is no room for it now. A message is at most TT_LINE_MOST long. */
TT_HIDDEN bool tt__ring_put(tt_ring_end e, uint32_t tag, uint32_t fds, const tt_bytes *piece, int n);
/* The message that is there; false: none. A ring whose words contradict each other has none, and *broken says so. */
TT_HIDDEN bool tt__ring_peek(tt_ring_end e, tt_message *out, bool *broken);
/* Copy out the message that peek has found, and free its place. */
TT_HIDDEN void tt__ring_take(tt_ring_end e, void *data);

static inline bool tt__ring_empty(tt_ring_end e) {
  return atomic_load(&e.ring->written) == atomic_load_explicit(&e.ring->read, memory_order_relaxed);
}

#endif
