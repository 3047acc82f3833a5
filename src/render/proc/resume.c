/*
** Functions that go on with a frame (ir/user/program.h) at the beginning of a turn of one of their loops.
**
** `enter` is that loop's number until the turn has begun, and 0 from then on. The way there goes through the heads of
** the loops around it, so that each loop has one entry and compilers see loops as they know them: what stands beside
** the way is left out while `enter` is set. The innermost loops ask nothing.
*/
#include "render/proc/proc_int.h"

#include <assert.h>

static bool holds_loops(const tt_pstmt *s) {
  return s->op == TT_X_FOR || s->op == TT_X_WHILE || tt__program_loops(s->body) || tt__program_loops(s->other);
}

/* An `if` with loops: the branch that holds the one that is entered, else the one that the condition says. */
static void put_if(tt_pwriter *w, const tt_pstmt *s) {
  int first = w->loops + 1, last = w->loops + tt__program_loops(s->body);
  tt__pw_open(w, "if (enter ? enter >= %d && enter <= %d : %s) {", first, last, tt__pw_text(w, s->a));
  tt__pw_stmts(w, s->body);
  w->indent--;
  tt__pw_open(w, "} else {");
  tt__pw_stmts(w, s->other);
  tt__pw_close(w, "}");
}

bool tt__pw_resume_stmts(tt_pwriter *w, const tt_pstmt *s) {
  if (!tt__program_loops(s)) return false;
  while (s) {
    if (!holds_loops(s)) {
      tt__pw_open(w, "if (!enter) {");
      for (; s && !holds_loops(s); s = s->next) tt__pw_stmt(w, s);
      tt__pw_close(w, "}");
      continue;
    }
    int own = s->op == TT_X_IF ? 0 : 1, first = w->loops + 1;
    int last = w->loops + own + tt__program_loops(s->body) + tt__program_loops(s->other);
    tt__pw_open(w, "if (!enter || (enter >= %d && enter <= %d)) {", first, last);
    if (s->op == TT_X_IF)
      put_if(w, s);
    else
      tt__pw_stmt(w, s);
    tt__pw_close(w, "}");
    s = s->next;
  }
  return true;
}

void tt__pw_resume_for(tt_pwriter *w, const tt_pstmt *s, const char *v) {
  assert(s->op == TT_X_FOR);
  int number = ++w->loops, at = tt__pframe_loop(w->f, number);
  bool known = s->c->op == TT_X_CONST;
  tt__pw_open(w, "{");
  tt__pw_line(w, "tt_i64 it = frame[%d], hi = frame[%d], by = frame[%d];", at, at + 1, at + 2);
  tt__pw_line(w, "if (!enter) hi = %s;", tt__pw_text(w, s->b));
  if (known)
    tt__pw_line(w, "by = %lld;", (long long)s->c->i);
  else
    tt__pw_line(w, "if (!enter) by = %s;", tt__pw_text(w, s->c));
  tt__pw_line(w, "if (!enter) it = %s;", tt__pw_text(w, s->a));
  tt__pw_line(w, tt__program_loops(s->body) ? "if (enter == %d) enter = 0;" : "enter = 0;", number);
  const char *unroll = tt__pw_is_small(s->body) ? "TT_UNROLL4 " : "";
  if (known || s->c->nonneg)
    tt__pw_open(w, "%sfor (; it %s hi; it += by) {", unroll, known && s->c->i < 0 ? ">" : "<");
  else
    tt__pw_open(w, "for (; by > 0 ? it < hi : it > hi; it += by) {");
  tt__pw_line(w, tt__program_loops(s->body) ? "if (!enter) %s = it;" : "%s = it;", v);
  tt__pw_stmts(w, s->body);
  tt__pw_close(w, "}");
  tt__pw_close(w, "}");
}

/* Its head; the turn that is entered was decided. */
void tt__pw_resume_while(tt_pwriter *w, const tt_pstmt *s) {
  assert(s->op == TT_X_WHILE);
  int number = ++w->loops;
  tt__pw_open(w, "while (enter || %s) {", tt__pw_text(w, s->a));
  tt__pw_line(w, tt__program_loops(s->body) ? "if (enter == %d) enter = 0;" : "enter = 0;", number);
}

void tt__pw_resume_return(tt_pwriter *w, const tt_pexpr *e) {
  tt__pw_open(w, "{");
  if (e) {
    tt__pw_line(w, "const %s r = %s;", tt__pw_type(w, w->f->result), tt__pw_text(w, e));
    tt__pw_to_words(w, w->f->result, "r", "out", 0);
  }
  tt__pw_line(w, "return 0;");
  tt__pw_close(w, "}");
}

static void put_local(tt_pwriter *w, int32_t k) {
  const tt_ptype *t = w->f->locals.data[k].type;
  tt_str text = {0};
  if (t->tag == TT_T_UNKNOWN || t->tag == TT_T_META || (t->tag == TT_T_ARRAY && t->layout == 'E')) return;
  tt__pw_from_words(w, t, "frame", tt__pframe_local(w->f, k), &text);
  tt__pw_line(w, "%s v%d = %s;", tt__pw_type(w, t), (int)k, tt__pw_peek(w, &text));
  w->out->failed |= text.failed;
  tt__str_free(&text);
}

void tt__pw_resume(tt_pwriter *w, int64_t number, const char *name) {
  assert(number >= 0 && number < w->p->funcs.n);
  w->f = w->p->funcs.data[number];
  w->resume = true;
  w->loops = 0;
  tt__pw_open(w, "int %s_r%lld(tt_pcall *call, const tt_i64 *frame, tt_i64 *out, tt_i64 enter) {", name,
              (long long)number);
  for (int32_t k = 0; k < w->f->locals.n; k++) put_local(w, k);
  tt__pw_begin_carried(w);
  tt__pw_turns(w, w->f->body);
  tt__pw_stmts(w, w->f->body);
  tt__pw_line(w, "return 0;");
  tt__pw_close(w, "}");
  w->resume = false;
}
