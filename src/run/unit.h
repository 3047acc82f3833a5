/*
** Units: runnable kernels. One per distinct kernel of the process, interpreted from the
** first moment, compiled in the background once it has proved to matter. Private to run/.
*/
#ifndef TT_RUN_UNIT_H
#define TT_RUN_UNIT_H

#include <stdatomic.h>

#include "base/pool/pace.h"
#include "device/cpu/vm.h"
#include "ir/kernel.h"

typedef struct tt_unit {
  tt_kernel *kernel;
  tt_vm_program *vm;
  _Atomic(tt_kernel_fn) fn; /* compiled code, NULL until there is some */
  _Atomic int32_t refs;
  _Atomic int32_t queued; /* 0 not asked for, 1 in the compiler's queue, 2 settled */
  int64_t launches;       /* of both tiers */
  double work;            /* instruction-elements interpreted so far */
  _Atomic int64_t spent;  /* ns that its interpreted launches took */
  tt_pace pace;           /* measured, by points */
  bool paced;             /* something was */
  bool pace_compiled;     /* of compiled code */
  int weight;             /* instructions a point, slow ones counted 8 times */
  int wide;               /* those of them that work on float64 */
  int text;               /* for a compiler: see tt__op_text */
  struct tt_unit *next;   /* in its hash chain */
} tt_unit;

/* The unit of a sealed kernel: takes the kernel (also on failure). One hold for the caller. */
TT_HIDDEN tt_code tt__unit_of(tt_kernel *k, tt_unit **out, tt_error *err);
TT_HIDDEN void tt__unit_release(tt_unit *u);
/* Give back the units that no plan holds; the compiled ones, which took long to make, only when told to. */
TT_HIDDEN void tt__unit_trim(bool compiled);
/* Run a range on the best tier there is. */
static inline void tt__unit_run(tt_unit *u, tt_kernel_fn fn, const tt_kargs *args, const tt_krange *range) {
  if (fn)
    fn(args, range);
  else
    tt__vm_run(u->vm, args, range);
}
/* Account a launch of `points`; may ask for compilation. `fn` is what ran; ns 0: nobody looked at the clock. */
TT_HIDDEN void tt__unit_ran(tt_unit *u, tt_kernel_fn fn, double points, double ns);
/* What a launch of `points` takes on the CPU by what was measured of others; 0: nothing was. */
TT_HIDDEN double tt__unit_ns(const tt_unit *u, double points);
/* Is it interpreted for now, and going to be compiled once it has run enough? */
TT_HIDDEN bool tt__unit_improves(const tt_unit *u);
/* The code to run now: compiled if there is some and the tier allows it. Tier 1 compiles here and waits. */
TT_HIDDEN tt_kernel_fn tt__unit_code(tt_unit *u);

/* 0 interpreted only, 1 compiled at once, 2 both */
TT_HIDDEN extern int tt__unit_tier;

#endif
