/*
** What one thread does with the lanes that are its own: all its loads first, so that many are under
** way at a time, then the instructions lane by lane, then the stores.
*/
#include <assert.h>
#include <stdio.h>

#include "render/gpu/threads_int.h"

/* ---- points */

void tt__threads_decode(tt_emit *e, char c, int first, int count, const char *flat) {
  assert(first >= 0 && count >= 0);
  if (count == 0) return;
  if (count > 1) tt__emit_line(e, "tt_ix %crest = %s;", c, flat);
  for (int x = count - 1; x > 0; x--) {
    tt__emit_line(e, "const tt_ix %ci%d = (tt_ix)((tt_uix)%crest %% (tt_uix)args->len[%d]);", c, x, c, first + x);
    tt__emit_line(e, "%crest = (tt_ix)((tt_uix)%crest / (tt_uix)args->len[%d]);", c, c, first + x);
  }
  if (count > 1)
    tt__emit_line(e, "const tt_ix %ci0 = %crest;", c, c);
  else
    tt__emit_line(e, "const tt_ix %ci0 = %s;", c, flat);
}

void tt__threads_place(tt_emit *e, char c, int first, int count, int phase) {
  assert(first >= 0 && count >= 0);
  for (int a = 0; a < e->k->naccess; a++) {
    if (e->k->access[a].buf < -1 || !tt__emit_is_walked(e, a, phase)) continue;
    char text[480];
    size_t n = (size_t)snprintf(text, sizeof text, c == 'o' ? "(tt_ix)args->off[%d]" : "o%d", a);
    for (int x = 0; x < count && n < sizeof text; x++)
      n += (size_t)snprintf(text + n, sizeof text - n, " + %ci%d * (tt_ix)args->step[%d]", c, x,
                            a * e->k->naxes + first + x);
    tt__emit_line(e, "const tt_ix %c%d = %s;", c, a, text);
  }
}

/* ---- which values, where */

bool tt__threads_is_reload(const tt_kernel *k, int i) {
  assert(i >= 0 && i < k->ninst);
  const tt_kinst *q = &k->inst[i];
  for (int j = 0; j < i; j++) {
    const tt_kinst *s = &k->inst[j];
    if (s->op == TT_K_STORE && s->scope == q->scope && s->phase == q->phase && k->access[s->slot].buf >= 0 &&
        k->access[s->slot].buf == k->access[q->slot].buf)
      return true;
  }
  return false;
}

bool tt__threads_is_kept(const tt_kernel *k, int a) {
  assert(a >= 0 && a < k->naccess);
  int first = -1, last = -1, buf = k->access[a].buf;
  if (buf < 0 || k->access[a].lane == TT_LANE_NONE || k->checked) return false;
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_LOAD && k->inst[i].slot == a && k->inst[i].scope == TT_SCOPE_ROW) {
      if (first < 0) first = k->inst[i].phase;
      last = k->inst[i].phase;
    }
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_STORE && k->inst[i].scope == TT_SCOPE_ROW && k->access[k->inst[i].slot].buf == buf &&
        k->inst[i].phase < last)
      return false;
  return first < last;
}

static bool is_packed(const tt_thread_emit *t, int a) {
  const tt_kaccess *acc = &t->e.k->access[a];
  return t->v->vec > 1 && acc->lane == TT_LANE_UNIT && acc->buf >= 0;
}

/* Is LOAD `i` of region `r` done ahead of the lane loop? */
static bool is_hoisted(const tt_thread_emit *t, tt_region r, int i) {
  const tt_emit *e = &t->e;
  const tt_kinst *q = &e->k->inst[i];
  if (q->op != TT_K_LOAD || e->uniform[i] || !tt__emit_in_region(e, r, i) || e->k->checked) return false;
  return e->k->access[q->slot].buf >= 0 && (tt__threads_each(t->v) > 1 || t->v->kept) &&
         !tt__threads_is_reload(e->k, i);
}

static bool loads_ahead(const tt_thread_emit *t, tt_region r, int a) {
  for (int i = 0; i < t->e.k->ninst; i++)
    if (t->e.k->inst[i].slot == a && is_hoisted(t, r, i)) return true;
  return false;
}

