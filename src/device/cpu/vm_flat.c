/*
** Short lines: a block holds many whole lines, so that the cost of a step is paid once for all of
** them. Lines come in runs, along one axis; each access has an address per run. Maps are walked here,
** columns in vm_col.c.
*/
#include <assert.h>
#include <string.h>

#include "device/cpu/vm_int.h"

/* ---- runs to and from a block */

/*
** COPY_RUN copies `lines` lines of `lanes` elements. Constant small counts let the compiler unroll the
** lines that matter most: points in the plane and in space.
*/
#define COPY_LINES(L)                                   \
  for (int64_t j = 0; j < lines; j++, x += xl, y += yl) \
    for (int64_t l = 0; l < (L); l++) memcpy(x + l * xs, y + l * ys, sizeof(UNIT));

#define COPY_RUN(NAME, T)                                                                                 \
  static void NAME(char *x, int64_t xl, int64_t xs, const char *y, int64_t yl, int64_t ys, int64_t lines, \
                   int64_t lanes) {                                                                       \
    typedef T UNIT;                                                                                       \
    switch (lanes) {                                                                                      \
      case 1:                                                                                             \
        COPY_LINES(1) break;                                                                              \
      case 2:                                                                                             \
        COPY_LINES(2) break;                                                                              \
      case 3:                                                                                             \
        COPY_LINES(3) break;                                                                              \
      case 4:                                                                                             \
        COPY_LINES(4) break;                                                                              \
      default:                                                                                            \
        COPY_LINES(lanes)                                                                                 \
    }                                                                                                     \
  }
COPY_RUN(copy_1, uint8_t)
COPY_RUN(copy_2, uint16_t)
COPY_RUN(copy_4, uint32_t)
COPY_RUN(copy_8, uint64_t)

typedef void (*copy_run)(char *x, int64_t xl, int64_t xs, const char *y, int64_t yl, int64_t ys, int64_t lines,
                         int64_t lanes);
static const copy_run copies[4] = {copy_1, copy_2, copy_4, copy_8};

/* Bytes from a line to the next one of a run. */
static int64_t line_step(const tt_vm_space *w, const tt_vm_access *a) {
  int32_t n = (int32_t)(a - w->p->access);
  return w->step[n * w->p->naxes + w->runs.axis];
}

bool tt__vm_runs_dense(const tt_vm_space *w, const tt_vm_access *a) {
  const tt_vm_cursor *c = &w->cursor[a - w->p->access];
  int64_t size = (int64_t)1 << a->shift, lanes = w->runs.lanes;
  if (a->half || a->copy || w->runs.n != 1) return false;
  return (lanes == 1 || c->lane == size) && (w->runs.lines[0] == 1 || line_step(w, a) == lanes * size);
}

void tt__vm_repeat_line(char *out, int64_t line, int64_t lines) {
  assert(line >= 0 && lines >= 1);
  int64_t done = line, all = line * lines;
  while (done < all) { /* doubling beats copying line by line */
    int64_t n = done < all - done ? done : all - done;
    memcpy(out + done, out, (size_t)n);
    done += n;
  }
}

enum { LONG_ENOUGH = 8 }; /* lanes from which a call per line pays */

static void gather_run(const tt_vm_space *w, const tt_vm_access *a, char *out, int64_t at, int64_t lines) {
  const tt_vm_cursor *c = &w->cursor[a - w->p->access];
  const tt_vm_table *t = w->p->table;
  int64_t size = (int64_t)1 << a->shift, lanes = w->runs.lanes, below = line_step(w, a);
  const char *from = (const char *)(intptr_t)at;
  if (below == lanes * c->lane) {
    if (c->lane == size)
      memcpy(out, from, (size_t)(lines * lanes * size));
    else
      t->load[a->shift](out, from, c->lane >> a->shift, lines * lanes);
  } else if (lanes == 1) {
    t->load[a->shift](out, from, below >> a->shift, lines);
  } else if (below == 0 && c->lane == size) {
    memcpy(out, from, (size_t)(lanes * size));
    tt__vm_repeat_line(out, lanes * size, lines);
  } else if (lanes < LONG_ENOUGH) {
    copies[a->shift](out, lanes * size, size, from, below, c->lane, lines, lanes);
  } else if (c->lane == size) {
    for (int64_t j = 0; j < lines; j++) memcpy(out + j * lanes * size, from + j * below, (size_t)(lanes * size));
  } else {
    for (int64_t j = 0; j < lines; j++)
      t->load[a->shift](out + j * lanes * size, from + j * below, c->lane >> a->shift, lanes);
  }
}

static void scatter_run(const tt_vm_space *w, const tt_vm_access *a, const char *from, int64_t at, int64_t lines) {
  const tt_vm_cursor *c = &w->cursor[a - w->p->access];
  int64_t size = (int64_t)1 << a->shift, lanes = w->runs.lanes, below = line_step(w, a);
  char *to = (char *)(intptr_t)at;
  if (below == lanes * c->lane && c->lane == size) {
    if (to != from) memmove(to, from, (size_t)(lines * lanes * size));
  } else if (lanes == 1) {
    w->p->table->store[a->shift](to, below >> a->shift, from, lines);
  } else if (lanes >= LONG_ENOUGH && c->lane == size) {
    for (int64_t j = 0; j < lines; j++) memcpy(to + j * below, from + j * lanes * size, (size_t)(lanes * size));
  } else {
    copies[a->shift](to, below, c->lane, from, lanes * size, size, lines, lanes);
  }
}

