/*
** A list of blocks, newest first; only the newest has room. Big requests get a
** block of their own, so a large table does not waste the tail of the head.
*/
#include "base/arena.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

typedef struct tt_arena_block {
  struct tt_arena_block *next;
  size_t size;
  _Alignas(16) char data[];
} tt_arena_block;

enum { FIRST = 4096 - sizeof(tt_arena_block), LARGEST = 1 << 18 };

static tt_arena_block *new_block(size_t size) {
  if (size > PTRDIFF_MAX - sizeof(tt_arena_block)) return NULL;
  tt_arena_block *b = tt__mem_alloc(sizeof *b + size);
  if (b) *b = (tt_arena_block){.size = size};
  return b;
}

void *tt__arena_alloc(tt_arena *a, size_t size) {
  if (size > PTRDIFF_MAX - 16) return NULL;
  size = size ? (size + 15) & ~(size_t)15 : 16;
  assert(a->used <= a->cap);
  if (size > a->cap - a->used) {
    size_t grow = a->head ? a->head->size * 2 : FIRST;
    if (grow > LARGEST) grow = LARGEST;
    bool alone = a->head && size > grow / 2;
    if (grow < size || alone) grow = size;
    tt_arena_block *b = new_block(grow);
    if (!b) return NULL;
    if (alone) { /* behind the head, which keeps its free tail */
      b->next = a->head->next;
      a->head->next = b;
      return memset(b->data, 0, size);
    }
    b->next = a->head;
    a->head = b;
    a->used = 0;
    a->cap = grow;
  }
  void *p = a->head->data + a->used;
  a->used += size;
  return memset(p, 0, size);
}

void *tt__arena_dup(tt_arena *a, const void *p, size_t size) {
  void *copy = tt__arena_alloc(a, size);
  if (copy && size) memcpy(copy, p, size);
  return copy;
}

void tt__arena_free(tt_arena *a) {
  for (tt_arena_block *b = a->head, *next; b; b = next) {
    next = b->next;
    tt__mem_free(b, sizeof *b + b->size);
  }
  *a = (tt_arena){0};
}
