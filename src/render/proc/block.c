/*
** A block of a kernel with barriers, on the CPU: no fibers, no threads. The statements between two barriers are a
** region: a loop over the threads of the block. What lives longer than a region is an array with an element for each
** thread. Control flow around barriers is done once for the block where every thread agrees on it (its condition
** is made of arguments, block numbers and variables made of these), and by masks where threads differ:
** a mask is an array of bytes, 1 for the threads that still take part.
**
** A split statement is one that holds a barrier, an exchange, or an assignment to a variable of the whole block;
** proc/uniformity.c finds them.
*/

#include "render/proc/proc_int.h"

#include <assert.h>

/* ---- which variables outlive a region: counted by a dry walk in the order of emission */

typedef struct life {
  int region, current; /* how many there are, the one under way */
  int *only;           /* [locals]: the one region that uses it; -1 none yet, -2 several */
  bool *sure;          /* [locals]: its first use there is an assignment that always happens */
} life;

static void note_life(void *ctx, int32_t local, bool write) {
  life *l = ctx;
  (void)write;
  if (l->only[local] == -1)
    l->only[local] = l->current;
  else if (l->only[local] != l->current)
    l->only[local] = -2;
}

static void live_expr(life *l, const tt_pexpr *e) { tt__pw_each_expr(e, note_life, l); }

static void live_stmts(life *l, const tt_pstmt *s) {
  bool open = false;
  for (; s; s = s->next) {
    if (!s->splits) {
      if (!open) l->current = l->region++;
      open = true;
      bool first = s->op == TT_X_SET && l->only[s->local] == -1;
      if (first) {
        live_expr(l, s->a);
        first = l->only[s->local] == -1;
      }
      tt_pstmt one = *s;
      one.next = NULL;
      tt__pw_each_stmt(&one, note_life, l);
      if (first) l->sure[s->local] = true;
      if (!first && s->op == TT_X_FOR) l->sure[s->local] |= l->only[s->local] == l->current;
      continue;
    }
    open = false;
    l->current = l->region++; /* conditions and the like: a region of their own */
    live_expr(l, s->a);
    live_expr(l, s->b);
    live_expr(l, s->c);
    for (int k = 0; s->arg && k < s->n; k++) live_expr(l, s->arg[k]);
    if (s->local >= 0) {
      note_life(l, s->local, true);
      l->only[s->local] = -2;
    }
    live_stmts(l, s->body);
    live_stmts(l, s->other);
  }
}

/* ---- regions */

/* Does it look at threadIdx.z? */
static bool asks_depth(const tt_pexpr *e) { return e->op == TT_X_SPECIAL && (e->k == TT_S_TID_Z || e->k == TT_S_LANE); }

static bool is_flat(const tt_pwriter *w) {
  for (int64_t k = 0; k < w->p->funcs.n; k++) /* those that ask for their place are told all of it */
    if (w->p->funcs.data[k] != w->f && w->p->funcs.data[k]->place) return false;
  return !w->p->bounds && !tt__pw_some(w->f->body, asks_depth);
}

/*
** One loop over rows where two would do, too: the compiler takes a tenth less time. Where nobody asks for z, y is
** counted anew in each layer.
*/
static void put_row_loop(tt_pwriter *w, const char *start) {
  if (w->flat)
    tt__pw_line(w, "for (tt_i64 %sty = 0, row = 0; row < rows; row++, ty = ty + 1 == bdy ? 0 : ty + 1)", start);
  else
    tt__pw_line(w, "for (tt_i64 %stz = 0; tz < bdz; tz++) for (tt_i64 ty = 0; ty < bdy; ty++)", start);
}

static void region_begin(tt_pwriter *w) {
  w->region = w->serial++;
  if (w->wide) {
    tt__pw_open(w, "for (tt_i64 t = 0, b = 0; b < gdx * gdy * gdz; b++) {");
    tt__pw_line(w,
                "const tt_i64 bx = b %% gdx, by = b / gdx %% gdy, bz = b / gdx / gdy; (void)bx; (void)by; (void)bz;");
    for (int64_t k = 0; k < w->p->shared.n; k++)
      tt__pw_line(w, "tt_%s *const shared%lld = all%lld + b * each%lld;",
                  tt__dtypes[w->p->shared.data[k].type->dtype].suffix, (long long)k, (long long)k, (long long)k);
    put_row_loop(w, "");
  } else {
    put_row_loop(w, "t = 0, ");
  }
  tt__pw_open(w, "for (tt_i64 tx = 0; tx < bdx; tx++, t++) {");
  if (w->has_done) tt__pw_line(w, "if (done0[t]) goto out%d;", w->region);
  for (int k = 0; k < w->nmask; k++) tt__pw_line(w, "if (!m%d[t]) goto out%d;", w->mask[k], w->region);
}

