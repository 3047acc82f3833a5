/*
** Maps: a thread takes some lanes of some outer points.
*/
#include "render/threads_int.h"

static void no_fold(tt_thread_emit *t, int i) {
  (void)t;
  (void)i;
}

void tt__threads_map(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt_region body = {TT_SCOPE_ROW, 0};
  int outer = e->k->naxes > 0 ? e->k->naxes - 1 : 0;
  tt__emit_line(e, "const tt_ix j = ((tt_ix)TT_GX * TT_BX * %d + TT_TX) * %d, to = nlane;", t->v->unroll, t->v->vec);
  tt__emit_line(e, "if (j >= to) return;");
  tt__emit_open(e, "for (tt_ix at = (tt_ix)TT_GY * TT_BY + TT_TY; at < outer; at += (tt_ix)TT_NY * TT_BY)");
  tt__threads_decode(e, 'o', 0, outer, "at");
  tt__threads_place(e, 'o', 0, outer, -1);
  tt__emit_uniform(e, body);
  tt__threads_lanes(t, body, no_fold);
  tt__emit_close(e);
}
