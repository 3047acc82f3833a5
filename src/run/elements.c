/*
** Arithmetic of a few elements: the interpreter's loops, so that a constant folded while recording, or a small value
** computed then, has the bits that a kernel would have given.
*/
#include "run/elements.h"

#include "device/cpu/vm.h"
#include "ir/kernel.h"
#include "run/elements_complex.h"

/* The types that registers hold as they are. */
static bool is_plain(tt_dtype t) { return !tt__is_complex(t) && tt__kernel_reg(t) == t; }

static tt_vm_loop find(const tt_vm_table *table, tt_op op, tt_dtype from, tt_dtype to) {
  if (!is_plain(from) || !is_plain(to)) return NULL;
  if (op != TT_CAST && tt__kernel_result(op, from) != to) return NULL;
  return op == TT_CAST ? table->cast[from][to] : table->op[op][from];
}

/* The choice reads the environment, once: who asks need not hold the lock, for the answer is the same to all. */
static const tt_vm_table *known_loops(void) {
  static const tt_vm_table *known;
  const tt_vm_table *table = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!table) __atomic_store_n(&known, table = tt__vm_table(), __ATOMIC_RELAXED);
  return table;
}

tt_vm_loop tt__elements_loop(tt_op op, tt_dtype from, tt_dtype to) { return find(known_loops(), op, from, to); }

bool tt__elements_fold(const tt_small_fold *f, void *out) { return is_plain(f->dtype) && tt__vm_small_fold(f, out); }

bool tt__elements_op(tt_op op, tt_dtype from, tt_dtype to, const void *const *arg, int n, void *out, int64_t count) {
  const tt_vm_table *table = known_loops();
  if (tt__is_complex(from) || tt__is_complex(to)) return tt__elements_complex(table, op, from, to, arg, n, out, count);
  tt_vm_loop loop = find(table, op, from, to);
  if (!loop) return false;
  loop(out, arg[0], n > 1 ? arg[1] : NULL, n > 2 ? arg[2] : NULL, count);
  return true;
}