static bool gathers(const tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_LOADX || k->inst[i].op == TT_K_STOREX) return true;
  return false;
}

/*
** Are stores to access `a` put off until all lanes of the thread are computed? In maps they are; and where elements are
** gathered, a store in between would keep the next lane's from being on their way.
*/
static bool is_late(const tt_thread_emit *t, int a) {
  const tt_kernel *k = t->e.k;
  if (is_packed(t, a)) return true;
  if (k->access[a].buf < 0 || k->checked || tt__threads_each(t->v) == 1) return false;
  return k->mode == TT_MODE_MAP || (k->access[a].lane != TT_LANE_NONE && gathers(k));
}

static bool stores_late(const tt_thread_emit *t, tt_region r, int a) {
  for (int i = 0; i < t->e.k->ninst; i++)
    if (t->e.k->inst[i].op == TT_K_STORE && t->e.k->inst[i].slot == a && tt__emit_in_region(&t->e, r, i))
      return is_late(t, a);
  return false;
}

/* ---- loads and stores */

/* Loaded elements that are not there are zeros: a compiler may do what it likes with what has no value. */
static void put_buffer_array(tt_thread_emit *t, char c, int a) {
  bool zeros = c == 'L' && t->e.k->mode == TT_MODE_MAP && !gathers(t->e.k);
  int type = t->e.k->access[a].dtype;
  if (is_packed(t, a))
    tt__emit_line(&t->e, "%s_%s %c%d[%d];", t->name, tt__dtypes[type].suffix, c, a, t->v->unroll);
  else
    tt__emit_line(&t->e, "%s %c%d[%d]%s;", tt__type_word(type), c, a, tt__threads_each(t->v), zeros ? " = {0}" : "");
}

/* Element u of an array of the thread. */
static void put_element(const tt_thread_emit *t, char c, int a, char *out, size_t size) {
  if (is_packed(t, a))
    snprintf(out, size, "%c%d[u / %d].v[u %% %d]", c, a, t->v->vec, t->v->vec);
  else
    snprintf(out, size, "%c%d[u]", c, a);
}

static void open_unrolled(tt_emit *e, const char *var, int n) {
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 %s = 0; %s < %d; %s++)", var, var, n, var);
}

/*
** Maps compute lanes that are not there as well, so that no branch stands between a thread's lanes; only loads and
** stores look. What is computed then is of no consequence, unless it is an index: kernels that gather compute the
** thread's first lane again instead (all loads of a thread come before its stores, so that is the same).
** Vectors: a thread has a whole one (`full`) or one of the lanes that are left at the end.
*/
static bool is_map(const tt_thread_emit *t) { return t->e.k->mode == TT_MODE_MAP; }
static bool is_lean(const tt_thread_emit *t) { return is_map(t) && t->v->vec > 1; }
static bool is_several(const tt_thread_emit *t) { return is_map(t) && tt__threads_each(t->v) > 1; }

/* `moves`: the lane's elements are loaded or stored. */
static void open_lane(tt_thread_emit *t, bool moves) {
  tt_emit *e = &t->e;
  bool again = is_several(t) && gathers(t->e.k);
  if (t->v->apart)
    tt__emit_line(e, "const tt_ix l = j + u;");
  else if (is_lean(t))
    tt__emit_line(e, "const tt_ix l = full ? j + u : j;");
  else if (again)
    tt__emit_line(e, "const tt_ix l = j + u * %s < to ? j + u * %s : j;", t->stride, t->stride);
  else if (t->v->vec == 1)
    tt__emit_line(e, "const tt_ix l = j + u * %s;", t->stride);
  else
    tt__emit_line(e, "const tt_ix l = j + u / %d * (%s * %d) + u %% %d;", t->v->vec, t->stride, t->v->vec, t->v->vec);
  if (is_lean(t) || again || t->v->full || (is_several(t) && !moves))
    tt__emit_block(e);
  else if (is_several(t))
    tt__emit_open(e, "if ((tt_uix)l < (tt_uix)to)"); /* the first lanes may lie before 0 */
  else
    tt__emit_open(e, "if (l < to)");
}

