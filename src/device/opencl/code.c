/* Code on an OpenCL device: compile, load, find, launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "device/device.h"
#include "device/opencl/opencl_int.h"

/* What line `number` of a text is called by the #line directives before it: *line of *file. False: there are none. */
static bool called_line(const char *source, long number, char file[200], long *line) {
  bool told = false;
  for (long k = 1, first; k < number && source; k++) {
    if (sscanf(source, "#line %ld \"%199[^\"]\"", &first, file) >= 1) {
      *line = first + number - k - 1;
      told = *file;
    }
    source = strchr(source, '\n');
    if (source) source++;
  }
  return told;
}

void tt__cl_log(const char *log, const char *source, tt_str *out) {
  static const char mark[] = "<kernel>:";
  for (const char *at; source && (at = strstr(log, mark));) {
    char file[200] = "", *rest;
    long line, number = strtol(at + sizeof mark - 1, &rest, 10);
    bool told = called_line(source, number, file, &line);
    tt__str_add_n(out, log, (size_t)(at - log));
    if (told)
      tt__str_addf(out, "%s:%ld", file, line);
    else
      tt__str_add_n(out, at, (size_t)(rest - at));
    log = rest;
  }
  tt__str_add(out, log);
}

/* The compiler's log, as an error. `source` NULL: of a binary. */
static tt_code fail_build(tt_device *d, void *program, int result, const char *source, tt_error *err) {
  enum { LOG = 0x1183 };
  tt_cl *c = tt__cl_of(d);
  size_t size = 0;
  if (result != TT_CL_BUILD_FAILURE || c->api->build_info(program, c->place.device, LOG, 0, NULL, &size) != 0)
    return tt__cl_done(d, result, "compile", err);
  char *log = tt__mem_zalloc(size + 1);
  if (!log) return tt__fail_memory(err, size);
  c->api->build_info(program, c->place.device, LOG, size, log, NULL);
  tt_str said = {0};
  tt__cl_log(log, source, &said);
  tt_code code = tt__fail(err, TT_ECOMPILE, "%s", said.data && !said.failed ? said.data : log);
  tt__str_free(&said);
  tt__mem_free(log, size + 1);
  return code;
}

static tt_code binary_of_program(tt_device *d, void *program, tt_str *binary, tt_error *err) {
  enum { SIZES = 0x1165, BINARIES = 0x1166 };
  tt_cl *c = tt__cl_of(d);
  size_t size = 0;
  TT_TRY(tt__cl_done(d, c->api->program_info(program, SIZES, sizeof size, &size, NULL), "compile", err));
  unsigned char *bytes = tt__mem_zalloc(size + 1);
  if (!bytes) return tt__fail_memory(err, size);
  tt_code code = tt__cl_done(d, c->api->program_info(program, BINARIES, sizeof bytes, &bytes, NULL), "compile", err);
  if (code == TT_OK) tt__str_add_n(binary, (const char *)bytes, size);
  tt__mem_free(bytes, size + 1);
  return code == TT_OK && binary->failed ? tt__fail_memory(err, size) : code;
}

/* `kernels` NULL: nobody asks what they take. */
static tt_code build_source(tt_device *d, const char *source, const char *options, tt_str *binary, tt_str *kernels,
                            tt_error *err) {
  tt_cl *c = tt__cl_of(d);
  int result = 0;
  if (tt__fault(TT_FAULT_COMPILE)) return tt__fail(err, TT_EDEVICE, "%s: cannot compile: told to fail", d->name);
  TT_TRY(tt__device_alive(d, err));
  void *program = c->api->program_of_source(c->context, 1, &source, NULL, &result);
  TT_TRY(tt__cl_done(d, result, "compile", err));
  result = c->api->build(program, 1, &c->place.device, options, NULL, NULL);
  tt_code code = result ? fail_build(d, program, result, source, err) : binary_of_program(d, program, binary, err);
  if (code == TT_OK && kernels) code = tt__cl_describe(d, program, kernels, err);
  c->api->program_free(program);
  return code;
}

tt_code tt__cl_compile(tt_device *d, const char *source, const char *options, tt_str *binary, tt_error *err) {
  tt_str all = {0};
  tt__str_addf(&all, "%s%s", options, d->target.warp > 1 ? " -DTT_PTX" : ""); /* what makes its threads a warp */
  tt_code code = all.failed ? tt__fail_memory(err, all.len) : build_source(d, source, all.data, binary, NULL, err);
  tt__str_free(&all);
  return code;
}

