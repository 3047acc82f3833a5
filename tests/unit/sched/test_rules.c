/*
** What the scheduler and the passes of lowering decide, a rule a row, on graphs written as text: which steps there are,
** what each computes and why it is one, what is written in place, and the kernel it becomes.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <string.h>

#include "graph/build.h"
#include "graph/session.h"
#include "graph/text/print.h"
#include "kernel/lower.h"
#include "run/walk.h"
#include "sched/sched.h"

/* A step: what it stores, its kernel's mode, axes (outer ones / the row), loops and instructions, why it is one. */
static const struct {
  const char *rule, *graph, *steps;
} rules[] = {
    {"elementwise operations are one kernel",
     "%0 = float32[64,5] BUFFER\n"
     "%1 = float32[64,5] SIN %0\n"
     "%2 = float32[64,5] MUL %1 %0\n"
     "out %2\n",
     "n2 in n0 map 320 by 4 (asked for)"},
    {"a value that is read twice is computed once",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] EXP %0\n"
     "%2 = float32[64] ADD %1 %1\n"
     "out %2\n",
     "n2 in n0 map 64 by 4 (asked for)"},
    {"each of several results takes the memory of an operand",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] BUFFER\n"
     "%2 = float32[64] MUL %0 %1\n"
     "%3 = float32[64] EXP %0\n"
     "out %2 %3\n",
     "n2 in n0,n3 in n1 map 64 by 6 (asked for)"},
    {"a result takes no memory that its kernel reads later",
     "%0 = float64[64] BUFFER\n"
     "%1 = float32[64] BUFFER\n"
     "%2 = float32[64] CAST %0\n"
     "%3 = float32[64] MUL %2 %1\n"
     "out %2 %3\n",
     "n1,n3 in n2 map 64 by 6 (asked for)"},
    {"a scalar is no operand",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] CONST 2.5\n"
     "%2 = float32[64] MUL %0 %1\n"
     "out %2\n",
     "n2 in n0 map 64 by 4 (asked for)"},
    {"a constant alone is written out",
     "%0 = float32[64] CONST 2.5\n"
     "out %0\n",
     "n0 map 64 by 2 (asked for)"},
    {"a transposed read fuses",
     "%0 = float32[64,5] BUFFER\n"
     "%1 = float32[5,64] VIEW %0 off=0 step=1,5\n"
     "%2 = float32[5,64] SQRT %1\n"
     "out %2\n",
     "n2 map 5x64 by 3 (asked for)"},
    {"a reversed read fuses",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = float32[64] VIEW %1 off=63 step=-1\n"
     "%3 = float32[64] ADD %2 %0\n"
     "out %3\n",
     "n3 map 64 by 5 (asked for)"},
    {"a broadcast read fuses",
     "%0 = float32[64,5] BUFFER\n"
     "%1 = float32[5] BUFFER\n"
     "%2 = float32[64,5] VIEW %1 off=0 step=0,1\n"
     "%3 = float32[64,5] ADD %0 %2\n"
     "out %3\n",
     "n3 in n0 map 64x5 by 4 (asked for)"},
    {"a cheap value is computed again for a broadcast",
     "%0 = float32[64,5] BUFFER\n"
     "%1 = float32[5] BUFFER\n"
     "%2 = float32[5] ADD %1 %1\n"
     "%3 = float32[64,5] VIEW %2 off=0 step=0,1\n"
     "%4 = float32[64,5] ADD %0 %3\n"
     "out %4\n",
     "n4 in n0 map 64x5 by 5 (asked for)"},
    {"a small and costly value is stored",
     "%0 = float32[64,5] BUFFER\n"
     "%1 = float32[5] BUFFER\n"
     "%2 = float32[5] SIN %1\n"
     "%3 = float32[64,5] VIEW %2 off=0 step=0,1\n"
     "%4 = float32[64,5] ADD %0 %3\n"
     "out %4\n",
     "n2 in n1 map 5 by 3 (it is small and costly); n4 in n0 map 64x5 by 4 (asked for)"},
    {"a window over memory fuses",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[62] VIEW %0 off=0 step=1\n"
     "%2 = float32[62] VIEW %0 off=2 step=1\n"
     "%3 = float32[62] ADD %1 %2\n"
     "out %3\n",
     "n3 map 62 by 4 (asked for)"},
    {"a costly value under two windows is stored",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = float32[62] VIEW %1 off=0 step=1\n"
     "%3 = float32[62] VIEW %1 off=2 step=1\n"
     "%4 = float32[62] ADD %2 %3\n"
     "out %4\n",
     "n1 in n0 map 64 by 3 (it is read at two places); n4 map 62 by 4 (asked for)"},
    {"a reshape that is not affine stores what it reads",
     "%0 = float32[6,5] BUFFER\n"
     "%1 = float32[5,6] VIEW %0 off=0 step=1,5\n"
     "%2 = float32[5,6] SIN %1\n"
     "%3 = float32[10,3] VIEW %2 off=0 step=3,1\n"
     "%4 = float32[10,3] ADD %3 %3\n"
     "out %4\n",
     "n1 map 5x6 by 2 (its view is not affine here); n4 in n1 map 30 by 4 (asked for)"},
    {"what feeds a sum fuses with it",
     "%0 = float32[64,500] BUFFER\n"
     "%1 = float32[64,500] MUL %0 %0\n"
     "%2 = float32[64] REDUCE %1 SUM axes=1\n"
     "out %2\n",
     "n2 row 64/500 by 4 (asked for)"},
    {"what follows a sum fuses with it",
     "%0 = float32[64,500] BUFFER\n"
     "%1 = float32[64] REDUCE %0 SUM axes=1\n"
     "%2 = float32[64] SQRT %1\n"
     "out %2\n",
     "n2 row 64/500 by 4 (asked for)"},
    {"a sum over rows folds across lanes",
     "%0 = float32[500,64] BUFFER\n"
     "%1 = float32[64] REDUCE %0 SUM axes=0\n"
     "out %1\n",
     "n1 col 64/500 by 3 (asked for)"},
    {"a short row is folded across lanes",
     "%0 = float32[5000,3] BUFFER\n"
     "%1 = float32[5000] REDUCE %0 SUM axes=1\n"
     "out %1\n",
     "n1 col 5000/3 by 3 (asked for)"},
    {"a sum of everything has no outer axis",
     "%0 = float32[64,500] BUFFER\n"
     "%1 = float32[] REDUCE %0 SUM axes=0,1\n"
     "out %1\n",
     "n1 row/32000 by 3 (asked for)"},
    {"two reductions over one row are one kernel",
     "%0 = float32[640,50] BUFFER\n"
     "%1 = float32[640] REDUCE %0 SUM axes=1\n"
     "%2 = float32[640] REDUCE %0 MAX axes=1\n"
     "%3 = float32[640] SUB %2 %1\n"
     "out %3\n",
     "n3 row 640/50 by 5 (asked for)"},
    {"a softmax is three loops over a row",
     "%0 = float32[640,50] BUFFER\n"
     "%1 = float32[640] REDUCE %0 MAX axes=1\n"
     "%2 = float32[640,50] VIEW %1 off=0 step=1,0\n"
     "%3 = float32[640,50] SUB %0 %2\n"
     "%4 = float32[640,50] EXP %3\n"
     "%5 = float32[640] REDUCE %4 SUM axes=1\n"
     "%6 = float32[640,50] VIEW %5 off=0 step=1,0\n"
     "%7 = float32[640,50] DIV %4 %6\n"
     "out %7\n",
     "n7 row 640/50 in 3 loops by 10 (asked for)"},
    {"few long rows are reduced by all threads first",
     "%0 = float32[2,500000] BUFFER\n"
     "%1 = float32[2] REDUCE %0 MAX axes=1\n"
     "%2 = float32[2,500000] VIEW %1 off=0 step=1,0\n"
     "%3 = float32[2,500000] SUB %0 %2\n"
     "out %3\n",
     "n1 row 2/500000 by 3 (few long rows: reduced by all threads first); n3 in n0 map 2x500000 by 4 (asked for)"},
    {"reductions over different axes are kernels of their own",
     "%0 = float32[640,50] BUFFER\n"
     "%1 = float32[640] REDUCE %0 SUM axes=1\n"
     "%2 = float32[] REDUCE %1 MAX axes=0\n"
     "out %2\n",
     "n1 row 640/50 by 3 (its row is not this kernel's row); n2 row/640 by 3 (asked for)"},
    {"a reduction of a reduction's row",
     "%0 = float32[640,50] BUFFER\n"
     "%1 = float32[50] REDUCE %0 SUM axes=0\n"
     "%2 = float32[640,50] VIEW %1 off=0 step=0,1\n"
     "%3 = float32[640,50] SUB %0 %2\n"
     "%4 = float32[640] REDUCE %3 SUM axes=1\n"
     "out %4\n",
     "n1 col 50/640 by 3 (its row is not this kernel's row); n4 row 640/50 by 5 (asked for)"},
    {"two results of one space are one kernel",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = float32[64] COS %0\n"
     "out %1 %2\n",
     "n1 in n0,n2 map 64 by 5 (asked for)"},
    {"results of different spaces are two",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[32] BUFFER\n"
     "%2 = float32[64] SIN %0\n"
     "%3 = float32[32] COS %1\n"
     "out %2 %3\n",
     "n1 in n0 map 64 by 3 (asked for); n3 in n2 map 32 by 3 (asked for)"},
    {"results of one space without a common operand are one kernel",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] BUFFER\n"
     "%2 = float32[64] SIN %0\n"
     "%3 = float32[64] COS %1\n"
     "out %2 %3\n",
     "n1 in n0,n3 in n2 map 64 by 6 (asked for)"},
    {"a result and its reduction are two kernels",
     "%0 = float32[640,50] BUFFER\n"
     "%1 = float32[640,50] MUL %0 %0\n"
     "%2 = float32[640] REDUCE %1 SUM axes=1\n"
     "out %1 %2\n",
     "n1 in n0 map 32000 by 3 (asked for); n2 row 640/50 by 3 (asked for)"},
    {"a target that another reads is stored and read",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = float32[64] ADD %1 %0\n"
     "out %1 %2\n",
     "n1 in n0,n2 map 64 by 5 (asked for)"},
    {"a store is in place of what ends",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = float32[8] CONST 3\n"
     "%3 = float32[64] STORE %1 %2 off=4 step=2\n"
     "out %3\n",
     "n1 in n0 map 64 by 3 (it is written over); n3 over n1 map 8 by 2 (asked for)"},
    {"a store over what outlives it is a copy",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = float32[8] CONST 3\n"
     "%3 = float32[64] STORE %1 %2 off=4 step=2\n"
     "out %1 %3\n",
     "n1 in n0 map 64 by 3 (asked for); n3 from n1 map 8 by 2 (asked for)"},
    {"a store that reads its neighbours is a copy of what it writes over",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[62] VIEW %0 off=0 step=1\n"
     "%2 = float32[62] VIEW %0 off=2 step=1\n"
     "%3 = float32[62] ADD %1 %2\n"
     "%4 = float32[64] STORE %0 %3 off=1 step=1\n"
     "out %4\n",
     "n4 from n0 map 62 by 4 (asked for)"},
    {"a store that reads what it writes is in place",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[62] VIEW %0 off=1 step=1\n"
     "%2 = float32[62] SIN %1\n"
     "%3 = float32[64] STORE %0 %2 off=1 step=1\n"
     "out %3\n",
     "n3 over n0 map 62 by 3 (asked for)"},
    {"a store that reads neighbours of a small part is in place of what ends",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[9] VIEW %0 off=0 step=1\n"
     "%2 = float32[9] VIEW %0 off=2 step=1\n"
     "%3 = float32[9] ADD %1 %2\n"
     "%4 = float32[64] STORE %0 %3 off=1 step=1\n"
     "out %4\n",
     "n3 map 9 by 4 (a store would write over what it reads); n4 over n0 map 9 by 2 (asked for)"},
    {"a store that reads what it does not write is in place",
     "%0 = float32[64,5] BUFFER\n"
     "%1 = float32[64] VIEW %0 off=0 step=5\n"
     "%2 = float32[64] SIN %1\n"
     "%3 = float32[64,5] STORE %0 %2 off=1 step=5\n"
     "out %3\n",
     "n3 over n0 map 64 by 3 (asked for)"},
    {"what a later step reads of an old value is kept, not the whole",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[8] VIEW %0 off=0 step=1\n"
     "%2 = float32[8] VIEW %0 off=8 step=1\n"
     "%3 = float32[64] STORE %0 %2 off=0 step=1\n"
     "%4 = float32[64] STORE %3 %1 off=8 step=1\n"
     "out %4\n",
     "n3 map 8 by 2 (a store would write over what it reads); n2 over n0 map 8 by 2 (it is written over); n4 over n2 "
     "map 8 by 2 (asked for)"},
    {"an old value that is read as a whole is copied",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = float32[8] CONST 3\n"
     "%3 = float32[64] STORE %0 %2 off=0 step=1\n"
     "%4 = float32[64] ADD %3 %1\n"
     "out %3 %4\n",
     "n2 from n0 map 8 by 2 (others need it in memory); n4 in n0 map 64 by 5 (asked for)"},
    {"what reads a store reads memory",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[8] CONST 3\n"
     "%2 = float32[64] STORE %0 %1 off=0 step=1\n"
     "%3 = float32[64] SIN %2\n"
     "out %3\n",
     "n2 over n0 map 8 by 2 (it is computed by a library or a store); n3 in n2 map 64 by 3 (asked for)"},
    {"two stores into one memory are two versions",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[8] CONST 3\n"
     "%2 = float32[64] STORE %0 %1 off=0 step=1\n"
     "%3 = float32[64] STORE %2 %1 off=8 step=1\n"
     "out %3\n",
     "n2 over n0 map 8 by 2 (it is written over); n3 over n2 map 8 by 2 (asked for)"},
    {"a store of nothing moves the value on",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[0] CONST 3\n"
     "%2 = float32[64] STORE %0 %1 off=0 step=1\n"
     "out %2\n",
     "n2 over n0 empty (nothing to write)"},
    {"nothing to compute is memory only",
     "%0 = float32[0] BUFFER\n"
     "%1 = float32[0] SIN %0\n"
     "out %1\n",
     "n1 empty (no element to compute)"},
    {"a gather fuses over memory",
     "%0 = float32[64] BUFFER\n"
     "%1 = int64[8] BUFFER\n"
     "%2 = float32[8] GATHER %0 %1\n"
     "%3 = float32[8] SIN %2\n"
     "out %3\n",
     "n3 map 8 by 4 (asked for)"},
    {"what is read by index is stored",
     "%0 = float32[64] BUFFER\n"
     "%1 = int64[8] BUFFER\n"
     "%2 = float32[64] SIN %0\n"
     "%3 = float32[8] GATHER %2 %1\n"
     "out %3\n",
     "n1 in n0 map 64 by 3 (it is read by index); n3 map 8 by 3 (asked for)"},
    {"a sum that is read forwards and backwards is computed for both",
     "%0 = float32[640,50] BUFFER\n"
     "%1 = float32[640] REDUCE %0 SUM axes=1\n"
     "%2 = float32[640] VIEW %1 off=639 step=-1\n"
     "%3 = float32[640] SIN %2\n"
     "%4 = float32[640] ADD %3 %1\n"
     "out %4\n",
     "n4 row 640/50 by 7 (asked for)"},
    {"complex numbers come apart",
     "%0 = complex64[64] BUFFER\n"
     "%1 = complex64[64] MUL %0 %0\n"
     "out %1\n",
     "n1 in n0 map 64 by 10 (asked for)"},
    {"16-bit floats are computed in 32",
     "%0 = float16[64] BUFFER\n"
     "%1 = float16[64] ADD %0 %0\n"
     "out %1\n",
     "n1 in n0 map 64 by 3 (asked for)"},
    {"a cast fuses",
     "%0 = int32[64] BUFFER\n"
     "%1 = float64[64] CAST %0\n"
     "%2 = float64[64] SQRT %1\n"
     "out %2\n",
     "n2 map 64 by 4 (asked for)"},
    {"axes that lie together merge",
     "%0 = float32[4,5,6] BUFFER\n"
     "%1 = float32[4,5,6] SIN %0\n"
     "out %1\n",
     "n1 in n0 map 120 by 3 (asked for)"},
    {"axes that do not stay",
     "%0 = float32[4,5,6] BUFFER\n"
     "%1 = float32[4,6,5] VIEW %0 off=0 step=30,1,6\n"
     "%2 = float32[4,6,5] SIN %1\n"
     "out %2\n",
     "n2 map 4x6x5 by 3 (asked for)"},
    {"what a library reads is stored",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = float32[] LIB %1 sort i=1,0,0,0,0,0,0,0 f=0,0,0\n"
     "%3 = float32[64] PICK %2 0\n"
     "out %3\n",
     "n1 in n0 map 64 by 3 (a library reads it); n3 library (sort)"},
    {"what a library gives is memory",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[] LIB %0 sort i=1,0,0,0,0,0,0,0 f=0,0,0\n"
     "%2 = float32[64] PICK %1 0\n"
     "%3 = float32[64] SIN %2\n"
     "out %3\n",
     "n2 library (sort); n3 in n2 map 64 by 3 (asked for)"},
    {"the bytes of another type are the same memory",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[64] SIN %0\n"
     "%2 = int32[64] BITCAST %1\n"
     "%3 = int32[64] ADD %2 %2\n"
     "out %3\n",
     "n1 in n0 map 64 by 3 (its memory goes on); n2 over n1 empty (the same bytes as another type); "
     "n3 in n2 map 64 by 3 (asked for)"},
    {"a scatter goes in order, in place of what ends",
     "%0 = float32[64] BUFFER\n"
     "%1 = float32[8] BUFFER\n"
     "%2 = int64[8] BUFFER\n"
     "%3 = float32[8] SIN %1\n"
     "%4 = float32[64] SCATTER %0 %2 %3\n"
     "out %4\n",
     "n4 over n0 map 8 by 4 in order (asked for)"},
    {"a sum of a row under a window is another kernel's row",
     "%0 = float32[64,50] BUFFER\n"
     "%1 = float32[64] REDUCE %0 SUM axes=1\n"
     "%2 = float32[64] SIN %1\n"
     "%3 = float32[] REDUCE %2 SUM axes=0\n"
     "out %3\n",
     "n1 row 64/50 by 3 (its row is not this kernel's row); n3 row/64 by 4 (asked for)"},
    {"reductions over axes of length 1 move nothing",
     "%0 = float32[64,1] BUFFER\n"
     "%1 = float32[64] REDUCE %0 SUM axes=1\n"
     "%2 = float32[64] SIN %1\n"
     "out %2\n",
     "n2 in n0 map 64 by 3 (asked for)"},
    {"places in an array are no memory",
     "%0 = int64[64] IOTA\n"
     "%1 = int64[64] MUL %0 %0\n"
     "out %1\n",
     "n1 map 64 by 3 (asked for)"},
    {"a place of the largest folds in the row's order",
     "%0 = float32[64,500] BUFFER\n"
     "%1 = int64[64] REDUCE %0 ARGMAX axes=1\n"
     "out %1\n",
     "n1 row 64/500 by 3 (asked for)"},
    {"what is a constant along the row is computed once a row",
     "%0 = float32[64,500] BUFFER\n"
     "%1 = float32[64] BUFFER\n"
     "%2 = float32[64] SIN %1\n"
     "%3 = float32[64,500] VIEW %2 off=0 step=1,0\n"
     "%4 = float32[64,500] MUL %0 %3\n"
     "%5 = float32[64] REDUCE %4 SUM axes=1\n"
     "out %5\n",
     "n2 in n1 map 64 by 3 (it is small and costly); n5 row 64/500 by 5 (asked for)"},
    {"half of a complex number needs no other half",
     "%0 = complex64[64] BUFFER\n"
     "%1 = complex64[64] MUL %0 %0\n"
     "%2 = float32[64] REAL %1\n"
     "out %2\n",
     "n2 map 64 by 6 (asked for)"},
    {"nothing of a sum that no store needs",
     "%0 = complex64[64,500] BUFFER\n"
     "%1 = complex64[64] REDUCE %0 SUM axes=1\n"
     "%2 = float32[64] REAL %1\n"
     "out %2\n",
     "n2 row 64/500 by 3 (asked for)"},
};