/*
** Where operands lie apart (variant): a vector that begins between two aligned ones takes its elements from both, or
** from an aligned one that is loaded anyway and one by one what that has not.
*/
static void put_apart_move(tt_thread_emit *t, int a, bool store) {
  tt_emit *e = &t->e;
  const char *suffix = tt__dtypes[e->k->access[a].dtype].suffix, *space = e->d->global;
  int vec = t->v->vec, with = t->v->with[a], by = t->v->by[a];
  if (store) {
    tt__emit_line(e, "*(%s%s_%s *)(p%d + (o%d + j)) = S%d[0];", space, t->name, suffix, a, a, a);
  } else if (with == 0) {
    tt__emit_line(e, "L%d[0] = *(%s%s_%s *)(p%d + (o%d + j));", a, space, t->name, suffix, a, a);
  } else if (with == TT_APART_SELF) {
    char type[64];
    snprintf(type, sizeof type, "%s_%s", t->name, suffix);
    tt__emit_line(e, "const %s x%d = *(%s%s *)(p%d + (o%d + j - %d));", type, a, space, type, a, a, by);
    tt__emit_line(e, "const %s y%d = *(%s%s *)(p%d + (o%d + j + %d));", type, a, space, type, a, a, vec - by);
    for (int n = 0; n < vec; n++)
      tt__emit_line(e, "L%d[0].v[%d] = %c%d.v[%d];", a, n, n + by < vec ? 'x' : 'y', a, (n + by) % vec);
  } else {
    for (int n = 0; n < vec; n++)
      if (n + by >= 0 && n + by < vec)
        tt__emit_line(e, "L%d[0].v[%d] = L%d[0].v[%d];", a, n, with - 1, n + by);
      else
        tt__emit_line(e, "L%d[0].v[%d] = p%d[o%d + j + %d];", a, n, a, a, n);
  }
}

/* Move whole vectors where they lie before `to`, single elements at the end. */
static void put_packed_move(tt_thread_emit *t, int a, bool store) {
  tt_emit *e = &t->e;
  const char *suffix = tt__dtypes[e->k->access[a].dtype].suffix, *space = e->d->global;
  char base = e->k->mode == TT_MODE_MAP ? 'o' : 'r';
  int vec = t->v->vec;
  if (t->v->apart) {
    put_apart_move(t, a, store);
    return;
  }
  if (is_lean(t)) {
    char at[96];
    snprintf(at, sizeof at, "*(%s%s_%s *)(p%d + (%c%d + j))", space, t->name, suffix, a, base, a);
    if (store) {
      tt__emit_line(e, "if (full) %s = S%d[0];", at, a);
      tt__emit_line(e, "else p%d[%c%d + j] = S%d[0].v[0];", a, base, a, a);
    } else {
      tt__emit_line(e, "if (full) L%d[0] = %s;", a, at);
      tt__emit_line(e, "else for (tt_i32 n = 0; n < %d; n++) L%d[0].v[n] = p%d[%c%d + j];", vec, a, a, base, a);
    }
    return;
  }
  open_unrolled(e, "w", t->v->unroll);
  tt__emit_line(e, "const tt_ix l = j + w * (%s * %d);", t->stride, vec);
  tt__emit_line(e, "%s%s_%s *const at = (%s%s_%s *)(p%d + (%c%d + l));", space, t->name, suffix, space, t->name, suffix,
                a, base, a);
  char whole[40] = "";
  if (!t->v->full) snprintf(whole, sizeof whole, "if (l + %d <= to) ", vec);
  if (store)
    tt__emit_line(e, "%s*at = S%d[w];", whole, a);
  else
    tt__emit_line(e, "%sL%d[w] = *at;", whole, a);
  if (t->v->full) {
    tt__emit_close(e);
    return;
  }
  tt__emit_open(e, "else for (tt_i32 n = 0; n < %d; n++) if (l + n < to)", vec);
  if (store)
    tt__emit_line(e, "p%d[%c%d + l + n] = S%d[w].v[n];", a, base, a, a);
  else
    tt__emit_line(e, "L%d[w].v[n] = p%d[%c%d + l + n];", a, a, base, a);
  tt__emit_close(e);
  tt__emit_close(e);
}

static bool is_kept(const tt_thread_emit *t, int a) { return t->v->kept && tt__threads_is_kept(t->e.k, a); }

