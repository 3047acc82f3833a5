/*
** Variables of programs (tutti/kernel.h). Each build has its own memory for them; what the caller sets is written to
** all builds, those made later too, and what is read is the build's that ran last.
*/
#include <string.h>

#include "launch/cuda_c/program.h"
#include "base/mem.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/call.h"

struct tt_variable_set {
  tt_variable_set *next;
  size_t size;
  char *name; /* behind the bytes */
  char data[];
};

static tt_code no_such(const char *name, tt_error *err) {
  return tt__fail(err, TT_EVALUE, "the program has no __device__ or __constant__ variable '%.200s'", name);
}

static tt_code find_here(const tt_cudac_program *b, const char *name, void **data, size_t *size, tt_error *err) {
  for (int k = 0; k < b->nvariable; k++) {
    if (strcmp(b->variable[k].name, name) != 0) continue;
    *data = b->variable[k].data;
    *size = b->variable[k].size;
    return TT_OK;
  }
  return no_such(name, err);
}

tt_code tt__variable_at(tt_program *p, const char *name, int device, void **data, size_t *size, tt_error *err) {
  if (device < 0) device = p->home;
  TT_TRY(tt__calls_flush(err)); /* kernels that were launched before may write it, those launched later read it */
  TT_TRY(tt__program_need(p, device, 0, err));
  return device > 0 ? tt__device_program_variable(tt__program_there(p, device), name, data, size, err)
                    : find_here(p->built[0], name, data, size, err);
}

/* ---- one build's memory */

static tt_code write_here(const tt_cudac_program *b, const tt_variable_set *v, tt_error *err) {
  void *at = NULL;
  size_t size = 0;
  TT_TRY(find_here(b, v->name, &at, &size, err));
  memcpy(at, v->data, v->size < size ? v->size : size);
  return TT_OK;
}

/* Waits, so that it stands before and after what any stream does. */
static tt_code write_there(tt_device_program *b, const tt_variable_set *v, tt_error *err) {
  void *at = NULL;
  size_t size = 0;
  tt_device *d = b->device;
  TT_TRY(tt__device_program_variable(b, v->name, &at, &size, err));
  TT_TRY(d->ops->wait_all(d, err));
  TT_TRY(tt__staging_in(d, d->work, at, v->data, v->size < size ? v->size : size, err));
  return d->ops->stream_wait_idle(d, d->work, err);
}

tt_code tt__variables_give(tt_program *p, int id, int which, tt_error *err) {
  for (const tt_variable_set *v = p->set; v; v = v->next)
    TT_TRY(id > 0 ? write_there(tt__program_there(p, id), v, err) : write_here(p->built[which], v, err));
  return TT_OK;
}

void tt__variables_free(tt_program *p) {
  while (p->set) {
    tt_variable_set *next = p->set->next;
    tt__mem_free(p->set, sizeof *p->set + p->set->size + strlen(p->set->name) + 1);
    p->set = next;
  }
}

/* ---- setting and reading */

/* The newest stands last, so that a build made later ends with it. */
static tt_code keep(tt_program *p, const char *name, const void *data, size_t size, tt_variable_set **out,
                    tt_error *err) {
  size_t bytes = strlen(name) + 1, total = sizeof(tt_variable_set) + size + bytes;
  tt_variable_set *v = tt__mem_alloc(total), **at = &p->set;
  if (!v) return tt__fail_memory(err, total);
  *v = (tt_variable_set){.size = size, .name = v->data + size};
  memcpy(v->data, data, size);
  memcpy(v->name, name, bytes);
  while (*at) {
    tt_variable_set *old = *at;
    if (old->size <= size && strcmp(old->name, name) == 0) { /* all of it is written over */
      *at = old->next;
      tt__mem_free(old, sizeof *old + old->size + bytes);
    } else {
      at = &old->next;
    }
  }
  *at = *out = v;
  return TT_OK;
}

static tt_code write_all(tt_program *p, const tt_variable_set *v, tt_error *err) {
  for (int k = 0; k < TT_PROGRAM_BUILDS; k++)
    if (p->built[k]) TT_TRY(write_here(p->built[k], v, err));
  for (int k = 0; k < p->non; k++) TT_TRY(write_there(p->on[k].program, v, err));
  return TT_OK;
}

tt_code tt__variable_set(tt_program *p, const char *name, const void *data, size_t size, tt_error *err) {
  void *at = NULL;
  size_t room = 0;
  tt_variable_set *v = NULL;
  TT_TRY(tt__variable_at(p, name, -1, &at, &room, err));
  if (size > room) return tt__fail(err, TT_EVALUE, "%zu bytes do not fit the variable '%s' of %zu", size, name, room);
  tt__lock(&p->lock);
  tt_code code = keep(p, name, data, size, &v, err);
  if (code == TT_OK) code = write_all(p, v, err);
  tt__unlock(&p->lock);
  return code;
}

tt_code tt__variable_get(tt_program *p, const char *name, void *data, size_t size, tt_error *err) {
  void *at = NULL;
  size_t there = 0;
  int id = p->ran >= 0 ? p->ran : p->home;
  TT_TRY(tt__variable_at(p, name, id, &at, &there, err));
  if (size > there) size = there;
  tt_device_program *b = id > 0 ? tt__program_there(p, id) : NULL;
  if (b) return tt__staging_out(b->device, tt__stream_current(b->device), data, at, size, err);
  memcpy(data, at, size);
  return TT_OK;
}
