/*
** How maps, and what scatters, are cut into threads: vectors, squares for transposes, blocks.
*/
#include "render/gpu/schedule.h"

enum {
  TILE = 32,
  MAP_BLOCK = 256,
  SPECULATE_BLOCK = 128, /* ORDER MEND: threads.c, put_bounds */
};

/* Lanes that fill 16 bytes of the widest type, if all that is dense is aligned for them. */
static int map_vector(const tt_cutter *c) {
  const tt_kernel *k = c->k;
  int vec = c->biggest > 1 ? 16 / c->biggest : 16, unit = 0;
  if (k->checked || k->serial || c->reloads || c->x.lanes < 32 * vec) return 1;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if ((q->op != TT_K_LOAD && q->op != TT_K_STORE) || k->access[q->slot].lane != TT_LANE_UNIT) continue;
    if (!tt__cut_is_aligned(c, q->slot, vec)) return 1;
    unit++;
  }
  return unit ? vec : 1;
}

/* ---- maps whose operands lie apart: slices that begin anywhere */

/* Do accesses walk the same buffer with the same steps? */
static bool walk_alike(const tt_cutter *c, int a, int b) {
  if (c->k->access[a].buf != c->k->access[b].buf) return false;
  for (int x = 0; x < c->k->naxes - 1; x++)
    if (c->l->len[x] > 1 && c->l->step[a * c->k->naxes + x] != c->l->step[b * c->k->naxes + x]) return false;
  return true;
}

/* Elements by which access `a` begins behind an aligned vector, the same at all outer points; -1: they differ. */
static int phase_of(const tt_cutter *c, int a, int vec) {
  if (c->align[c->k->access[a].buf] % 16 != 0) return -1;
  for (int x = 0; x < c->k->naxes - 1; x++)
    if (c->l->len[x] > 1 && c->l->step[a * c->k->naxes + x] % vec != 0) return -1;
  return (int)((c->l->off[a] % vec + vec) % vec);
}

/* Does the aligned vector of the last element of access `a` lie in its buffer? */
static bool ends_inside(const tt_cutter *c, int a, int vec) {
  int64_t last = c->l->off[a] + c->x.lanes - 1;
  for (int x = 0; x < c->k->naxes - 1; x++) {
    int64_t step = c->l->step[a * c->k->naxes + x];
    if (step > 0) last += (c->l->len[x] - 1) * step;
  }
  return c->buf_len && tt__turns(last + 1, vec) <= c->buf_len[c->k->access[a].buf];
}

/* A load that is not aligned: beside one of the same buffer that is, or by two vectors. */
static bool set_beside(const tt_cutter *c, tt_variant *v, int a, const int *phase, int vec) {
  for (int b = 0; b < c->k->naccess; b++) {
    if (phase[b] != v->shift || c->k->access[b].write || !walk_alike(c, a, b)) continue;
    int64_t by = c->l->off[a] - c->l->off[b];
    if (by <= -vec || by >= vec) continue;
    v->with[a] = (uint8_t)(1 + b);
    v->by[a] = (int8_t)by;
    return true;
  }
  v->with[a] = TT_APART_SELF;
  v->by[a] = (int8_t)((phase[a] - v->shift + vec) % vec);
  return ends_inside(c, a, vec);
}

/* Vectors where stores are aligned all alike, some lanes before the first. How many lanes; 1: no gain, or not so. */
static int apart_vector(const tt_cutter *c, tt_variant *v) {
  const tt_kernel *k = c->k;
  int vec = 16 / c->biggest, phase[TT_MOST_APART], store = -1;
  if (k->checked || k->serial || c->reloads || k->naccess > TT_MOST_APART || c->loads > 10) return 1;
  if (c->x.lanes < 32 * vec || tt__cut_points(c, 1) < (int64_t)c->t->units * 1024 * vec) return 1;
  for (int a = 0; a < k->naccess; a++) phase[a] = -1;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if ((q->op != TT_K_LOAD && q->op != TT_K_STORE) || k->access[q->slot].lane != TT_LANE_UNIT) continue;
    if ((int)tt__dtype_size((tt_dtype)k->access[q->slot].dtype) != c->biggest) return 1;
    phase[q->slot] = phase_of(c, q->slot, vec);
    if (phase[q->slot] < 0) return 1;
    if (q->op == TT_K_LOAD) continue;
    if (store >= 0 && phase[store] != phase[q->slot]) return 1;
    store = q->slot;
  }
  if (store < 0) return 1;
  v->apart = 1;
  v->shift = (uint8_t)phase[store];
  for (int a = 0; a < k->naccess; a++)
    if (phase[a] >= 0 && phase[a] != v->shift && !set_beside(c, v, a, phase, vec)) {
      *v = (tt_variant){.vec = 1};
      return 1;
    }
  return vec;
}

