/*
** Gradients. An array for which gradients are asked is a leaf; what is computed from it remembers how (in C, behind the
** constructors of all recorded work), and a backward walk makes more recorded work: it is fused and evaluated like
** everything else, and can be differentiated again.
**
** Conventions are PyTorch's: gradients of complex arrays are conjugated, those of equal maxima are shared, a leaf's are
** added up in its `grad` until they are cleared. Writes in place change no value that was recorded before, so they are
** exact; a leaf is written under tt_grad_mode(0) only.
*/
#ifndef TUTTI_GRAD_H
#define TUTTI_GRAD_H

#include "tutti/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this thread's work is followed from arrays that require gradients (1 at first). Returns what held before. */
TT_API int tt_grad_mode(int on);
/* The same, asked for. */
TT_API int tt_grad_mode_is_on(void);

/* Ask for gradients with respect to an array of floats or complex numbers, or (on = 0) no longer. TT_EGRAD: other
** types; turning them off for a computed array. */
TT_API tt_code tt_set_requires_grad(tt_array *a, int on, tt_error *err);
/* Are gradients computed for it, as a leaf or as something computed from one? */
TT_API int tt_requires_grad(tt_array *a);
/* 1: gradients end here: it is a leaf, or none are computed for it. */
TT_API int tt_is_leaf(tt_array *a);
/* Keep the gradient of a computed array as if it were a leaf. TT_EGRAD: it requires none. */
TT_API tt_code tt_retain_grad(tt_array *a, tt_error *err);
/* What was summed up for the array, in its shape: a view, or NULL: nothing yet. */
TT_API tt_code tt_get_grad(tt_array *a, tt_array **out, tt_error *err);
/* Set it, or (NULL) clear it. TT_EGRAD: another shape or type. */
TT_API tt_code tt_set_grad(tt_array *a, tt_array *grad, tt_error *err);
/* The same values without their history; memory is shared until one of them is written. */
TT_API tt_code tt_detached(tt_array *a, tt_array **out, tt_error *err);

/* The same values as an array of its own, with a history where `a` has one: gradients by it are those of what is
 * computed from it, and not of what else is computed from `a`. */
TT_API tt_code tt_variable_of(tt_array *a, tt_array **out, tt_error *err);

enum {
  TT_GRAD_RETAIN = 1, /* the walk can be repeated */
  TT_GRAD_CREATE = 2, /* the gradients can be differentiated in turn; implies the above */
  TT_GRAD_UNUSED = 4  /* inputs that the outputs do not depend on are no error: their gradient is NULL */
};

/*
** Add the gradients of sum(gradient[k] * output[k]) to those of all leaves, or of the inputs alone. gradient[k] NULL:
** 1, for an output of one element. TT_EGRAD: outputs without a history, shapes that do not agree, a second walk over
** what was not retained. TT_ENOTIMPL: an operation without a derivative.
*/
TT_API tt_code tt_backward(tt_array *const *output, tt_array *const *gradient, int n, tt_array *const *input,
                           int ninput, int flags, tt_error *err);
/* The same, given back instead: out[k] has the shape of input[k]. */
TT_API tt_code tt_gradients(tt_array *const *output, tt_array *const *gradient, int n, tt_array *const *input,
                            int ninput, int flags, tt_array **out, tt_error *err);

/*
** Cotangents of a function's results (g[k] NULL: nobody used it) to those of its operands: out[k] gets a hold, or NULL
** for none. Called without any lock.
*/
typedef tt_code (*tt_backward_fn)(void *ctx, tt_array *const *g, int ng, tt_array **out, int nout, tt_error *err);
/*
** Results of a function with a derivative of its own: result[k], computed without a history from input[0..n-1], comes
** back in out[k] with this function as its history. `drop` is called with ctx when nobody needs it, without any lock,
** also when this fails.
*/
TT_API tt_code tt_custom_gradient(tt_array *const *input, int n, tt_array *const *result, int nresult,
                                  tt_backward_fn backward, void (*drop)(void *ctx), void *ctx, tt_array **out,
                                  tt_error *err);

/* Sees a gradient; *out: another one in its place (a hold), or NULL. Called without any lock. */
typedef tt_code (*tt_hook_fn)(void *ctx, tt_array *g, tt_array **out, tt_error *err);
/* Let a function see the array's gradient whenever one is computed. `drop` as above. *id: to remove it by. */
TT_API tt_code tt_register_hook(tt_array *a, tt_hook_fn call, void (*drop)(void *ctx), void *ctx, int64_t *id,
                                tt_error *err);
/* End the calls of a hook; unknown numbers are no error. */
TT_API tt_code tt_remove_hook(tt_array *a, int64_t id, tt_error *err);

/* Check each operation's gradients for NaN as they are computed, and name the line that recorded it. Slow. Returns what
** held before. */
TT_API int tt_detect_anomaly(int on);

#ifdef __cplusplus
}
#endif

#endif
