/* What the C library does with memory that was given back; see tutti/parallel.h. */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "tutti/parallel.h"

#ifdef __GLIBC__
#include <malloc.h>

/* The largest pieces that glibc lets come from its heap; larger ones are mapped, and unmapped when they are freed. */
enum { HEAP_PIECE = 32 << 20 };

void tt_memory_keep(size_t size) {
  mallopt(M_MMAP_THRESHOLD, HEAP_PIECE);
  mallopt(M_TRIM_THRESHOLD, size < INT_MAX ? (int)size : INT_MAX);
}

void tt_memory_give_back(void) { malloc_trim(0); }

#else

void tt_memory_keep(size_t size) { (void)size; }
void tt_memory_give_back(void) {}

#endif