/* The outer axis along which loads are dense that are not so along the lane; -1: none, or no gain. */
static int tile_axis(const tt_cutter *c) {
  const tt_kernel *k = c->k;
  int axis = -1, squares = 0;
  if (k->checked || k->serial || c->reloads || c->x.lanes < TILE / 2) return -1;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op != TT_K_LOAD || k->access[q->slot].buf < 0 || k->access[q->slot].lane != TT_LANE_ANY) continue;
    const int64_t *step = c->l->step + q->slot * k->naxes;
    int64_t lane = step[k->naxes - 1];
    squares++;
    for (int x = 0; x < k->naxes - 1; x++)
      if ((step[x] == 1 || step[x] == -1) && (lane >= 4 || lane <= -4) && c->l->len[x] >= TILE / 2) axis = x;
  }
  return squares <= 4 ? axis : -1;
}

/* Wide squares have longer runs, if shared memory holds several of them. */
static int tile_side(const tt_cutter *c, int axis) {
  const tt_kernel *k = c->k;
  size_t size = 0;
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_LOAD && k->access[k->inst[i].slot].lane == TT_LANE_ANY)
      size += tt__dtype_size((tt_dtype)k->access[k->inst[i].slot].dtype);
  return size <= 8 && c->l->len[axis] >= 256 && c->x.lanes >= 256 && c->loads <= 3 ? 2 * TILE : TILE;
}

/* Do all loads and stores go by four elements of 4 bytes, squares along their axis, everything else along the lane? */
static bool by_four(const tt_cutter *c, int axis) {
  const tt_kernel *k = c->k;
  int lane = k->naxes - 1;
  if (c->x.lanes % 4 != 0 || c->l->len[axis] % 4 != 0) return false;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op == TT_K_LOADX) return false;
    if ((q->op != TT_K_LOAD && q->op != TT_K_STORE) || k->access[q->slot].buf < 0) continue;
    const tt_kaccess *a = &k->access[q->slot];
    const int64_t *step = c->l->step + q->slot * k->naxes;
    int along = q->op == TT_K_LOAD && a->lane == TT_LANE_ANY ? axis : lane;
    if (tt__dtype_size((tt_dtype)a->dtype) != 4 || c->align[a->buf] % 16 != 0 || c->l->off[q->slot] % 4 != 0)
      return false;
    if (step[along] != 1 || (along == lane && a->lane != TT_LANE_UNIT)) return false;
    for (int x = 0; x < k->naxes; x++)
      if (x != along && c->l->len[x] > 1 && step[x] % 4 != 0) return false;
  }
  return true;
}

static void cut_tiled(const tt_cutter *c, tt_pass *p, int axis) {
  int side = tile_side(c, axis);
  int64_t len = c->l->len[axis], squares = c->x.outer / len * tt__turns(len, side);
  p->variant.tiled = (uint8_t)(1 + axis);
  p->variant.vec = (uint8_t)side;
  p->variant.unroll = side == 2 * TILE && by_four(c, axis) ? 4 : 1;
  p->grid.block[0] = (uint32_t)side;
  p->grid.block[1] = (uint32_t)(MAP_BLOCK / side);
  p->grid.grid[0] = (uint32_t)tt__turns(c->x.lanes, side);
  p->grid.grid[1] = (uint32_t)tt__at_most(squares, tt__at_most(c->t->grid_max[1], 65535));
}

/* Are near forms worth a second text for what is far? Kernels that gather or scatter do all in one order. */
static bool may_speculate(const tt_kernel *k) {
  int near = 0;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op == TT_K_LOADX || q->op == TT_K_STOREX) return false;
    near += q->scope == TT_SCOPE_ROW && tt__emit_has_near(q);
  }
  return near > 1 && tt__render_scalar_text(k) != TT_SCALAR_PLAIN;
}

