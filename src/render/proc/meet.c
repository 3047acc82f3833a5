/*
** Do all threads of a block come to each barrier? OpenCL asks it of them, and of those that have ended, too, whom CUDA
** does not wait for: there a kernel may hang or go on with half of the values. What hangs on the thread's place is
** taken to differ, what is read at one index by all is not.
**
** Threads that return before a barrier go on to it: what the others do is kept from them by a flag, but for what all
** threads compute alike, by which they find the way from barrier to barrier.
*/
#include <assert.h>
#include <string.h>

#include "render/proc/proc_int.h"

typedef struct meeting {
  const tt_proc *p;
  bool *apart; /* [locals]: threads have other values */
  bool *read;  /* [locals]: their values come from memory */
  bool changed;
  bool ended; /* some threads, before what is looked at */
  bool ends;  /* and there is a barrier behind */
  int32_t line;
  const char *why; /* NULL: every thread comes to every barrier so far */
} meeting;

static bool differs(const meeting *m, const tt_pexpr *e) {
  if (!e) return false;
  if (e->op == TT_X_ATOMIC) return true;
  if (e->op == TT_X_LOCAL) return m->apart[e->k];
  if (e->op == TT_X_SPECIAL) return e->k <= TT_S_TID_Z || e->k == TT_S_LANE;
  if (e->op == TT_X_CALL && m->p->funcs.data[e->k]->place) return true;
  for (int k = 0; k < e->n; k++)
    if (differs(m, e->arg[k])) return true;
  return false;
}

/* Do some threads leave the loop, or its turn, before others? */
static bool leave_apart(const meeting *m, const tt_pstmt *s, bool apart) {
  for (; s; s = s->next) {
    if (apart && (s->op == TT_X_BREAK || s->op == TT_X_CONTINUE)) return true;
    if (s->op != TT_X_IF) continue;
    bool inner = apart || differs(m, s->a);
    if (leave_apart(m, s->body, inner) || leave_apart(m, s->other, inner)) return true;
  }
  return false;
}

static bool is_apart(const meeting *m, const tt_pstmt *s) {
  if (s->op == TT_X_IF) return differs(m, s->a);
  if (s->op != TT_X_WHILE && s->op != TT_X_FOR) return false;
  return differs(m, s->a) || differs(m, s->b) || differs(m, s->c) || leave_apart(m, s->body, false);
}

static bool is_read(const meeting *m, const tt_pexpr *e) {
  if (!e) return false;
  if (e->op == TT_X_LOAD || e->op == TT_X_CALL || e->op == TT_X_ATOMIC) return true;
  if (e->op == TT_X_LOCAL) return m->read[e->k];
  for (int k = 0; k < e->n; k++)
    if (is_read(m, e->arg[k])) return true;
  return false;
}

static void find_apart(meeting *m, const tt_pstmt *s, bool apart) {
  for (; s; s = s->next) {
    bool inner = apart || is_apart(m, s);
    bool sets = (s->op == TT_X_SET && (apart || differs(m, s->a))) || (s->op == TT_X_FOR && inner) ||
                (s->op == TT_X_COLLECTIVE && s->k > TT_C_SYNC_OR);
    if (sets && !m->apart[s->local]) m->changed = m->apart[s->local] = true;
    bool reads = s->op == TT_X_SET && is_read(m, s->a);
    if (reads && !m->read[s->local]) m->changed = m->read[s->local] = true;
    find_apart(m, s->body, inner);
    find_apart(m, s->other, inner);
  }
}

static bool is_meeting(const tt_pstmt *s) {
  return (s->op == TT_X_BARRIER && s->k == 0) || (s->op == TT_X_COLLECTIVE && s->k <= TT_C_SYNC_OR);
}

/* Must threads that have returned go this way, too? It holds a barrier, or leaves a loop that does. */
static bool holds_way(const tt_pstmt *s) {
  if (is_meeting(s) || s->op == TT_X_BREAK || s->op == TT_X_CONTINUE) return true;
  bool loop = s->op == TT_X_WHILE || s->op == TT_X_FOR;
  for (const tt_pstmt *t = s->body; t; t = t->next)
    if (holds_way(t) && !(loop && (t->op == TT_X_BREAK || t->op == TT_X_CONTINUE))) return true;
  for (const tt_pstmt *t = s->other; t; t = t->next)
    if (holds_way(t)) return true;
  return false;
}

static void refuse_barrier(meeting *m, const tt_pstmt *s, const char *why) {
  m->line = s->line;
  m->why = why;
}

static void look_for_barriers(meeting *m, const tt_pstmt *s, bool apart) {
  for (; s && !m->why; s = s->next) {
    bool meets = is_meeting(s), loop = s->op == TT_X_WHILE || s->op == TT_X_FOR;
    m->ends |= meets && m->ended;
    if (meets && apart)
      refuse_barrier(m, s, "a barrier that not all threads of a block come to, or not as often: write it where all do");
    if (holds_way(s) && m->ended && (is_read(m, s->a) || is_read(m, s->b) || is_read(m, s->c)))
      refuse_barrier(m, s, "threads that have returned must come to a barrier, and the way there hangs on memory");
    if (s->op == TT_X_RETURN && apart) m->ended = true;
    bool inner = apart || is_apart(m, s);
    for (int turn = 0; turn <= loop; turn++) { /* what ended in one turn is missed in the next */
      look_for_barriers(m, s->body, inner);
      look_for_barriers(m, s->other, inner);
    }
  }
}

bool tt__pw_all_meet(tt_pwriter *w, const tt_pfunc *f, int32_t *line, const char **why) {
  size_t n = (size_t)f->locals.n + 1;
  meeting m = {.p = w->p, .apart = tt__arena_alloc(w->arena, n), .read = tt__arena_alloc(w->arena, n)};
  assert(f->kind == TT_X_KERNEL);
  *why = NULL;
  if (!m.apart || !m.read) return false;
  memset(m.apart, 0, n);
  memset(m.read, 0, n);
  do {
    m.changed = false;
    find_apart(&m, f->body, false);
  } while (m.changed);
  look_for_barriers(&m, f->body, false);
  *line = m.line;
  *why = m.why;
  for (size_t k = 0; k < n; k++) m.apart[k] |= m.read[k];
  w->apart = m.ends ? m.apart : NULL;
  return true;
}

/* ---- writing a kernel whose threads go on after they have returned */

static bool is_for_all(const tt_pwriter *w, const tt_pstmt *s) {
  return holds_way(s) || (s->op == TT_X_SET && !w->apart[s->local]);
}

void tt__pw_meet_stmts(tt_pwriter *w, const tt_pstmt *s) {
  assert(w->apart && !w->leave);
  while (s) {
    for (; s && is_for_all(w, s); s = s->next) tt__pw_stmt(w, s);
    if (!s) break;
    w->leave = ++w->serial;
    tt__pw_open(w, "if (!over) {");
    for (; s && !is_for_all(w, s); s = s->next) tt__pw_stmt(w, s);
    tt__pw_close(w, "}");
    tt__pw_line(w, "left%d:;", w->leave);
    w->leave = 0;
  }
}