static void region_end(tt_pwriter *w) {
  tt__pw_line(w, "out%d:;", w->region);
  tt__pw_close(w, "}");
  if (w->wide) tt__pw_close(w, "}");
  w->region = -1;
}

void tt__pw_leave(tt_pwriter *w, const tt_pstmt *s) {
  if (s->op == TT_X_RETURN)
    tt__pw_line(w, "{ done0[t] = 1; goto out%d; }", w->region);
  else
    tt__pw_line(w, "{ m%d[t] = 0; goto out%d; }", s->op == TT_X_BREAK ? w->loop->on : w->loop->turn, w->region);
}

void tt__pw_array(tt_pwriter *w, const char *type, const char *name, int number) {
  if (!w->wide) {
    tt__pw_line(w, "%s %s%d[TT_THREADS];", type, name, number);
    return;
  }
  tt__str_addf(w->tops, "    %s *const %s%d = call->alloc(call, threads * (tt_i64)sizeof(%s), 0);\n", type, name,
               number, type);
  tt__str_addf(w->tops, "    if (!%s%d) { tt_fail(call, TT_ENOMEM, \"out of memory\", 0); return; }\n", name, number);
}

static int new_mask(tt_pwriter *w) {
  int m = w->serial++;
  tt__pw_array(w, "tt_b8", "m", m);
  return m;
}

static bool push_mask(tt_pwriter *w, int m) {
  if (w->nmask == (int)(sizeof w->mask / sizeof *w->mask)) {
    w->out->failed = true;
    return false;
  }
  w->mask[w->nmask++] = m;
  return true;
}

/* ---- split statements */

typedef struct blocks {
  tt_pwriter *w;
  tt_puniformity *a;
} blocks;

static void put_split(blocks *b, const tt_pstmt *s);

/* Does a thread leave this loop of regions by itself? `op`: by break, or by continue. */
static bool thread_leaves(const tt_puniformity *a, const tt_pstmt *s, bool masked, int op) {
  for (; s; s = s->next) {
    if (s->op == op && masked) return true;
    if (s->op == TT_X_IF) {
      bool inner = masked || !s->splits || !tt__pw_is_uniform(a, s->a);
      if (thread_leaves(a, s->body, inner, op) || thread_leaves(a, s->other, inner, op)) return true;
    }
  }
  return false;
}

static void put_if(blocks *b, const tt_pstmt *s) {
  tt_pwriter *w = b->w;
  if (tt__pw_is_uniform(b->a, s->a)) {
    tt__pw_open(w, "if (%s) {", tt__pw_text(w, s->a));
    put_split(b, s->body);
    if (s->other) {
      w->indent--;
      tt__pw_open(w, "} else {");
      put_split(b, s->other);
    }
    tt__pw_close(w, "}");
    return;
  }
  tt__pw_open(w, "{");
  int yes = new_mask(w), no = s->other ? new_mask(w) : -1;
  tt__pw_line(w, "for (tt_i64 t = 0; t < threads; t++) m%d[t] = 0;", yes);
  if (no >= 0) tt__pw_line(w, "for (tt_i64 t = 0; t < threads; t++) m%d[t] = 0;", no);
  region_begin(w);
  tt__pw_line(w, "m%d[t] = %s;", yes, tt__pw_text(w, s->a));
  if (no >= 0) tt__pw_line(w, "m%d[t] = !m%d[t];", no, yes);
  region_end(w);
  if (push_mask(w, yes)) put_split(b, s->body), w->nmask--;
  if (no >= 0 && push_mask(w, no)) put_split(b, s->other), w->nmask--;
  tt__pw_close(w, "}");
}

