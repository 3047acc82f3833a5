/*
** The text of decisions, and its check. The lines stand among those of a step:
**
**     place device 0 whole                               or: place host whole, place host fallback
**     move n3 host to device 0                           before it runs
**     place device 0 done                                by an earlier step
**     place device 0 epilogue step=1 epilogue=3 term=5 offset=0
**     place device 0 pieces windows=0 down=1 up_bytes=...
**       partition axis=0 len=1000 piece=256 folds=0 group=0 nbuf=1
**       part whole=0 write=0 first=-1 step=10 extent=12 red=0 dtype=11
**     place device 0 tiles ...                           its lengths, loops and sides
**     place device 0 runs ...                            of an external sort
**
** One description of each structure serves both directions: a field is printed or read by the same line.
*/
#include "ir/decision.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ir/library.h"
#include "ir/text/plan_text.h"

void tt__decisions_free(tt_decisions *d) {
  tt__arena_free(&d->arena);
  *d = (tt_decisions){0};
}

/* ---- fields: out is NULL while reading */

typedef struct fields {
  tt_str *out;
  tt_plan_text *in;
  bool good;
} fields;

static int64_t number(fields *f, const char *name, int64_t v, int64_t lo, int64_t hi) {
  char label[24];
  snprintf(label, sizeof label, "%s=", name);
  if (f->out)
    tt__str_addf(f->out, " %s%lld", label, (long long)v);
  else
    f->good = f->good && tt__text_number(f->in, label, lo, hi, &v);
  return v;
}

#define INT(x, lo, hi) ((x) = (__typeof__(x))number(f, field_name(#x), (int64_t)(x), lo, hi))
#define LONG(x) INT(x, INT64_MIN, INT64_MAX)
#define FLAG(x) INT(x, 0, 1)

/* The last word of an expression: `part` of `c->parts.part`. */
static const char *field_name(const char *expression) {
  const char *at = expression;
  for (const char *p = expression; *p; p++)
    if (*p == '.' || *p == '>') at = p + 1;
  return at;
}

/* A prediction, to the whole unit. */
static void whole_number(fields *f, const char *name, double *v) {
  const double most = 9e18;
  double x = *v < 0 ? 0 : *v > most ? most : *v;
  *v = (double)number(f, name, x == x ? (int64_t)(x + 0.5) : 0, 0, INT64_MAX);
}
#define REAL(x) whole_number(f, field_name(#x), &(x))

static void numbers(fields *f, const char *name, int64_t *v, int n) {
  char label[24];
  int have;
  snprintf(label, sizeof label, " %s=", name);
  if (!f->out) {
    f->good = f->good && tt__text_list(f->in, label + 1, v, n, &have) && have == n;
    return;
  }
  tt__str_add(f->out, label);
  for (int i = 0; i < n; i++) tt__str_addf(f->out, "%s%lld", i ? "," : "", (long long)v[i]);
}

/* The line ends; the next one begins with this word. */
static void next_line(fields *f, const char *word) {
  if (f->out) {
    tt__str_addf(f->out, "\n    %s", word);
    return;
  }
  tt__text_skip(f->in);
  f->good = f->good && *f->in->at == '\n';
  if (!f->good) return;
  f->in->at++;
  f->in->line++;
  f->good = tt__text_take(f->in, word);
}

static void predicted(fields *f, double *up_ns, double *work_ns, double *down_ns, double *ns) {
  whole_number(f, "up_ns", up_ns);
  whole_number(f, "work_ns", work_ns);
  whole_number(f, "down_ns", down_ns);
  whole_number(f, "ns", ns);
}

/* ---- the structures */

static void partition(fields *f, tt_partition *p) {
  next_line(f, "partition");
  INT(p->axis, 0, TT_MAX_AXES);
  LONG(p->len);
  INT(p->piece, 1, INT64_MAX);
  FLAG(p->folds);
  INT(p->group, 0, INT32_MAX);
  INT(p->nbuf, 0, TT_PARTITION_BUFFERS);
  for (int b = 0; b < p->nbuf && f->good; b++) {
    tt_partition_buf *x = &p->buf[b];
    next_line(f, "part");
    FLAG(x->whole);
    FLAG(x->write);
    LONG(x->first);
    LONG(x->step);
    LONG(x->extent);
    INT(x->red, 0, TT_RED_COUNT);
    INT(x->dtype, 0, TT_DTYPE_COUNT);
  }
}

static void kernel_cut(fields *f, tt_kernel_cut *c) {
  FLAG(c->windows);
  FLAG(c->down);
  INT(c->up_bytes, 0, INT64_MAX);
  INT(c->down_bytes, 0, INT64_MAX);
  predicted(f, &c->up_ns, &c->work_ns, &c->down_ns, &c->ns);
  partition(f, &c->parts);
}

static void epilogue_fields(fields *f, tt_epilogue_match *x) {
  INT(x->step, 0, INT32_MAX);
  INT(x->epilogue, 0, 2 * TT_EPILOGUE_SUMS - 1);
  INT(x->term, -1, INT32_MAX);
  LONG(x->offset);
}