static void range_run(const tt_vm_space *w, const tt_vm_access *a, int64_t *out, int64_t at, int64_t lines) {
  const tt_vm_cursor *c = &w->cursor[a - w->p->access];
  int64_t lanes = w->runs.lanes, below = line_step(w, a);
  if (below == lanes * c->lane) {
    w->p->table->iota(out, at, c->lane, lines * lanes);
    return;
  }
  for (int64_t j = 0; j < lines; j++)
    for (int64_t l = 0; l < lanes; l++) *out++ = at + j * below + l * c->lane;
}

void tt__vm_load_runs(tt_vm_space *w, const tt_vm_step *s, const tt_vm_access *a) {
  assert(w->runs.n >= 1 && w->runs.n <= TT_VM_RUN_MAX);
  const int64_t *at = w->run_at + (int64_t)s->access * TT_VM_RUN_MAX;
  if (a->buf >= 0 && tt__vm_runs_dense(w, a)) {
    w->ptr[s->out] = (void *)(intptr_t)at[0];
    return;
  }
  if (!s->aimed) w->ptr[s->out] = tt__vm_reg(w, s->out);
  char *out = a->half ? w->temp : w->ptr[s->out];
  int64_t points = 0;
  for (int32_t r = 0; r < w->runs.n; r++) {
    if (a->buf == -1)
      range_run(w, a, (int64_t *)(void *)out + points, at[r], w->runs.lines[r]);
    else
      gather_run(w, a, out + (points << a->shift), at[r], w->runs.lines[r]);
    points += (int64_t)w->runs.lines[r] * w->runs.lanes;
  }
  if (a->half) w->p->table->cast[a->dtype][TT_F32](w->ptr[s->out], w->temp, NULL, NULL, points);
}

void tt__vm_store_runs(tt_vm_space *w, const tt_vm_step *s, const tt_vm_access *a) {
  assert(w->runs.n >= 1 && w->runs.n <= TT_VM_RUN_MAX);
  const int64_t *at = w->run_at + (int64_t)s->access * TT_VM_RUN_MAX;
  const char *from = w->ptr[s->src[0]];
  int64_t points = 0;
  if (a->half) {
    for (int32_t r = 0; r < w->runs.n; r++) points += (int64_t)w->runs.lines[r] * w->runs.lanes;
    w->p->table->cast[TT_F32][a->dtype](w->temp, from, NULL, NULL, points);
    from = w->temp;
    points = 0;
  }
  for (int32_t r = 0; r < w->runs.n; r++) {
    scatter_run(w, a, from + (points << a->shift), at[r], w->runs.lines[r]);
    points += (int64_t)w->runs.lines[r] * w->runs.lanes;
  }
}

/* ---- the walk */

/* Move all bases `lines` lines on along the axis above the lane; they stay within it or reach its end. */
static void advance(tt_vm_space *w, int axis, int64_t lines) {
  const tt_vm_program *p = w->p;
  w->index[axis] += lines - 1;
  for (int32_t a = 0; a < p->naccess; a++) w->cursor[a].base += (lines - 1) * w->step[a * p->naxes + axis];
  tt__vm_next_outer(w, axis + 1);
}

/* Collect runs for one block from point `q` on; returns the lines in it. */
static int64_t collect(tt_vm_space *w, int64_t left, int64_t most) {
  const tt_vm_program *p = w->p;
  int axis = p->naxes - 2;
  int64_t lines = 0;
  w->runs.n = 0;
  while (left > 0 && lines < most && w->runs.n < TT_VM_RUN_MAX) {
    int64_t n = w->args->len[axis] - w->index[axis];
    if (n > left) n = left;
    if (n > most - lines) n = most - lines;
    for (int32_t a = 0; a < p->naccess; a++) w->run_at[a * TT_VM_RUN_MAX + w->runs.n] = w->cursor[a].base;
    w->runs.lines[w->runs.n++] = (int32_t)n;
    lines += n;
    left -= n;
    if (left > 0) advance(w, axis, n);
  }
  return lines;
}

void tt__vm_run_flat(tt_vm_space *w, const tt_krange *r) {
  assert(r->lane_hi - r->lane_lo <= w->p->block);
  assert(r->lane_lo < r->lane_hi);
  const tt_vm_program *p = w->p;
  int64_t lanes = r->lane_hi - r->lane_lo, most = p->block / lanes;
  w->runs.lanes = (int32_t)lanes;
  w->runs.axis = p->naxes - 2;
  for (int32_t a = 0; a < p->naccess; a++) {
    w->cursor[a].how = TT_VM_RUNS;
    w->cursor[a].base += r->lane_lo * w->cursor[a].lane;
  }
  tt__vm_seek_outer(w, p->naxes - 1, r->lo);
  for (int64_t q = r->lo; q < r->hi;) {
    int64_t lines = collect(w, r->hi - q, most);
    tt__vm_block(w, &p->row[0], lines * lanes);
    q += lines;
  }
}