tt_code tt__cl_build(tt_device *d, const char *source, const char *options, tt_str *binary, tt_str *kernels,
                     tt_error *err) {
  tt_str all = {0};
  tt__str_addf(&all, "%s -cl-kernel-arg-info", options ? options : "");
  tt_code code = all.failed ? tt__fail_memory(err, all.len) : build_source(d, source, all.data, binary, kernels, err);
  tt__str_free(&all);
  return code;
}

void tt__cl_identity(tt_device *d, tt_str *out) {
  enum { VERSION = 0x102f };
  tt_cl *c = tt__cl_of(d);
  char version[200];
  tt__cl_string(c->api, c->place.device, VERSION, version, sizeof version);
  tt__str_addf(out, "opencl %s, %s", d->label, version);
}

tt_code tt__cl_load(tt_device *d, const void *binary, size_t size, tt_module **out, tt_error *err) {
  tt_cl *c = tt__cl_of(d);
  const unsigned char *bytes = binary;
  int result = 0, status = 0;
  *out = NULL;
  TT_TRY(tt__device_alive(d, err));
  tt_cl_module *m = tt__mem_zalloc(sizeof *m);
  if (!m) return tt__fail_memory(err, sizeof *m);
  m->program = c->api->program_of_binary(c->context, 1, &c->place.device, &size, &bytes, &status, &result);
  tt_code code = tt__cl_done(d, result ? result : status, "load a binary", err);
  if (code == TT_OK && (result = c->api->build(m->program, 1, &c->place.device, NULL, NULL, NULL)) != 0)
    code = fail_build(d, m->program, result, NULL, err);
  if (code == TT_OK) {
    *out = (tt_module *)m;
    return TT_OK;
  }
  if (m->program) c->api->program_free(m->program);
  tt__mem_free(m, sizeof *m);
  return code;
}

void tt__cl_unload(tt_device *d, tt_module *m) {
  const tt_cl_api *api = tt__cl_of(d)->api;
  if (!m) return;
  for (tt_cl_routine *f = TT_CL_MODULE(m)->routines, *next; f; f = next) {
    next = f->next;
    if (!tt__device_lost(d)) api->kernel_free(f->kernel);
    tt__mem_free(f->field, f->field ? (size_t)(f->arguments + !f->arguments) * sizeof *f->field : 0);
    tt__mem_free(f, sizeof *f);
  }
  if (!tt__device_lost(d)) api->program_free(TT_CL_MODULE(m)->program);
  tt__mem_free(m, sizeof(tt_cl_module));
}

/* A kernel's own memory, per block and per thread, the most threads of a block, the block that it wants. */
static void look_at(const tt_cl *c, void *kernel, tt_routine_info *info) {
  enum { GROUP_SIZE = 0x11b0, ASKED = 0x11b1, LOCAL = 0x11b2, PRIVATE = 0x11b4 };
  size_t threads = 0, asked[3] = {0, 0, 0};
  uint64_t local = 0, private = 0;
  c->api->kernel_group_info(kernel, c->place.device, GROUP_SIZE, sizeof threads, &threads, NULL);
  c->api->kernel_group_info(kernel, c->place.device, LOCAL, sizeof local, &local, NULL);
  c->api->kernel_group_info(kernel, c->place.device, PRIVATE, sizeof private, &private, NULL);
  c->api->kernel_group_info(kernel, c->place.device, ASKED, sizeof asked, asked, NULL);
  *info = (tt_routine_info){.shared = (int)local, .local = (int)private, .block_threads = (int)threads};
  for (int k = 0; k < 3; k++) info->asked[k] = (uint32_t)asked[k];
}

tt_code tt__cl_routine(tt_device *d, tt_module *m, const char *name, tt_routine **out, tt_routine_info *info,
                       tt_error *err) {
  enum { NUM_ARGS = 0x1191 };
  tt_cl *c = tt__cl_of(d);
  char what[120];
  int result = 0;
  unsigned nargs = 0;
  *out = NULL;
  snprintf(what, sizeof what, "find the kernel '%.80s'", name);
  TT_TRY(tt__device_alive(d, err));
  void *kernel = c->api->kernel_new(TT_CL_MODULE(m)->program, name, &result);
  if (result == 0) result = c->api->kernel_info(kernel, NUM_ARGS, sizeof nargs, &nargs, NULL);
  TT_TRY(tt__cl_done(d, result, what, err));
  tt_cl_routine *f = tt__mem_zalloc(sizeof *f);
  if (!f) {
    c->api->kernel_free(kernel);
    return tt__fail_memory(err, sizeof *f);
  }
  *f = (tt_cl_routine){.kernel = kernel, .lock = TT_LOCK_INIT, .arguments = (int)nargs};
  snprintf(f->name, sizeof f->name, "%s", name);
  tt__lock(&c->lock);
  f->next = TT_CL_MODULE(m)->routines;
  TT_CL_MODULE(m)->routines = f;
  tt__unlock(&c->lock);
  if (info) look_at(c, kernel, info);
  *out = (tt_routine *)f;
  return TT_OK;
}