static void sort_runs(fields *f, tt_sort_cut *c) {
  INT(c->rows, 0, INT64_MAX);
  INT(c->n, 0, INT64_MAX);
  INT(c->run, 1, INT64_MAX);
  INT(c->count, 1, INT64_MAX);
  FLAG(c->places);
}

static void tile_side(fields *f, tt_tile_side *x, int nloop) {
  int64_t axis[TT_TILE_LEVELS];
  next_line(f, "side");
  for (int k = 0; k < TT_TILE_LEVELS; k++) axis[k] = x->axis[k];
  numbers(f, "axis", axis, TT_TILE_LEVELS);
  for (int k = 0; k < TT_TILE_LEVELS; k++) {
    f->good = f->good && axis[k] >= -1 && axis[k] < TT_TILE_AXES;
    x->axis[k] = (int)axis[k];
  }
  numbers(f, "len", x->len, TT_TILE_LEVELS);
  numbers(f, "step", x->step, TT_TILE_LEVELS);
  LONG(x->off);
  numbers(f, "loop_step", x->loop_step, nloop);
  INT(x->size, 1, 16);
  FLAG(x->there);
  LONG(x->slots);
}

static void tiles(fields *f, tt_tiles *t, bool sorts) {
  if (sorts) sort_runs(f, &t->sort);
  REAL(t->up_bytes);
  REAL(t->down_bytes);
  predicted(f, &t->up_ns, &t->work_ns, &t->down_ns, &t->ns);
  if (sorts) return;
  next_line(f, "cut");
  numbers(f, "len", t->len, TT_TILE_AXES);
  numbers(f, "tile", t->tile, TT_TILE_AXES);
  numbers(f, "count", t->count, TT_TILE_AXES);
  INT(t->nloop, 0, TT_MAX_RANK);
  if (f->good) numbers(f, "loop_len", t->loop_len, t->nloop);
  LONG(t->loops);
  FLAG(t->cols_outside);
  INT(t->sums, 0, TT_DTYPE_COUNT);
  next_line(f, "epilogue");
  epilogue_fields(f, &t->match);
  INT(t->nside, 0, TT_TILE_SIDES);
  for (int k = 0; k < t->nside && f->good; k++) tile_side(f, &t->side[k], t->nloop);
}

/* ---- a decision */

/* As they are printed; the way of a sort is that of tiles. */
static const char *const way_name[] = {"whole", "pieces", "tiles", "epilogue", "done", "runs", "fallback"};
enum { RUNS = TT_WAY_DONE + 1, FALLBACK, WAYS };
_Static_assert(sizeof way_name / sizeof *way_name == WAYS, "a name for each way");

static void print_where(int where, tt_str *out) {
  if (where >= 0)
    tt__str_addf(out, "device %d", where);
  else
    tt__str_add(out, where == TT_HOST ? "host" : "elsewhere");
}

void tt__decision_print(const tt_decision *d, tt_str *out) {
  assert(d->way <= TT_WAY_DONE && d->where < TT_MOST_WHERE + 1);
  assert(d->nmove >= 0 && (d->nmove == 0 || d->move));
  fields f = {.out = out, .good = true};
  bool sorts = d->way == TT_WAY_STREAM_LIBRARY && d->cut.tiles->sort.count > 0;
  for (int i = 0; i < d->nmove; i++) {
    tt__str_addf(out, "  move n%d ", d->move[i].node);
    print_where(d->move[i].from, out);
    tt__str_add(out, " to ");
    print_where(d->move[i].to, out);
    tt__str_add(out, "\n");
  }
  tt__str_add(out, "  place ");
  print_where(d->where, out);
  tt__str_addf(out, " %s", way_name[sorts ? RUNS : d->falls_back ? FALLBACK : d->way]);
  if (d->way == TT_WAY_STREAM_KERNEL) {
    tt_kernel_cut c = *d->cut.kernel;
    kernel_cut(&f, &c);
  } else if (d->way == TT_WAY_STREAM_LIBRARY) {
    tt_tiles t = *d->cut.tiles;
    tiles(&f, &t, sorts);
  } else if (d->way == TT_WAY_EPILOGUE) {
    tt_epilogue_match x = d->match;
    epilogue_fields(&f, &x);
  }
  tt__str_add(out, "\n");
}

static bool take_where(tt_plan_text *t, int8_t *out) {
  int64_t k;
  *out = TT_HOST;
  if (tt__text_take(t, "host")) return true;
  *out = TT_NOWHERE;
  if (tt__text_take(t, "elsewhere")) return true;
  if (!tt__text_number(t, "device ", 0, TT_MOST_WHERE, &k)) return false;
  *out = (int8_t)k;
  return true;
}

