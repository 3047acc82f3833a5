/*
** The contract of a device: memory of its own, code for it, and work that goes on while
** the host does something else. One struct of functions per kind; device/ holds them.
**
** The CPU is no such device: its memory is the process's and its launches are calls.
**
** Order: work on one stream happens in the order it was asked for. Work on two streams is
** ordered by events alone. Every function returns at once unless its comment says "waits".
**
** Errors: TT_ENOMEM is recoverable. TT_EDEVICE is final for the device when tt__device_lost says so afterwards: the
** first cause is kept in `fault`, and every later call fails with that text. What gives memory, streams and the like
** back never fails, on a lost device it does nothing.
**
** Threads: any thread may call; an implementation makes its context current itself.
*/
#ifndef TT_IR_DEVICE_H
#define TT_IR_DEVICE_H

#include "base/err.h"
#include "base/str.h"
#include "ir/target.h"
#include "tutti/types.h"

typedef struct tt_device tt_device;
/* Handles of the back end, opaque above it. */
typedef struct tt_stream tt_stream;
typedef struct tt_event tt_event;
typedef struct tt_module tt_module;
typedef struct tt_routine tt_routine;
typedef struct tt_graph tt_graph;

/* What a loaded function needs, for occupancy and inspection. */
typedef struct tt_routine_info {
  int registers, shared, local, block_threads; /* bytes where memory; most threads of a block */
  uint32_t asked[3];                           /* (OpenCL C) the block that it has to be launched with; 0: any */
} tt_routine_info;

/*
** Among the options of `compile`, TT_NVRTC_NAME"expression" asks for the symbol of a function or variable
** ("add<float>", "&table"). The symbols stand behind the binary, a line each in the order asked for, then the u64 size
** of these lines, then TT_NVRTC_MARK.
*/
#define TT_NVRTC_NAME "--tutti-name="
#define TT_NVRTC_MARK "TTNAMES1"

/* Who may touch memory of the host and a device: everybody; the host; the host and one stream. CUDA's numbers. */
typedef enum tt_attach { TT_ATTACH_GLOBAL = 1, TT_ATTACH_HOST = 2, TT_ATTACH_SINGLE = 4 } tt_attach;

/* Repeats: what is asked of `s` between begin and end is kept instead of run. */
typedef struct tt_graph_ops {
  tt_code (*begin)(tt_device *d, tt_stream *s, tt_error *err);
  tt_code (*end)(tt_device *d, tt_stream *s, tt_graph **out, tt_error *err);
  /* How many launches of ours the capture that began on `s` has so far. */
  int (*launches)(tt_device *d, tt_stream *s);
  /* End a capture of what `g` is of, with other arguments: g has these now. After a failure it is as it was. */
  tt_code (*renew)(tt_device *d, tt_stream *s, tt_graph *g, tt_error *err);
  /* New arguments of the k-th launch of the capture. */
  tt_code (*args)(tt_device *d, tt_graph *g, int k, const tt_grid *grid, const void *args, size_t size, tt_error *err);
  tt_code (*launch)(tt_device *d, tt_graph *g, tt_stream *s, tt_error *err);
  void (*free)(tt_device *d, tt_graph *g);
} tt_graph_ops;

/* Memory at one address for the host and the device, which move it to whoever touches it; tt_device_ops.free gives it
 * back. */
typedef struct tt_managed_ops {
  /* `how`: who may touch it from the beginning. */
  tt_code (*alloc)(tt_device *d, size_t size, tt_attach how, void **out, tt_error *err);
  /* Who may from now on; behind the work of the stream. */
  tt_code (*attach)(tt_device *d, tt_stream *s, void *p, tt_attach how, tt_error *err);
} tt_managed_ops;

/* What the compiler and the driver know of a kernel. */
typedef struct tt_occupancy_ops {
  /* The block that keeps most threads of the device busy, and the least grid that fills it. */
  tt_code (*suggest)(tt_device *d, tt_routine *f, uint32_t shared, int *grid, int *block, tt_error *err);
  /* How many such blocks are under way at once, on the whole device: grids whose blocks wait for each other have no
  ** more. */
  tt_code (*at_once)(tt_device *d, tt_routine *f, int threads, uint32_t shared, int64_t *blocks, tt_error *err);
} tt_occupancy_ops;