/* ---- launches */

enum { MOST_CL_ARGS = 32768 };

/*
** The arguments: the struct, whose first words are addresses; where it has an address the kernel finds how far into
** some memory that is, and that memory is an argument of its own. Last, memory of a block. Returns OpenCL's result.
*/
static int set_arguments(tt_device *d, const tt_cl_routine *f, const tt_grid *g, const void *args, size_t size) {
  const tt_cl_api *api = tt__cl_of(d)->api;
  _Alignas(16) char bytes[MOST_CL_ARGS];
  int n = (int)g->pointers;
  enum { BAD_ARGUMENTS = -52 };
  if (size > sizeof bytes || size < 8 * (size_t)n || f->arguments < 1 + n || f->arguments > 2 + n) return BAD_ARGUMENTS;
  memcpy(bytes, args, size);
  for (int i = 0; i < n; i++) {
    void *p, *memory = NULL;
    size_t at = 0;
    memcpy(&p, bytes + 8 * i, sizeof p);
    if (p && !(memory = tt__cl_memory(p, &at))) return BAD_ARGUMENTS;
    uint64_t offset = at;
    memcpy(bytes + 8 * i, &offset, sizeof offset);
    int result = api->kernel_arg(f->kernel, (unsigned)(1 + i), sizeof memory, &memory);
    if (result) return result;
  }
  int result = api->kernel_arg(f->kernel, 0, size, bytes);
  if (result == 0 && f->arguments > 1 + n)
    result = api->kernel_arg(f->kernel, (unsigned)(1 + n), g->shared > 0 ? (size_t)g->shared : 16, NULL);
  return result;
}

static int launch_rendered(tt_device *d, tt_cl_stream *s, const tt_cl_routine *f, const tt_grid *g, const void *args,
                           size_t size) {
  size_t global[3], local[3];
  for (int k = 0; k < 3; k++) {
    local[k] = g->block[k];
    global[k] = (size_t)g->grid[k] * g->block[k];
  }
  int result = set_arguments(d, f, g, args, size);
  return result ? result : tt__cl_of(d)->api->launch(s->queue, f->kernel, 3, NULL, global, local, 0, NULL, NULL);
}

tt_code tt__cl_launch(tt_device *d, tt_stream *s, tt_routine *routine, const tt_grid *g, const void *args, size_t size,
                      tt_error *err) {
  tt_cl *c = tt__cl_of(d);
  tt_cl_routine *f = TT_CL_ROUTINE(routine);
  char what[120];
  if (tt__fault(TT_FAULT_LAUNCH)) return tt__fail(err, TT_EDEVICE, "%s: cannot launch: told to fail", d->name);
  if (tt__fault(TT_FAULT_LOSS)) return tt__device_lose(d, err, "%s is lost: told to fail", d->name);
  TT_TRY(tt__device_alive(d, err));
  if (g->together) return tt__fail(err, TT_ENOTIMPL, "%s has no grids whose blocks wait for each other", d->name);
  snprintf(what, sizeof what, "launch '%.80s'", f->name);
  tt__lock(&f->lock);
  tt_code code = f->field ? tt__cl_launch_fields(d, TT_CL_STREAM(s), f, g, args, size, err)
                          : tt__cl_done(d, launch_rendered(d, TT_CL_STREAM(s), f, g, args, size), what, err);
  tt__unlock(&f->lock);
  TT_TRY(code);
  __atomic_fetch_add(&TT_CL_STREAM(s)->asked, 1, __ATOMIC_RELAXED);
  (void)tt__launch_log_note(&TT_CL_STREAM(s)->log, f->name);
  if (!c->check) return tt__cl_done(d, c->api->flush(TT_CL_STREAM(s)->queue), what, err);
  snprintf(what, sizeof what, "run the kernel '%.80s'", f->name);
  return tt__cl_done(d, c->api->finish(TT_CL_STREAM(s)->queue), what, err);
}
