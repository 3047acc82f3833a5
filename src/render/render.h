/*
** Kernels to text. One emitter for every C-like dialect; what differs is a row of words
** (dialect.h). The text of a kernel depends on the kernel and the dialect alone, so it can be
** compared with what a cache kept. It knows no compiler, no launch and no sizes.
*/
#ifndef TT_RENDER_RENDER_H
#define TT_RENDER_RENDER_H

#include "base/hash.h"
#include "base/str.h"
#include "ir/kernel.h"
#include "ir/ops.h"
#include "render/dialect.h"

/* Room for a kernel's function name, NUL included. */
#define TT_RENDER_NAME 40

/* The function name of a sealed kernel: "tt_k_" and its key in hexadecimal. */
TT_HIDDEN void tt__render_name(const tt_kernel *k, char name[TT_RENDER_NAME]);

/*
** Append to `out` one function NAME with the signature tt_kernel_fn. It stands below tt__render_header.
** TT_ENOTIMPL when the kernel needs a type that the dialect has no word for.
*/
TT_HIDDEN tt_code tt__render_kernel(const tt_kernel *k, const tt_dialect *d, const char *fn_name, tt_str *out,
                                    tt_error *err);

/* What the kernel calls: polynomials (exp, sin, float remainders ...), special functions? */
TT_HIDDEN tt_scalar_text tt__render_scalar_text(const tt_kernel *k);

/*
** Append what must stand above kernels: types, scalar functions as far as `scalar` says, argument structs. Three texts
** in all. Compilers on the CPU get them trimmed (trim.h).
*/
TT_HIDDEN void tt__render_header(const tt_dialect *d, tt_scalar_text scalar, tt_str *out);

/* The header for one kernel, where reading it is felt: nothing that is long and not called. */
TT_HIDDEN void tt__render_header_for(const tt_dialect *d, const tt_kernel *k, tt_str *out);

/* Of the longest header's text. Zero when memory is out: equal to no other. */
TT_HIDDEN tt_digest tt__render_digest(const tt_dialect *d);

#endif