static void start_mask(tt_pwriter *w, int m) {
  tt__pw_line(w, "for (tt_i64 t = 0; t < threads; t++) m%d[t] = 0;", m);
  region_begin(w);
  tt__pw_line(w, "m%d[t] = 1;", m);
  region_end(w);
}

static const char poll[] = "if (TT_RARELY(--turns < 0)) { turns = 1 << 20; if (call->poll(call)) return; }";

/*
** How many turns of a loop that all threads turn as often are one region, so that what each thread keeps is loaded and
** stored once for them: of a few assignments, where the loop has a multiple of so many turns. (Text for turns that are
** left over would cost the compiler as much again.)
*/
static int joined_turns(const tt_pstmt *s) {
  enum { JOINED = 4, MOST = 1 << 20 };
  if (s->op != TT_X_FOR || s->a->op != TT_X_CONST || s->b->op != TT_X_CONST || s->c->op != TT_X_CONST) return 1;
  int64_t lo = s->a->i, hi = s->b->i, by = s->c->i;
  if (by < 1 || by > MOST || lo < -MOST || hi > MOST || (hi - lo + by - 1) / by % JOINED != 0) return 1;
  for (const tt_pstmt *p = s->body; p; p = p->next)
    if (p->splits || (p->op != TT_X_SET && p->op != TT_X_STORE)) return 1;
  return tt__pw_is_small(s->body) ? JOINED : 1;
}

static const char *counter_text(tt_pwriter *w, const tt_pstmt *loop) {
  const tt_pexpr counter = {.op = TT_X_LOCAL, .k = loop->local, .type = w->f->locals.data[loop->local].type};
  return tt__pw_text(w, &counter);
}

/* The counter is each thread's own where another loop of threads that part ways counts with it. */
static void put_counter(tt_pwriter *w, const tt_pstmt *loop, int n) {
  bool own = w->storage[loop->local] != TT_STORAGE_UNIFORM;
  if (own) region_begin(w);
  tt__pw_line(w, "%s = it%d;", counter_text(w, loop), n);
  if (own) region_end(w);
}

static void put_joined_turns(tt_pwriter *w, const tt_pstmt *s, int joined) {
  int n = w->serial++;
  long long by = (long long)s->c->i;
  tt__pw_open(w, "for (tt_i64 it%d = %lld; it%d < %lld; it%d += %lld) {", n, (long long)s->a->i, n, (long long)s->b->i,
              n, joined * by);
  tt__pw_line(w, "%s", poll);
  region_begin(w);
  for (int k = 0; k < joined; k++) {
    tt__pw_line(w, "%s = it%d + %lld;", counter_text(w, s), n, k * by);
    tt__pw_stmts(w, s->body);
  }
  region_end(w);
  if (w->storage[s->local] == TT_STORAGE_UNIFORM)
    tt__pw_line(w, "v%d = it%d + %lld;", (int)s->local, n, (joined - 1) * by);
  tt__pw_close(w, "}");
}

/* Every thread does the same turns; those that break or continue by themselves wait in masks. */
static void put_common_loop(blocks *b, const tt_pstmt *s) {
  tt_pwriter *w = b->w;
  int joined = joined_turns(s), n = w->serial++;
  if (joined > 1) {
    put_joined_turns(w, s, joined);
    return;
  }
  if (s->op == TT_X_WHILE) {
    tt__pw_open(w, "while (%s) {", tt__pw_text(w, s->a));
  } else {
    tt__pw_line(w, "const tt_i64 hi%d = %s, by%d = %s;", n, tt__pw_text(w, s->b), n, tt__pw_text(w, s->c));
    if (s->c->nonneg)
      tt__pw_open(w, "for (tt_i64 it%d = %s; it%d < hi%d; it%d += by%d) {", n, tt__pw_text(w, s->a), n, n, n, n);
    else
      tt__pw_open(w, "for (tt_i64 it%d = %s; by%d > 0 ? it%d < hi%d : it%d > hi%d; it%d += by%d) {", n,
                  tt__pw_text(w, s->a), n, n, n, n, n, n, n);
    put_counter(w, s, n);
  }
  tt__pw_line(w, "%s", poll);
  put_split(b, s->body);
  tt__pw_close(w, "}");
}

