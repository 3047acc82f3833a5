/*
** Row reductions. A group of threads has a row (or, in the pass over chunks, a chunk of one):
**   direct   N threads, at most 64; thread t is the accumulators t, t + N, t + 2N ... of the 64, or, where it takes
**            vectors, t * vec and its neighbours
**   staged   a whole block; threads compute, 64 of them accumulate what the block has put into shared memory
** Barriers stand where all threads of a block come: rows that do not exist (`live` false) have no lanes but
** take part.
*/
#include <assert.h>
#include <stdio.h>

#include "render/gpu/threads_int.h"

enum { WARP = 32 };

static int group_threads(const tt_thread_emit *t) { return 1 << t->v->group; }
static int groups(const tt_thread_emit *t) { return t->v->staged ? 1 : 1 << (t->v->block - t->v->group); }
/* Do accumulators of a row lie in more than one warp? */
static bool is_wide(const tt_thread_emit *t) { return group_threads(t) > WARP; }
/* Accumulators of a thread. */
static int width(const tt_thread_emit *t) {
  int n = group_threads(t), most = n < TT_LANES ? TT_LANES / n : 1;
  if (t->v->staged) return 1;
  if (t->v->vec > 1) return t->v->vec;
  return t->v->unroll < most ? t->v->unroll : most;
}

/* ---- shared memory */

static void put_shared(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  if (!is_wide(t)) return;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (q->op != TT_K_REDUCE) continue;
    const char *type = tt__type_word(q->from);
    tt__emit_line(e, "TT_SHARED %s sa%d[%d];", type, i, WARP * groups(t));
    tt__emit_line(e, "TT_SHARED %s sq%d[%d];", tt__type_word(q->dtype), i, groups(t));
    if (tt__red_is_arg(q->red)) tt__emit_line(e, "TT_SHARED tt_i64 si%d[%d];", i, WARP * groups(t));
  }
}

/* The access that a raw row loads. */
static int loaded(const tt_thread_emit *t) {
  int i = 0;
  while (t->e.k->inst[i].op != TT_K_LOAD || t->e.k->inst[i].scope != TT_SCOPE_ROW) i++;
  return t->e.k->inst[i].slot;
}

/* zN: places of a piece's values, one array after the other. */
static void put_stages(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  size_t at = 0;
  if (t->v->raw) {
    const char *type = tt__type_word(e->k->access[loaded(t)].dtype);
    tt__emit_line(e, "TT_SHARED_AT %s *const zr = (TT_SHARED_AT %s *)TT_SHARED_BYTES;", type, type);
    return;
  }
  TT_FOR_REDUCE(e, phase, i) {
    const char *type = tt__type_word(e->k->inst[i].from);
    if (!tt__threads_needs_stage(&e->k->inst[i])) continue;
    tt__emit_line(e, "TT_SHARED_AT %s *const z%d = (TT_SHARED_AT %s *)((TT_SHARED_AT tt_u8 *)TT_SHARED_BYTES + %zu);",
                  type, i, type, at);
    at += tt__threads_stage_bytes(t->v, e->k->inst[i].from);
  }
}

/* ---- folding */

static bool stores_in(const tt_kernel *k, int phase) {
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_STORE && k->inst[i].scope == TT_SCOPE_ROW && k->inst[i].phase == phase) return true;
  return false;
}

/*
** Where a whole block has a row, some reductions need not be staged: their value is the same in any order. Integers,
** and pairs of value and index, are so by nature. The largest or smallest float is so too, but for the sign of zero
** (and which NaN): when it comes to zero, the phase is done again in order.
*/
bool tt__row_is_signed(const tt_thread_emit *t, int i) {
  assert(t->e.k->inst[i].op == TT_K_REDUCE);
  const tt_kinst *q = &t->e.k->inst[i];
  if ((!t->v->staged && t->v->part != TT_PART_FINISH) || t->v->raw || !tt__is_float((tt_dtype)q->from)) return false;
  return (q->red == TT_RED_MAX || q->red == TT_RED_MIN) && (t->v->kept || !stores_in(t->e.k, q->phase));
}

