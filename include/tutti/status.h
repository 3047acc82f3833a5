/*
** Status codes and error objects of the C interface.
**
** Every function that can fail returns a tt_code. A caller that wants the
** message passes a tt_error; NULL is always allowed. The library never prints,
** never exits and never aborts on bad input.
*/
#ifndef TUTTI_STATUS_H
#define TUTTI_STATUS_H

#include <stdbool.h>

#if defined(__GNUC__)
#define TT_API __attribute__((visibility("default")))
#define TT_MUST_CHECK __attribute__((warn_unused_result))
#define TT_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define TT_API
#define TT_MUST_CHECK
#define TT_PRINTF(fmt, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Each code has the Python exception that a binding raises for it. */
typedef enum tt_code {
  TT_OK = 0,
  TT_ENOMEM,     /* MemoryError */
  TT_EVALUE,     /* ValueError */
  TT_ETYPE,      /* TypeError */
  TT_EINDEX,     /* IndexError */
  TT_EAXIS,      /* numpy.exceptions.AxisError: a ValueError and an IndexError */
  TT_EOVERFLOW,  /* OverflowError */
  TT_EZERODIV,   /* ZeroDivisionError */
  TT_EBUFFER,    /* BufferError */
  TT_ELINALG,    /* numpy.linalg.LinAlgError: a ValueError */
  TT_EIO,        /* OSError */
  TT_EINTERRUPT, /* KeyboardInterrupt */
  TT_ENOTIMPL,   /* NotImplementedError */
  TT_EDEVICE,    /* RuntimeError: a device, compiler or vendor library failed */
  TT_EINTERNAL,  /* RuntimeError: a defect of ours; the message names the place */
  TT_ESTRICT,    /* RuntimeError: tt.strict() forbade what would have happened */
  TT_ESYNTAX,    /* SyntaxError: a text that cannot be read */
  TT_ECOMPILE,   /* tutti.CompileError, a RuntimeError: a kernel's text that no compiler takes, or no compiler */
  TT_EGRAD,      /* RuntimeError: there are no such gradients, or no more */
  TT_EHARD,      /* numpy.exceptions.TooHardError, a RuntimeError: a search that would take too long */
  TT_CODE_COUNT
} tt_code;

/* A message made where the fact is known. Plain data: copy it freely. */
typedef struct tt_error {
  tt_code code;
  int system;         /* TT_EIO: the system's errno where it says why, else 0 */
  char message[1024]; /* NUL-terminated, in NumPy's words where NumPy has some */
} tt_error;

/* The name of a code ("TT_EVALUE"), for logs. Never NULL. */
TT_API const char *tt_code_name(tt_code code);

/* Each kind has the Python warning that a binding gives for it. */
typedef enum tt_warning_kind {
  TT_WARN_RUNTIME, /* RuntimeWarning */
  TT_WARN_COMPLEX, /* numpy.exceptions.ComplexWarning: a RuntimeWarning */
  TT_WARN_RANK,    /* numpy.exceptions.RankWarning: a RuntimeWarning */
  TT_WARN_USER,    /* UserWarning */
  TT_WARN_OLD,     /* DeprecationWarning */
  TT_WARN_COUNT
} tt_warning_kind;

typedef struct tt_warning {
  tt_warning_kind kind;
  char message[248]; /* NUL-terminated, in NumPy's words */
} tt_warning;

/*
** The oldest warning that calls of this thread have left, taken out; false: there is none. Calls that succeed may leave
** some; a binding asks after each, a program that does not want them need not.
*/
TT_API bool tt_warning_next(tt_warning *out);
/* Has this thread left a warning that was not taken out? */
TT_API bool tt_warning_waits(void);

#ifdef __cplusplus
}
#endif
#endif
