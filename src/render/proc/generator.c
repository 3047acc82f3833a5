/*
** Functions that yield, as text: a function that makes a generator, and one that goes on with it. The words of a
** generator: 0: behind which yield it stopped (0: it has not begun, -1: it is over), 1: the function that goes on,
** 2: the value that it gave, then the frame (ir/user/program.h), of whose loops those that count are kept.
*/
#include "render/proc/proc_int.h"

#include <assert.h>
#include <stdio.h>

enum { VALUE = 2 };

static int frame_at(const tt_pfunc *f) { return VALUE + tt__ptype_words(f->yields); }
static int loop_at(const tt_pfunc *f, int loop) { return frame_at(f) + tt__pframe_loop(f, loop); }

static bool is_kept(const tt_ptype *t) {
  return t->tag != TT_T_UNKNOWN && t->tag != TT_T_META && t->tag != TT_T_NONE &&
         !(t->tag == TT_T_ARRAY && t->layout == 'E');
}

static void put_make_signature(tt_pwriter *w, int64_t number) {
  tt__str_addf(w->out, "static __attribute__((unused)) tt_list *tt_g%lld(tt_pcall *call", (long long)number);
  for (int32_t k = 0; k < w->f->nparam; k++)
    tt__str_addf(w->out, ", %s v%d", tt__pw_type(w, w->f->locals.data[k].type), (int)k);
  tt__str_add(w->out, ")");
}

void tt__pw_generator_head(tt_pwriter *w, int64_t number) {
  put_make_signature(w, number);
  tt__str_addf(w->out, ";\nstatic int tt_f%lld(tt_pcall *call, tt_list *self, tt_b8 *result);\n", (long long)number);
}

static void put_make(tt_pwriter *w, int64_t number) {
  put_make_signature(w, number);
  char name[16];
  tt__pw_open(w, " {");
  tt__pw_line(w, "tt_list *self = tt_generator_new(call, %d, (tt_i64)&tt_f%lld);",
              loop_at(w->f, tt__program_loops(w->f->body) + 1), (long long)number);
  tt__pw_line(w, "if (!self) return 0;");
  for (int32_t k = 0; k < w->f->nparam; k++) {
    snprintf(name, sizeof name, "v%d", (int)k);
    tt__pw_to_words(w, w->f->locals.data[k].type, name, "self->w", frame_at(w->f) + tt__pframe_local(w->f, k));
  }
  tt__pw_line(w, "return self;");
  tt__pw_close(w, "}");
}

static void put_load(tt_pwriter *w, int32_t k) {
  const tt_ptype *t = w->f->locals.data[k].type;
  tt_str text = {0};
  if (!is_kept(t)) {
    if (t->tag == TT_T_NONE) tt__pw_line(w, "%s v%d = 0;", tt__pw_type(w, t), (int)k);
    return;
  }
  tt__pw_from_words(w, t, "w", frame_at(w->f) + tt__pframe_local(w->f, k), &text);
  tt__pw_line(w, "%s v%d = %s;", tt__pw_type(w, t), (int)k, tt__pw_peek(w, &text));
  w->out->failed |= text.failed;
  tt__str_free(&text);
}

static void put_save(tt_pwriter *w) {
  char name[16];
  tt__pw_line(w, "save: __attribute__((unused));");
  for (int32_t k = 0; k < w->f->locals.n; k++) {
    if (!is_kept(w->f->locals.data[k].type)) continue;
    snprintf(name, sizeof name, "v%d", (int)k);
    tt__pw_to_words(w, w->f->locals.data[k].type, name, "w", frame_at(w->f) + tt__pframe_local(w->f, k));
  }
  for (int k = 1; k <= w->loops; k++) {
    int at = loop_at(w->f, k);
    tt__pw_line(w, "w[%d] = it%d; w[%d] = hi%d; w[%d] = by%d;", at, k, at + 1, k, at + 2, k);
  }
  tt__pw_line(w, "*result = 1;");
  tt__pw_line(w, "return 0;");
}

