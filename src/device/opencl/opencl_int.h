/* What the files of the OpenCL back end share: the state of a device, and the frame around every call. */
#ifndef TT_DEVICE_OPENCL_OPENCL_INT_H
#define TT_DEVICE_OPENCL_OPENCL_INT_H

#include "base/lock.h"
#include "device/launch_log.h"
#include "device/opencl/loader.h"

typedef struct tt_cl_stream {
  void *queue; /* in order */
  bool is_ours;
  tt_launch_log log;
  uint64_t asked;    /* things asked of it, launches and copies */
  void *probe;       /* an event behind `probe_at` of these, or NULL */
  uint64_t probe_at; /* and launches before it: */
  uint64_t probe_log;
  struct tt_cl_stream *next; /* of the device */
} tt_cl_stream;

typedef struct tt_cl_event {
  void *handle; /* of its last record; NULL: nothing was recorded, it has come to pass */
  tt_cl_stream *stream;
  uint64_t mark; /* launches there before it */
} tt_cl_event;

typedef struct tt_cl_routine {
  void *kernel;
  tt_lock lock;    /* arguments are set and used under it */
  int arguments;   /* the struct, the memory that it names, perhaps memory of a block whose size the launch says */
  tt_field *field; /* of a user's kernel: a field for each argument; NULL: a rendered one */
  size_t sizes;    /* and where the bytes behind its addresses stand */
  struct tt_cl_routine *next;
  char name[80];
} tt_cl_routine;

typedef struct tt_cl_module {
  void *program;
  tt_cl_routine *routines; /* guarded by the device's lock */
} tt_cl_module;

/* What the contract's handles are here: the library in one file has another back end's beside them. */
#define TT_CL_STREAM(s) ((tt_cl_stream *)(s))
#define TT_CL_EVENT(e) ((tt_cl_event *)(e))
#define TT_CL_ROUTINE(f) ((tt_cl_routine *)(f))
#define TT_CL_MODULE(m) ((tt_cl_module *)(m))

typedef struct tt_cl {
  const tt_cl_api *api;
  tt_cl_place place;
  void *context;
  tt_lock lock; /* guards the lists, and `used` */
  tt_cl_stream *streams;
  int64_t total, most_block, used; /* bytes of the device, of one piece at most, taken by us */
  bool check;                      /* TUTTI_CHECK: wait for each launch, to know which one fails */
} tt_cl;

static inline tt_cl *tt__cl_of(tt_device *d) { return d->state; }

/* Our error for one of OpenCL's; the device is marked as lost where that is final. */
TT_HIDDEN tt_code tt__cl_fail(tt_device *d, int result, const char *what, tt_error *err);
static inline tt_code tt__cl_done(tt_device *d, int result, const char *what, tt_error *err) {
  return result == 0 ? TT_OK : tt__cl_fail(d, result, what, err);
}

/* ---- memory.c: OpenCL's memory has handles. An address is one of ours, reserved and never touched. */

/* The handle of the memory that an address belongs to, and how far into it that is; NULL: it belongs to none. */
TT_HIDDEN void *tt__cl_memory(const void *p, size_t *at);
TT_HIDDEN tt_code tt__cl_mem_info(tt_device *d, int64_t *free_bytes, int64_t *total_bytes, tt_error *err);
TT_HIDDEN tt_code tt__cl_alloc(tt_device *d, size_t size, void **out, tt_error *err);
TT_HIDDEN void tt__cl_free(tt_device *d, void *p, size_t size);
TT_HIDDEN int tt__cl_owner(const void *p);
TT_HIDDEN bool tt__cl_is_pinned(tt_device *d, const void *p, size_t size);
TT_HIDDEN tt_code tt__cl_host_alloc(tt_device *d, size_t size, void **out, tt_error *err);
TT_HIDDEN void tt__cl_host_free(tt_device *d, void *p, size_t size);
TT_HIDDEN tt_code tt__cl_map(tt_device *d, tt_stream *s, void *p, size_t size, bool write, tt_error *err);
TT_HIDDEN tt_code tt__cl_unmap(tt_device *d, tt_stream *s, void *p, tt_error *err);
TT_HIDDEN tt_code tt__cl_fill(tt_device *d, tt_stream *s, void *p, uint8_t byte, size_t size, tt_error *err);
TT_HIDDEN tt_code tt__cl_copy_in(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err);
TT_HIDDEN tt_code tt__cl_copy_out(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err);
TT_HIDDEN tt_code tt__cl_copy_within(tt_device *d, tt_stream *s, void *to, const void *from, size_t size,
                                     tt_error *err);
TT_HIDDEN tt_code tt__cl_copy_peer(tt_device *d, tt_stream *s, void *to, tt_device *source, const void *from,
                                   size_t size, tt_error *err);

/* ---- code.c */

/* A compiler's log with the lines as the source's #line directives call them: NVIDIA's driver counts those of the whole
 * text. */
TT_HIDDEN void tt__cl_log(const char *log, const char *source, tt_str *out);
TT_HIDDEN tt_code tt__cl_compile(tt_device *d, const char *source, const char *options, tt_str *binary, tt_error *err);
TT_HIDDEN void tt__cl_identity(tt_device *d, tt_str *out);
TT_HIDDEN tt_code tt__cl_load(tt_device *d, const void *binary, size_t size, tt_module **out, tt_error *err);
TT_HIDDEN tt_code tt__cl_build(tt_device *d, const char *source, const char *options, tt_str *binary, tt_str *kernels,
                               tt_error *err);
TT_HIDDEN void tt__cl_unload(tt_device *d, tt_module *m);
TT_HIDDEN tt_code tt__cl_routine(tt_device *d, tt_module *m, const char *name, tt_routine **out, tt_routine_info *info,
                                 tt_error *err);
TT_HIDDEN tt_code tt__cl_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args,
                                size_t size, tt_error *err);

/* ---- kernels.c: users' kernels */

/* What the kernels of a program that was built take, for tt_source_ops.build. */
TT_HIDDEN tt_code tt__cl_describe(tt_device *d, void *program, tt_str *out, tt_error *err);
TT_HIDDEN tt_code tt__cl_fields(tt_device *d, tt_routine *f, const tt_field *field, int n, size_t sizes, tt_error *err);
/* Set the arguments and launch; the routine's lock is held. */
TT_HIDDEN tt_code tt__cl_launch_fields(tt_device *d, tt_cl_stream *s, const tt_cl_routine *f, const tt_grid *g,
                                       const char *args, size_t size, tt_error *err);

#endif