static bool is_free(const tt_thread_emit *t, int i) {
  const tt_kinst *q = &t->e.k->inst[i];
  if (!t->v->staged || t->v->raw || t->ordered) return false;
  return !tt__threads_needs_stage(q) || tt__row_is_signed(t, i);
}

/* Does REDUCE `i` take part in what is being done (again)? */
static bool takes_part(const tt_thread_emit *t, int i) { return !t->ordered || tt__row_is_signed(t, i); }

static bool stages_any(const tt_thread_emit *t, int phase) {
  TT_FOR_REDUCE(&t->e, phase, i) if (takes_part(t, i) && !is_free(t, i)) return true;
  return false;
}

static void fold_direct(tt_thread_emit *t, int i) {
  char value[16], acc[16];
  snprintf(value, sizeof value, "v%d", t->e.k->inst[i].src[0]);
  snprintf(acc, sizeof acc, width(t) > 1 ? "u %% %d" : "0", width(t));
  tt__emit_accumulate(&t->e, i, acc, value, "y0 + l");
}

static void fold_staged(tt_thread_emit *t, int i) {
  int value = t->e.k->inst[i].src[0];
  if (!takes_part(t, i)) return;
  if (is_free(t, i))
    fold_direct(t, i);
  else if (t->v->vec > 1)
    tt__emit_line(&t->e, "Z%d[u / %d].v[u %% %d] = v%d;", i, t->v->vec, t->v->vec, value);
  else
    tt__emit_line(&t->e, "z%d[l - j0] = v%d;", i, value);
}

/* Which of the block's 64-thread teams accumulates REDUCE `i`. */
static int team(const tt_thread_emit *t, int phase, int i) {
  int n = 0;
  if (t->v->raw) return 0;
  TT_FOR_REDUCE(&t->e, phase, k) {
    if (k == i) break;
    n++;
  }
  int teams = group_threads(t) / TT_LANES;
  return n % (teams > 0 ? teams : 1);
}

/* What the warps have meets: the upper warp's accumulators, or what each warp has come to. */
static void fold_warps(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  if (!is_wide(t)) return;
  TT_FOR_REDUCE(e, phase, i) {
    char who[64] = "lane >= 32", at[40] = "group * 32 + lane - 32";
    if (!takes_part(t, i)) continue;
    if (t->v->staged) snprintf(who, sizeof who, "TT_TX / 64 == %d && lane >= 32", team(t, phase, i));
    if (is_free(t, i)) {
      snprintf(who, sizeof who, "TT_TX %% 32 == 0");
      snprintf(at, sizeof at, "TT_TX / 32");
    }
    tt__emit_open(e, "if (%s)", who);
    tt__emit_line(e, "sa%d[%s] = a%d[0];", i, at, i);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "si%d[%s] = b%d[0];", i, at, i);
    tt__emit_close(e);
  }
  tt__emit_line(e, "TT_BARRIER();");
  TT_FOR_REDUCE(e, phase, i) {
    const tt_kinst *q = &e->k->inst[i];
    char a[16], b[16], s[40], x[40];
    if (!takes_part(t, i)) continue;
    if (is_free(t, i)) {
      int warps = group_threads(t) / WARP;
      tt__emit_line(e, "a%d[0] = TT_TX %% 32 < %d ? sa%d[TT_TX %% 32] : %s;", i, warps, i,
                    tt__red_identity(q->red, (tt_dtype)q->from));
      if (tt__red_is_arg(q->red)) tt__emit_line(e, "b%d[0] = TT_TX %% 32 < %d ? si%d[TT_TX %% 32] : -1;", i, warps, i);
      continue;
    }
    snprintf(a, sizeof a, "a%d[0]", i);
    snprintf(b, sizeof b, "b%d[0]", i);
    snprintf(s, sizeof s, "sa%d[group * 32 + lane]", i);
    snprintf(x, sizeof x, "si%d[group * 32 + lane]", i);
    tt__emit_open(e, "if (lane < 32)");
    tt__emit_combine(e, i, a, b, s, x);
    tt__emit_close(e);
  }
}