static void put_masked_loop(blocks *b, const tt_pstmt *s, tt_ploop *loop) {
  tt_pwriter *w = b->w;
  int n = w->serial++;
  loop->masked = true;
  loop->on = new_mask(w);
  start_mask(w, loop->on);
  bool counted = s->op == TT_X_FOR;
  if (counted) {
    tt__pw_array(w, "tt_i64", "it", n);
    tt__pw_array(w, "tt_i64", "hi", n);
    tt__pw_array(w, "tt_i64", "by", n);
    region_begin(w);
    tt__pw_line(w, "it%d[t] = %s;", n, tt__pw_text(w, s->a));
    tt__pw_line(w, "hi%d[t] = %s;", n, tt__pw_text(w, s->b));
    tt__pw_line(w, "by%d[t] = %s;", n, tt__pw_text(w, s->c));
    region_end(w);
  }
  if (!push_mask(w, loop->on)) return;
  loop->turn = new_mask(w);
  tt__pw_open(w, "for (;;) {");
  tt__pw_line(w, "%s", poll);
  tt__pw_line(w, "int any = 0;");
  tt__pw_line(w, "for (tt_i64 t = 0; t < threads; t++) m%d[t] = 0;", loop->turn);
  region_begin(w);
  if (counted) {
    tt_str v = {0};
    tt__pw_local(w, s->local, &v);
    tt__pw_line(w, "if (!(by%d[t] > 0 ? it%d[t] < hi%d[t] : it%d[t] > hi%d[t])) { m%d[t] = 0; goto out%d; }", n, n, n,
                n, n, loop->on, w->region);
    tt__pw_line(w, "%s = it%d[t]; it%d[t] += by%d[t];", tt__pw_peek(w, &v), n, n, n);
    tt__str_free(&v);
  } else {
    tt__pw_line(w, "if (!(%s)) { m%d[t] = 0; goto out%d; }", tt__pw_text(w, s->a), loop->on, w->region);
  }
  tt__pw_line(w, "m%d[t] = 1; any = 1;", loop->turn);
  region_end(w);
  tt__pw_line(w, "if (!any) break;");
  if (push_mask(w, loop->turn)) put_split(b, s->body), w->nmask--;
  tt__pw_close(w, "}");
  w->nmask--;
}

static bool any_split(const tt_pstmt *s) {
  for (; s; s = s->next)
    if (s->splits) return true;
  return false;
}

typedef struct tally {
  int32_t local;
  int count;
} tally;
static void count_local(void *ctx, int32_t local, bool write) {
  tally *y = ctx;
  (void)write;
  y->count += local == y->local;
}

/* Is where a thread starts known by its place alone? Then neighbours are seen to touch neighbouring memory. */
static bool starts_by_remat(const tt_pwriter *w, const tt_pexpr *e) {
  switch ((tt_pop)e->op) {
    case TT_X_CONST:
    case TT_X_SPECIAL:
      return true;
    case TT_X_LOCAL:
      return w->remat[e->k] || w->storage[e->k] == TT_STORAGE_UNIFORM;
    case TT_X_ELEM:
    case TT_X_CAST:
    case TT_X_LEN:
      for (int k = 0; k < e->n; k++)
        if (!starts_by_remat(w, e->arg[k])) return false;
      return true;
    default:
      return false;
  }
}

static bool is_atomic(const tt_pexpr *e) { return e->op == TT_X_ATOMIC; }

/* Elements of arguments' rows that are read at `local`. */
static void put_prefetch(tt_pwriter *w, const tt_pexpr *e, int32_t local, int n) {
  if (!e) return;
  const tt_pexpr *array = e->op == TT_X_LOAD ? e->arg[0] : NULL;
  bool row = array && array->op == TT_X_LOCAL && array->k < w->f->nparam && array->type->rank == 1 &&
             array->type->layout != 'P';
  if (row && e->arg[1]->op == TT_X_LOCAL && e->arg[1]->k == local) {
    const char *a = tt__pw_text(w, array);
    tt__pw_line(w, "__builtin_prefetch(&%s.p[(at%d + by%d) * %s.s0]);", a, n, n, a);
  }
  for (int k = 0; k < e->n; k++) put_prefetch(w, e->arg[k], local, n);
}

