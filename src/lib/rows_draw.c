/*
** Random numbers by rejection as a library row: "draw" takes a random word and two parameters for each element.
*/
#include <math.h>

#include "base/pool.h"
#include "lib/device_rows.h"
#include "lib/draw_host.h"
#include "lib/rows.h"

/* attr.i: which distribution; bit k: parameter k is attr.f[k] instead of an operand. Counts that nothing can hold are
** the parameters' fault and were refused; a NaN among counts gives 0. */
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
    tt_random r = {.key = word[i]};
    double a = fixed[0] ? j->attr->f[0] : param[0][i], b = fixed[1] ? j->attr->f[1] : param[1][i];
    switch (j->attr->i[0]) {
      case GAMMA:
        ((double *)j->out)[i] = tt__random_gamma(&r, a);
        break;
      case POISSON:
        ((int64_t *)j->out)[i] = a >= 0 && a < 9.3e18 ? tt__random_poisson(&r, a) : 0;
        break;
      default:
        ((int64_t *)j->out)[i] = a >= 0 && b >= 0 && b <= 1 ? tt__random_binomial(&r, (int64_t)a, b) : 0;
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
