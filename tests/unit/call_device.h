/*
** Calls of library rows and makers with memory of the process, for tests: on the device of fake_device.h, or with
** TUTTI_TEST_DEVICE=cuda on the first CUDA device.
*/
#ifndef CALL_DEVICE_H
#define CALL_DEVICE_H

#include "device/device.h"
#include "render/render.h"

#include "fake_device.h"

typedef struct there_module {
  char *source;
  tt_module *module;
} there_module;

static there_module there_modules[FAKE_MODULES];
static void *there_temps[64], *there_results[8];
static size_t there_sizes[64];
static int there_module_count, there_temp_count, there_result_count;

static void there_must(tt_code code, const tt_error *err) {
  if (code != TT_OK) fake_die(err->message);
}

static tt_code there_routine(const tt_lib_device *on, const char *source, tt_scalar_text math, const char *name,
                             tt_routine **out, tt_error *err) {
  there_module *m = NULL;
  for (int i = 0; i < there_module_count && !m; i++)
    if (strcmp(there_modules[i].source, source) == 0) m = &there_modules[i];
  if (!m) {
    tt_str text = {0}, binary = {0};
    if (there_module_count == FAKE_MODULES) fake_die("too many texts");
    tt__render_header(&tt__dialect_cuda, math, &text);
    tt__str_add(&text, source);
    tt_code code = on->device->ops->compile(on->device, text.data, "--fmad=false", &binary, err);
    if (code != TT_OK) fprintf(stderr, "%s\n", err->message);
    m = &there_modules[there_module_count++];
    m->source = strdup(source);
    if (code == TT_OK) code = on->device->ops->load(on->device, binary.data, binary.len, &m->module, err);
    there_must(code, err);
    tt__str_free(&text);
    tt__str_free(&binary);
  }
  tt_routine_info info;
  return on->device->ops->routine(on->device, m->module, name, out, &info, err);
}

static tt_code there_temp(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  if (there_temp_count == 64) fake_die("too much temporary memory");
  tt_code code = on->device->ops->alloc(on->device, size + 256, out, err);
  there_sizes[there_temp_count] = size + 256;
  if (code == TT_OK) there_temps[there_temp_count++] = *out;
  return code;
}

static tt_code there_result(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  tt_code code = there_temp(on, size, out, err);
  if (code == TT_OK) there_results[there_result_count++ % 8] = *out;
  return code;
}

static void there_shrink(const tt_lib_device *on, void *p, size_t size) { (void)on, (void)p, (void)size; }

static tt_code there_read(const tt_lib_device *on, void *to, const void *from, size_t size, tt_error *err) {
  tt_code code = on->device->ops->copy_out(on->device, on->stream, to, from, size, err);
  return code == TT_OK ? on->device->ops->stream_wait_idle(on->device, on->stream, err) : code;
}

static void there_end(const tt_lib_device *on) {
  tt_error err = {0};
  there_must(on->device->ops->stream_wait_idle(on->device, on->stream, &err), &err);
  for (int i = 0; i < there_temp_count; i++) on->device->ops->free(on->device, there_temps[i], there_sizes[i]);
  there_temp_count = there_result_count = 0;
}

static tt_lib_device there_lib = {
    .temp = there_temp, .result = there_result, .shrink = there_shrink, .routine = there_routine, .read = there_read};

/* The real device, or NULL with why not. */
static const tt_lib_device *there_open(tt_error *err) {
  int id;
  if (there_lib.device) return &there_lib;
  setenv("TUTTI_CUDNN", "none", 1); /* who calls rows through this wants kernels of ours */
  if (tt__device_named("cuda", &id, err) != TT_OK || tt__device_open(id, &there_lib.device, err) != TT_OK) return NULL;
  there_lib.stream = there_lib.device->work;
  return &there_lib;
}

static const tt_lib_device *call_gpu(void) {
  const char *name = getenv("TUTTI_TEST_DEVICE");
  tt_error err = {0};
  if (!name || strcmp(name, "cuda") != 0) return NULL;
  if (!there_open(&err)) fake_die(err.message);
  return &there_lib;
}

/* A copy of host memory on the device, equally aligned to 16 bytes. */
static void *there_copy(const tt_lib_device *on, const void *from, size_t size) {
  void *to;
  tt_error err = {0};
  there_must(there_temp(on, size + 16, &to, &err), &err);
  to = (char *)to + (uintptr_t)from % 16;
  if (size) there_must(on->device->ops->copy_in(on->device, on->stream, to, from, size, &err), &err);
  there_must(on->device->ops->stream_wait_idle(on->device, on->stream, &err), &err);
  return to;
}

/* An operand there, with all elements that its steps reach. */
static tt_operand there_operand(const tt_lib_device *on, const tt_operand *o) {
  int64_t low = 0, high = o->size - 1, each = (int64_t)tt__dtype_size(o->dtype);
  if (o->step && o->size) high = 0;
  for (int d = 0; d < o->rank && o->step && o->size; d++) {
    int64_t reach = (o->len[d] - 1) * o->step[d];
    low += reach < 0 ? reach : 0;
    high += reach > 0 ? reach : 0;
  }
  tt_operand there = *o;
  const char *from = (const char *)o->data + low * each;
  there.data = (const char *)there_copy(on, from, (size_t)((high - low + 1) * each)) - low * each;
  return there;
}

/* row->run_on with operands and results in memory of the process. */
static inline tt_code call_row(const tt_lib_row *row, const tt_lib_attr *attr, const tt_operand *src,
                               const tt_block *out) {
  const tt_lib_device *on = call_gpu();
  tt_operand operand[4];
  tt_error err = {0};
  tt_code code;
  if (!on) {
    code = row->run_on(&fake, attr, src, out, &err);
    fake_end();
    return code;
  }
  for (int i = 0; i < row->nsrc; i++) operand[i] = there_operand(on, &src[i]);
  tt_block block[4];
  size_t size[4];
  for (int k = 0; k < row->nout; k++) {
    block[k] = out[k];
    size[k] = out[k].data ? (size_t)out[k].size * tt__dtype_size(out[k].dtype) : 0;
    if (out[k].data) block[k].data = there_copy(on, out[k].data, size[k]);
  }
  code = row->run_on(on, attr, operand, block, &err);
  if (code != TT_OK) fprintf(stderr, "%s: %s\n", row->name, err.message);
  for (int k = 0; code == TT_OK && k < row->nout; k++)
    if (size[k]) there_must(there_read(on, out[k].data, block[k].data, size[k], &err), &err);
  there_end(on);
  return code;
}

static inline tt_code call_maker(const tt_lib_maker *m, const tt_lib_attr *attr, const tt_operand *src, tt_made *out) {
  const tt_lib_device *on = call_gpu();
  tt_operand operand[4];
  tt_error err = {0};
  tt_code code;
  if (!on) {
    code = m->run_on(&fake, attr, src, out, &err);
    fake_end();
    return code;
  }
  for (int i = 0; i < m->nsrc; i++) {
    operand[i] = src[i];
    operand[i].data = there_copy(on, src[i].data, (size_t)src[i].size * tt__dtype_size(src[i].dtype));
  }
  code = m->run_on(on, attr, operand, out, &err);
  for (int k = 0; code == TT_OK && k < m->nout; k++) {
    size_t size = (size_t)out[k].n * tt__dtype_size(out[k].dtype);
    const void *at = out[k].data;
    if (!size || !at) continue;
    out[k].data = malloc(size);
    there_must(there_read(on, out[k].data, at, size, &err), &err);
  }
  there_end(on);
  return code;
}

#endif