static void tell_axes(const tt_lowered *l, tt_str *out) {
  static const char *const mode[] = {"map", "row", "col"};
  const tt_kernel *k = l->kernel;
  tt__str_addf(out, " %s", mode[k->mode]);
  for (int a = 0; a < k->naxes; a++)
    tt__str_addf(out, "%s%lld", a == k->nouter ? "/" : a ? "x" : " ", (long long)l->len[a]);
  if (k->nphase > 1) tt__str_addf(out, " in %d loops", k->nphase);
  tt__str_addf(out, " by %d%s", k->ninst, k->serial ? " in order" : "");
}

static void tell_step(const tt_step *s, tt_str *out) {
  static const tt_lower_options options;
  tt_lowered *l = NULL;
  for (int r = 0; r < s->nroot; r++) {
    const tt_proot *root = &s->root[r];
    tt__str_addf(out, "%sn%d", r ? "," : "", root->node);
    if (root->base >= 0) tt__str_addf(out, root->in_place ? " over n%d" : " from n%d", root->base);
    if (root->donor >= 0) tt__str_addf(out, " in n%d", s->operand[root->donor].node);
  }
  if (s->kind == TT_STEP_KERNEL) {
    CHECK_INT(tt__lower_step(s, &options, &l, NULL), TT_OK);
    tell_axes(l, out);
    tt__lowered_free(l);
  } else {
    tt__str_addf(out, " %s", tt__step_names[s->kind]);
  }
  tt__str_addf(out, " (%s)", s->why ? s->why : "asked for");
}