/* Accumulator w of the thread takes in its accumulator `with`, or (-1) that of the thread `down` further on. */
static void fold_pair(tt_thread_emit *t, int i, int w, int with, int down) {
  tt_emit *e = &t->e;
  const tt_kinst *q = &e->k->inst[i];
  const char *type = tt__type_word(q->from);
  char a[32], b[32], x[32] = "x", y[32] = "y";
  snprintf(a, sizeof a, "a%d[%d]", i, w);
  snprintf(b, sizeof b, "b%d[%d]", i, w);
  tt__emit_block(e);
  if (with < 0) {
    tt__emit_line(e, "const %s x = (%s)TT_DOWN(%s, %d);", type, type, a, down);
    if (tt__red_is_arg(q->red)) tt__emit_line(e, "const tt_ix y = TT_DOWN(%s, %d);", b, down);
  } else {
    snprintf(x, sizeof x, "a%d[%d]", i, with);
    snprintf(y, sizeof y, "b%d[%d]", i, with);
  }
  tt__emit_combine(e, i, a, b, x, y);
  tt__emit_close(e);
}

/* Accumulators `h` apart: in the same thread, or in a thread of the same warp. */
static void fold_halves(tt_thread_emit *t, int i, int h) {
  int n = group_threads(t), vec = t->v->staged ? 1 : t->v->vec;
  if (vec > 1 && h >= vec) {
    for (int w = 0; w < vec; w++) fold_pair(t, i, w, -1, h / vec);
  } else if (vec > 1) {
    for (int w = 0; w < h; w++) fold_pair(t, i, w, w + h, 0);
  } else if (!t->v->staged && h >= n) {
    for (int w = 0; w < h / n; w++) fold_pair(t, i, w, w + h / n, 0);
  } else {
    fold_pair(t, i, 0, -1, h);
  }
}

/* All accumulators of a chunk into that of lane 0. */
static void fold_chunk(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  int most = is_wide(t) ? WARP / 2 : group_threads(t) * width(t) / 2;
  TT_FOR_REDUCE(e, phase, i)
  for (int h = WARP / 2; h && is_free(t, i); h /= 2) fold_halves(t, i, h);
  fold_warps(t, phase);
  TT_FOR_REDUCE(e, phase, i)
  for (int h = most; h && takes_part(t, i); h /= 2) fold_halves(t, i, h);
}

/* What lane 0 of the group (of the team) holds goes where all its threads see it. */
static void share_results(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  if (!is_wide(t) || !tt__emit_reduces(e, phase)) return;
  TT_FOR_REDUCE(e, phase, i) {
    char c = tt__red_is_arg(e->k->inst[i].red) ? 'g' : 'f';
    if (!takes_part(t, i)) continue;
    if (t->v->staged)
      tt__emit_line(e, "if (TT_TX == %d) sq%d[0] = %c%d;", TT_LANES * team(t, phase, i), i, c, i);
    else
      tt__emit_line(e, "if (lane == 0) sq%d[group] = %c%d;", i, c, i);
  }
  tt__emit_line(e, "TT_BARRIER();");
}

static void put_results(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  share_results(t, phase);
  TT_FOR_REDUCE(e, phase, i) {
    const char *type = tt__type_word(e->k->inst[i].dtype), *fixed = tt__row_is_signed(t, i) ? "" : "const ";
    char c = tt__red_is_arg(e->k->inst[i].red) ? 'g' : 'f';
    if (is_wide(t))
      tt__emit_line(e, "%s%s v%d = sq%d[group];", fixed, type, i, i);
    else if (group_threads(t) == 1)
      tt__emit_line(e, "const %s v%d = (%s)%c%d;", type, i, type, c, i);
    else
      tt__emit_line(e, "const %s v%d = (%s)TT_FROM(%c%d, (TT_TX & 31) & ~%d);", type, i, type, c, i,
                    group_threads(t) - 1);
  }
}

