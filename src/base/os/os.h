/*
** What we need of the operating system: shared libraries, child processes,
** files and the clock. Paths are UTF-8, NUL-terminated.
*/
#ifndef TT_BASE_OS_OS_H
#define TT_BASE_OS_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/str.h"

/* ---- shared libraries (never unloaded once a symbol was used) */
TT_HIDDEN void *tt__lib_open(const char *path, tt_error *err); /* NULL on failure */
TT_HIDDEN void *tt__lib_sym(void *lib, const char *name);      /* NULL when absent */
TT_HIDDEN void tt__lib_close(void *lib);

/* ---- child processes */
/*
** Run argv (argv[0] is looked up in PATH) with no standard input, capture the last 16 KiB of its
** stdout and stderr in `output` (NULL: dropped), kill its process group after `timeout_s`.
** TT_OK means that it ran; *exit_status is its exit code, or 128 + signal. It ends with us, also where we are killed,
** with all that it started, and gets at most tt__child_memory() bytes for each of its processes.
*/
TT_HIDDEN tt_code tt__spawn(const char *const *argv, double timeout_s, int *exit_status, tt_str *output, tt_error *err);

TT_HIDDEN int64_t tt__child_memory(void); /* TUTTI_CC_MEMORY in MB, else 4 GiB or half of the machine's */

/* A process that is under way: one that may wait for input, so that its start is not waited for when there is some. */
typedef struct tt_child {
  int pid; /* 0: none */
  int in, out;
  const char *name; /* borrowed: argv[0] */
} tt_child;
/* Start argv as tt__spawn does; `has_input`: it reads what tt__child_end gives it. */
TT_HIDDEN tt_code tt__child_start(const char *const *argv, bool has_input, tt_child *c, tt_error *err);
/* Send `input`, wait until the child is gone; the rest as tt__spawn. *c is none afterwards. */
TT_HIDDEN tt_code tt__child_end(tt_child *c, const char *input, size_t size, double timeout_s, int *exit_status,
                                tt_str *output, tt_error *err);
TT_HIDDEN void tt__child_stop(tt_child *c);   /* kill its group and wait for that; none: nothing happens */
TT_HIDDEN void tt__child_forget(tt_child *c); /* after fork: it is the parent's */
/* True and the full path in `out` if `name` is an executable in PATH (or a path to one). */
TT_HIDDEN bool tt__find_program(const char *name, char *out, size_t size);

/* ---- files */

/* "cannot <what> <path>: <why>", by errno. TT_EIO. */
TT_HIDDEN tt_code tt__fail_file(tt_error *err, const char *what, const char *path);
/* True when the call is told to fail (base/fault.h): errno is then `as`, that of a full or broken disk. */
TT_HIDDEN bool tt__fault_file(tt_fault kind, int as);
/* Write all. False: errno says why. */
TT_HIDDEN bool tt__write_all(int fd, const void *data, size_t size);
TT_HIDDEN tt_code tt__file_read(const char *path, tt_str *out, tt_error *err); /* at most 1 GiB */
/*
** Whole or not at all for whoever reads: temporary file in the same folder, rename. Mode 0600. It does not wait for the
** disk: after a loss of power the file may be empty or damaged, so readers verify it.
*/
TT_HIDDEN tt_code tt__file_write(const char *path, const void *data, size_t size, tt_error *err);
TT_HIDDEN tt_code tt__dir_make(const char *path, tt_error *err); /* with parents, mode 0700; existing is fine */
TT_HIDDEN bool tt__file_is_ours(const char *path);               /* owned by us and not writable by others */
/*
** Where what is worth keeping between processes lies: TUTTI_CACHE_DIR, else XDG_CACHE_HOME/tutti, else
** HOME/.cache/tutti. It may not be there yet. False: none of these is set, or the path is longer than `size`.
*/
TT_HIDDEN bool tt__dir_cache(char *path, size_t size);
/* Our private scratch folder for this process, made at first use and again when somebody removed it; removed at exit.
** NULL when none can be made. The path stays readable. */
TT_HIDDEN const char *tt__dir_scratch(void);

/* ---- the machine */
TT_HIDDEN void tt__entropy(void *out, size_t size); /* random bytes of the system; of the clock where it has none */
TT_HIDDEN int64_t tt__clock_ns(void);               /* monotonic */
TT_HIDDEN const char *tt__env(const char *name);    /* NULL when unset or empty */
TT_HIDDEN bool tt__env_on(const char *name);        /* set, and not "0" */
TT_HIDDEN int tt__cpu_count(void);                  /* affinity and cgroup quota respected, at least 1 */
TT_HIDDEN size_t tt__page_size(void);
TT_HIDDEN int64_t tt__ram_bytes(void);
TT_HIDDEN int64_t tt__cache_bytes(int level); /* data or unified cache of one core's view; 0: unknown */
TT_HIDDEN const char *tt__cpu_name(void);     /* model name; "unknown" when it cannot be read */
/* 0: baseline of the build's architecture; x86-64: 3 = AVX2+FMA+F16C, 4 = AVX-512 F/BW/DQ/VL. */
TT_HIDDEN int tt__cpu_level(void);
/* At that level 4: does the processor add up products of two bfloat16 at a time (AVX-512 BF16)? */
TT_HIDDEN bool tt__cpu_pairs_bf16(void);
/* Which text for vectors to run: that level, but 4 for 3 in a build that runs the text for 64 bytes anywhere. */
TT_HIDDEN int tt__vector_level(void);

#endif
