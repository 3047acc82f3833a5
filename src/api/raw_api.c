/*
** The functions of tutti/stream.h about memory at addresses that stay: arguments, a call. They wait for devices, so
** that the lock is taken below, where arrays are touched; see launch/raw.h.
*/
#include "launch/raw.h"

tt_code tt_raw_new(int device, size_t size, void **out, tt_error *err) {
  tt_error local;
  *out = NULL;
  return tt__raw_new(device, size, out, err ? err : &local);
}

tt_code tt_raw_free(void *p, tt_error *err) {
  tt_error local;
  return tt__raw_free(p, err ? err : &local);
}

tt_code tt_raw_note(int device, void *p, size_t size, tt_error *err) {
  tt_error local;
  return tt__raw_note(device, p, size, err ? err : &local);
}

tt_code tt_raw_find(const void *p, int *device, size_t *left, tt_error *err) {
  tt_error local;
  return tt__raw_find(p, device, left, err ? err : &local);
}

tt_code tt_raw_copy(void *to, const void *from, size_t size, tt_raw_way way, tt_stream *s, bool wait, tt_error *err) {
  tt_error local;
  return tt__raw_copy(to, from, size, way, s, wait, err ? err : &local);
}

tt_code tt_raw_fill(void *to, const void *item, size_t width, size_t count, tt_stream *s, tt_error *err) {
  tt_error local;
  return tt__raw_fill(to, item, width, count, s, err ? err : &local);
}

tt_code tt_raw_load(const void *from, tt_dtype dtype, int rank, const int64_t *len, tt_array **out, tt_error *err) {
  tt_error local;
  *out = NULL;
  return tt__raw_load(from, dtype, rank, len, out, err ? err : &local);
}

tt_code tt_raw_store(void *to, tt_array *a, tt_error *err) {
  tt_error local;
  return tt__raw_store(to, a, err ? err : &local);
}

/* ---- memory of the host and a device */

tt_code tt_managed_new(int device, size_t size, int how, void **out, tt_error *err) {
  tt_error local;
  *out = NULL;
  return tt__managed_new(device, size, how, out, err ? err : &local);
}

void tt_managed_free(int device, void *p, size_t size) {
  if (p) tt__managed_free(device, p, size);
}

int tt_managed_device(const void *p) { return tt__managed_at(p, 1); }

tt_code tt_managed_attach(void *p, int how, tt_stream *s, tt_error *err) {
  tt_error local;
  return tt__managed_attach(p, how, s, err ? err : &local);
}