/* ---- lanes */

/* Staged: the team of each reduction takes the piece that the block has computed. */
static void put_team(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  int piece = group_threads(t) * tt__threads_each(t->v);
  tt__emit_line(e, "TT_BARRIER();");
  TT_FOR_REDUCE(e, phase, i) {
    char value[24];
    if (!takes_part(t, i) || is_free(t, i)) continue;
    snprintf(value, sizeof value, "z%d[w]", i);
    tt__emit_open(e, "if (TT_TX / 64 == %d)", team(t, phase, i));
    if (t->v->full && !t->v->kept)
      tt__emit_line(e, "const tt_i32 m = %d;", piece);
    else
      tt__emit_line(e, "const tt_i32 m = (tt_i32)(to - j0 < %d ? to - j0 : %d);", piece, piece);
    tt__emit_line(e, "TT_UNROLL(16)");
    tt__emit_open(e, "for (tt_i32 w = lane; w < m; w += 64)");
    tt__emit_accumulate(e, i, "0", value, "y0 + j0 + w");
    tt__emit_close(e);
    tt__emit_close(e);
  }
  tt__emit_line(e, "TT_BARRIER();");
}

/* Vectors of values on their way to shared memory: their arrays, or the way. */
static void put_staging(tt_thread_emit *t, int phase, bool store) {
  tt_emit *e = &t->e;
  int vec = t->v->vec;
  TT_FOR_REDUCE(e, phase, i) {
    const char *suffix = tt__dtypes[e->k->inst[i].from].suffix;
    if (vec == 1 || !takes_part(t, i) || is_free(t, i)) continue;
    if (!store) {
      tt__emit_line(e, "%s_%s Z%d[%d];", t->name, suffix, i, t->v->unroll);
      continue;
    }
    tt__emit_line(e, "%s", e->d->unrolled);
    tt__emit_open(e, "for (tt_i32 w = 0; w < %d; w++)", t->v->unroll);
    tt__emit_line(e, "*(TT_SHARED_AT %s_%s *)(z%d + (w * %d + t) * %d) = Z%d[w];", t->name, suffix, i, group_threads(t),
                  vec, i);
    tt__emit_close(e);
  }
}

/* Elements of the piece at j0 into shared memory as they are: vectors when all are there, one by one otherwise. */
static void put_raw_loads(tt_thread_emit *t, int a) {
  tt_emit *e = &t->e;
  int vec = t->v->vec, unroll = t->v->unroll, n = group_threads(t);
  char type[64];
  if (vec > 1)
    snprintf(type, sizeof type, "%s_%s", t->name, tt__dtypes[e->k->access[a].dtype].suffix);
  else
    snprintf(type, sizeof type, "%s", tt__type_word(e->k->access[a].dtype));
  tt__emit_line(e, "%s L%d[%d];", type, a, unroll);
  tt__emit_line(e, "%s", e->d->unrolled);
  char here[48] = "";
  if (!t->v->full) snprintf(here, sizeof here, " if (j + w * %d < to)", n * vec);
  tt__emit_line(e, "for (tt_i32 w = 0; w < %d; w++)%s L%d[w] = *(%s%s *)(p%d + (r%d + j + w * %d));", unroll, here, a,
                e->d->global, type, a, a, n * vec);
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_line(e, "for (tt_i32 w = 0; w < %d; w++) *(TT_SHARED_AT %s *)(zr + (w * %d + t) * %d) = L%d[w];", unroll,
                type, n, vec, a);
}