/*
** What a thread reads in its next turn lies a grid away, where the processor does not look ahead by itself. Only where
** atomic operations keep the loop from becoming vector code, which a prefetch would, too.
*/
static void put_prefetches(tt_pwriter *w, const tt_pstmt *loop, int n) {
  bool scalar = false;
  for (const tt_pstmt *s = loop->body; s; s = s->next)
    scalar |= tt__pw_some_expr(s->a, is_atomic) || tt__pw_some_expr(s->b, is_atomic);
  for (const tt_pstmt *s = loop->body; s && scalar; s = s->next) {
    put_prefetch(w, s->a, loop->local, n);
    put_prefetch(w, s->b, loop->local, n);
  }
}

/* One turn of such a loop for all threads; `test`: some may have done their last. */
static void put_stride_turn(tt_pwriter *w, const tt_pstmt *s, int n, bool own, bool again, bool test) {
  tt__pw_line(w, "%s", poll);
  region_begin(w);
  if (again)
    tt__pw_line(w, "const tt_i64 at%d = %s + turn%d * by%d;", n, tt__pw_text(w, s->a), n, n);
  else
    tt__pw_line(w, "const tt_i64 at%d = it%d[t] + turn%d * by%d;", n, n, n, n);
  if (test && s->c->nonneg)
    tt__pw_open(w, "if (at%d < hi%d) {", n, n);
  else if (test)
    tt__pw_open(w, "if (by%d > 0 ? at%d < hi%d : at%d > hi%d) {", n, n, n, n, n);
  if (own) {
    tt__pw_line(w, "const tt_i64 v%d = at%d;", (int)s->local, n);
  } else {
    tt_str v = {0};
    tt__pw_local(w, s->local, &v);
    tt__pw_line(w, "%s = at%d;", tt__pw_peek(w, &v), n);
    tt__str_free(&v);
  }
  if (!test) put_prefetches(w, s, n);
  tt__pw_stmts(w, s->body);
  if (test) tt__pw_close(w, "}");
  region_end(w);
}

/*
** A counted loop whose bounds agree but not where each thread starts: a turn is one region. As long as every thread has
** turns left nobody is asked, so that these regions become vector code.
*/
static void put_stride_loop(blocks *b, const tt_pstmt *s, tt_ploop *loop) {
  tt_pwriter *w = b->w;
  int n = w->serial++;
  tally in = {.local = s->local}, all = in;
  tt__pw_each_stmt(s->body, count_local, &in);
  tt__pw_each_stmt(w->f->body, count_local, &all);
  bool own = in.count == all.count - 1; /* nobody else looks at the counter: a variable of the turn */
  uint8_t storage = w->storage[s->local];
  tt__pw_line(w, "const tt_i64 hi%d = %s, by%d = %s;", n, tt__pw_text(w, s->b), n, tt__pw_text(w, s->c));
  bool again = starts_by_remat(w, s->a);
  if (!again) tt__pw_array(w, "tt_i64", "it", n);
  tt__pw_line(w, "tt_i64 least%d = TT_I64(0x7fffffffffffffff), most%d = 0;", n, n);
  region_begin(w);
  tt__pw_line(w, "const tt_i64 from = %s, c = tt_range_i64(from, hi%d, by%d);", tt__pw_text(w, s->a), n, n);
  if (!again) tt__pw_line(w, "it%d[t] = from;", n);
  tt__pw_line(w, "least%d = c < least%d ? c : least%d;", n, n, n);
  tt__pw_line(w, "most%d = c > most%d ? c : most%d;", n, n, n);
  region_end(w);
  tt__pw_line(w, "tt_i64 turn%d = 0;", n);
  loop->split = false; /* nobody breaks out of it: `leaves` */
  if (own) w->storage[s->local] = TT_STORAGE_PLAIN;
  for (int tail = 0; tail < 2; tail++) {
    tt__pw_open(w, "for (; turn%d < %s%d && most%d; turn%d++) {", n, tail ? "most" : "least", n, n, n);
    put_stride_turn(w, s, n, own, again, tail);
    tt__pw_close(w, "}");
  }
  w->storage[s->local] = storage;
}

static bool leaves(const tt_pstmt *s) {
  for (; s; s = s->next)
    if (s->op == TT_X_BREAK || s->op == TT_X_CONTINUE || s->op == TT_X_RETURN || leaves(s->body) || leaves(s->other))
      return true;
  return false;
}

