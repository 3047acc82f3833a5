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

/*
** Append what must stand above kernels: types, scalar functions, argument structs. Always the same text. It
** holds the whole prelude: leaving out what is not called would save 3 ms of a compiler's 28.
*/
TT_HIDDEN void tt__render_header(const tt_dialect *d, tt_str *out);

/* Of the header's text. Zero when memory is out: equal to no other. */
TT_HIDDEN tt_digest tt__render_digest(const tt_dialect *d);

#endif