/* Streams of other libraries, and ours for them. */
typedef struct tt_interop_ops {
  void *(*handle)(tt_device *d, tt_stream *s); /* the vendor's own */
  /* A stream of another library, by the vendor's handle, as one of ours; stream_free leaves the handle alone. */
  tt_code (*adopt)(tt_device *d, void *handle, tt_stream **out, tt_error *err);
  /* From now on an adopted stream means `to`: its handle may be destroyed. */
  void (*turn)(tt_device *d, tt_stream *s, tt_stream *to);
  /* Make this the calling thread's device, as vendor libraries (cuBLAS, cuFFT) expect. NULL: nothing to do. */
  tt_code (*enter)(tt_device *d, tt_error *err);
  /* A vendor's library has asked for work on the stream by its handle: `what` names it where a message tells which work
  ** may have failed. Where every launch is waited for, so is this. NULL: nothing is told of work. */
  tt_code (*asked)(tt_device *d, tt_stream *s, const char *what, tt_error *err);
} tt_interop_ops;

/* Where an argument stands in the struct that a launch is given. */
typedef enum tt_field_kind {
  TT_FIELD_VALUE,  /* its bytes */
  TT_FIELD_MEMORY, /* an address, or NULL */
  TT_FIELD_LOCAL   /* two u32, the second one the bytes of memory that each block gets */
} tt_field_kind;

typedef struct tt_field {
  tt_field_kind kind;
  bool writes; /* memory: the kernel may */
  int at, size;
} tt_field;

/* Kernels that users write in the device's own language, whose arguments are set one by one. */
typedef struct tt_source_ops {
  /*
  ** compile, and what the kernels take: for each a line "kernel NAME", then for each parameter one of what memory it
  ** points at (global, constant, local; value: it is no pointer to any), const or -, the type's name without its star,
  ** the parameter's, with tabs between.
  */
  tt_code (*build)(tt_device *d, const char *source, const char *options, tt_str *binary, tt_str *kernels,
                   tt_error *err);
  /* From now on launches of it are given structs of these fields (copied); from `sizes` on follow, a u64 for each
  ** field, the bytes that are the kernel's behind each address. */
  tt_code (*fields)(tt_device *d, tt_routine *f, const tt_field *field, int n, size_t sizes, tt_error *err);
} tt_source_ops;

/* A device that is the processor, whose memory the host reads and writes at the device's addresses, between the two. */
typedef struct tt_shared_ops {
  /* Behind the work of the stream, for which it waits. `write`: the host writes it, too. */
  tt_code (*map)(tt_device *d, tt_stream *s, void *p, size_t size, bool write, tt_error *err);
  tt_code (*unmap)(tt_device *d, tt_stream *s, void *p, tt_error *err);
} tt_shared_ops;