static const tt_few_rows of_cpu = {16, 1, 65536, 65536, 65536}, of_device = {256, 32, 65536, 4096, 1024};
static tt_few_rows few_rows = {16, 1, 65536, 65536, 65536};

static void tell_plan(const char *graph, bool fuse, tt_str *out) {
  enum { MOST = 8 };
  tt_node *target[MOST];
  int n = 0;
  tt_walker w = {0};
  tt_plan *plan = NULL;
  tt_error err = {0};
  const tt_sched_options options = {.fuse = fuse, .few_rows = few_rows};
  CHECK_INT(tt__graph_parse(graph, target, MOST, &n, &err), TT_OK);
  if (err.code != TT_OK) fprintf(stderr, "%s\n%s", err.message, graph);
  CHECK_INT(tt__walk_make(&w, target, n, NULL), TT_OK);
  CHECK_INT(tt__schedule(&w.walk, &options, &plan, NULL), TT_OK);
  for (int i = 0; i < plan->n; i++) {
    if (i) tt__str_add(out, "; ");
    tell_step(&plan->step[i], out);
  }
  tt__plan_free(plan);
  tt__walk_free(&w);
  while (n) tt__node_release(target[--n]);
}

TEST(rules_hold) {
  tt__session_lock();
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    tt_str steps = {0};
    tell_plan(rules[i].graph, true, &steps);
    if (strcmp(steps.data, rules[i].steps) != 0) fprintf(stderr, "%s\t%s\n", rules[i].rule, steps.data);
    CHECK(strcmp(steps.data, rules[i].steps) == 0);
    tt__str_free(&steps);
  }
  tt__session_unlock();
}