/* A whole block loads a piece, and 64 of its threads compute and fold it. */
static void put_raw_piece(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  const tt_kernel *k = e->k;
  int a = loaded(t), type = k->access[a].dtype, piece = group_threads(t) * tt__threads_each(t->v);
  const char *cast = type == TT_F16 ? "tt_cast_f16_f32" : type == TT_BF16 ? "tt_cast_bf16_f32" : "";
  put_raw_loads(t, a);
  tt__emit_line(e, "TT_BARRIER();");
  tt__emit_open(e, "if (TT_TX < %d)", TT_LANES);
  if (t->v->full)
    tt__emit_line(e, "const tt_i32 m = %d;", piece);
  else
    tt__emit_line(e, "const tt_i32 m = (tt_i32)(to - j0 < %d ? to - j0 : %d);", piece, piece);
  tt__emit_line(e, "TT_UNROLL(16)");
  tt__emit_open(e, "for (tt_i32 w = lane; w < m; w += %d)", TT_LANES);
  tt__emit_line(e, "const tt_ix l = j0 + w;");
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    char value[16];
    if (!tt__emit_in_region(e, (tt_region){TT_SCOPE_ROW, phase}, i) || e->uniform[i]) continue;
    snprintf(value, sizeof value, "v%d", q->src[0]);
    if (q->op == TT_K_LOAD)
      tt__emit_line(e, "const %s v%d = %s(zr[w]);", tt__type_word(q->dtype), i, cast);
    else if (q->op == TT_K_REDUCE)
      tt__emit_accumulate(e, i, "0", value, "y0 + l");
    else
      tt__threads_inst(t, i);
  }
  tt__emit_close(e);
  tt__emit_close(e);
  tt__emit_line(e, "TT_BARRIER();");
  tt__emit_close(e);
}

/* The lanes of a thread from j0 on, in a block that is open. */
static void put_piece(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  tt_region r = {TT_SCOPE_ROW, phase};
  bool staged = t->v->staged && tt__emit_reduces(e, phase);
  tt__emit_line(e, "const tt_ix j = j0 + t * %d;", t->v->vec);
  if (t->v->raw) {
    put_raw_piece(t, phase);
    return;
  }
  if (staged) put_staging(t, phase, false);
  tt__threads_lanes(t, r, staged ? fold_staged : fold_direct);
  if (staged) put_staging(t, phase, true);
  if (staged && stages_any(t, phase)) put_team(t, phase);
  tt__emit_close(e);
}

/* Has a thread so many lanes of a piece that to look whether each is there costs more than a second loop? */
static bool has_whole_pieces(const tt_variant *v) { return v->staged || (v->group == 0 && v->unroll >= 16); }

/*
** Lanes [from, to) of a line. Where a block has it, or a thread alone, pieces all of whose lanes are there go without
** looking. What is left behind them, less than one, is done lane by lane: to look at each vector takes registers, and
** leaves room for fewer blocks.
*/
static void put_line(tt_thread_emit *t, int phase, const char *from) {
  tt_emit *e = &t->e;
  tt_region r = {TT_SCOPE_ROW, phase};
  const tt_variant *given = t->v;
  tt_variant some = *given;
  int piece = group_threads(t) * tt__threads_each(t->v);
  tt__emit_uniform(e, r);
  if (!tt__emit_has_lanes(e, r)) return;
  tt__emit_line(e, t->v->kept ? "const tt_ix j0 = %s;" : "tt_ix j0 = %s;", from);
  if (t->v->kept) {
    tt__emit_block(e);
    put_piece(t, phase);
    return;
  }
  if (has_whole_pieces(t->v)) {
    some.full = 1;
    t->v = &some;
    tt__emit_open(e, "for (; j0 + %d <= to; j0 += %d)", piece, piece);
    put_piece(t, phase);
    some.full = 0;
  }
  if (t->v->staged) {
    some.vec = 1;
    some.drawn = 0;
    if (some.unroll > 4) some.unroll = 4;
    piece = group_threads(t) * some.unroll;
  }
  if (t->v->once)
    tt__emit_open(e, "if (j0 < to)");
  else
    tt__emit_open(e, "for (; j0 < to; j0 += %d)", piece);
  put_piece(t, phase);
  t->v = given;
}

