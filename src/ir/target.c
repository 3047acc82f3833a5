/*
** Names of devices.
*/
#include "ir/target.h"

#include <stdio.h>

const char *const tt__device_kinds[TT_DEVICE_KINDS] = {"cpu", "cuda", "opencl", "null"};

const char *tt__device_name(int id, char name[16]) {
  snprintf(name, 16, "%s:%d", tt__device_kinds[tt__device_kind(id)], tt__device_index(id));
  return name;
}
