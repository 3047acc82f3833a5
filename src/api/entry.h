/*
** What kernel_api.c and launch_api.c share: programs and their kernels. Private to api/.
*/
#ifndef TT_API_ENTRY_H
#define TT_API_ENTRY_H

#include "base/lock.h"
#include "base/str.h"
#include "lang/cudac.h"
#include "launch/device_program.h"
#include "tutti/kernel.h"

#define TT_PROGRAM_DEVICES 16

struct tt_entry {
  tt_program *program;
  const char *name;
  const char *params; /* in the program's `names`: a text for each parameter, one behind the other; NULL: not known */
  int nparam, most_threads;
  bool waits;
  const tt_cudac_param *param; /* of the build that the entries come from */
  int *offset, size;           /* of the parameters in one struct */
  /* The builds' own, once they were looked for; under the session lock. */
  const tt_cudac_entry *plain, *wide;
  const tt_device_entry *on[TT_PROGRAM_DEVICES]; /* as in the program's `on` */
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
  int64_t refs; /* under the session lock */
  tt_lock lock; /* guards the builds, which are made when they are first needed and stay */
  const tt_cudac_program *plain, *wide;
  tt_device_build on[TT_PROGRAM_DEVICES]; /* the first `non` */
  int non;
  int home; /* where it was built first: a device's id */
  int ran;  /* where a kernel was launched last: 0, or the id of a device with a build; -1: nowhere yet */
  tt_variable_set *set;
  bool prints; /* its kernels may: their launches on the CPU do not wait */
  bool check;  /* TUTTI_CHECK, as it was when the program was made */
  char *source, *file;
  tt_text_list flag, expression;
  tt_str text, names;
  tt_entry *entry;
  int n;
};

/* The build for a device (0: the CPU), made if need be: takes long, the session's lock is not needed. */
TT_HIDDEN tt_code tt__program_need(tt_program *p, int id, bool wide, tt_error *err);
/* The build for a device, or NULL. */
TT_HIDDEN tt_device_program *tt__program_there(const tt_program *p, int id);
/* Of a parameter, or of what it points at; TT_DTYPE_NONE: another type. */
TT_HIDDEN tt_dtype tt__entry_dtype(int kind);

/* A fresh build's variables become what they were set to; the program's lock is held. */
TT_HIDDEN tt_code tt__variables_give(tt_program *p, int id, bool wide, tt_error *err);
TT_HIDDEN void tt__variables_free(tt_program *p);

#endif