/* The lines of chunk c, or of the whole row. */
static void put_lines(tt_thread_emit *t, int phase, bool whole) {
  tt_emit *e = &t->e;
  int first = e->k->nouter, count = e->nrow - 1;
  if (count == 0) {
    if (whole)
      tt__emit_line(e, "const tt_ix y0 = 0, to = live ? nlane : 0;");
    else
      tt__emit_line(e, "const tt_ix y0 = 0, to = !live ? 0 : nlane - c * %d < %d ? nlane : (c + 1) * %d;", TT_CHUNK,
                    TT_CHUNK, TT_CHUNK);
    tt__threads_place(e, 'r', first, 0, phase);
    put_line(t, phase, whole ? "0" : "c * 65536");
    return;
  }
  if (whole)
    tt__emit_line(e, "const tt_ix from = 0, y1 = lines;");
  else
    tt__emit_line(e, "const tt_ix from = c * per, y1 = lines - from < per ? lines : from + per;");
  if (t->v->once) tt__emit_line(e, "TT_UNROLL(8)");
  tt__emit_open(e, "for (tt_ix y = from; y < y1; y++)");
  tt__emit_line(e, "const tt_ix y0 = y * nlane, to = live ? nlane : 0;");
  tt__threads_decode(e, 'r', first, count, "y");
  tt__threads_place(e, 'r', first, count, phase);
  put_line(t, phase, "0");
  tt__emit_close(e);
}

static void put_reduction(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  tt__threads_folded(e, phase);
  if (t->v->staged) put_stages(t, phase);
  TT_FOR_REDUCE(e, phase, i) if (!t->v->kept) tt__emit_open_group(e, i, "tt_ix");
  tt__emit_open(e, "for (tt_ix c = 0; c < %s; c++)", t->v->kept ? "1" : "chunks");
  tt__threads_accumulators(e, phase, width(t));
  put_lines(t, phase, t->v->kept);
  fold_chunk(t, phase);
  if (t->v->kept) {
    tt__threads_fold_in(e, phase);
  } else {
    TT_FOR_REDUCE(e, phase, i) {
      char a[24], b[24];
      snprintf(a, sizeof a, "a%d[0]", i);
      snprintf(b, sizeof b, "b%d[0]", i);
      tt__emit_take_partial(e, i, a, b, "chunks");
    }
  }
  if (is_wide(t) && !t->v->kept) tt__emit_line(e, "TT_BARRIER();");
  tt__emit_close(e);
}

bool tt__row_open_again(tt_thread_emit *t, int phase, const char *name, const char *at) {
  char test[480] = "";
  size_t n = 0;
  TT_FOR_REDUCE(&t->e, phase, i)
  if (tt__row_is_signed(t, i) && n < sizeof test - 40)
    n += (size_t)snprintf(test + n, sizeof test - n, "%s%s%d%s == 0", n ? " || " : "", name, i, at);
  if (n > 0) tt__emit_open(&t->e, "if (%s)", test);
  return n > 0;
}

void tt__row_close_again(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  TT_FOR_REDUCE(e, phase, i) if (tt__row_is_signed(t, i)) tt__emit_line(e, "v%d = sq%d[0];", i, i);
  tt__emit_close(e);
}

static void put_again(tt_thread_emit *t, int phase) {
  if (!tt__row_open_again(t, phase, "v", "")) return;
  t->ordered = true;
  put_reduction(t, phase);
  share_results(t, phase);
  t->ordered = false;
  tt__row_close_again(t, phase);
}