static void put_loop(blocks *b, const tt_pstmt *s) {
  tt_pwriter *w = b->w;
  tt_ploop loop = {.up = w->loop, .split = true, .on = -1, .turn = -1};
  bool common = tt__pw_loop_is_uniform(b->a, s) && !thread_leaves(b->a, s->body, false, TT_X_BREAK) &&
                !thread_leaves(b->a, s->body, false, TT_X_CONTINUE);
  w->loop = &loop;
  tt__pw_open(w, "{");
  bool stride = s->op == TT_X_FOR && tt__pw_is_uniform(b->a, s->b) && tt__pw_is_uniform(b->a, s->c) &&
                !any_split(s->body) && !leaves(s->body);
  if (common)
    put_common_loop(b, s);
  else if (stride)
    put_stride_loop(b, s, &loop);
  else
    put_masked_loop(b, s, &loop);
  tt__pw_close(w, "}");
  w->loop = loop.up;
}

/* ---- exchanges: every thread writes its value, then every thread reads */

static void put_collective(blocks *b, const tt_pstmt *s) {
  tt_pwriter *w = b->w;
  const char *type = tt__pw_type(w, s->arg[0]->type);
  tt_str v = {0};
  tt__pw_local(w, s->local, &v);
  const char *to = tt__pw_peek(w, &v);
  tt__pw_open(w, "{");
  if (s->k <= TT_C_SYNC_OR) {
    tt__pw_line(w, "tt_i64 acc = %d;", s->k == TT_C_SYNC_AND);
    region_begin(w);
    tt__pw_line(w,
                s->k == TT_C_SYNC_AND  ? "acc &= %s;"
                : s->k == TT_C_SYNC_OR ? "acc |= %s;"
                                       : "acc += %s;",
                tt__pw_text(w, s->arg[0]));
    region_end(w);
    bool same = w->storage[s->local] == TT_STORAGE_UNIFORM;
    if (!same) region_begin(w);
    tt__pw_line(w, "%s = acc;", to);
    if (!same) region_end(w);
    tt__pw_close(w, "}");
    tt__str_free(&v);
    return;
  }
  bool shuffle = s->k <= TT_C_SHFL_XOR;
  int n = w->serial++;
  tt__pw_array(w, type, "x", n);
  tt__pw_array(w, "tt_b8", "here", n);
  if (shuffle) tt__pw_array(w, "tt_i64", "to", n);
  tt__pw_line(w, "for (tt_i64 t = 0; t < threads; t++) here%d[t] = 0;", n);
  region_begin(w);
  tt__pw_line(w, "x%d[t] = %s; here%d[t] = 1;", n, tt__pw_text(w, s->arg[0]), n);
  if (shuffle) tt__pw_line(w, "to%d[t] = %s;", n, tt__pw_text(w, s->arg[1]));
  region_end(w);
  region_begin(w);
  static const char *const from[] = {"(t & ~31) + (to & 31)", "(t & 31) >= to ? t - to : t",
                                     "(t & 31) + to < 32 ? t + to : t", "t ^ (to & 31)"};
  if (shuffle) {
    tt__pw_line(w, "const tt_i64 to = to%d[t], from = %s;", n, from[s->k - TT_C_SHFL]);
    tt__pw_line(w, "%s = from < threads && here%d[from] ? x%d[from] : x%d[t];", to, n, n, n);
  } else {
    tt__pw_line(w, "tt_u32 votes = 0, all = 0;");
    tt__pw_open(w, "for (tt_i64 u = t & ~31; u < (t & ~31) + 32 && u < threads; u++) if (here%d[u]) {", n);
    tt__pw_line(w, "all |= 1u << (u & 31);");
    if (s->k == TT_C_MATCH) /* the same bits, as hardware compares */
      tt__pw_line(w, "votes |= (tt_u32)!__builtin_memcmp(&x%d[u], &x%d[t], sizeof x%d[t]) << (u & 31);", n, n, n);
    else
      tt__pw_line(w, "votes |= (tt_u32)(x%d[u] != 0) << (u & 31);", n);
    tt__pw_close(w, "}");
    tt__pw_line(w,
                s->k == TT_C_ANY      ? "%s = votes != 0;"
                : s->k == TT_C_ALL    ? "%s = votes == all;"
                : s->k == TT_C_ACTIVE ? "%s = all;"
                                      : "%s = votes;",
                to);
  }
  region_end(w);
  tt__pw_close(w, "}");
  tt__str_free(&v);
}

