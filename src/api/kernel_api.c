/*
** The functions of tutti/kernel.h: arguments, the lock, a call. Programs are launch/cuda_c/program.h's.
*/
#include <assert.h>

#include "api/enter.h"
#include "launch/language.h"
#include "launch/cuda_c/program.h"
#include "run/exec_call.h"

/* ---- programs */

tt_code tt_program_cuda(const char *source, const tt_program_options *options, tt_program **out, tt_error *err) {
  tt_error local = {0};
  *out = NULL;
  if (!err) err = &local;
  if (!source) return tt__fail(err, TT_EVALUE, "the source is NULL");
  void *made;
  TT_TRY(tt__source_read(&(tt_source){.language = TT_CUDA_C, .text = source, .cuda = options}, &made, err));
  *out = made;
  return TT_OK;
}

tt_program *tt_program_retain(tt_program *p) {
  tt__session_lock();
  assert(p->refs > 0);
  p->refs++;
  tt__session_unlock();
  return p;
}

void tt_program_release(tt_program **p) {
  if (!p || !*p) return;
  tt__program_release(*p);
  *p = NULL;
}

tt_code tt_program_find(tt_program *p, const char *name, tt_entry **out, tt_error *err) {
  return tt__program_find(p, name, out, err);
}

tt_entry *tt_program_nth(tt_program *p, int k) { return k >= 0 && k < p->n ? &p->entry[k] : NULL; }
int tt_program_device(const tt_program *p) { return p->home; }
const char *tt_program_text(const tt_program *p) { return p->text.data ? p->text.data : ""; }

/* What waits needs no lock. */
tt_code tt_program_variable(tt_program *p, const char *name, int device, void **data, size_t *size, tt_error *err) {
  return tt__variable_at(p, name, device, data, size, err);
}

tt_code tt_program_set(tt_program *p, const char *name, const void *data, size_t size, tt_error *err) {
  return tt__variable_set(p, name, data, size, err);
}

tt_code tt_program_get(tt_program *p, const char *name, void *data, size_t size, tt_error *err) {
  return tt__variable_get(p, name, data, size, err);
}

/* ---- kernels */

const char *tt_entry_name(const tt_entry *e) { return e->name; }
int tt_entry_parameters(const tt_entry *e) { return e->nparam; }
bool tt_entry_waits(const tt_entry *e) { return e->waits; }
int tt_entry_threads(const tt_entry *e) { return tt__entry_threads(e); }

tt_code tt_entry_parameter(const tt_entry *r, int k, tt_parameter *out, tt_error *err) {
  return tt__entry_parameter(r, k, out, err);
}

tt_code tt_entry_suggest(tt_entry *r, int device, int64_t shared, int *threads, tt_error *err) {
  return tt__entry_suggest(r, device, shared, threads, err);
}

tt_code tt_entry_launch(tt_entry *r, const tt_launch_options *how, const tt_argument *arg, int n, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__entry_launch(r, how, arg, n, err));
}

char *tt_printed(void) { return tt__call_printed(); }
