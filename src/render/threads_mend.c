/*
** Maps that are bound by instructions: near forms of functions (prelude_f32.h, TT_NEAR_F32) for all lanes, with no
** branch between them. A vector with a lane that is far is not stored: its turn becomes a bit of `late`, and when the
** threads have been through their vectors, those are done again with the forms that are right for all. What happens
** rarely thus stands behind the loop, where it takes no registers and no instructions from it. All lanes of a map may
** be done in any order, so what is done late may be.
**
** One far lane among hundreds is enough for each turn of a warp to have some. So the threads of a warp take the late
** vectors of each in turn together, a lane each: few of them cost little. Where three turns in a row were late, the
** data is of another kind, and the rest is late without a try.
**
** The lanes that are left behind the last whole vector have a thread each, which finds its own late as well.
*/
#include "render/threads_int.h"

static void no_fold(tt_thread_emit *t, int i) {
  (void)t;
  (void)i;
}

void tt__threads_mended(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt_region body = {TT_SCOPE_ROW, 0};
  int outer = e->k->naxes > 0 ? e->k->naxes - 1 : 0, vec = t->v->vec;
  tt__threads_decode(e, 'o', 0, outer, "0");
  tt__threads_place(e, 'o', 0, outer, -1);
  tt__emit_uniform(e, body);
  tt__emit_line(e, "const tt_ix whole = nlane / %d, all = whole + nlane %% %d;", vec, vec);
  tt__emit_line(e, "const tt_ix first = (tt_ix)TT_GX * TT_BX + TT_TX, by = (tt_ix)TT_NX * TT_BX;");
  tt__emit_line(e, "tt_u32 late = 0, bit = 1;");
  tt__emit_line(e, "tt_ix q = first;");
  tt__emit_line(e, "TT_UNROLL(1)");
  tt__emit_open(e, "for (; q < whole; q += by, bit <<= 1)");
  tt__emit_line(e, "const tt_ix j = q * %d;", vec);
  tt__emit_line(e, "int far = 0;");
  e->mended = true;
  tt__threads_lanes(t, body, no_fold);
  e->mended = false;
  tt__emit_close(e);
  tt__emit_line(e, "if (q < all) late |= bit;");
  tt__emit_line(e, "if (!TT_ANY(late != 0)) return;");
  tt__emit_line(e, "const tt_i32 lane = TT_TX %% 32;");
  tt__emit_line(e, "TT_UNROLL(1)");
  tt__emit_open(e, "for (tt_i32 s = 0; s < 32; s++)");
  tt__emit_line(e, "const tt_u32 turns = TT_FROM(late, s);");
  tt__emit_line(e, "TT_UNROLL(1)");
  tt__emit_open(e, "for (tt_i32 turn = lane / %d; turn < 32; turn += %d)", vec, 32 / vec);
  tt__emit_line(e, "const tt_ix v = first - lane + s + turn * by, u = lane %% %d;", vec);
  tt__emit_line(e, "if ((turns >> turn & 1) == 0 || v >= (u == 0 ? all : whole)) continue;");
  tt__emit_line(e, "const tt_ix l = v < whole ? v * %d + u : v + whole * %d;", vec, vec - 1);
  t->again = true;
  tt__threads_lane(t, body, no_fold);
  t->again = false;
  tt__emit_close(e);
  tt__emit_close(e);
}
