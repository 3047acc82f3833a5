/*
** Kernels in OpenCL C. On the CPU they run without an OpenCL implementation, through the system's C++ compiler, as
** programs in CUDA C do; an OpenCL device compiles the source itself (tutti/kernel.h has programs, kernels and
** arguments; docs/opencl_c.md what the language is).
*/
#ifndef TUTTI_OPENCL_H
#define TUTTI_OPENCL_H

#include "tutti/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
** Build a program. `options` as clBuildProgram takes them ("-D N=4 -I include -cl-fast-relaxed-math"), or NULL; `file`
** names the source in messages, or NULL. `device` is where it is built first, a device's number or -1: for the OpenCL
** device that this thread has chosen, else for the CPU, if that has a compiler. Other builds follow by themselves, when
** a kernel is launched over arrays that lie elsewhere. TT_EVALUE: an option that OpenCL does not have, or a device of
** another kind. TT_ECOMPILE: images, pipes or queues of a device, which are not there; a source that a device does not
** build. TT_EDEVICE: no compiler, or the source does not build on the CPU. The message has the log, with the source's
** lines and columns.
*/
TT_API tt_code tt_program_opencl(const char *source, const char *options, const char *file, int device,
                                 tt_program **out, tt_error *err);
/* The source that a program was built from; lives as long as the program. */
TT_API const char *tt_program_source(const tt_program *p);

/* The index space of a launch: work-items along each of 1 to 3 axes, and how many of them a work-group has. */
typedef struct tt_range {
  int dims;
  uint64_t global[3], offset[3]; /* global indices are offset, offset + 1, ... offset + global - 1 */
  uint32_t local[3];             /* all 0: chosen to suit the kernel; else each divides the global size */
} tt_range;

/*
** Launch a kernel of a program in OpenCL C over a range; `stream` NULL: the current one. For the rest see
** tt_entry_launch. TT_EVALUE: a range that cannot be (no work-items, a local size that does not divide the global one,
** is larger than the device allows, or not the one that reqd_work_group_size wants), too much local memory.
*/
TT_API tt_code tt_entry_range(tt_entry *r, const tt_range *range, const tt_argument *arg, int n, tt_error *err);
/* The work-group's size that reqd_work_group_size wants; all 0: any. */
TT_API void tt_entry_asked(const tt_entry *r, uint32_t local[3]);
/* Most bytes of local memory that the arguments of a launch may have together. */
TT_API int64_t tt_local_memory(void);

/*
** What OpenCL says of a device ("opencl:0") or, with `platform`, of its platform: clGetDeviceInfo, clGetPlatformInfo,
** with the standard's number of the question. Up to `size` bytes go to `out`; *need is how many the answer has.
** TT_EVALUE: no OpenCL device, or nothing it answers.
*/
TT_API tt_code tt_opencl_ask(int device, bool platform, unsigned what, void *out, size_t size, size_t *need,
                             tt_error *err);

#ifdef __cplusplus
}
#endif
#endif
