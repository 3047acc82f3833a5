/*
** Random numbers by rejection as a library row: "draw" takes a random word and two parameters for each element. The
** text is the devices' (text/draw.h), over the scalar functions that rendered kernels have.
*/
#include "base/pool.h"
#include "lib/device_rows.h"
#include "lib/rows.h"
#include "render/prelude.h"
#include "render/prelude_f64.h"
#include "lib/text/draw.h" /* below its words */

/* attr.i: which distribution; bit k: parameter k is attr.f[k] instead of an operand. */
enum { GAMMA, POISSON, BINOMIAL };

typedef struct job {
  const tt_lib_attr *attr;
  const tt_operand *src;
  void *out;
} job;

static void draw_some(void *ctx, int64_t lo, int64_t hi, int worker) {
  const job *j = ctx;
  const uint64_t *word = j->src[0].data;
  const double *param[2] = {j->src[1].data, j->src[2].data};
  bool fixed[2] = {j->attr->i[1] & 1, j->attr->i[1] & 2};
  (void)worker;
  for (int64_t i = lo; i < hi; i++) {
    double a = fixed[0] ? j->attr->f[0] : param[0][i], b = fixed[1] ? j->attr->f[1] : param[1][i];
    switch (j->attr->i[0]) {
      case GAMMA:
        ((double *)j->out)[i] = draw_gamma(word[i], a);
        break;
      case POISSON:
        ((int64_t *)j->out)[i] = draw_poisson(word[i], a);
        break;
      default:
        ((int64_t *)j->out)[i] = draw_binomial(word[i], a, b);
    }
  }
}

static tt_code draw(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)err;
  job j = {.attr = attr, .src = src, .out = out->data};
  tt__pool_run(out->size, 512, draw_some, &j);
  return TT_OK;
}

const tt_lib_row tt__rows_draw[] = {
    {.name = "draw", .nsrc = 3, .nout = 1, .run = draw, .run_on = tt__device_draw},
    {.name = NULL},
};
