/* See byte_copy.h. */
#include "device/cpu/byte_copy.h"

/* One element loaded and stored as it is. */
static bool only_copies(const tt_kernel *k) {
  if (k->mode != TT_MODE_MAP || k->serial || k->checked || k->ninst != 2 || k->naxes < 1) return false;
  const tt_kinst *load = &k->inst[0], *store = &k->inst[1];
  if (load->op != TT_K_LOAD || store->op != TT_K_STORE || store->src[0] != 0) return false;
  const tt_kaccess *a = &k->access[load->slot], *b = &k->access[store->slot];
  return a->buf >= 0 && b->buf >= 0 && a->dtype == b->dtype;
}

bool tt__byte_copy_of(const tt_kernel *k, const tt_kargs *args, tt_byte_copy *out) {
  if (!only_copies(k)) return false;
  out->is_turn = tt__turn_of(k, args, &out->turn);
  return out->is_turn || tt__short_runs_of(k, args, &out->runs);
}

void tt__byte_copy_run(const tt_byte_copy *m, int64_t lo, int64_t hi) {
  if (m->is_turn)
    tt__turn_run(&m->turn, lo, hi);
  else
    tt__short_runs_run(&m->runs, lo, hi);
}

int64_t tt__byte_copy_pieces(const tt_byte_copy *m) { return m->is_turn ? m->turn.pieces : m->runs.pieces; }

int64_t tt__byte_copy_points(const tt_byte_copy *m) {
  return m->is_turn ? tt__turn_points(&m->turn) : tt__short_runs_points(&m->runs);
}