bool tt__transfer_parse(tt_plan_text *t, tt_transfer *out) {
  int64_t node;
  if (!tt__text_number(t, "n", 0, INT32_MAX, &node)) return false;
  out->node = (int32_t)node;
  return take_where(t, &out->from) && tt__text_take(t, "to ") && take_where(t, &out->to) && out->to != TT_NOWHERE;
}

static tt_code no_memory(const tt_plan_text *t, size_t size) { return tt__fail_memory(t->err, size); }

tt_code tt__decision_parse(tt_plan_text *t, tt_arena *arena, tt_decision *out) {
  char word[16];
  fields f = {.in = t, .good = true};
  int way = 0;
  *out = (tt_decision){0};
  if (!take_where(t, &out->where) || out->where == TT_NOWHERE || !tt__text_word(t, word))
    return tt__text_bad(t, "bad place");
  while (way < WAYS && strcmp(word, way_name[way]) != 0) way++;
  if (way == WAYS) return tt__text_bad(t, "unknown way");
  out->falls_back = way == FALLBACK;
  out->way = way == FALLBACK ? TT_WAY_WHOLE : way == RUNS ? TT_WAY_STREAM_LIBRARY : (uint8_t)way;
  if (way == TT_WAY_STREAM_KERNEL) {
    tt_kernel_cut *c = tt__arena_alloc(arena, sizeof *c);
    if (!c) return no_memory(t, sizeof *c);
    out->cut.kernel = c;
    kernel_cut(&f, c);
  } else if (out->way == TT_WAY_STREAM_LIBRARY) {
    tt_tiles *c = tt__arena_alloc(arena, sizeof *c);
    if (!c) return no_memory(t, sizeof *c);
    out->cut.tiles = c;
    tiles(&f, c, way == RUNS);
  } else if (way == TT_WAY_EPILOGUE) {
    epilogue_fields(&f, &out->match);
  }
  return f.good ? TT_OK : tt__text_bad(t, "bad field of a decision");
}

/* ---- what must hold */

static const tt_epilogue_match *match_of(const tt_decision *d) {
  if (d->way == TT_WAY_EPILOGUE) return &d->match;
  bool tiles = d->way == TT_WAY_STREAM_LIBRARY && !d->cut.tiles->sort.count;
  return tiles && d->cut.tiles->match.epilogue ? &d->cut.tiles->match : NULL;
}

static const char *check_match(const tt_plan *p, const tt_decisions *d, int at, const tt_epilogue_match *f) {
  if (f->step <= at || f->step >= p->n || p->step[f->step].kind != TT_STEP_KERNEL) return "no such step follows";
  if (d->step[f->step].way != TT_WAY_DONE) return "a step that follows is done twice";
  return f->term < p->nnode ? NULL : "a term outside the walk";
}

static bool is_done_before(const tt_decisions *d, int at) {
  for (int i = 0; i < at; i++) {
    const tt_epilogue_match *f = match_of(&d->step[i]);
    if (f && f->step == at) return true;
  }
  return false;
}

static bool needs(const tt_step *s, int32_t node) {
  int32_t need;
  for (int k = 0; (need = tt__step_need(s, k)) != TT_P_END; k++)
    if (need == node) return true;
  return false;
}

static const char *check_moves(const tt_step *s, const tt_decision *d) {
  if (d->nmove && (d->way == TT_WAY_STREAM_KERNEL || d->way == TT_WAY_STREAM_LIBRARY || d->way == TT_WAY_DONE))
    return "a move before a step that moves by itself";
  for (int i = 0; i < d->nmove; i++) {
    const tt_transfer *m = &d->move[i];
    if (m->to != d->where || m->from == m->to) return "a move to where the step does not run";
    if (!needs(s, m->node) && !(d->way == TT_WAY_EPILOGUE && m->node == d->match.term))
      return "a move of what the step does not need";
  }
  return NULL;
}

const char *tt__decision_check(const tt_plan *p, const tt_decisions *all, int at) {
  assert(at >= 0 && at < p->n && all->step);
  const tt_step *s = &p->step[at];
  const tt_decision *d = &all->step[at];
  const tt_epilogue_match *f = match_of(d);
  bool host = d->where == TT_HOST;
  if (d->falls_back && (!host || d->way != TT_WAY_WHOLE)) return "a fallback that is none";
  if (host && d->way != TT_WAY_WHOLE && d->way != TT_WAY_DONE) return "the host runs steps whole";
  if (d->way == TT_WAY_STREAM_KERNEL && s->kind != TT_STEP_KERNEL) return "no kernel, but in pieces";
  if ((d->way == TT_WAY_STREAM_LIBRARY || d->way == TT_WAY_EPILOGUE) && s->kind != TT_STEP_LIB)
    return "no library call, but run like one";
  if (d->way == TT_WAY_EPILOGUE && !d->match.epilogue) return "an epilogue that does nothing";
  if ((d->way == TT_WAY_DONE) != is_done_before(all, at)) return "nobody has done it";
  if (f) {
    const char *what = check_match(p, all, at, f);
    if (what) return what;
  }
  return check_moves(s, d);
}
