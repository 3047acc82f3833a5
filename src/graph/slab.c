/*
** Cells in chunks. Each cell is preceded by a pointer to its chunk, so a chunk knows when
** its last cell came back and can go too: one empty chunk a class is kept, no more.
** What comes back waits in a list of its class first, up to WAITING_BYTES, and is handed out again without a look at
** its chunk: a step of training takes and gives back thousands of cells, always the same.
** Under AddressSanitizer every cell is the system's, so that a use after its end is seen.
** It must not know what lies in a cell.
**
** Invariants of a class:
**   1. its list holds exactly the chunks with a free cell
**   2. a chunk's `used` counts the cells that are out or wait
*/
#include "graph/slab.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "graph/session.h"

enum { GRAIN = 32, CLASSES = 16, CHUNK = 16 << 10, HEADER = 16, WAITING_BYTES = 256 << 10 };

typedef struct cell cell;
typedef struct chunk chunk;
struct cell {
  chunk *home;
  cell *next; /* of free cells; the user's bytes start at HEADER, after this word is dead */
};
struct chunk {
  chunk *prev, *next; /* of its class, chunks with free cells */
  cell *free;
  int32_t used;
  int32_t fresh; /* cells never handed out: the last ones */
  int64_t cls;
};
_Static_assert(sizeof(cell) == HEADER, "a cell's header keeps the alignment");

typedef struct class_list {
  cell *waiting;
  int32_t kept; /* cells that wait */
  int empty;    /* chunks of the list with used == 0 */
  chunk *list;
} class_list;

static class_list classes[CLASSES];
static int64_t slack; /* bytes of chunks that are in no cell that is out or waits */

static size_t cell_size(int64_t cls) { return HEADER + (size_t)(cls + 1) * GRAIN; }
static int32_t cells_of(int64_t cls) { return (int32_t)((CHUNK - sizeof(chunk)) / cell_size(cls)); }

static void link_chunk(class_list *c, chunk *k) {
  assert(c->list != k && (!c->list || !c->list->prev));
  k->prev = NULL;
  k->next = c->list;
  if (c->list) c->list->prev = k;
  c->list = k;
}

static void unlink_chunk(class_list *c, chunk *k) {
  assert(!k->next || k->next->prev == k);
  assert(k->prev ? k->prev->next == k : c->list == k);
  *(k->prev ? &k->prev->next : &c->list) = k->next;
  if (k->next) k->next->prev = k->prev;
}

static void free_chunk(chunk *k) {
  assert(k->used == 0 && slack >= CHUNK);
  slack -= CHUNK;
  tt__mem_free(k, CHUNK);
}

static chunk *chunk_new(int64_t cls) {
  assert(cls >= 0 && cls < CLASSES);
  chunk *k = tt__mem_alloc(CHUNK);
  if (!k) return NULL;
  *k = (chunk){.fresh = cells_of(cls), .cls = cls};
  link_chunk(&classes[cls], k);
  classes[cls].empty++;
  slack += CHUNK;
  return k;
}

/* Out of a chunk. Seldom: the way that is often taken saves no registers for it. */
__attribute__((noinline)) static void *take_cell(int64_t cls) {
  class_list *c = &classes[cls];
  chunk *k = c->list ? c->list : chunk_new(cls);
  if (!k) return NULL;
  cell *e = k->free;
  if (e) {
    k->free = e->next;
  } else {
    assert(k->fresh > 0);
    e = (cell *)((char *)(k + 1) + (size_t)(--k->fresh) * cell_size(cls));
    e->home = k;
  }
  if (k->used++ == 0) c->empty--;
  slack -= (int64_t)cell_size(cls);
  if (!k->free && k->fresh == 0) unlink_chunk(c, k);
  return (char *)e + HEADER;
}

static void give_cell(cell *e) {
  chunk *k = e->home;
  class_list *c = &classes[k->cls];
  assert(k->used > 0);
  if (!k->free && k->fresh == 0) link_chunk(c, k);
  e->next = k->free;
  k->free = e;
  slack += (int64_t)cell_size(k->cls);
  if (--k->used > 0) return;
  if (c->empty > 0) {
    unlink_chunk(c, k);
    free_chunk(k);
  } else {
    c->empty = 1;
  }
}

/* Give those that wait back to their chunks, but for the `most` that came last. */
__attribute__((noinline)) static void give_waiting(class_list *c, int32_t most) {
  cell **at = &c->waiting;
  for (int32_t n = 0; n < most && *at; n++) at = &(*at)->next;
  for (cell *e = *at, *next; e; e = next, c->kept--) {
    next = e->next;
    give_cell(e);
  }
  *at = NULL;
}

void *tt__slab_alloc(size_t size) {
  if (size == 0 || tt__fault(TT_FAULT_MEMORY)) return NULL;
  int64_t cls = (int64_t)((size - 1) / GRAIN);
  if (!TT_MEM_KEEPS || cls >= CLASSES) return tt__mem_alloc(size);
  assert(tt__session_is_held());
  class_list *c = &classes[cls];
  cell *e = c->waiting;
  if (!e) return take_cell(cls);
  c->waiting = e->next;
  c->kept--;
  return (char *)e + HEADER;
}

void tt__slab_free(void *p, size_t size) {
  if (!p) return;
  assert(tt__session_is_held() && size > 0);
  int64_t cls = (int64_t)((size - 1) / GRAIN);
  if (!TT_MEM_KEEPS || cls >= CLASSES) {
    tt__mem_free(p, size);
    return;
  }
  if (tt__mem_poisons) memset(p, TT_MEM_POISON, size);
  cell *e = (cell *)((char *)p - HEADER);
  class_list *c = &classes[cls];
  assert(e->home->cls == cls);
  e->next = c->waiting;
  c->waiting = e;
  if ((size_t)++c->kept * cell_size(cls) > WAITING_BYTES) give_waiting(c, c->kept / 2);
}

void tt__slab_trim(void) {
  for (int i = 0; i < CLASSES; i++) {
    class_list *c = &classes[i];
    give_waiting(c, 0);
    for (chunk *k = c->list, *next; k; k = next) {
      next = k->next;
      if (k->used > 0) continue;
      unlink_chunk(c, k);
      free_chunk(k);
    }
    c->empty = 0;
  }
}

int64_t tt__slab_slack(void) {
  int64_t bytes = slack;
  for (int64_t i = 0; i < CLASSES; i++) bytes += classes[i].kept * (int64_t)cell_size(i);
  return bytes;
}