void tt__cut_map(tt_cutter *c, tt_pass *p) {
  tt_variant *v = &p->variant;
  int axis = tile_axis(c);
  if (axis >= 0) {
    cut_tiled(c, p, axis);
    return;
  }
  int64_t lanes = c->x.lanes, outer = c->x.outer;
  bool alone = c->t->warp == 1; /* the device's compiler makes vectors of threads, if each has one lane and no loop */
  int vec = alone ? 1 : map_vector(c);
  if (vec == 1 && !alone) vec = apart_vector(c, v);
  /* Vectors that leave units without work are not worth their text: it takes the compiler a time for each lane. */
  while (vec > 1 && tt__cut_points(c, 1) < (int64_t)c->t->units * 1024 * vec) vec = vec > 4 ? 4 : 1;
  int unroll = alone || vec > 1 || c->k->checked || c->reloads ? 1 : c->slow ? 2 : 4;
  while (unroll > 1 && (c->loads * unroll > 32 || outer * lanes < (int64_t)c->t->units * 1024 * unroll)) unroll /= 2;
  while (unroll > 1 && lanes < 32 * unroll) unroll /= 2;
  v->vec = (uint8_t)vec;
  v->unroll = (uint8_t)unroll;
  int64_t shift = vec == 1 && unroll > 1 ? tt__threads_shift(c->k, c->l) : 0;
  int64_t threads = v->apart  ? tt__turns(lanes + v->shift, vec)
                    : vec > 1 ? lanes / vec + lanes % vec /* the last lanes have a thread each */
                              : tt__turns(lanes + shift, unroll);
  v->drawn = !v->apart && tt__cut_shares_blocks(c, vec);
  v->speculates = c->t->warp > 1 && vec > 1 && !v->apart && outer == 1 && may_speculate(c->k);
  v->main_loop = v->speculates || (v->drawn && outer == 1);
  int block = alone ? c->t->block_threads : MAP_BLOCK; /* to begin one costs a processor as much as many lanes */
  int x = tt__cut_block_x(threads, (c->shares || axis >= 0) && outer >= 8 ? 32
                                   : v->speculates                        ? SPECULATE_BLOCK
                                                                          : block),
      y = block / x;
  y = (int)tt__at_most(y, (int64_t)1 << tt__log2_up(outer));
  v->block = (uint8_t)(unroll > 1 ? tt__log2_up(x) : 0);
  p->grid.block[0] = (uint32_t)x;
  p->grid.block[1] = (uint32_t)y;
  p->grid.grid[0] = (uint32_t)tt__turns(threads, x);
  p->grid.grid[1] = (uint32_t)tt__at_most(tt__turns(outer, y), tt__at_most(c->t->grid_max[1], 65535));
  /* Quick kernels do best without a loop; slow ones do many turns, so that what all lanes share is computed seldom. */
  v->once = (alone || !c->slow) && p->grid.grid[1] == tt__turns(outer, y);
  if (!c->slow || vec == 1 || outer != 1) return;
  p->grid.grid[0] = (uint32_t)tt__at_most(
      p->grid.grid[0], (int64_t)c->t->units * 32 * (v->speculates ? MAP_BLOCK / SPECULATE_BLOCK : 1));
}

/* ---- scatters */

/* The one buffer that is scattered into; -1 when there are several, or when it is read or stored to otherwise. */
static int scatter_buffer(const tt_kernel *k) {
  int buf = -1;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op != TT_K_STOREX) continue;
    if (buf >= 0 && buf != k->access[q->slot].buf) return -1;
    buf = k->access[q->slot].buf;
  }
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    bool other = q->op == TT_K_LOAD || q->op == TT_K_LOADX || q->op == TT_K_STORE;
    if (other && k->access[q->slot].buf == buf) return -1;
  }
  return buf;
}

tt_code tt__cut_scatter(tt_cutter *c, bool wide, tt_cut *out, tt_error *err) {
  int buf = scatter_buffer(c->k);
  if (c->k->mode != TT_MODE_MAP || buf < 0 || !c->buf_len)
    return tt__fail(err, TT_ENOTIMPL, "a kernel that scatters here has one order only");
  tt__cut_map(c, &out->pass[0]);
  for (int i = 0; i < 3; i++) {
    out->pass[i] = out->pass[0];
    out->pass[i].variant.scatter = (uint8_t)(TT_SCATTER_CLEAR + i);
  }
  out->npass = 3;
  out->work_bytes = ((size_t)c->buf_len[buf] * (wide ? 8 : 4) + 15) & ~(size_t)15;
  return TT_OK;
}