/* How often `word` stands in what is told of a plan. */
static int count_of(const char *graph, bool fuse, const char *word) {
  tt_str steps = {0};
  int n = 0;
  tt__session_lock();
  tell_plan(graph, fuse, &steps);
  tt__session_unlock();
  for (const char *at = steps.data; (at = strstr(at, word)) != NULL; at += strlen(word)) n++;
  tt__str_free(&steps);
  return n;
}

/* Columns and rows of several stretches are worth a launch of their own sooner than a row that registers hold. */
TEST(a_device_shares_columns_and_rows_of_lines) {
  static const struct {
    const char *graph;
    bool apart;
  } some[] = {
      {"%0 = float32[2000,50] BUFFER\n"
       "%1 = float32[50] REDUCE %0 MAX axes=0\n"
       "%2 = float32[2000,50] VIEW %1 off=0 step=0,1\n"
       "%3 = float32[2000,50] SUB %0 %2\nout %3\n",
       true},
      {"%0 = float32[900,50] BUFFER\n"
       "%1 = float32[50] REDUCE %0 MAX axes=0\n"
       "%2 = float32[900,50] VIEW %1 off=0 step=0,1\n"
       "%3 = float32[900,50] SUB %0 %2\nout %3\n",
       false},
      {"%0 = float32[2000,9000] BUFFER\n"
       "%1 = float32[9000] REDUCE %0 MAX axes=0\n"
       "%2 = float32[2000,9000] VIEW %1 off=0 step=0,1\n"
       "%3 = float32[2000,9000] SUB %0 %2\nout %3\n",
       false},
      {"%0 = float32[30,32,200] BUFFER\n"
       "%1 = float32[32] REDUCE %0 MAX axes=0,2\n"
       "%2 = float32[30,32,200] VIEW %1 off=0 step=0,1,0\n"
       "%3 = float32[30,32,200] SUB %0 %2\nout %3\n",
       true},
      {"%0 = float32[32,6000] BUFFER\n"
       "%1 = float32[32] REDUCE %0 MAX axes=1\n"
       "%2 = float32[32,6000] VIEW %1 off=0 step=1,0\n"
       "%3 = float32[32,6000] SUB %0 %2\nout %3\n",
       false},
  };
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    CHECK_INT(count_of(some[i].graph, true, "few long rows"), 0);
    few_rows = of_device;
    CHECK_INT(count_of(some[i].graph, true, "few long rows"), some[i].apart);
    few_rows = of_cpu;
  }
}