static bool is_pointed(const tt_thread_emit *t, int a) {
  const tt_kaccess *acc = &t->e.k->access[a];
  return is_several(t) && t->v->vec == 1 && !gathers(t->e.k) && acc->lane == TT_LANE_UNIT && acc->buf >= 0;
}

void tt__threads_point(tt_thread_emit *t) {
  for (int a = 0; a < t->e.k->naccess; a++)
    if (is_pointed(t, a))
      tt__emit_line(&t->e, "%s%s *const c%d = p%d + (o%d + j);", t->e.d->global, tt__type_word(t->e.k->access[a].dtype),
                    a, a, a);
}

/* Where element u of access `a` lies. */
static void put_place(const tt_thread_emit *t, int a, char *out, size_t size) {
  char index[96];
  if (is_pointed(t, a)) {
    snprintf(out, size, "c%d[u * %s]", a, t->stride);
    return;
  }
  tt__emit_index(&t->e, a, TT_SCOPE_ROW, index, sizeof index);
  snprintf(out, size, "p%d[%s]", a, index);
}

static void put_single_loads(tt_thread_emit *t, tt_region r) {
  tt_emit *e = &t->e;
  open_unrolled(e, "u", tt__threads_each(t->v));
  open_lane(t, true);
  for (int a = 0; a < e->k->naccess; a++) {
    if (t->loaded[a] || !loads_ahead(t, r, a) || is_packed(t, a)) continue;
    char from[128];
    put_place(t, a, from, sizeof from);
    tt__emit_line(e, "L%d[u] = %s;", a, from);
  }
  tt__emit_close(e);
  tt__emit_close(e);
}

/* Does the vector of access `a` take elements from that of another one? */
static bool is_beside(const tt_thread_emit *t, int a) {
  return t->v->apart && t->v->with[a] != 0 && t->v->with[a] != TT_APART_SELF;
}

/* Loads that wait for nothing: vectors, those that take from others last, then the single elements of all the others in
 * one loop. */
static void put_loads(tt_thread_emit *t, tt_region r) {
  const tt_kernel *k = t->e.k;
  bool single = false;
  for (int a = 0; a < k->naccess; a++) {
    if (t->loaded[a] || !loads_ahead(t, r, a)) continue;
    if (!is_kept(t, a)) put_buffer_array(t, 'L', a);
    if (!is_packed(t, a))
      single = true;
    else if (!is_beside(t, a))
      put_packed_move(t, a, false);
  }
  for (int a = 0; a < k->naccess; a++)
    if (!t->loaded[a] && loads_ahead(t, r, a) && is_packed(t, a) && is_beside(t, a)) put_packed_move(t, a, false);
  if (single) put_single_loads(t, r);
  for (int a = 0; a < k->naccess; a++)
    if (is_kept(t, a) && loads_ahead(t, r, a)) t->loaded[a] = true;
}

void tt__threads_keep(tt_thread_emit *t) {
  const tt_kernel *k = t->e.k;
  if (!t->v->kept) return;
  for (int a = 0; a < k->naccess; a++)
    if (is_kept(t, a)) put_buffer_array(t, 'L', a);
  for (int s = 0; s < k->nscratch; s++)
    tt__emit_line(&t->e, "%s m%d[%d];", tt__type_word(k->scratch_type[s]), s, tt__threads_each(t->v));
}

/* ---- instructions */

/* The element's place in the order of all that are scattered, from 1. */
static void put_scatter(tt_thread_emit *t, int i) {
  tt_emit *e = &t->e;
  const tt_kinst *q = &e->k->inst[i];
  int count = 0, number = 0;
  for (int j = 0; j < e->k->ninst; j++) {
    number = j == i ? count : number;
    count += e->k->inst[j].op == TT_K_STOREX;
  }
  char in[96];
  snprintf(in, sizeof in, e->d->inbounds, (int)q->slot, (int)e->k->access[q->slot].buf, "e");
  tt__emit_block(e);
  tt__emit_line(e, "const tt_i64 e = v%d;", q->src[0]);
  tt__emit_line(e, "const tt_uix turn = (tt_uix)(at * nlane + l) * %du + %du;", count, number + 1);
  if (e->k->checked) tt__emit_line(e, "if (%s)", in);
  if (t->v->scatter == TT_SCATTER_CLEAR) {
    tt__emit_line(e, "last[e] = 0;");
  } else if (t->v->scatter == TT_SCATTER_MARK) {
    tt__emit_line(e, "TT_MOST(&last[e], turn);");
  } else {
    tt__emit_open(e, "if (last[e] == turn)");
    tt__emit_inst(e, i);
    tt__emit_close(e);
  }
  tt__emit_close(e);
}