void tt__pw_generator(tt_pwriter *w, int64_t number) {
  tt_str body = {0}, *out = w->out;
  put_make(w, number);
  w->loops = w->stops = 0;
  w->out = &body;
  w->indent++;
  tt__pw_begin_carried(w);
  tt__pw_stmts(w, w->f->body);
  w->indent--;
  w->out = out;
  tt__pw_open(w, "static int tt_f%lld(tt_pcall *call, tt_list *self, tt_b8 *result) {", (long long)number);
  tt__pw_line(w, "tt_i64 *const w = self->w, state = w[0];");
  for (int32_t k = 0; k < w->f->locals.n; k++) put_load(w, k);
  for (int k = 1; k <= w->loops; k++) {
    int at = loop_at(w->f, k);
    tt__pw_line(w, "tt_i64 it%d = w[%d], hi%d = w[%d], by%d = w[%d]; (void)by%d;", k, at, k, at + 1, k, at + 2, k);
  }
  tt__pw_turns(w, w->f->body);
  tt__pw_line(w, "w[0] = -1;");
  tt__pw_line(w, "if (state < 0) goto over;");
  for (int k = 1; k <= w->stops; k++) tt__pw_line(w, "if (state == %d) goto stop%d;", k, k);
  tt__str_add(w->out, body.data ? body.data : "");
  w->out->failed |= body.failed;
  tt__str_free(&body);
  tt__pw_line(w, "over:");
  tt__pw_line(w, "*result = 0;");
  tt__pw_line(w, "return 0;");
  put_save(w);
  tt__pw_close(w, "}");
}

void tt__pw_yield(tt_pwriter *w, const tt_pstmt *s) {
  int n = ++w->stops;
  tt__pw_open(w, "{");
  tt__pw_line(w, "const %s x = %s;", tt__pw_type(w, w->f->yields), tt__pw_text(w, s->a));
  tt__pw_to_words(w, w->f->yields, "x", "w", VALUE);
  tt__pw_line(w, "(void)x;");
  tt__pw_close(w, "}");
  tt__pw_line(w, "w[0] = %d;", n);
  tt__pw_line(w, "goto save;");
  tt__pw_line(w, "stop%d:;", n);
}

/* A loop that may be entered in the middle: what it counts by is the function's. */
void tt__pw_generator_for(tt_pwriter *w, const tt_pstmt *s, const char *v) {
  assert(s->op == TT_X_FOR);
  int n = ++w->loops;
  bool known = s->c->op == TT_X_CONST;
  tt__pw_line(w, "hi%d = %s;", n, tt__pw_text(w, s->b));
  tt__pw_line(w, "by%d = %s;", n, tt__pw_text(w, s->c));
  tt__pw_line(w, "it%d = %s;", n, tt__pw_text(w, s->a));
  if (known || s->c->nonneg)
    tt__pw_open(w, "for (; it%d %s hi%d; it%d += by%d) {", n, known && s->c->i < 0 ? ">" : "<", n, n, n);
  else
    tt__pw_open(w, "for (; by%d > 0 ? it%d < hi%d : it%d > hi%d; it%d += by%d) {", n, n, n, n, n, n, n);
  tt__pw_line(w, "%s = it%d;", v, n);
  tt__pw_stmts(w, s->body);
  tt__pw_close(w, "}");
}

void tt__pw_next(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  const char *self = tt__pw_text(w, e->arg[0]);
  if (e->op == TT_X_NEXT) {
    int n = w->serial++;
    tt__str_addf(out, "({ tt_b8 r%d; if (TT_RARELY(tt_f%s(call, %s, &r%d))) %s; r%d; })", n, e->arg[0]->type->meta,
                 self, n, tt__pw_leave_text(w), n);
    return;
  }
  char word[16];
  snprintf(word, sizeof word, "w%d", w->serial++);
  tt__str_addf(out, "({ const tt_i64 *%s = (%s)->w; ", word, self);
  bool parts = e->type->tag == TT_T_ARRAY || e->type->tag == TT_T_TUPLE;
  if (parts) tt__pw_struct(w, e->type, TT_SPACE_GLOBAL, out);
  tt__pw_from_words(w, e->type, word, VALUE, out);
  tt__str_add(out, parts ? "); })" : "; })");
}
