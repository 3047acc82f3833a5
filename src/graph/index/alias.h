/*
** Arrays that show the memory of others as another type: .real, .imag, view(dtype). They stand on a storage of their
** own type that shows elements of another storage, its root; whoever is written, all that show the same memory get
** new values. Under the session lock.
*/
#ifndef TT_GRAPH_INDEX_ALIAS_H
#define TT_GRAPH_INDEX_ALIAS_H

#include "graph/build.h"

/* The array's memory as elements of another type, NumPy's rules and words; a view both ways. */
TT_HIDDEN tt_code tt__array_as(tt_array *a, tt_dtype dtype, tt_array **out, tt_error *err);
/* The real or imaginary parts of a complex array: a view. */
TT_HIDDEN tt_code tt__array_part(tt_array *a, bool imag, tt_array **out, tt_error *err);

/* Does the storage show another's memory, or another this one's? */
static inline bool tt__storage_aliased(const tt_storage *s) { return s->root || s->showing; }
/* Does it show a run of another's memory, where its elements lie as they are shown? */
TT_HIDDEN bool tt__storage_lies(const tt_storage *s);
/* The storage whose memory it is. */
static inline const tt_storage *tt__storage_root(const tt_storage *s) { return s->root ? s->root : s; }
/* A new value (takes the hold) for one of several storages over one memory, and so for all of them. */
TT_HIDDEN tt_code tt__alias_put(tt_storage *s, tt_node *n, tt_error *err);
/* A storage that showed another's memory goes. */
TT_HIDDEN void tt__alias_leave(tt_storage *s);
/* The bytes of an array of bool that shows memory of another type, which is written as bytes; NULL: it is no such
 * array. */
TT_HIDDEN tt_code tt__alias_bytes(tt_array *a, tt_array **out, tt_error *err);

/* Where the array's elements lie in its memory, in bytes: the first, and from one to the next along each axis. */
TT_HIDDEN void tt__array_place(const tt_array *a, int64_t *off, int64_t *stride);

#endif
