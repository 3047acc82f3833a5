/*
** The functions of tutti/parallel.h about lines, without the interface's checks. A line is its two rings, the memory in
** which they lie, and a socket; bytes of the socket say nothing but "look".
*/
#ifndef TT_PARALLEL_LINE_H
#define TT_PARALLEL_LINE_H

#include <sys/types.h>

#include "parallel/ring.h"

/* What both sides have mapped. */
typedef struct tt_line_memory {
  uint64_t mark;
  tt_ring ring[2]; /* to the process that was started, and from it */
  _Alignas(64) _Atomic uint64_t item;
  /* Where the process that was started was last seen, and the other one: 1 and up; 0: nobody knows. */
  _Atomic int core[2];
  _Alignas(64) char data[2][TT_RING_BYTES];
} tt_line_memory;

enum { TT_LINE_KEPT = 2 * TT_LINE_DESCRIPTORS };

struct tt_line {
  int fd;
  pid_t other, owner; /* owner: a child that was forked has no line of its own */
  bool started;       /* we started the other side */
  bool waited;        /* it has ended, and `status` says how */
  int status;
  _Atomic bool closed;
  tt_line_memory *memory;
  size_t bytes;
  tt_ring_end in, out;
  int kept[TT_LINE_KEPT]; /* descriptors that came before their message was taken */
  int kepts;
};

/* A line over a socket and the memory behind a descriptor, which is closed. The socket is the line's, or closed. */
TT_HIDDEN tt_code tt__line_make(int fd, int memory, bool started, pid_t other, tt_line **out, tt_error *err);
TT_HIDDEN void tt__line_drop(tt_line *line);
/* Take what has come on the socket; false when the other side is gone. */
TT_HIDDEN bool tt__line_drain(tt_line *line);
/* Send descriptors, or none: a byte that wakes. False when the other side is gone. */
TT_HIDDEN bool tt__line_tell(tt_line *line, const int *fd, int fds);
TT_HIDDEN tt_code tt__line_memory_new(int *fd, tt_error *err);

#endif
