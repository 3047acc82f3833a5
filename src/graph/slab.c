/*
** Cells in chunks. Each cell is preceded by a pointer to its chunk, so a chunk knows when
** its last cell came back and can go too: one empty chunk a class is kept, no more.
** Under AddressSanitizer every cell is the system's, so that a use after its end is seen.
** It must not know what lies in a cell.
**
** Invariants of a class:
**   1. its list holds exactly the chunks with a free cell
**   2. a chunk's `used` counts the cells that are out
*/
#include "graph/slab.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "graph/session.h"

enum { GRAIN = 32, CLASSES = 16, CHUNK = 16 << 10, HEADER = 16 };

typedef struct cell cell;
typedef struct chunk chunk;
struct cell {
  chunk *home;
  cell *next; /* free cells of the chunk; the user's bytes start at HEADER, after this word is dead */
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
  chunk *list;
  int empty; /* chunks of the list with used == 0 */
} class_list;

static class_list classes[CLASSES];
static int64_t slack; /* bytes of chunks that are in no cell handed out */

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

void *tt__slab_alloc(size_t size) {
  if (size == 0 || tt__fault(TT_FAULT_MEMORY)) return NULL;
  int64_t cls = (int64_t)((size - 1) / GRAIN);
  if (!TT_MEM_KEEPS || cls >= CLASSES) return tt__mem_alloc(size);
  assert(tt__session_is_held());
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

void tt__slab_free(void *p, size_t size) {
  if (!p) return;
  assert(tt__session_is_held() && size > 0);
  if (!TT_MEM_KEEPS || (size - 1) / GRAIN >= CLASSES) {
    tt__mem_free(p, size);
    return;
  }
  if (tt__mem_poisons) memset(p, TT_MEM_POISON, size);
  cell *e = (cell *)((char *)p - HEADER);
  chunk *k = e->home;
  class_list *c = &classes[k->cls];
  assert(k->cls == (int64_t)((size - 1) / GRAIN) && k->used > 0);
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

void tt__slab_trim(void) {
  for (int i = 0; i < CLASSES; i++) {
    class_list *c = &classes[i];
    for (chunk *k = c->list, *next; k; k = next) {
      next = k->next;
      if (k->used > 0) continue;
      unlink_chunk(c, k);
      free_chunk(k);
    }
    c->empty = 0;
  }
}

int64_t tt__slab_slack(void) { return slack; }
