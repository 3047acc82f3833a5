/*
** Programs in CUDA C: their source, their builds for the CPU and for devices, their kernels and variables.
*/
#ifndef TT_LAUNCH_PROGRAM_H
#define TT_LAUNCH_PROGRAM_H

#include "base/lock.h"
#include "base/str.h"
#include "lang/cuda_c/cudac.h"
#include "launch/cuda_c/device_program.h"
#include "launch/language.h"
#include "tutti/kernel.h"

#define TT_PROGRAM_DEVICES 16

/* Builds for the CPU: a sum of these. More threads along x than 31 bits count; global indices that begin elsewhere. */
enum { TT_PROGRAM_WIDE = 1, TT_PROGRAM_OFFSET = 2, TT_PROGRAM_BUILDS = 4 };

struct tt_entry {
  tt_program *program;
  const char *name;
  const char *params; /* in the program's `names`: a text for each parameter, one behind the other; NULL: not known */
  int nparam, most_threads;
  uint32_t asked[3]; /* (OpenCL C) the block that it has to be launched with; 0: any */
  bool waits;
  const tt_cudac_param *param; /* of the build that the entries come from */
  int *offset, size;           /* of the parameters in one struct */
  /* The builds' own, once they were looked for; under the session lock. */
  const tt_cudac_entry *built[TT_PROGRAM_BUILDS];
  tt_device_entry *on[TT_PROGRAM_DEVICES]; /* as in the program's `on` */
};

typedef struct tt_text_list {
  char **item;
  int n;
} tt_text_list;

typedef struct tt_device_build {
  int id;
  tt_device_program *program;
} tt_device_build;

/* What the caller has set a variable to. */
typedef struct tt_variable_set tt_variable_set;

struct tt_program {
  int64_t refs;                      /* under the session lock */
  tt_lock lock;                      /* guards the builds, which are made when they are first needed and stay */
  const tt_cudac_language *language; /* NULL: CUDA C */
  const tt_cudac_program *built[TT_PROGRAM_BUILDS];
  tt_device_build on[TT_PROGRAM_DEVICES]; /* the first `non` */
  int non;
  int home; /* where it was built first: a device's id */
  int ran;  /* where a kernel was launched last: 0, or the id of a device with a build; -1: nowhere yet */
  tt_variable_set *set;
  bool prints;                 /* its kernels may: their launches on the CPU do not wait */
  bool check;                  /* TUTTI_CHECK, as it was when the program was made */
  char *source, *file, *words; /* `words`: (OpenCL C) the options as they were given */
  tt_text_list flag, expression;
  tt_str text, names;
  tt_entry *entry;
  int n;
};

/* Compile `source` for where this thread puts its arrays. No lock is needed; `options` may be NULL. */
TT_HIDDEN tt_code tt__program_new(const char *source, const tt_program_options *options, tt_program **out,
                                  tt_error *err);
/* The same in another language, as `s` says. */
TT_HIDDEN tt_code tt__program_new_in(const tt_cudac_language *language, const tt_source *s, tt_program **out,
                                     tt_error *err);
/* Let go of it; with the last hold its builds go. Takes the session's lock. */
TT_HIDDEN void tt__program_release(tt_program *p);
/* A kernel by its name. TT_EVALUE: there is none; the message lists what there is. */
TT_HIDDEN tt_code tt__program_find(tt_program *p, const char *name, tt_entry **out, tt_error *err);
/* The build for a device (0: the CPU, and which of those), made if need be: takes long, the session's lock is not
 * needed. */
TT_HIDDEN tt_code tt__program_need(tt_program *p, int id, int which, tt_error *err);
/* The build for a device, or NULL. */
TT_HIDDEN tt_device_program *tt__program_there(const tt_program *p, int id);

/* ---- kernels (launch_cuda.c has their launches) */

/* Of a parameter, or of what it points at; TT_DTYPE_NONE: another type. */
TT_HIDDEN tt_dtype tt__entry_dtype(int kind);
/* What parameter k is. TT_EINDEX: there is none. */
TT_HIDDEN tt_code tt__entry_parameter(const tt_entry *r, int k, tt_parameter *out, tt_error *err);
/* Most threads of a block. */
TT_HIDDEN int tt__entry_threads(const tt_entry *e);
/* The threads of a block that keep most of the device busy (-1: the program's). Takes the session's lock. */
TT_HIDDEN tt_code tt__entry_suggest(tt_entry *r, int device, int64_t shared, int *threads, tt_error *err);
/* Check and pack the arguments, record the launch. Session lock held; given up while code is compiled. */
TT_HIDDEN tt_code tt__entry_launch(tt_entry *r, const tt_launch_options *how, const tt_argument *arg, int n,
                                   tt_error *err);

/* Where the next __local argument begins behind one of `bytes` at `at`. */
TT_HIDDEN int64_t tt__local_after(int64_t at, int64_t bytes, bool check);

/* ---- variables */

/* Memory of a variable on a device (-1: the program's), after the launches before. TT_EVALUE: none of that name. */
TT_HIDDEN tt_code tt__variable_at(tt_program *p, const char *name, int device, void **data, size_t *size,
                                  tt_error *err);
/* Set its first `size` bytes, in every build that there is or will be. Waits. */
TT_HIDDEN tt_code tt__variable_set(tt_program *p, const char *name, const void *data, size_t size, tt_error *err);
/* Read its first `size` bytes where a kernel of the program ran last. Waits. */
TT_HIDDEN tt_code tt__variable_get(tt_program *p, const char *name, void *data, size_t size, tt_error *err);
/* A fresh build's variables become what they were set to; the program's lock is held. */
TT_HIDDEN tt_code tt__variables_give(tt_program *p, int id, int which, tt_error *err);
/* Forget what they were set to. */
TT_HIDDEN void tt__variables_free(tt_program *p);

#endif