/* What every device has. */
typedef struct tt_device_ops {
  const char *name; /* "cuda" */
  /* Devices there are; 0 with `why` saying what is missing (no driver, too old ...). Cheap after the first call. */
  int (*count)(char *why, size_t size);
  /* Is the first of them a GPU? Before any is opened. NULL: all are. */
  bool (*leads_with_gpu)(void);
  /* Fill target, label and whatever hangs on `state`. May take long (it makes a context). */
  tt_code (*open)(tt_device *d, tt_error *err);
  void (*close)(tt_device *d);

  /* ---- memory. `alloc` and `free` may wait for the device: the cache above them (device/cache_alloc) hides that. */
  tt_code (*mem_info)(tt_device *d, int64_t *free_bytes, int64_t *total_bytes, tt_error *err);
  tt_code (*alloc)(tt_device *d, size_t size, void **out, tt_error *err);
  void (*free)(tt_device *d, void *p, size_t size);
  /* The index among its kind of the device that memory belongs to; -1: to none. No device work. */
  int (*owner)(const void *p);
  /* Is this host memory pinned, by whomever, so that copies of it go on after the call? No device work. */
  bool (*is_pinned)(tt_device *d, const void *p, size_t size);
  tt_code (*host_alloc)(tt_device *d, size_t size, void **out, tt_error *err); /* pinned */
  void (*host_free)(tt_device *d, void *p, size_t size);
  tt_code (*fill)(tt_device *d, tt_stream *s, void *p, uint8_t byte, size_t size, tt_error *err);
  /* Host memory here is pinned or the call waits until the copy no longer needs it. */
  tt_code (*copy_in)(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err);
  tt_code (*copy_out)(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err);
  tt_code (*copy_within)(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err);
  /* From another device of the same kind, directly where the machine can. On a stream of `d`. */
  tt_code (*copy_peer)(tt_device *d, tt_stream *s, void *to, tt_device *source, const void *from, size_t size,
                       tt_error *err);

  /* ---- code */
  /* Text to a binary for this very chip: no device work, waits for the compiler. err holds the compiler's log.
  ** options: words between spaces, may be NULL; a word with spaces stands in double quotes. */
  tt_code (*compile)(tt_device *d, const char *source, const char *options, tt_str *binary, tt_error *err);
  /* What binaries depend on: compiler version, chip, options. For the key of the disk cache. */
  void (*identity)(tt_device *d, tt_str *out);
  tt_code (*load)(tt_device *d, const void *binary, size_t size, tt_module **out, tt_error *err);
  void (*unload)(tt_device *d, tt_module *m);
  tt_code (*routine)(tt_device *d, tt_module *m, const char *name, tt_routine **out, tt_routine_info *info,
                     tt_error *err);
  /* Memory of a variable of the module. NULL: the device cannot tell. */
  tt_code (*global)(tt_device *d, tt_module *m, const char *name, void **at, size_t *size, tt_error *err);
  /* `args`: one struct, by value, `size` bytes at most target.param_bytes. */
  tt_code (*launch)(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args, size_t size,
                    tt_error *err);

  /* ---- order */
  /* priority: 0 is normal, less is more urgent. */
  tt_code (*stream_new)(tt_device *d, int priority, tt_stream **out, tt_error *err);
  void (*stream_free)(tt_device *d, tt_stream *s);
  tt_code (*stream_wait_idle)(tt_device *d, tt_stream *s, tt_error *err); /* waits */
  tt_code (*stream_wait)(tt_device *d, tt_stream *s, tt_event *e, tt_error *err);
  tt_code (*event_new)(tt_device *d, bool timed, tt_event **out, tt_error *err);
  void (*event_free)(tt_device *d, tt_event *e);
  tt_code (*event_record)(tt_device *d, tt_event *e, tt_stream *s, tt_error *err);
  /* TT_OK and *done; TT_EDEVICE when work before it failed. */
  tt_code (*event_done)(tt_device *d, tt_event *e, bool *done, tt_error *err);
  tt_code (*event_wait)(tt_device *d, tt_event *e, tt_error *err); /* waits */
  tt_code (*event_ms)(tt_device *d, tt_event *from, tt_event *to, double *ms, tt_error *err);
  tt_code (*wait_all)(tt_device *d, tt_error *err); /* waits for every stream, other libraries' too */
  tt_code (*stream_done)(tt_device *d, tt_stream *s, bool *done, tt_error *err); /* has it nothing left to do? */

  /* ---- what not every device has; NULL: it has none */
  const tt_graph_ops *graphs;
  const tt_managed_ops *managed;
  const tt_occupancy_ops *occupancy;
  const tt_interop_ops *interop;
  const tt_source_ops *sources;
  const tt_shared_ops *shared; /* where tt_target.is_host */
} tt_device_ops;

struct tt_device {
  const tt_device_ops *ops;
  tt_target target;
  int index;            /* among its kind: the 1 of "cuda:1" */
  int id;               /* tt__device_id(kind, index): 0x101 for cuda:1 */
  char name[16];        /* "cuda:1" */
  char label[96];       /* "NVIDIA H200" */
  char bus[32];         /* PCI address, "0000:3b:00.0", by which monitors know it; "" where there is none */
  void *state;          /* the back end's */
  tt_stream *work;      /* where evaluation runs unless a user's stream is current */
  tt_stream *up, *down; /* copies in and out beside it */
  char fault[800];      /* "": alive; else the first cause of its loss. Read it through tt__device_lost */
  void *cache, *stage;  /* of device/cache_alloc and device/staging */
  tt_device *before;    /* opened before it, or NULL */
};

/* Has the device failed for good? Then `fault` says why. */
static inline bool tt__device_lost(const tt_device *d) { return __atomic_load_n(&d->fault[0], __ATOMIC_ACQUIRE) != 0; }

/*
** The arguments of a launch on the null device begin with this. Its compiler keeps the text and its routines are
** names, so what a launch does is a function of the host: run(args) with the copied bytes of the arguments, when the
** stream comes to it, on a thread that waits for the device. NULL: nothing but the passing of time.
*/
typedef struct tt_null_launch {
  void (*run)(const void *args);
  double us; /* how long it takes in simulated time, besides the cost of a launch */
} tt_null_launch;

#endif
