/*
** Programs (ir/user/program.h) to text, in the words of a dialect.
**
** On the CPU a kernel's text runs a range of blocks: a loop over the threads of a block, cut at barriers into
** loops that follow one another (proc/block.c). On a GPU the same statements are one thread's.
*/
#ifndef TT_RENDER_PROC_PROC_H
#define TT_RENDER_PROC_PROC_H

#include "base/str.h"
#include "ir/user/program.h"

#define TT_PROGRAM_ADDRESSES 120 /* the most arrays of a kernel where memory has handles */

typedef enum tt_program_target { TT_PROGRAM_C, TT_PROGRAM_CUDA, TT_PROGRAM_OPENCL } tt_program_target;

/*
** Append everything below the head: types, functions, and the entry NAME (tt_program_fn; on a GPU a kernel that
** takes its words by value; of OpenCL those behind an address for each array, tt__program_addresses). TT_ENOTIMPL:
** something in it is not to be had there, as the message says.
*/
TT_HIDDEN tt_code tt__program_render(const tt_proc *p, tt_program_target target, const char *name, tt_str *out,
                                     tt_error *err);

/*
** The same without the entry, and instead for each function with loops, number K, a NAME_rK: it goes on with a frame
** (ir/user/program.h) at the beginning of a turn of the loop that `enter` counts:
** int NAME_rK(tt_pcall *call, const tt_i64 *frame, tt_i64 *out, tt_i64 enter); not 0: it failed.
*/
TT_HIDDEN tt_code tt__program_resume(const tt_proc *p, const char *name, tt_str *out, tt_error *err);

/* What stands above: scalar functions and the texts that programs call. */
TT_HIDDEN void tt__program_header(const tt_proc *p, tt_program_target target, tt_str *out);

/* Is it a kernel that is checked, so that its text for the CPU runs one thread and tells what it does? */
TT_HIDDEN bool tt__program_single(const tt_proc *p);

/* Does it do atomic operations on 64 bits? */
TT_HIDDEN bool tt__program_atomic64(const tt_proc *p);

/* How many arrays are among the words of a kernel, and which words are their addresses: where memory has handles these
** stand before the words, in their order. `word` may be NULL. */
TT_HIDDEN int tt__program_addresses(const tt_proc *p, int *word);

/* Bytes of private arrays that one thread of a kernel needs in tt_pcall.local; of static shared memory of a block. */
TT_HIDDEN int64_t tt__program_local_bytes(const tt_proc *p);
TT_HIDDEN int64_t tt__program_shared_bytes(const tt_proc *p);

#endif
