/* See row_places.h. */
#include "device/cpu/row_places.h"

#include <assert.h>
#include <string.h>

enum { LOADED, PLACED }; /* accesses */

/* The elements of a row, if they are neighbours; 0: they are not. */
static int64_t neighbours_of_row(const tt_kernel *k, const tt_kargs *args) {
  const int64_t *step = args->step + (ptrdiff_t)LOADED * k->naxes;
  int64_t n = 1;
  for (int d = k->naxes - 1; d >= k->nouter; n *= args->len[d--])
    if (args->len[d] > 1 && step[d] != n) return 0;
  return n;
}

/* A load, its arg-reduction and the store of the place. */
static bool only_finds(const tt_kernel *k) {
  if (k->mode != TT_MODE_ROW || k->serial || k->checked || k->nphase != 1 || k->ninst != 3 || k->naccess != 2)
    return false;
  const tt_kinst *load = &k->inst[0], *red = &k->inst[1], *store = &k->inst[2];
  if (load->op != TT_K_LOAD || red->op != TT_K_REDUCE || store->op != TT_K_STORE) return false;
  if (load->slot != LOADED || store->slot != PLACED || red->src[0] != 0 || store->src[0] != 1) return false;
  return tt__red_is_arg(red->red) && k->access[LOADED].buf >= 0 && k->access[PLACED].buf >= 0 &&
         k->access[LOADED].dtype == red->from && k->access[PLACED].dtype == TT_I64;
}

bool tt__row_places_of(const tt_kernel *k, const tt_kargs *args, tt_row_places *out) {
  if (!only_finds(k)) return false;
  const tt_vm_table *t = tt__vm_table();
  uint8_t red = k->inst[1].red;
  *out = (tt_row_places){.kernel = k, .args = args, .row = neighbours_of_row(k, args)};
  out->find = (red == TT_RED_ARGMAX ? t->place_max : t->place_min)[k->inst[1].from];
  return out->find && out->row > 0;
}

/* Where the outer point `at` of access `slot` lies, in elements. */
static int64_t offset_of(const tt_row_places *m, int slot, int64_t at) {
  const tt_kargs *a = m->args;
  const int64_t *step = a->step + (ptrdiff_t)slot * m->kernel->naxes;
  int64_t off = a->off[slot];
  for (int d = m->kernel->nouter - 1; d >= 0; at /= a->len[d--]) off += at % a->len[d] * step[d];
  return off;
}

static const char *row_at(const tt_row_places *m, int64_t point) {
  const tt_kernel *k = m->kernel;
  int64_t size = (int64_t)tt__dtype_size((tt_dtype)k->access[LOADED].dtype);
  return (const char *)m->args->buf[k->access[LOADED].buf] + offset_of(m, LOADED, point) * size;
}

static int64_t *place_at(const tt_row_places *m, int64_t point) {
  return (int64_t *)m->args->buf[m->kernel->access[PLACED].buf] + offset_of(m, PLACED, point);
}

void tt__row_places_run(const tt_row_places *m, int64_t lo, int64_t hi) {
  const tt_kernel *k = m->kernel;
  const tt_kargs *a = m->args;
  int last = k->nouter - 1;
  int64_t along = last < 0 ? 1 : a->len[last];
  assert(lo >= 0 && lo <= hi);
  for (int64_t run; lo < hi; lo += run) {
    run = along - lo % along;
    if (run > hi - lo) run = hi - lo;
    m->find(place_at(m, lo), last < 0 ? 1 : a->step[(ptrdiff_t)PLACED * k->naxes + last], row_at(m, lo),
            last < 0 ? 0 : a->step[(ptrdiff_t)LOADED * k->naxes + last], m->row, run);
  }
}

int64_t tt__row_places_piece(const tt_row_places *m, int64_t point, int64_t from, int64_t to) {
  size_t size = tt__dtype_size((tt_dtype)m->kernel->access[LOADED].dtype);
  int64_t place;
  assert(from >= 0 && from < to && to <= m->row);
  m->find(&place, 1, row_at(m, point) + (size_t)from * size, 0, to - from, 1);
  return from + place;
}

/* The one or the other of two places is that of the extremum of their elements, the first of equals. */
void tt__row_places_join(const tt_row_places *m, int64_t point, const int64_t *place, int64_t n) {
  size_t size = tt__dtype_size((tt_dtype)m->kernel->access[LOADED].dtype);
  const char *row = row_at(m, point);
  int64_t best = place[0];
  for (int64_t i = 1, second; i < n; i++) {
    _Alignas(8) char two[2 * sizeof(int64_t)];
    memcpy(two, row + (size_t)best * size, size);
    memcpy(two + size, row + (size_t)place[i] * size, size);
    m->find(&second, 1, two, 0, 2, 1);
    if (second) best = place[i];
  }
  *place_at(m, point) = best;
}
