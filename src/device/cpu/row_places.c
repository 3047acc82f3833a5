/* See row_places.h. */
#include "device/cpu/row_places.h"

#include <assert.h>

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
  return out->find && out->row > 0 && out->row <= TT_CHUNK; /* more of one row are for several threads */
}

void tt__row_places_run(const tt_row_places *m, int64_t lo, int64_t hi) {
  const tt_kernel *k = m->kernel;
  const tt_kargs *a = m->args;
  const int64_t *step[2] = {a->step + (ptrdiff_t)LOADED * k->naxes, a->step + (ptrdiff_t)PLACED * k->naxes};
  size_t size = tt__dtype_size((tt_dtype)k->access[LOADED].dtype);
  assert(lo >= 0 && lo <= hi);
  int last = k->nouter - 1;
  int64_t along = last < 0 ? 1 : a->len[last];
  while (lo < hi) {
    int64_t at[2] = {a->off[LOADED], a->off[PLACED]}, run = along - lo % along, rest = lo;
    if (run > hi - lo) run = hi - lo;
    for (int d = last; d >= 0; rest /= a->len[d--])
      for (int s = 0; s < 2; s++) at[s] += rest % a->len[d] * step[s][d];
    const char *from = (const char *)a->buf[k->access[LOADED].buf] + at[LOADED] * (int64_t)size;
    int64_t *to = (int64_t *)a->buf[k->access[PLACED].buf] + at[PLACED];
    m->find(to, last < 0 ? 1 : step[PLACED][last], from, last < 0 ? 0 : step[LOADED][last], m->row, run);
    lo += run;
  }
}
