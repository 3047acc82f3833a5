/*
** The machine as plain data: what its processors do in a time, what moving bytes costs, how much room there is. The
** stages that choose where and how steps run know nothing else of it, so they are pure, and tests make machines up.
** run/place.c fills it in, from what run/machine/calibrate.c measured.
*/
#ifndef TT_IR_MACHINE_H
#define TT_IR_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Of the CPU. */
typedef struct tt_host_rates {
  double bytes_per_ns; /* memory traffic of all threads together */
  double ns_per_op;    /* one instruction of a kernel on one element, one thread */
  double ns_per_flop;  /* one floating-point operation of a library routine, one thread */
  double launch_ns;    /* waking the pool for a launch */
} tt_host_rates;

/* Moving is not in proportion to the bytes: it is known of these sizes. */
enum { TT_MOVE_SIZES = 6 };
TT_HIDDEN extern const size_t tt__move_sizes[TT_MOVE_SIZES];

typedef struct tt_device_rates {
  double bytes_per_ns;                                 /* of its memory, read and written */
  double ns_per_op, ns_per_flop;                       /* the whole device */
  double launch_ns;                                    /* of a launch in a row of launches */
  double both_bytes_per_ns;                            /* the sum of both ways when bytes move either way at once */
  double up_ns[TT_MOVE_SIZES], down_ns[TT_MOVE_SIZES]; /* of one move of tt__move_sizes[k] bytes; see tt__move_ns */
} tt_device_rates;

/* What moving so many bytes takes, by `up_ns` or `down_ns`. */
TT_HIDDEN double tt__move_ns(const double *took, double bytes);

typedef struct tt_machine_device {
  int id;            /* tt__device_id */
  bool is_simulated; /* it has no libraries of its own */
  bool is_host;      /* it is the processor: the host's functions of the library work on its memory as it lies */
  bool is_measured;  /* its rates; until then they are what such devices have */
  int double_ratio;  /* float32 operations in the time of one of float64; 0: nobody knows, as many */
  uint32_t lacks;    /* bit t: it does not compute in type t */
  double room;       /* bytes that all arrays of a step may take */
  tt_device_rates rates;
} tt_machine_device;

enum { TT_MACHINE_DEVICES = 16 };

typedef struct tt_machine {
  tt_host_rates host;
  int threads;
  double host_room; /* bytes that all arrays of a step may take beside those that lie there */
  int ndevice;
  tt_machine_device device[TT_MACHINE_DEVICES];
} tt_machine;

#endif
