/*
** Random numbers as nodes: a draw is a pure function of a key, a block and its place, so that it fuses with what uses
** it and gives the same bits whatever walks over it and with how many threads.
**
** A generator is a uint64 array {key, counter}: the counter is the next block of the key's stream, 16 bytes of random
** bits. Every call begins with a block of its own and takes as many as it needs; four float32 draws share one, or two
** of 8 bytes (scalar/prelude.h has the functions, ops.def the rows PHILOX, UNIFORM and NORMAL). Functions without a
** generator ("random.normal") draw from one of the process, seeded by the system or random.seed.
**
** A longer array is the state of one of NumPy's bit generators (random/bits.h). Their draws come one after the other
** with NumPy's bits, on the host and at once: "generator.normal" as numpy.random.Generator has them, "legacy.normal" as
** numpy.random.RandomState.
*/
#ifndef TT_FN_RANDOM_DRAW_H
#define TT_FN_RANDOM_DRAW_H

#include "fn/fn.h"
#include "random/draws.h"

typedef struct tt_draw {
  tt_composer *c;
  const tt_call_frame *f;
  int base;      /* where the function's own parameters begin: 1 behind a generator, else 0 */
  bool legacy;   /* as RandomState does it */
  tt_bits *bits; /* NumPy's generator, or NULL: ours */
  tt_dtype real; /* the type in which ours draws real numbers */
  int rank;      /* the shape that is drawn */
  int64_t len[TT_MAX_RANK], size;
} tt_draw;

typedef tt_array *(*tt_draw_fn)(tt_draw *d, tt_call_frame *f);
typedef enum tt_draw_from { TT_DRAW_PROCESS, TT_DRAW_GENERATOR, TT_DRAW_LEGACY } tt_draw_from;

/* Run a draw; `type`: the parameter (base not counted) that says the type of the result, -1: none does. */
TT_HIDDEN tt_array *tt__draw_run(tt_composer *c, tt_call_frame *f, tt_draw_from from, int type, tt_draw_fn draw);