static void put_split(blocks *b, const tt_pstmt *s) {
  tt_pwriter *w = b->w;
  bool open = false;
  for (; s; s = s->next) {
    if (!s->splits && w->nmask == 0 && w->loop && w->loop->split && !w->loop->masked &&
        (s->op == TT_X_BREAK || s->op == TT_X_CONTINUE)) {
      if (open) region_end(w); /* every thread leaves the loop here */
      open = false;
      tt__pw_line(w, s->op == TT_X_BREAK ? "break;" : "continue;");
      continue;
    }
    if (!s->splits) {
      if (!open) region_begin(w);
      open = true;
      tt__pw_stmt(w, s);
      continue;
    }
    if (open) region_end(w);
    open = false;
    if (s->op == TT_X_IF) {
      put_if(b, s);
    } else if (s->op == TT_X_WHILE || s->op == TT_X_FOR) {
      put_loop(b, s);
    } else if (s->op == TT_X_COLLECTIVE) {
      put_collective(b, s);
    } else if (s->op == TT_X_SET) {
      tt__pw_line(w, "v%d = %s;", (int)s->local, tt__pw_text(w, s->a));
    }
  }
  if (open) region_end(w);
}

static bool has_return(const tt_pstmt *s) {
  for (; s; s = s->next)
    if (s->op == TT_X_RETURN || has_return(s->body) || has_return(s->other)) return true;
  return false;
}

void tt__pw_block(tt_pwriter *w) {
  assert(w->f->kind == TT_X_KERNEL);
  size_t n = (size_t)w->f->locals.n;
  tt_puniformity a;
  life l = {.only = tt__arena_alloc(w->arena, n * sizeof *l.only), .sure = tt__arena_alloc(w->arena, n)};
  w->storage = tt__arena_alloc(w->arena, n);
  bool room = l.only && l.sure && w->storage && tt__pw_find_uniform(w->arena, w->f, w->wide, &a);
  w->remat = room ? tt__pw_find_remat(w, a.assigned, a.needed) : NULL;
  if (!w->remat) {
    w->out->failed = true;
    return;
  }
  for (size_t k = 0; k < n; k++) l.only[k] = -1;
  live_stmts(&l, w->f->body);
  w->has_done = has_return(w->f->body);
  w->flat = is_flat(w);
  if (!w->wide) tt__pw_line(w, "const tt_i64 threads = bdx * bdy * bdz;");
  tt__pw_line(w, "const tt_i64 rows = bdy * bdz; (void)rows;");
  tt__pw_line(w, "tt_i64 turns = 1 << 20; (void)turns; (void)threads;");
  for (size_t k = 0; k < n; k++) {
    const tt_plocal *v = &w->f->locals.data[k];
    bool param = (int64_t)k < w->f->nparam, unused = l.only[k] == -1 && !param;
    if (unused || w->remat[k] || v->type->tag == TT_T_UNKNOWN || v->type->tag == TT_T_META) continue;
    if (v->type->tag == TT_T_ARRAY && v->type->layout == 'E') continue;
    const char *type = tt__pw_type(w, v->type);
    bool same = a.needed[k] || (param && !a.assigned[k]);
    w->storage[k] = same                                    ? TT_STORAGE_UNIFORM
                    : !param && l.only[k] >= 0 && l.sure[k] ? TT_STORAGE_PLAIN
                                                            : TT_STORAGE_THREADS;
    if (w->storage[k] == TT_STORAGE_THREADS) {
      tt__pw_array(w, type, "v", (int)k);
      if (param) tt__pw_line(w, "for (tt_i64 t = 0; t < threads; t++) v%d[t] = a%d;", (int)k, (int)k);
    } else {
      tt__pw_line(w, param ? "%s v%d = a%d;" : "%s v%d;", type, (int)k, (int)k);
    }
  }
  if (w->has_done) {
    tt__pw_array(w, "tt_b8", "done", 0);
    tt__pw_line(w, "for (tt_i64 t = 0; t < threads; t++) done0[t] = 0;");
  }
  blocks b = {w, &a};
  w->loop = NULL;
  w->nmask = 0;
  put_split(&b, w->f->body);
}
