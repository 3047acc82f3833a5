/*
** See turn.h. A piece is DOWN x ALONG squares; a square is one cache line a side. Lines of the source are first copied
** side by side, each whole: where they lie a power of two apart they would push each other out of the cache before
** their second element is read. The square is turned in vectors of 16 bytes, which every processor has: n rows of n
** elements, interleaved log2(n) times with the row half the square away, are their transpose.
*/
#include "device/cpu/turn.h"

#include <assert.h>
#include <string.h>

#define LINE 64
#define VECTOR 16
#define MOST_SIZE 8
#define DOWN 4   /* squares of a piece along the source: so many lines of a page are read in a row */
#define ALONG 16 /* along the destination */
#define AHEAD 2  /* squares that lines are fetched ahead */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- one square */

#define LOW_1 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_1 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW_2 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_2 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_4 0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7
#define LOW_8 0, 2
#define HIGH_8 1, 3

/* turn_SIZE: `down` x `along` blocks of one vector a side. copy_few_SIZE: element by element. */
#define TURN(bytes, type)                                                                                    \
  typedef type vec_##bytes __attribute__((vector_size(VECTOR)));                                             \
  static void turn_##bytes(const char *from, int64_t from_step, char *to, int64_t to_step, int64_t down,     \
                           int64_t along) {                                                                  \
    enum { N = VECTOR / bytes };                                                                             \
    for (int64_t d = 0; d < down; d++)                                                                       \
      for (int64_t l = 0; l < along; l++) {                                                                  \
        vec_##bytes a[N], b[N];                                                                              \
        for (int i = 0; i < N; i++) memcpy(&a[i], from + (l * N + i) * from_step + d * VECTOR, VECTOR);      \
        for (int half = N / 2; half; half /= 2) {                                                            \
          for (int i = 0; i < N / 2; i++) {                                                                  \
            b[2 * i] = __builtin_shufflevector(a[i], a[i + N / 2], LOW_##bytes);                             \
            b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + N / 2], HIGH_##bytes);                        \
          }                                                                                                  \
          memcpy(a, b, sizeof a);                                                                            \
        }                                                                                                    \
        for (int i = 0; i < N; i++) memcpy(to + (d * N + i) * to_step + l * VECTOR, &a[i], VECTOR);          \
      }                                                                                                      \
  }                                                                                                          \
  static void copy_few_##bytes(const char *from, int64_t from_step, char *to, int64_t to_step, int64_t down, \
                               int64_t along) {                                                              \
    for (int64_t d = 0; d < down; d++)                                                                       \
      for (int64_t l = 0; l < along; l++)                                                                    \
        memcpy(to + d * to_step + l * bytes, from + l * from_step + d * bytes, bytes);                       \
  }

TURN(1, uint8_t)
TURN(2, uint16_t)
TURN(4, uint32_t)
TURN(8, uint64_t)

/* What is done with elements of a size. The first takes blocks of a vector a side, the second elements. */
typedef void (*turn_fn)(const char *from, int64_t from_step, char *to, int64_t to_step, int64_t down, int64_t along);
static const struct {
  turn_fn blocks, few;
} turns[] = {{turn_1, copy_few_1}, {turn_2, copy_few_2}, {turn_4, copy_few_4}, {turn_8, copy_few_8}};

static int size_row(size_t size) {
  int row = 0;
  for (; size > 1; size /= 2) row++;
  return row;
}

/* The first `down` elements of each of `along` lines of the source become `down` lines of the destination. */
static void copy_square(const tt_turn *m, const char *from, char *to, int64_t down, int64_t along) {
  const int64_t size = (int64_t)m->size, side = LINE / size, n = VECTOR / size;
  const turn_fn blocks = turns[size_row(m->size)].blocks, few = turns[size_row(m->size)].few;
  assert(down > 0 && down <= side && along > 0 && along <= side);
  if (down == side && along == side) {
    _Alignas(LINE) char square[LINE * LINE];
    for (int64_t i = 0; i < side; i++) memcpy(square + i * LINE, from + i * m->from_along, LINE);
    blocks(square, LINE, to, m->to_down, side / n, side / n);
    return;
  }
  const int64_t d = down - down % n, l = along - along % n;
  blocks(from, m->from_along, to, m->to_down, d / n, l / n);
  few(from + l * m->from_along, m->from_along, to + l * size, m->to_down, d, along - l);
  few(from + d * size, m->from_along, to + d * m->to_down, m->to_down, down - d, along);
}

/* ---- pieces */

int64_t tt__turn_points(const tt_turn *m) {
  int64_t side = LINE / (int64_t)m->size;
  return least(m->down, DOWN * side) * least(m->along, ALONG * side);
}

