/*
** Maps that are bound by instructions and have one outer point. Whole vectors are a warp's own, 32 neighbours at a
** time, in a loop that knows of no last lanes; those, and what lies behind the last 32 whole vectors, come behind the
** loop as in any map, where they take no registers and no instructions from it.
**
** Mended maps take near forms of functions there (prelude_f32.h, TT_NEAR_F32) for all lanes, with no branch between
** them. When a lane of a warp's vectors turns out to be far, nothing of them is stored, and the warp does them and all
** that it has left with the forms that are right for all. So data that is far everywhere costs the warp one vain try.
*/
#include "render/gpu/threads_int.h"

void tt__threads_main_loop(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt_region body = {TT_SCOPE_ROW, 0};
  int outer = e->k->naxes > 0 ? e->k->naxes - 1 : 0, vec = t->v->vec;
  tt__threads_decode(e, 'o', 0, outer, "0");
  tt__threads_place(e, 'o', 0, outer, -1);
  tt__emit_uniform(e, body);
  tt__emit_line(e, "const tt_ix whole = nlane / %d, all = whole + nlane %% %d, by = (tt_ix)tt_nx * TT_BX;", vec, vec);
  tt__emit_line(e, "const tt_i32 lane = TT_TX %% 32;");
  tt__emit_line(e, "tt_ix first = (tt_ix)tt_gx * TT_BX + TT_TX - lane;");
  tt__emit_line(e, "TT_UNROLL(1)");
  tt__emit_open(e, "for (; first + 32 <= whole; first += by)");
  tt__emit_line(e, "const tt_ix j = (first + lane) * %d;", vec);
  tt__emit_line(e, "const int full = 1;");
  if (t->v->speculates) tt__emit_line(e, "int far = 0;");
  e->speculates = t->v->speculates;
  tt__threads_lanes(t, body, NULL);
  e->speculates = false;
  tt__emit_close(e);
  tt__emit_line(e, "TT_UNROLL(1)");
  tt__emit_open(e, "for (tt_ix q = first + lane; q < all; q += by)");
  tt__emit_line(e, "const int full = q < whole;");
  tt__emit_line(e, "const tt_ix j = full ? q * %d : whole * %d + (q - whole);", vec, vec);
  tt__threads_lanes(t, body, NULL);
  tt__emit_close(e);
}
