/*
** What there is to compute on, what it is doing, and the same sum on each of it.
*/
#include <stdio.h>
#include <stdlib.h>

#include "tutti/tutti.h"

static void check(tt_code code, const tt_error *err) {
  if (code == TT_OK) return;
  fprintf(stderr, "%s\n", err->message);
  exit(1);
}

static void show(int device) {
  tt_device_info d;
  tt_gpu_stats now;
  tt_error err;
  check(tt_device_read(device, &d, &err), &err);
  printf("%s  %s, %.1f of %.1f GB free\n", d.name, d.label, (double)d.memory_free / 1e9, (double)d.memory_total / 1e9);
  if (d.gpu >= 0 && tt_gpu_read(d.gpu, &now, &err) == TT_OK)
    printf("        use %d %%, %d degrees, %.0f watts, %d processes\n", now.use, now.temperature, now.power,
           now.nprocess);
}

static double sum_on(int device) {
  tt_array *x = NULL, *there = NULL, *sum = NULL;
  tt_value item;
  tt_error err;
  check(tt_arange(TT_F64, tt_v_int(0), tt_v_int(1), 100000, &x, &err), &err);
  check(tt_array_to(x, device, &there, &err), &err);
  check(tt_sum(there, 0, &sum, &err), &err);
  check(tt_item(sum, &item, &err), &err);
  tt_release(&sum);
  tt_release(&there);
  tt_release(&x);
  return item.as.f;
}

int main(void) {
  tt_host_stats host;
  tt_error err;
  int wrong = 0;
  for (int k = 0; k < tt_device_count(); k++) {
    show(tt_device_at(k));
    double sum = sum_on(tt_device_at(k));
    printf("        the sum of 0 to 99999 is %.0f there\n", sum);
    wrong += sum != 4999950000.0;
  }
  const char *why = tt_device_missing("cuda");
  if (why[0]) printf("no CUDA: %s\n", why);
  check(tt_host_read(&host, NULL, 0, &err), &err);
  printf("host    %d cores, %.1f of %.1f GB used\n", host.cores, (double)host.memory_used / 1e9,
         (double)host.memory_total / 1e9);
  return wrong != 0;
}
