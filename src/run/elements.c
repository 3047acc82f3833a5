/*
** Arithmetic of a few elements: the interpreter's loops, so that a constant folded while recording, or a small value
** computed then, has the bits that a kernel would have given.
*/
#include "run/elements.h"

#include "device/cpu/vm_loops.h"
#include "ir/kernel.h"

/* The types that registers hold as they are. */
static bool is_plain(tt_dtype t) { return !tt__is_complex(t) && tt__kernel_reg(t) == t; }

bool tt__elements_op(tt_op op, tt_dtype from, tt_dtype to, const void *const *arg, int n, void *out, int64_t count) {
  static const tt_vm_table *table; /* the session lock is held */
  if (!table) table = tt__vm_table();
  if (!is_plain(from) || !is_plain(to)) return false;
  if (op != TT_CAST && tt__kernel_result(op, from) != to) return false;
  tt_vm_loop loop = op == TT_CAST ? table->cast[from][to] : table->op[op][from];
  if (!loop) return false;
  loop(out, arg[0], n > 1 ? arg[1] : NULL, n > 2 ? arg[2] : NULL, count);
  return true;
}
