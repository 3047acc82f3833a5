/*
** Hand-written kernels on a device: putting their text together and launching them. The texts are in text/, one for all
** dialects; words_*.h there says the few words in which the dialects differ.
*/
#ifndef TT_LIB_DEVICE_CALL_H
#define TT_LIB_DEVICE_CALL_H

#include "base/integer.h"
#include "base/str.h"
#include "ir/library.h"

/* Texts made by the build from text/. */
extern const char tt__text_common[], tt__text_scan[], tt__text_sort[], tt__text_pick[], tt__text_count[],
    tt__text_reduce[], tt__text_gather[], tt__text_draw[], tt__text_back[];

/* Sizes of tiles, found by measuring; tests try others. */
typedef struct tt_device_shape {
  int scan_threads, scan_bytes;   /* of a thread */
  int scan_resident, scan_rounds; /* threads of a unit; rounds of 32 tiles that look at each other's sums */
  int scan_ahead;                 /* tiles that sums are ahead of a scan, where there are several times as many */
  int scan_long;                  /* MiB of a row from which on these are so, instead: */
  int long_bytes, long_resident, long_ahead;
  int pick_threads, pick_items;   /* of a block; elements of a thread, of 4 bytes */
  int pick_ahead;                 /* as scan_ahead */
  int sort_threads, sort_items;   /* of a tile of sort_pass, and elements of a thread while they fit */
  int place_threads, place_items; /* the same with places */
} tt_device_shape;
TT_HIDDEN extern tt_device_shape tt__device_shape;
/* Those of the device: others where a block's threads take turns. */
TT_HIDDEN const tt_device_shape *tt__device_shape_of(const tt_lib_device *on);
/* Threads of a warp, WARP in the texts: 1 where they do not read each other's registers. */
TT_HIDDEN int tt__device_warp(const tt_lib_device *on);
/* Do tiles that need warps, or blocks of one thread, go well there? */
TT_HIDDEN bool tt__device_has_tiles(const tt_lib_device *on);

/* The words of the device's dialect; NULL: it has none, the host does the work. */
TT_HIDDEN const char *tt__device_words(const tt_lib_device *on);

/* Kernels made from one text. All zero but `on` and `text` is ready for tt__device_define. */
typedef struct tt_device_text {
  const tt_lib_device *on;
  const char *text, *above; /* (optional) another text that it needs above it */
  size_t shared;            /* bytes of shared memory that launches add */
  int pointers;             /* addresses that stand first in the arguments; 0: there are some elsewhere, which devices
                             * whose memory has handles do not find */
  tt_scalar_text scalar;    /* what the text calls */
  tt_str source;
  bool closed; /* `source` is complete */
} tt_device_text;

/* Append a line "#define NAME VALUE"; VALUE as printf has it. */
TT_HIDDEN void tt__device_define(tt_device_text *d, const char *name, const char *value, ...) TT_PRINTF(3, 4);
/* T and SIZE: the name in the texts of an element type, and its bytes. */
TT_HIDDEN void tt__device_define_type(tt_device_text *d, tt_dtype t);
TT_HIDDEN const char *tt__device_type(tt_dtype t);

/* Lines of another text, above all that are defined from now on. */
TT_HIDDEN void tt__device_add(tt_device_text *d, const char *lines);

/* Kernel `name` of the finished text, compiled when nobody has asked before. */
TT_HIDDEN tt_code tt__device_routine(tt_device_text *d, const char *name, tt_routine **out, tt_error *err);
/* Run kernel `name` in `blocks` blocks of `threads`; nothing for no blocks. TT_EVALUE is our mistake, TT_ENOTIMPL more
 * blocks than the device takes. */
TT_HIDDEN tt_code tt__device_launch(tt_device_text *d, const char *name, int64_t blocks, int threads, const void *args,
                                    size_t size, tt_error *err);
TT_HIDDEN void tt__device_done(tt_device_text *d);

/* A vendor's library has been given work for the stream: messages about failures name it so. */
TT_HIDDEN tt_code tt__device_asked(const tt_lib_device *on, const char *what, tt_error *err);

/* Bytes of the device set to one value. */
TT_HIDDEN tt_code tt__device_fill(const tt_lib_device *on, void *p, int byte, size_t size, tt_error *err);

/* Blocks of `threads` that walk over n elements: a few for each unit. */
TT_HIDDEN int64_t tt__device_blocks(const tt_lib_device *on, int64_t n, int threads);

/* How many tiles of `bytes` sums go ahead of the rest (back.text.h): what the cache holds easily, or none of few. */
TT_HIDDEN int64_t tt__device_ahead(const tt_lib_device *on, int64_t tiles, int64_t bytes, int most);

#endif
