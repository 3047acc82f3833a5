/*
** The same CUDA C for a CUDA device: what is put around the user's text so that the host knows its kernels' parameters.
*/
#ifndef TT_LANG_CUDA_C_DEVICE_H
#define TT_LANG_CUDA_C_DEVICE_H

#include "base/str.h"
#include "lang/cuda_c/cudac.h"

typedef struct tt_cudac_device_text {
  tt_str text;    /* for the compiler */
  tt_str options; /* for the compiler, words between spaces; asks for the symbols of entries, then of variables */
  /* A line each: name, 1 or 2 if its threads or its blocks wait for each other (else 0), names of the parameters, with
  ** tabs between. Entry k has its types in the variable tt_types_k. */
  tt_str entries;
  tt_str variables;
  int nentry, nvariable;
  bool is_unsure; /* kernels under #if are among the entries: if it does not compile, make it without them */
} tt_cudac_device_text;

TT_HIDDEN tt_code tt__cudac_device_text(const char *source, const tt_cudac_options *o, bool conditional,
                                        tt_cudac_device_text *out, tt_error *err);
TT_HIDDEN void tt__cudac_device_free(tt_cudac_device_text *t);

#endif