static void put_scratch(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  const tt_kernel *k = e->k;
  if (t->v->kept || k->nscratch == 0) return;
  tt__emit_line(e,
                "%stt_u64 *const scratch = (%stt_u64 *)TT_WORK + (tt_i64)(TT_GX * %d + group) * %d * args->points"
                " * args->lanes;",
                e->d->global, e->d->global, groups(t), k->nscratch);
  for (int a = 0; a < k->naccess; a++) {
    const tt_kaccess *acc = &k->access[a];
    const char *type = tt__type_word(acc->dtype);
    if (acc->buf <= -2)
      tt__emit_line(e, "%s%s *const p%d = (%s%s *)(scratch + %d * args->points * args->lanes);", e->d->global, type, a,
                    e->d->global, type, -2 - acc->buf);
  }
}

static void put_whole(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt__threads_keep(t);
  for (int p = 0; p <= e->k->nphase; p++) {
    tt__threads_outer(t, p, TT_ROW_LEADER);
    if (p == e->k->nphase) break;
    if (tt__emit_reduces(e, p)) {
      put_reduction(t, p);
    } else {
      tt__emit_block(e);
      put_lines(t, p, true);
      tt__emit_close(e);
    }
    put_results(t, p);
    put_again(t, p);
  }
}

/* One chunk, its partials left in memory. */
static void put_one_chunk(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  if (t->v->staged) put_stages(t, 0);
  tt__threads_accumulators(e, 0, width(t));
  tt__emit_block(e);
  put_lines(t, 0, false);
  tt__emit_close(e);
  fold_chunk(t, 0);
  TT_FOR_REDUCE(e, 0, i) {
    if (!takes_part(t, i)) continue;
    if (t->v->staged)
      tt__emit_open(e, "if (TT_TX == %d)", TT_LANES * team(t, 0, i));
    else
      tt__emit_open(e, "if (live && t == 0)");
    tt__emit_line(e, "h%d[item] = a%d[0];", i, i);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "k%d[item] = b%d[0];", i, i);
    if (!t->ordered && tt__row_is_signed(t, i)) tt__emit_line(e, "sq%d[0] = a%d[0];", i, i);
    tt__emit_close(e);
  }
  if (is_wide(t)) tt__emit_line(e, "TT_BARRIER();");
}

static void put_chunk(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt__threads_outer(t, 0, NULL);
  put_one_chunk(t);
  if (!tt__row_open_again(t, 0, "sq", "[0]")) return;
  t->ordered = true;
  put_one_chunk(t);
  t->ordered = false;
  tt__emit_close(e);
}

void tt__threads_row(tt_thread_emit *t) {
  assert(t->e.k->mode == TT_MODE_ROW);
  tt_emit *e = &t->e;
  bool chunk = t->v->part == TT_PART_CHUNK;
  char stride[16];
  snprintf(stride, sizeof stride, "%d", group_threads(t));
  t->stride = stride;
  tt__emit_line(e, "const tt_ix lines = (tt_ix)args->points, per = (tt_ix)args->per, chunks = (tt_ix)args->chunks;");
  tt__emit_line(e, "const tt_i32 t = TT_TX %% %d, group = TT_TX / %d, lane = t %% 64;", group_threads(t),
                group_threads(t));
  put_shared(t);
  put_scratch(t);
  if (chunk) tt__threads_partials(e);
  tt__emit_line(e, "const tt_ix items = %s;", chunk ? "outer * chunks" : "outer");
  tt__emit_open(e, "for (tt_ix item0 = (tt_ix)TT_GX * %d; item0 < items; item0 += (tt_ix)TT_NX * %d)", groups(t),
                groups(t));
  tt__emit_line(e, "const tt_ix item = item0 + group;");
  tt__emit_line(e, "const int live = item < items;");
  if (chunk)
    tt__emit_line(e,
                  "const tt_ix at = live ? (tt_ix)((tt_uix)item / (tt_uix)chunks) : 0, c = live ? item - at * chunks "
                  ": 0;");
  else
    tt__emit_line(e, "const tt_ix at = live ? item : 0;");
  tt__threads_decode(e, 'o', 0, e->k->nouter, "at");
  tt__threads_place(e, 'o', 0, e->k->nouter, -1);
  if (chunk)
    put_chunk(t);
  else
    put_whole(t);
  tt__emit_close(e);
}
