/*
** Launches of users' kernels, of whatever language: one way from arguments that are packed to a recorded call. The
** grid is checked here, once, against the limits of where it runs.
*/
#ifndef TT_LAUNCH_LAUNCH_H
#define TT_LAUNCH_LAUNCH_H

#include "launch/language.h"
#include "launch/record.h"
#include "tutti/stream.h"

/* One launch, until it is recorded. A language's files fill in what stands above the line. */
struct tt_kernel_launch {
  tt_language_id language;
  void *kernel;
  const char *name;
  const tt_launch_options *how;
  int home;   /* where it runs when nothing else says: a device's number */
  int prefer; /* the device that addresses among the arguments lie on; 0: there are none, or nobody knows */
  bool bound; /* and nowhere else */
  bool raw;   /* such addresses are among the arguments: it runs at once, and not on the CPU */
  bool prints;
  _Alignas(16) char args[TT_CALL_ARGS];
  size_t args_size;
  tt_call_array array[TT_CALL_ARRAYS];
  int narray;
  tt_call_memory memory; /* the caller's own: good as long as the call lasts */
  /* ---- */
  tt_grid grid;
  int id; /* where it runs */
};

/* Ready to be filled in; the arguments' bytes are not touched. */
TT_HIDDEN void tt__launch_begin(tt_kernel_launch *l, tt_language_id language, void *kernel, const char *name,
                                const tt_launch_options *how);

/*
** Choose where, have the code made, check the grid, record. Memory of the caller is copied to a device and back, and
** such launches, like those that print, run before this returns. Session lock held, given up while code is compiled.
** TT_EVALUE: arguments on two devices, a grid that cannot be; else what making the code or running it gave.
*/
TT_HIDDEN tt_code tt__launch(tt_kernel_launch *l, tt_error *err);

/*
** (for tt_language.place) Where memory has handles: room for `n` addresses, all 0, in the `before` bytes ahead of the
** arguments, and zeros behind them up to a multiple of `align`. TT_ENOTIMPL: more than the device takes.
*/
TT_HIDDEN tt_code tt__launch_lead(tt_kernel_launch *l, const tt_device *d, int n, size_t before, size_t align,
                                  tt_error *err);

/* TT_EVALUE for a grid that `t` refuses, or a kernel that needs so much. */
TT_HIDDEN tt_code tt__grid_check(const tt_grid *g, const tt_target *t, const tt_launch_need *need, const char *name,
                                 tt_error *err);
/* All threads of a grid are counted along x in 31 bits, unless this says that they cannot be. */
static inline bool tt__grid_is_wide(const tt_grid *g) { return (int64_t)g->grid[0] * g->block[0] > INT32_MAX; }
/* How many blocks it has, once it was checked. */
static inline int64_t tt__grid_blocks(const tt_grid *g) { return (int64_t)g->grid[0] * g->grid[1] * g->grid[2]; }
/* How many threads a block has. */
static inline int64_t tt__grid_threads(const tt_grid *g) { return (int64_t)g->block[0] * g->block[1] * g->block[2]; }
/* Does the CPU's code run there: on the CPU, or on the simulated device? */
static inline bool tt__runs_host_code(const tt_device *d) { return !d || d->target.kind == TT_DEVICE_NULL; }

#endif
