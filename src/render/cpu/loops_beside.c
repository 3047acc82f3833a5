/*
** Rows beside each other (ROW): few of them, an element of each and then the next of each, as columns of a table lie.
** Along one row its elements are far apart. Here the 64 accumulators of all rows are one array, in the order of the
** elements, so that groups of 64 elements of all rows are added to it as they lie: the arithmetic of each row stays.
*/
#include <stdio.h>

#include "render/cpu/loops_int.h"

bool tt__emit_has_beside(const tt_emit *e) { return e->d->inlined && tt__kernel_beside(e->k); }

/* Do all operands of this launch lie so, and are all rows and no more than a chunk, or one, asked for? */
static void put_test(tt_emit *e) {
  tt__emit_line(e, "const tt_i64 rows = len[0];");
  tt__emit_line(e, "tt_b8 beside = (nlane >= %d) & (rows > 1) & (rows <= %d) & (hi - lo == rows);", TT_LANES,
                TT_BESIDE);
  if (e->k->nphase > 1)
    tt__emit_line(e, "beside &= part == %d && chunks == 1;", TT_PART_WHOLE);
  else
    tt__emit_line(e, "beside &= part == %d || (part == %d && chunks == 1);", TT_PART_CHUNK, TT_PART_WHOLE);
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (q->scope == TT_SCOPE_ROW && (q->op == TT_K_LOAD || q->op == TT_K_STORE))
      tt__emit_line(e, "beside &= step[%d] == 1 && step[%d] == rows;", 2 * q->slot, 2 * q->slot + 1);
  }
}

/* Does the body of a phase read the value of a row that instruction `i` gives? */
static bool is_read(const tt_emit *e, int phase, int i) {
  if (!tt__kernel_is_of_row(e->k, i)) return false;
  for (int j = i + 1; j < e->k->ninst; j++) {
    const tt_kinst *q = &e->k->inst[j];
    if (q->scope != TT_SCOPE_ROW || q->phase != phase) continue;
    if (q->src[0] == i || q->src[1] == i || q->src[2] == i) return true;
  }
  return false;
}

/* What the body of a phase reads of rows, computed for each and laid out for the elements of 64 lanes. */
static void put_values(tt_emit *e, int phase) {
  for (int i = 0; i < e->k->ninst; i++)
    if (is_read(e, phase, i))
      tt__emit_line(e, "%s u%d[%d];", tt__type_word(e->k->inst[i].dtype), i, TT_LANES * TT_BESIDE);
  tt__emit_open(e, "for (tt_i64 at = 0; at < rows; at++)");
  for (int p = 0; p < phase; p++) {
    tt__emit_uniform(e, (tt_region){TT_SCOPE_OUTER, p});
    TT_FOR_REDUCE(e, p, i)
    tt__emit_line(e, "const %s v%d = q%d[at];", tt__type_word(e->k->inst[i].dtype), i, i);
  }
  tt__emit_uniform(e, (tt_region){TT_SCOPE_OUTER, phase});
  for (int i = 0; i < e->k->ninst; i++)
    if (is_read(e, phase, i))
      tt__emit_line(e, "for (tt_i64 w = at; w < %d * rows; w += rows) u%d[w] = v%d;", TT_LANES, i, i);
  tt__emit_close(e);
}

/* The elements of a chunk's rows, as they lie. */
static void put_elements(tt_emit *e, tt_region r) {
  char lane[64 + 48 * TT_BESIDE_VALUES];
  int n = snprintf(lane, sizeof lane, "const tt_i64 l = j * rows + w;");
  for (int i = 0; i < e->k->ninst; i++)
    if (is_read(e, r.phase, i))
      n += snprintf(lane + n, sizeof lane - (size_t)n, " const %s v%d = u%d[w];", tt__type_word(e->k->inst[i].dtype), i,
                    i);
  for (int a = 0; a < e->k->naccess; a++)
    if (tt__emit_is_walked(e, a, r.phase)) tt__emit_line(e, "const tt_i64 r%d = off[%d];", a, a);
  tt__emit_uniform(e, r);
  tt__emit_line(e, "const tt_i64 j1 = tt_min(nlane, (c + 1) * %d);", TT_CHUNK);
  tt__emit_open(e, "for (tt_i64 j = c * %d; j < j1; j += %d)", TT_CHUNK, TT_LANES);
  tt__emit_line(e, "const tt_i64 m = tt_min(%d, j1 - j) * rows;", TT_LANES);
  e->beside = true;
  tt__emit_split(e, r);
  tt__emit_stage_loop(e, r, 0, TT_BLOCK_LOOP, lane);
  e->beside = false;
  tt__emit_close(e);
}

static void put_accumulators(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) {
    const tt_kinst *q = &e->k->inst[i];
    tt__emit_line(e, "%s a%d[%d];", tt__type_word(q->from), i, TT_LANES * TT_BESIDE);
    tt__emit_line(e, "for (tt_i64 w = 0; w < %d * rows; w++) a%d[w] = %s;", TT_LANES, i,
                  tt__red_identity(q->red, (tt_dtype)q->from));
  }
}

/* One accumulator a row, in the first elements, and what becomes of it. */
static void finish_chunk(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) {
    char x[32], y[48];
    snprintf(x, sizeof x, "a%d[w]", i);
    snprintf(y, sizeof y, "a%d[w + h * rows]", i);
    tt__emit_open(e, "for (tt_i64 h = %d; h; h /= 2) for (tt_i64 w = 0; w < h * rows; w++)", TT_LANES / 2);
    tt__emit_combine(e, i, x, NULL, y, NULL);
    tt__emit_close(e);
    tt__emit_line(e, "for (tt_i64 w = 0; w < rows; w++) q%d[w] = a%d[w];", i, i);
    if (e->parts) {
      tt__emit_open(e, "if (part == %d) for (tt_i64 w = 0; w < rows; w++)", TT_PART_CHUNK);
      tt__emit_line(e, "h%d[w * npartial + c] = a%d[w];", i, i);
      tt__emit_close(e);
    }
  }
}

void tt__emit_beside(tt_emit *e) {
  put_test(e);
  for (int p = 0; p < e->k->nphase; p++)
    TT_FOR_REDUCE(e, p, i) tt__emit_line(e, "%s q%d[%d];", tt__type_word(e->k->inst[i].from), i, TT_BESIDE);
  tt__emit_open(e, "if (beside)");
  tt__emit_chunk_bounds(e);
  tt__emit_open(e, "for (tt_i64 c = c0; c < c1; c++)");
  for (int p = 0; p < e->k->nphase; p++) {
    tt__emit_block(e);
    if (p > 0) put_values(e, p);
    put_accumulators(e, p);
    put_elements(e, (tt_region){TT_SCOPE_ROW, p});
    finish_chunk(e, p);
    tt__emit_close(e);
  }
  tt__emit_close(e);
  tt__emit_line(e, "if (part == %d) return;", TT_PART_CHUNK);
  tt__emit_close(e);
}
