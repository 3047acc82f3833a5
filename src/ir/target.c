/*
** Names of devices, and what the CPU allows launches.
*/
#include "ir/target.h"

#include <stdio.h>

const tt_target tt__target_host = {.kind = TT_DEVICE_CPU,
                                   .warp = 1,
                                   .block_threads = 1024,
                                   .shared_block = 227 << 10,
                                   .grid_max = {INT32_MAX, 65535, 65535},
                                   .block_max = {1024, 1024, 64}};

const char *const tt__device_kinds[TT_DEVICE_KINDS] = {"cpu", "cuda", "opencl", "null"};

const char *tt__device_name(int id, char name[16]) {
  snprintf(name, 16, "%s:%d", tt__device_kinds[tt__device_kind(id)], tt__device_index(id));
  return name;
}