/* Lines lie pages apart, on both sides: the processor does not fetch them by itself. */
static void fetch_square(const tt_turn *m, const char *from, const char *to, int64_t down, int64_t along) {
  for (int64_t i = 0; i < along; i++) __builtin_prefetch(from + i * m->from_along);
  for (int64_t i = 0; i < down; i++) __builtin_prefetch(to + i * m->to_down, 1);
}

static void copy_piece(const tt_turn *m, const char *from, char *to, int64_t down, int64_t along) {
  const int64_t side = LINE / (int64_t)m->size, size = (int64_t)m->size, width = (along + side - 1) / side * side;
  for (int64_t d = 0; d < down; d += side) {
    for (int64_t a = 0; a < along; a += side) {
      int64_t ahead = a + AHEAD * side, e = d + ahead / width * side, b = ahead % width;
      if (e < down)
        fetch_square(m, from + e * size + b * m->from_along, to + e * m->to_down + b * size, least(side, down - e),
                     least(side, along - b));
      copy_square(m, from + d * size + a * m->from_along, to + d * m->to_down + a * size, least(side, down - d),
                  least(side, along - a));
    }
  }
}

void tt__turn_run(const tt_turn *m, int64_t lo, int64_t hi) {
  assert(0 <= lo && lo <= hi && hi <= m->pieces);
  const int64_t side = LINE / (int64_t)m->size, size = (int64_t)m->size;
  for (int64_t piece = lo; piece < hi; piece++) {
    int64_t a = piece % m->nalong * ALONG * side, rest = piece / m->nalong;
    int64_t d = rest % m->ndown * DOWN * side, other = rest / m->ndown;
    const char *from = m->from + d * size + a * m->from_along;
    char *to = m->to + d * m->to_down + a * size;
    for (int i = m->nother - 1; i >= 0; i--) {
      from += other % m->len[i] * m->from_step[i];
      to += other % m->len[i] * m->to_step[i];
      other /= m->len[i];
    }
    copy_piece(m, from, to, least(DOWN * side, m->down - d), least(ALONG * side, m->along - a));
  }
}

/* ---- what crosses */

/* The axis of neighbours in memory, forwards or backwards, that is longest: they share lines of the cache. */
static int dense_axis(const tt_kargs *args, const int64_t *step, int naxes) {
  int best = -1;
  for (int i = 0; i < naxes; i++)
    if ((step[i] == 1 || step[i] == -1) && args->len[i] > 1 && (best < 0 || args->len[i] > args->len[best])) best = i;
  return best;
}

/* Source and destination walked from the other end of an axis. */
static void walk_back(tt_turn *m, int64_t len, int64_t from_step, int64_t to_step) {
  m->from += (len - 1) * from_step;
  m->to += (len - 1) * to_step;
}

/* The two dense axes, forwards both. */
static void set_dense(tt_turn *m, const tt_kargs *args, const int64_t *from, const int64_t *to, int down, int along) {
  const int64_t size = (int64_t)m->size;
  m->along = args->len[along];
  m->from_along = from[along] * to[along] * size;
  if (to[along] < 0) walk_back(m, m->along, from[along] * size, -size);
  m->down = args->len[down];
  m->to_down = to[down] * from[down] * size;
  if (from[down] < 0) walk_back(m, m->down, -size, to[down] * size);
}

bool tt__turn_of(const tt_kernel *k, const tt_kargs *args, tt_turn *out) {
  if (k->naxes > TT_TURN_AXES) return false;
  const int load = k->inst[0].slot, store = k->inst[1].slot;
  const int64_t *from = args->step + (size_t)load * k->naxes, *to = args->step + (size_t)store * k->naxes;
  const int down = dense_axis(args, from, k->naxes), along = dense_axis(args, to, k->naxes);
  if (down < 0 || along < 0 || down == along || from[along] == 1 || from[along] == -1) return false;
  if (from[along] == 0) return false; /* the same element again */
  const size_t size = tt__dtype_size((tt_dtype)k->access[load].dtype);
  const int64_t bytes = (int64_t)size, side = LINE / bytes, n = VECTOR / bytes;
  if (size > MOST_SIZE || args->len[down] < n || args->len[along] < n) return false; /* nothing to turn */
  *out = (tt_turn){.size = size,
                   .from = (const char *)args->buf[k->access[load].buf] + args->off[load] * bytes,
                   .to = (char *)args->buf[k->access[store].buf] + args->off[store] * bytes};
  set_dense(out, args, from, to, down, along);
  out->ndown = (out->down + DOWN * side - 1) / (DOWN * side);
  out->nalong = (out->along + ALONG * side - 1) / (ALONG * side);
  out->pieces = out->ndown * out->nalong;
  for (int i = 0; i < k->naxes; i++) {
    if (i == down || i == along) continue;
    out->len[out->nother] = args->len[i];
    out->from_step[out->nother] = from[i] * bytes;
    out->to_step[out->nother++] = to[i] * bytes;
    out->pieces *= args->len[i];
  }
  return true;
}
