/*
** The functions of tutti/elementwise.h: arguments, the lock, a call. Kernels given as expressions are custom.h's.
*/
#include "api/enter.h"
#include "launch/expression/custom.h"
#include "launch/language.h"

/* ---- making */

static tt_code make(const tt_custom_source *s, bool is_reduction, tt_custom **out, tt_error *err) {
  *out = NULL;
  if (!s || !s->operation) return tt__fail(err, TT_EVALUE, "a kernel needs its operation");
  void *made;
  tt_source source = {.language = TT_EXPRESSION, .expression = s, .is_reduction = is_reduction};
  TT_TRY(tt__source_read(&source, &made, err));
  *out = made;
  return TT_OK;
}

tt_code tt_elementwise_new(const tt_custom_source *source, tt_custom **out, tt_error *err) {
  return make(source, false, out, err);
}

tt_code tt_reduction_new(const tt_custom_source *source, tt_custom **out, tt_error *err) {
  return make(source, true, out, err);
}

void tt_custom_release(tt_custom **custom) {
  if (!custom || !*custom) return;
  tt__session_lock();
  tt__custom_free(*custom);
  tt__session_unlock();
  *custom = NULL;
}

/* ---- calls */

tt_code tt_elementwise_call(tt_custom *k, const tt_custom_argument *arg, int n, int64_t size,
                            const tt_launch_options *how, tt_array **out, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__elementwise_call(k, arg, n, size, how, out, err));
}

tt_code tt_reduction_call(tt_custom *k, const tt_custom_argument *arg, int n, const int *axis, int naxis, bool keepdims,
                          const tt_launch_options *how, tt_array **out, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__reduction_call(k, arg, n, axis, naxis, keepdims, how, out, err));
}

/* ---- asking: what never changes needs no lock, and the lists that grow are walked without */

const char *tt_custom_name(const tt_custom *k) { return k->text.name; }
int tt_custom_inputs(const tt_custom *k) { return k->signature.nin; }
int tt_custom_outputs(const tt_custom *k) { return k->signature.n - k->signature.nin; }
int64_t tt_custom_launches(const tt_custom *k) { return __atomic_load_n(&k->launches, __ATOMIC_RELAXED); }
void tt_custom_ways(const tt_custom *k, int *graph, int *compiled) { tt__custom_ways(k, graph, compiled); }
char *tt_custom_explain(const tt_custom *k) { return tt__custom_explain(k); }
char *tt_custom_text(const tt_custom *k) { return tt__custom_text(k); }

tt_code tt_custom_parameter_at(const tt_custom *k, int i, tt_custom_parameter *out, tt_error *err) {
  return tt__custom_parameter(k, i, out, err);
}

const char *tt_dtype_in_c(tt_dtype dtype) {
  return (int)dtype >= 0 && dtype < TT_DTYPE_COUNT ? tt__cx_type_name(dtype) : NULL;
}
