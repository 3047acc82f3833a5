/*
** Random numbers by rejection as a library row: "draw" takes a random word and up to three parameters for each element.
** The loops are those of draw_loops.c; devices take the same text.
*/
#include "base/pool/pool.h"
#include "lib/device_rows.h"
#include "lib/pick/draw_loops.h"
#include "lib/rows.h"

typedef struct draw_work {
  tt_draw_job job;
  tt_draw_loop loop;
} draw_work;

static void draw_some(void *ctx, int64_t lo, int64_t hi, int worker) {
  const draw_work *w = ctx;
  (void)worker;
  w->loop(&w->job, lo, hi);
}

/* attr.i: which distribution; bit k: parameter k is attr.f[k] instead of an operand. */
static tt_code draw(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  draw_work w = {.job = {.kind = attr->i[0], .word = src[0].data, .out = out->data}, .loop = tt__draw_loop()};
  (void)err;
  for (int k = 0; k < 3; k++) {
    w.job.all[k] = attr->f[k];
    if (!(attr->i[1] >> k & 1)) w.job.param[k] = src[k + 1].data;
  }
  tt__pool_run(out->size, 2048, draw_some, &w);
  return TT_OK;
}

const tt_lib_row tt__rows_draw[] = {
    {.name = "draw", .nsrc = 4, .nout = 1, .run = draw, .run_on = tt__device_draw},
    {.name = NULL},
};