/*
** Define handlers tt__fn_random_NAME, tt__fn_generator_NAME and tt__fn_legacy_NAME around `static tt_array
** *NAME(tt_draw *d, tt_call_frame *f)`.
*/
#define TT_DRAW_ONE(prefix, name, from, type)                                                                         \
  static tt_array *prefix##_##name(tt_composer *c, tt_call_frame *f) { return tt__draw_run(c, f, from, type, name); } \
  TT_HANDLER(prefix##_##name)
#define TT_DRAW(name, type)                             \
  TT_DRAW_ONE(random, name, TT_DRAW_PROCESS, type)      \
  TT_DRAW_ONE(generator, name, TT_DRAW_GENERATOR, type) \
  TT_DRAW_ONE(legacy, name, TT_DRAW_LEGACY, -1)

/* The words of a state where they lie, if nobody else can see them: to be read and written there. NULL: they are looked
 * at, and stored. */
TT_HIDDEN uint64_t *tt__draw_words(tt_array *a);
/* Write the words of a state back into its array. */
TT_HIDDEN bool tt__draw_store(tt_composer *c, tt_array *a, const void *word);

/* ---- parameters (fn/random/draw_param.c) */

/* What NumPy demands of a parameter; its words differ by whether all parameters are numbers. */
typedef enum tt_draw_rule {
  TT_RULE_NONE,
  TT_RULE_NON_NEGATIVE, /* NaN passes, -0.0 does not */
  TT_RULE_POSITIVE,
  TT_RULE_POSITIVE_NOT_NAN,
  TT_RULE_CHANCE, /* [0, 1] */
  TT_RULE_CHANCE_POSITIVE,
  TT_RULE_CHANCE_BELOW_ONE,
  TT_RULE_ABOVE_ONE,
  TT_RULE_ONE_OR_MORE,
  TT_RULE_RATE /* of a Poisson distribution, so that no count is beyond int64 */
} tt_draw_rule;

typedef struct tt_draw_param {
  const char *name;
  tt_draw_rule rule;
  double fallback;
  bool whole; /* an integer */
} tt_draw_param;
#define TT_PARAM(n, r) \
  { .name = n, .rule = r }
#define TT_PARAM_OR(n, r, otherwise) \
  { .name = n, .rule = r, .fallback = otherwise }
#define TT_PARAM_WHOLE(n, r) \
  { .name = n, .rule = r, .whole = true }

/*
** n parameters, which stand first, checked, and the shape that argument n or else they ask for. Numbers come as floats,
** the rest as arrays of float64. False: a failure is recorded.
*/
TT_HIDDEN bool tt__draw_params(tt_draw *d, tt_call_frame *f, const tt_draw_param *param, int n, tt_value *p);
/* Then, where one of NumPy's generators draws, `out` is what it drew of them. True: there is more to do. */
TT_HIDDEN bool tt__draw_begin(tt_draw *d, tt_call_frame *f, const tt_draw_param *param, int n, tt_value *p,
                              tt_dist dist, tt_array **out);
/* The same without the shape. */
TT_HIDDEN bool tt__draw_read(tt_draw *d, const tt_draw_param *param, int n, tt_value *p);
/* Is `op(v, than)` untrue anywhere? NaN makes every comparison untrue. */
TT_HIDDEN bool tt__draw_amiss(tt_draw *d, tt_op op, tt_value v, double than);
/* Is an element true? */
TT_HIDDEN bool tt__draw_any(tt_draw *d, tt_array *mask);

/*
** The shape of a draw: argument `size` (base not counted) or, when it is not given, that of the parameters broadcast
** together. True for a single number from numbers: a binding hands it on as a plain scalar.
*/
TT_HIDDEN bool tt__draw_shape(tt_draw *d, int size, const tt_value *param, int n);
TT_HIDDEN bool tt__draw_shape_fixed(tt_draw *d, int rank, const int64_t *len);

/* ---- ours (fn/random/random.c) */

/* A uint64 of random bits for each element. */
TT_HIDDEN tt_array *tt__draw_bits(tt_draw *d);
/* Uniform in [0, 1): float32 with 24 bits, float64 with 53. */
TT_HIDDEN tt_array *tt__draw_uniform(tt_draw *d, tt_dtype dtype);
/* Standard normal. */
TT_HIDDEN tt_array *tt__draw_normal(tt_draw *d, tt_dtype dtype);
/* Integers in [0, range) as uint64, by the high half of a 128-bit product; a range of 0 means 2^64. */
TT_HIDDEN tt_array *tt__draw_below(tt_draw *d, uint64_t range);
/* Integers in [0, range[i]], both included, for an array of uint64 that fits the shape. */
TT_HIDDEN tt_array *tt__draw_below_each(tt_draw *d, tt_array *range);
/* The numbers 0 ... n-1 in random order (int64). */
TT_HIDDEN tt_array *tt__draw_order(tt_draw *d, int64_t n);
/* Draws by rejection, a row of the library (lib/pick/draw.text.h); numbers drawn are of `type`. */
typedef enum tt_draw_kind {
  TT_DRAW_GAMMA,
  TT_DRAW_POISSON,
  TT_DRAW_BINOMIAL,
  TT_DRAW_HYPERGEOMETRIC,
  TT_DRAW_ZIPF,
  TT_DRAW_VONMISES
} tt_draw_kind;
TT_HIDDEN tt_array *tt__draw_rejected(tt_draw *d, tt_draw_kind kind, tt_dtype type, const tt_value *p, int n);
/* An op over values, scalars or arrays. */
TT_HIDDEN tt_array *tt__draw_op(tt_draw *d, tt_op op, tt_value a, tt_value b);

/* ---- NumPy's (fn/random/draw_exact.c) */

/* The numbers of a distribution in the shape of the draw: float64, float32 or int64. */
TT_HIDDEN tt_array *tt__draw_exact(tt_draw *d, tt_dist dist, tt_dtype type, const tt_value *p, int n);
/* Integers low + [0, range] of a type, both uint64, each a number or an array that fits the shape of the draw. */
TT_HIDDEN tt_array *tt__draw_exact_integers(tt_draw *d, tt_dtype type, tt_value low, tt_value range);
/* The numbers 0 ... n-1 in the order in which NumPy's shuffle leaves the rows of an array. */
TT_HIDDEN tt_array *tt__draw_exact_order(tt_draw *d, int64_t n);
/* m of the numbers 0 ... n-1, each at most once, in random order if `shuffled`. */
TT_HIDDEN tt_array *tt__draw_exact_some(tt_draw *d, int64_t n, int64_t m, bool shuffled);
/*
** m of the first n places, none twice, by Philox. Few of many come of a set, which is made now, so that nothing of n's
** size is ordered; else they are the first of an order.
*/
TT_HIDDEN tt_array *tt__draw_some(tt_draw *d, int64_t n, int64_t m, bool shuffled);
/* Places drawn again and again, with probabilities (float64). */
TT_HIDDEN tt_array *tt__draw_exact_places(tt_draw *d, tt_array *p);
/* m places, each at most once, with probabilities. */
TT_HIDDEN tt_array *tt__draw_exact_weighted(tt_draw *d, tt_array *p, int64_t m);
/* Vectors, along a last axis: Dirichlet's shares, the outcomes of trials (the shape is that of the vectors; trials are
 * float64, the chances lie along the last axis of p), and colours out of an urn. */
TT_HIDDEN tt_array *tt__draw_exact_shares(tt_draw *d, tt_array *alpha);
TT_HIDDEN tt_array *tt__draw_exact_trials(tt_draw *d, tt_array *trials, tt_array *p);
TT_HIDDEN tt_array *tt__draw_exact_colors(tt_draw *d, const int64_t *color, int64_t n, int64_t total, int64_t sample,
                                          bool by_count);
/* For each line along the last axis of the shape its places in random order. */
TT_HIDDEN tt_array *tt__draw_exact_lines(tt_draw *d);

#endif
