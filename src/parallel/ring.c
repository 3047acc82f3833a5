/* A ring of bytes between two processes; see ring.h. What lies in it was written by another process and is checked. */
#include "parallel/ring.h"

#include <assert.h>
#include <string.h>

typedef struct frame {
  uint32_t size, tag, fds, zero;
} frame;
_Static_assert(sizeof(frame) == TT_RING_GRAIN, "a frame's head is one grain");
_Static_assert((TT_RING_BYTES & (TT_RING_BYTES - 1)) == 0, "positions are taken modulo the ring");

static uint64_t frame_bytes(uint64_t size) {
  return sizeof(frame) + (size + TT_RING_GRAIN - 1) / TT_RING_GRAIN * TT_RING_GRAIN;
}

/* Bytes at a position, which may go over the ring's end. */
static void ring_write(tt_ring_end e, uint64_t at, const void *src, size_t size) {
  size_t begin = at & (TT_RING_BYTES - 1), first = TT_RING_BYTES - begin < size ? TT_RING_BYTES - begin : size;
  memcpy(e.data + begin, src, first);
  memcpy(e.data, (const char *)src + first, size - first);
}

static void ring_read(tt_ring_end e, uint64_t at, void *dst, size_t size) {
  size_t begin = at & (TT_RING_BYTES - 1), first = TT_RING_BYTES - begin < size ? TT_RING_BYTES - begin : size;
  memcpy(dst, e.data + begin, first);
  memcpy((char *)dst + first, e.data, size - first);
}

bool tt__ring_put(tt_ring_end e, uint32_t tag, uint32_t fds, const tt_bytes *piece, int n) {
  uint64_t size = 0, at = atomic_load_explicit(&e.ring->written, memory_order_relaxed);
  for (int k = 0; k < n; k++) size += piece[k].size;
  assert(size <= TT_LINE_MOST);
  if (at + frame_bytes(size) - atomic_load(&e.ring->read) > TT_RING_BYTES) return false;
  frame head = {(uint32_t)size, tag, fds, 0};
  ring_write(e, at, &head, sizeof head);
  uint64_t to = at + sizeof head;
  for (int k = 0; k < n; k++) {
    if (piece[k].size) ring_write(e, to, piece[k].data, piece[k].size);
    to += piece[k].size;
  }
  atomic_store(&e.ring->written, at + frame_bytes(size));
  return true;
}

bool tt__ring_peek(tt_ring_end e, tt_message *out, bool *broken) {
  uint64_t at = atomic_load_explicit(&e.ring->read, memory_order_relaxed);
  uint64_t there = atomic_load(&e.ring->written) - at;
  *broken = false;
  if (there == 0) return false;
  frame head = {0};
  if (there >= sizeof head) ring_read(e, at, &head, sizeof head);
  *broken = there > TT_RING_BYTES || there < frame_bytes(head.size) || head.size > TT_LINE_MOST ||
            head.fds > TT_LINE_DESCRIPTORS;
  if (*broken) return false;
  *out = (tt_message){head.size, head.tag, (int)head.fds};
  return true;
}

void tt__ring_take(tt_ring_end e, void *data) {
  uint64_t at = atomic_load_explicit(&e.ring->read, memory_order_relaxed);
  frame head;
  ring_read(e, at, &head, sizeof head);
  ring_read(e, at + sizeof head, data, head.size);
  atomic_store(&e.ring->read, at + frame_bytes(head.size));
}
