/*
** Work on all cores: loops over the library's threads, and lines to other processes.
**
** A line joins two processes: a ring of bytes each way in memory that both have mapped, and a socket that wakes whoever
** sleeps, carries descriptors, and tells each side when the other is gone. It has no name and no file, so nothing of it
** is left however its ends end. Each way has one writer and one reader at a time; both ways may be used at once.
*/
#ifndef TUTTI_PARALLEL_H
#define TUTTI_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- loops */

/* Called with ranges [begin, end) of indices, from several threads at once. */
typedef void (*tt_parallel_body)(void *ctx, int64_t begin, int64_t end);
/*
** Call `body` with disjoint ranges that cover [0, n), and return when all are done. The first indices run on the
** caller's thread: how long they take says how many the others get at a time, and what is soon done is not distributed.
** A loop inside a loop runs on its caller's thread. n <= 0: nothing happens.
*/
TT_API void tt_parallel_for(int64_t n, tt_parallel_body body, void *ctx);
/* Cores that this process may use, by its affinity and the quotas of its control groups; at least 1. */
TT_API int tt_parallel_cores(void);

/* ---- memory that others are given copies of */

/*
** Note from now on whether memory is written. False: this system cannot tell (Linux can from 6.7 on, for memory that no
** file lies behind, and that has a page of its own). Pages are what is looked at: those that it has alone. It ends with
** the memory, or with tt_memory_unwatch.
*/
TT_API bool tt_memory_watch(const void *data, size_t size);
/* Was it written since tt_memory_watch? True also where nobody knows: it was never watched, or given back meanwhile. */
TT_API bool tt_memory_written(const void *data, size_t size);
/* 64 bits of the bytes in the pages that memory shares with its neighbours, at both ends: these are not watched. */
TT_API uint64_t tt_memory_edges(const void *data, size_t size);
/* Nobody will ask any more. Memory that was never watched is allowed. */
TT_API void tt_memory_unwatch(const void *data, size_t size);

/* ---- what the ledger and the profile show of it */

/* What workers did since the last time it was told: the rows of the ledger called parallel_... */
typedef struct tt_parallel_counts {
  int64_t tasks, messages, shared_bytes, copied_bytes, idle_us, started, died;
} tt_parallel_counts;
/* Add to the ledger. */
TT_API void tt_parallel_count(const tt_parallel_counts *more);
/*
** Process `pid` called the function `name` for some items, from `begin` to `end`, in seconds of the monotonic clock:
** for tt_profile_trace, where each worker is a process of its own, and the table. Nothing happens while nobody records.
*/
TT_API void tt_parallel_ran(const char *name, int pid, double begin, double end, int64_t items);

/* ---- memory of this process */

/*
** Keep up to `size` bytes that were freed, from now on, and do not give them back to the system at once: who does the
** same work again and again pays for new pages once. It is a matter of the C library; where it has no such, nothing
** happens.
*/
TT_API void tt_memory_keep(size_t size);
/* Give back what is kept so. */
TT_API void tt_memory_give_back(void);

/* ---- waiting for a change of shared memory */

/*
** A word in memory that processes share, zero at first: whoever changes what others wait for says so. One that dies
** while it waits leaves a count behind, which costs the others a call of the system now and then.
*/
typedef struct tt_word {
  uint32_t changes, waiting;
} tt_word;

/* Ask before looking at what the word stands for. */
TT_API uint32_t tt_word_read(tt_word *word);
/* Sleep until somebody changed something since `seen` was read; at most `seconds`, and a tenth of one. */
TT_API void tt_word_wait(tt_word *word, uint32_t seen, double seconds);
/* Something has changed: wake all who wait. */
TT_API void tt_word_change(tt_word *word);

/* ---- lines to other processes */

typedef struct tt_line tt_line;

/* The most bytes of a message: longer ones go as shared memory, whose descriptor is sent. */
#define TT_LINE_MOST (128 * 1024)
/* The most descriptors of a message. */
#define TT_LINE_DESCRIPTORS 128

/* Bytes that lie together; a message is made of several. */
typedef struct tt_bytes {
  const void *data;
  size_t size;
} tt_bytes;

/* What a message is like, before it is taken. */
typedef struct tt_message {
  size_t size;
  uint32_t tag; /* the sender's */
  int descriptors;
} tt_message;

/*
** Start a program with a line to it. argv[0] is its path; "%d" as an argument becomes the number of the descriptor that
** the program gives to tt_line_open. env NULL: ours. It reads nothing from standard input, and leads a process group of
** its own, so Ctrl-C at the terminal does not reach it. TT_EIO with the system's errno when it cannot be started.
*/
TT_API tt_code tt_line_start(const char *const *argv, const char *const *env, tt_line **out, tt_error *err);
/* In that program: the other end. The descriptor belongs to the line from then on. TT_EIO for what is no line. */
TT_API tt_code tt_line_open(int fd, tt_line **out, tt_error *err);
/*
** In that program: from now on its process group is killed when the one that started it is gone or gave its end
** back, whatever it is doing then. TT_EIO when no thread can be started that sees to it.
*/
TT_API tt_code tt_line_watch(tt_line *line, tt_error *err);
/* Give our end back and set *line to NULL; the other side sees that. NULL and *line == NULL are allowed. */
TT_API void tt_line_release(tt_line **line);
/* The process at the other end: that was started, or that started us. */
TT_API int tt_line_process(const tt_line *line);
/*
** How the process that was started ended: false while it runs. *status as waitpid has it; -1: somebody else has
** waited for it.
*/
TT_API bool tt_line_ended(tt_line *line, int *status);

/*
** Send a message. It waits while the ring is full. TT_EVALUE for one that is too long, TT_EIO (EPIPE) when the other
** side is gone. Descriptors stay the caller's.
*/
TT_API tt_code tt_line_send(tt_line *line, uint32_t tag, const tt_bytes *piece, int n, const int *fd, int fds,
                            tt_error *err);
/*
** Wait until one of several lines has a message or is closed: at most `seconds` (below 0: any time). ready[k] says of
** each whether it is so, the result how many are. A signal ends the waiting early: then it may be 0. soon: nobody has
** anything else to do until then, so it looks for some microseconds before it sleeps.
*/
TT_API int tt_line_wait(tt_line *const *line, int n, double seconds, bool soon, bool *ready);
/* Is there a message? It stays until it is taken. */
TT_API bool tt_line_peek(tt_line *line, tt_message *out);
/*
** Take the message that is there into `data`, with room for its size, and its descriptors, which are the caller's to
** close. TT_EIO when the other side is gone before they came.
*/
TT_API tt_code tt_line_take(tt_line *line, void *data, int *fd, tt_error *err);
/* Is the other side gone? What it sent before may still be there. */
TT_API bool tt_line_closed(const tt_line *line);

/* Say which item of its work this side is at, for the other one to look at. */
TT_API void tt_line_mark(tt_line *line, uint64_t item);
/* Which item the other side is at. */
TT_API uint64_t tt_line_marked(tt_line *line);

#ifdef __cplusplus
}
#endif
#endif
