/*
** Random numbers by rejection as a library row: "draw" takes a random word and up to three parameters for each element.
** The text is the devices' (draw.text.h), over the scalar functions that rendered kernels have.
*/
#include "base/pool/pool.h"
#include "lib/device_rows.h"
#include "lib/rows.h"
#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"
#include "lib/pick/draw.text.h" /* below its words */

/* attr.i: which distribution; bit k: parameter k is attr.f[k] instead of an operand. */
enum { GAMMA, POISSON, BINOMIAL, HYPERGEOMETRIC, ZIPF, VONMISES };

typedef struct job {
  const tt_lib_attr *attr;
  const tt_operand *src;
  void *out;
} job;

static void draw_some(void *ctx, int64_t lo, int64_t hi, int worker) {
  const job *j = ctx;
  const uint64_t *word = j->src[0].data;
  const double *param[3] = {j->src[1].data, j->src[2].data, j->src[3].data};
  double p[3] = {j->attr->f[0], j->attr->f[1], j->attr->f[2]};
  (void)worker;
  for (int64_t i = lo; i < hi; i++) {
    for (int k = 0; k < 3; k++)
      if (!(j->attr->i[1] >> k & 1)) p[k] = param[k][i];
    switch (j->attr->i[0]) {
      case GAMMA:
        ((double *)j->out)[i] = draw_gamma(word[i], p[0]);
        break;
      case POISSON:
        ((int64_t *)j->out)[i] = draw_poisson(word[i], p[0]);
        break;
      case HYPERGEOMETRIC:
        ((int64_t *)j->out)[i] = draw_hypergeometric(word[i], p[0], p[1], p[2]);
        break;
      case ZIPF:
        ((int64_t *)j->out)[i] = draw_zipf(word[i], p[0]);
        break;
      case VONMISES:
        ((double *)j->out)[i] = draw_vonmises(word[i], p[0], p[1]);
        break;
      default:
        ((int64_t *)j->out)[i] = draw_binomial(word[i], p[0], p[1]);
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
    {.name = "draw", .nsrc = 4, .nout = 1, .run = draw, .run_on = tt__device_draw},
    {.name = NULL},
};