TEST(without_fusion_every_operation_is_a_kernel) {
  const char *graph =
      "%0 = float32[64,5] BUFFER\n"
      "%1 = float32[64,5] SIN %0\n"
      "%2 = float32[64,5] MUL %1 %0\n"
      "%3 = float32[64] REDUCE %2 SUM axes=1\n"
      "out %3\n";
  CHECK_INT(count_of(graph, true, "asked for"), 1);
  CHECK_INT(count_of(graph, true, "fusion is off"), 0);
  CHECK_INT(count_of(graph, false, "fusion is off"), 2);
}

/* A chain of `n` operations. */
static tt_str chain(const char *op, int n) {
  tt_str text = {0};
  tt__str_add(&text, "%0 = float32[64] BUFFER\n");
  for (int i = 1; i <= n; i++) tt__str_addf(&text, "%%%d = float32[64] %s %%%d\n", i, op, i - 1);
  tt__str_addf(&text, "out %%%d\n", n);
  CHECK(!text.failed);
  return text;
}

static int kernels_of(const char *op, int n) {
  tt_str graph = chain(op, n);
  int kernels = count_of(graph.data, true, " map ");
  tt__str_free(&graph);
  return kernels;
}

TEST(a_kernel_is_as_long_as_a_compiler_bears) {
  CHECK_INT(kernels_of("NEG", 200), 1);
  CHECK_INT(kernels_of("SIN", 15), 1); /* a sine is a sixteenth of what a kernel may be */
  int long_ones = kernels_of("SIN", 200);
  CHECK(long_ones >= 200 / 16 && long_ones <= 200 / 4);
}

TEST_MAIN()
