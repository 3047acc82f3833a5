/*
** For programs that are one long test over many types and sizes: a CHECK that says which of them failed, and memory
** without looking whether it is there.
*/
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "random.h"

static int failures;

#define CHECK(cond, ...)                              \
  do {                                                \
    if (!(cond)) {                                    \
      failures++;                                     \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                   \
      fprintf(stderr, "\n");                          \
    }                                                 \
  } while (0)

static inline void *need(size_t size) {
  void *p = malloc(size ? size : 1);
  if (!p) exit(2);
  return p;
}

#endif
