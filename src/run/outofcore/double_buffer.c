/*
** What stores leave as it is; see double_buffer.h.
*/
#include "run/outofcore/double_buffer.h"

#include <assert.h>
#include <string.h>

#include "graph/session.h"

#define MOST 4 /* arrays that are swept in turns */

typedef struct border {
  uint64_t number; /* 0: none here */
  tt_device *device;
  tt_stream *stream;
  tt_stored stored;
  tt_dmem *block; /* memory that has it, or NULL */
  int age;        /* evaluations that ended since a store met it */
} border;

static border known[MOST];
static int nknown;
static uint64_t numbers;

static border *find(uint64_t number) {
  for (int i = 0; i < MOST && number && nknown; i++)
    if (known[i].number == number) return &known[i];
  return NULL;
}

static size_t free_block(border *b) {
  assert(!b->block || b->device);
  tt_dmem *block = b->block;
  b->block = NULL;
  if (!block) return 0;
  tt__dmem_free(b->device, block);
  return b->stored.size;
}

static void forget(border *b) {
  assert(nknown >= 0 && nknown <= MOST);
  nknown -= b->number != 0;
  b->number = 0;
  free_block(b);
}

static bool is_same(const tt_stored *a, const tt_stored *b) {
  size_t axes = sizeof *a->runs.len * (size_t)a->runs.rank;
  return a->size == b->size && a->item == b->item && a->runs.rank == b->runs.rank && a->runs.off == b->runs.off &&
         memcmp(a->runs.len, b->runs.len, axes) == 0 && memcmp(a->runs.step, b->runs.step, axes) == 0;
}

uint64_t tt__double_buffer_of(tt_device *d, tt_stream *s, const tt_buffer *base, const tt_stored *stored) {
  assert(tt__session_is_held() && stored->runs.rank >= 0 && stored->runs.rank <= TT_MAX_RANK);
  border *b = find(tt__resident_border(d, base));
  if (b && b->device == d && b->stream == s && is_same(&b->stored, stored)) {
    b->age = 0;
    return b->number;
  }
  b = &known[0];
  for (int i = 1; i < MOST && b->number; i++)
    if (!known[i].number || known[i].age > b->age) b = &known[i];
  forget(b);
  *b = (border){.number = ++numbers, .device = d, .stream = s, .stored = *stored};
  nknown++;
  tt__resident_set_border(d, base, b->number);
  return b->number;
}

tt_dmem *tt__double_buffer_take(uint64_t number) {
  assert(tt__session_is_held());
  border *b = find(number);
  tt_dmem *block = b ? b->block : NULL;
  if (!block) return NULL;
  b->block = NULL;
  TT_COUNT(borders_kept, 1);
  return block;
}

bool tt__double_buffer_keep(uint64_t number, tt_device *d, tt_stream *s, tt_dmem *block) {
  assert(block && tt__session_is_held());
  border *b = find(number);
  if (!b || b->block || b->device != d || b->stream != s) return false;
  b->block = block;
  return true;
}

size_t tt__double_buffer_drop(const tt_device *d) {
  size_t freed = 0;
  for (int i = 0; i < MOST; i++)
    if (known[i].device == d) freed += free_block(&known[i]);
  return freed;
}

void tt__double_buffer_age(void) {
  assert(nknown >= 0);
  for (int i = 0; i < MOST && nknown; i++)
    if (known[i].number && known[i].age++ > 0) forget(&known[i]);
}