void tt__threads_inst(tt_thread_emit *t, int i) {
  assert(i >= 0 && i < t->e.k->ninst);
  tt_emit *e = &t->e;
  const tt_kinst *q = &e->k->inst[i];
  if (q->op == TT_K_STOREX) {
    put_scatter(t, i);
    return;
  }
  if (q->op == TT_K_STORE && t->v->scatter != TT_SCATTER_NONE && t->v->scatter != TT_SCATTER_STORE) return;
  if (q->op != TT_K_STORE || e->k->access[q->slot].lane != TT_LANE_NONE || e->k->access[q->slot].buf < 0 ||
      (e->k->mode == TT_MODE_ROW && q->scope == TT_SCOPE_OUTER)) {
    tt__emit_inst(e, i);
    return;
  }
  tt__emit_open(e, "if (l == nlane - 1)"); /* all lanes write one place: the last one must win */
  tt__emit_inst(e, i);
  tt__emit_close(e);
}

void tt__threads_outer(tt_thread_emit *t, int phase, const char *leader) {
  tt_emit *e = &t->e;
  for (int i = 0; i < e->k->ninst; i++) {
    if (!tt__emit_in_region(e, (tt_region){TT_SCOPE_OUTER, phase}, i)) continue;
    bool store = e->k->inst[i].op == TT_K_STORE;
    if (store && !leader) continue;
    if (store) tt__emit_open(e, "if (%s)", leader);
    tt__threads_inst(t, i);
    if (store) tt__emit_close(e);
  }
}

void tt__threads_region(tt_thread_emit *t, tt_region r) {
  for (int i = 0; i < t->e.k->ninst; i++)
    if (tt__emit_in_region(&t->e, r, i)) tt__threads_inst(t, i);
}

static void put_row_load(tt_thread_emit *t, tt_region r, int i) {
  tt_emit *e = &t->e;
  const tt_kinst *q = &e->k->inst[i];
  const tt_kaccess *acc = &e->k->access[q->slot];
  const char *type = tt__type_word(q->dtype);
  char from[48];
  if (acc->buf <= -2 && t->v->kept) {
    tt__emit_line(e, "const %s v%d = m%d[u];", type, i, -2 - acc->buf);
  } else if (is_hoisted(t, r, i)) {
    bool half = acc->dtype != q->dtype;
    put_element(t, 'L', q->slot, from, sizeof from);
    tt__emit_line(e, "const %s v%d = %s%s%s(%s);", type, i, half ? "tt_cast_" : "",
                  half ? tt__dtypes[acc->dtype].suffix : "", half ? "_f32" : "", from);
  } else {
    tt__emit_inst(e, i);
  }
}

static void put_row_store(tt_thread_emit *t, int i) {
  tt_emit *e = &t->e;
  const tt_kinst *q = &e->k->inst[i];
  const tt_kaccess *acc = &e->k->access[q->slot];
  char to[48];
  if (acc->buf <= -2 && t->v->kept) {
    tt__emit_line(e, "m%d[u] = v%d;", -2 - acc->buf, q->src[0]);
  } else if (is_late(t, q->slot)) {
    bool half = acc->dtype != q->dtype;
    put_element(t, 'S', q->slot, to, sizeof to);
    tt__emit_line(e, "%s = %s%s(v%d);", to, half ? "tt_cast_f32_" : "", half ? tt__dtypes[acc->dtype].suffix : "",
                  q->src[0]);
  } else {
    tt__threads_inst(t, i);
  }
}

