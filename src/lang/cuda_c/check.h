/*
** What a check (check.h) must know of a compiled CUDA C program: its variables, its shared memory, its lines.
*/
#ifndef TT_LANG_CUDA_C_CHECK_H
#define TT_LANG_CUDA_C_CHECK_H

#include "base/str.h"
#include "lang/check/check.h"
#include "lang/cuda_c/cudac_abi.h"

/* A program was loaded from the file `path`, whose bytes are `binary`. `file`: the name of the user's text. */
TT_HIDDEN tt_code tt__cudac_note(const tt_cudac_program *p, const char *path, const tt_str *binary, const char *file,
                                 tt_error *err);

/*
** A check of a launch of `e` by the calling thread, with what the program itself may touch: its variables, its shared
** memory. NULL in *out: the program was not built for checks.
*/
TT_HIDDEN tt_code tt__cudac_check_new(const tt_cudac_entry *e, const tt_grid *g, tt_check **out, tt_error *err);

#endif