static void put_late_store(tt_thread_emit *t, int a) {
  tt_emit *e = &t->e;
  char to[128];
  if (is_packed(t, a)) {
    put_packed_move(t, a, true);
    return;
  }
  put_place(t, a, to, sizeof to);
  open_unrolled(e, "u", tt__threads_each(t->v));
  open_lane(t, true);
  bool last = e->k->access[a].lane == TT_LANE_NONE; /* all lanes write one place: the last one must win */
  tt__emit_line(e, "%s%s = S%d[u];", last ? "if (l == nlane - 1) " : "", to, a);
  tt__emit_close(e);
  tt__emit_close(e);
}

/* ---- draws */

/* Is instruction `i` of region `r` a draw that a vector's lanes make together, ahead of the lane loop? */
static bool is_drawn(const tt_thread_emit *t, tt_region r, int i) {
  return t->v->drawn && tt__emit_in_region(&t->e, r, i) && !t->e.uniform[i] && tt__draw_places(t->e.k, i) >= 0;
}

/*
** DN: the draws of the thread's lanes, whole blocks of them. A lane that is left at the end (not `full`) is one of
** those of its block, and goes to the front.
*/
static void put_draw(tt_thread_emit *t, int i) {
  tt_emit *e = &t->e;
  const tt_kinst *q = &e->k->inst[i];
  int vec = t->v->vec, shift = tt__draw_shift(q), each = 1 << shift;
  char step[48] = "", base = is_map(t) ? 'o' : 'r';
  if (!is_lean(t)) snprintf(step, sizeof step, " + w * (%s * %d)", t->stride, vec);
  tt__emit_line(e, "%s D%d[%d];", tt__type_word(q->dtype), i, tt__threads_each(t->v));
  open_unrolled(e, "w", t->v->unroll);
  tt__emit_line(e, "const tt_u64 place = (tt_u64)(%c%d + j%s);", base, tt__draw_places(e->k, i), step);
  for (int n = 0; n < vec; n += each)
    tt__emit_line(e, "tt_block_%s_%s(D%d + w * %d + %d, v%d + (place >> %d) + %d, v%d);", tt__ops[q->op].lower,
                  tt__dtypes[q->dtype].suffix, i, vec, n, q->src[1], shift, n / each, q->src[2]);
  if (is_lean(t)) tt__emit_line(e, "const tt_u32 alone = full ? 0 : (tt_u32)place & %d;", each - 1);
  for (int n = 1; is_lean(t) && n < each; n++) tt__emit_line(e, "if (alone == %d) D%d[0] = D%d[%d];", n, i, i, n);
  tt__emit_close(e);
}

/* All instructions of the region for lane l. */
static void put_lane(tt_thread_emit *t, tt_region r, tt_fold_fn fold) {
  tt_emit *e = &t->e;
  const tt_kernel *k = e->k;
  for (int i = 0; i < k->ninst; i++) {
    if (!tt__emit_in_region(e, r, i) || e->uniform[i]) continue;
    if (k->inst[i].op == TT_K_LOAD)
      put_row_load(t, r, i);
    else if (k->inst[i].op == TT_K_STORE)
      put_row_store(t, i);
    else if (k->inst[i].op == TT_K_REDUCE)
      fold(t, i);
    else if (is_drawn(t, r, i))
      tt__emit_line(e, "const %s v%d = D%d[u];", tt__type_word(k->inst[i].dtype), i, i);
    else
      tt__threads_inst(t, i);
  }
}

void tt__threads_lanes(tt_thread_emit *t, tt_region r, tt_fold_fn fold) {
  tt_emit *e = &t->e;
  const tt_kernel *k = e->k;
  put_loads(t, r);
  for (int i = 0; i < k->ninst; i++)
    if (is_drawn(t, r, i)) put_draw(t, i);
  for (int a = 0; a < k->naccess; a++)
    if (stores_late(t, r, a)) put_buffer_array(t, 'S', a);
  open_unrolled(e, "u", tt__threads_each(t->v));
  open_lane(t, false);
  put_lane(t, r, fold);
  tt__emit_close(e);
  tt__emit_close(e);
  if (e->speculates) tt__emit_line(e, "if (TT_ANY(far)) break;");
  for (int a = 0; a < k->naccess; a++)
    if (stores_late(t, r, a)) put_late_store(t, a);
}
