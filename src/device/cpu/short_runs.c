/*
** See short_runs.h. A run goes by one load and one store of the next power of two, which also carry what lies behind
** it: the run after it is stored later and puts that right. Runs at the ends of a piece, where a load or a store would
** leave it, go by two moves that stay inside. Lines walked backwards take as many runs at once as a vector holds,
** turned by one shuffle.
*/
#include "device/cpu/short_runs.h"

#include <assert.h>
#include <string.h>

#include "base/os/os.h"

#define PIECE 2048 /* runs */
#define LINE 64    /* of the cache, bytes */
/* Of the first-level cache: bytes after which places repeat, and how many lines one place keeps, at least. */
#define WAY 4096
#define WAYS 8
#define FEW_ALONG 16
#define VECTOR 16
#define FEW 16 /* runs of a line for which none of this pays */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* A piece of a line: `count` runs. */
typedef struct piece {
  const tt_short_runs *all;
  const char *from;
  char *to;
  int64_t from_step, bytes, count;
} piece;

/* Two moves that meet or overlap. */
static void copy_exactly(const piece *p, int64_t lo, int64_t hi) {
  const int64_t n = p->bytes, half = n >= 16 ? 16 : n >= 8 ? 8 : n >= 4 ? 4 : 2;
  for (int64_t i = lo; i < hi; i++) {
    const char *from = p->from + i * p->from_step;
    char *to = p->to + i * n;
    for (int part = 0; part < 2; part++, from += n - half, to += n - half) {
      if (half == 16)
        memcpy(to, from, 16);
      else if (half == 8)
        memcpy(to, from, 8);
      else if (half == 4)
        memcpy(to, from, 4);
      else
        memcpy(to, from, 2);
    }
  }
}

#define COPY_WIDE(width)                                                                  \
  static void pieces_of_##width(const piece *p, int64_t lo, int64_t hi) {                 \
    const int64_t step = p->from_step, bytes = p->bytes;                                  \
    const char *from = p->from + lo * step;                                               \
    char *to = p->to + lo * bytes;                                                        \
    for (int64_t i = lo; i < hi; i++, from += step, to += bytes) memcpy(to, from, width); \
  }
COPY_WIDE(2)
COPY_WIDE(4)
COPY_WIDE(8)
COPY_WIDE(16)
COPY_WIDE(32)

static void copy_wide(const piece *p, int64_t lo, int64_t hi) {
  if (p->bytes <= 2)
    pieces_of_2(p, lo, hi);
  else if (p->bytes <= 4)
    pieces_of_4(p, lo, hi);
  else if (p->bytes <= 8)
    pieces_of_8(p, lo, hi);
  else if (p->bytes <= 16)
    pieces_of_16(p, lo, hi);
  else
    pieces_of_32(p, lo, hi);
}

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_SHUFFLE 1
typedef char bytes16 __attribute__((vector_size(VECTOR)));

/* `each` runs at once, the last one first. They end where run lo of the source does, and begin at run lo of the
** destination. */
__attribute__((target("ssse3"))) static void turn_shuffled(const piece *p, int64_t lo, int64_t hi) {
  const int64_t each = p->all->each;
  bytes16 order;
  memcpy(&order, p->all->order, VECTOR);
  const char *from = p->from + (each - 1 + lo) * p->from_step;
  char *to = p->to + lo * p->bytes;
  const int64_t size = each * p->bytes;
  for (int64_t i = lo; i < hi; i += each, from -= size, to += size) {
    bytes16 v;
    memcpy(&v, from, VECTOR);
    v = __builtin_ia32_pshufb128(v, order);
    memcpy(to, &v, VECTOR);
  }
}
#else
#define HAS_SHUFFLE 0
static void turn_shuffled(const piece *p, int64_t lo, int64_t hi) { copy_wide(p, lo, hi); }
#endif

/* The bytes that one load takes. */
static int64_t width_of(int64_t bytes) {
  int64_t width = 2;
  while (width < bytes) width *= 2;
  return width;
}

/* Backwards and without gaps: runs of a vector lie together in the source, too. */
static void set_turned(tt_short_runs *m) {
  m->each = 1;
  if (!HAS_SHUFFLE || m->from_step != -m->bytes || m->bytes > VECTOR / 2 || tt__cpu_level() < 3) return;
  m->each = VECTOR / m->bytes;
  for (int64_t run = 0; run < m->each; run++)
    for (int64_t i = 0; i < m->bytes; i++) m->order[run * m->bytes + i] = (char)((m->each - 1 - run) * m->bytes + i);
}

static void copy_piece(const piece *p) {
  const int64_t each = p->all->each, width = each > 1 ? VECTOR : width_of(p->bytes);
  const int64_t size = p->from_step < 0 ? -p->from_step : p->from_step;
  const int64_t over = width - each * p->bytes;                     /* what a load or a store takes too much */
  int64_t lo = 0, hi = p->count - (over + p->bytes - 1) / p->bytes; /* stores of runs before hi stay inside */
  if (over > 0 && size == 0) return copy_exactly(p, 0, p->count);
  const int64_t end = over > 0 ? (over + size - 1) / size : 0; /* loads of so many runs may leave the source */
  if (p->from_step < 0)
    lo = least(end, p->count);
  else
    hi = least(hi, p->count - end);
  if (hi < lo) hi = lo;
  hi -= (hi - lo) % each;
  copy_exactly(p, 0, lo);
  if (each > 1)
    turn_shuffled(p, lo, hi);
  else
    copy_wide(p, lo, hi);
  copy_exactly(p, hi, p->count);
}

int64_t tt__short_runs_points(const tt_short_runs *m) {
  return least(m->count, m->most_runs) * least(m->down, m->most_lines) * m->points;
}

void tt__short_runs_run(const tt_short_runs *m, int64_t lo, int64_t hi) {
  assert(0 <= lo && lo <= hi && hi <= m->pieces);
  for (int64_t i = lo; i < hi; i++) {
    int64_t first = i % m->nalong * m->most_runs, other = i / m->nalong, line = other % m->ndown * m->most_lines;
    int64_t lines = least(m->most_lines, m->down - line);
    piece p = {.all = m,
               .from = m->from + first * m->from_step + line * m->from_down,
               .to = m->to + first * m->bytes + line * m->to_down,
               .from_step = m->from_step,
               .bytes = m->bytes,
               .count = least(m->most_runs, m->count - first)};
    other /= m->ndown;
    for (int a = m->nother - 1; a >= 0; a--) {
      p.from += other % m->len[a] * m->from_other[a];
      p.to += other % m->len[a] * m->to_other[a];
      other /= m->len[a];
    }
    for (; lines > 0; lines--, p.from += m->from_down, p.to += m->to_down) copy_piece(&p);
  }
}

/* The axis along which the source is dense, if each run of a line lies in another line of the cache; or -1. */
static int near_axis(const tt_short_runs *m, const int64_t *from, int64_t size) {
  int64_t best = m->from_step < 0 ? -m->from_step : m->from_step;
  int near = -1;
  for (int i = 0; i < m->nother && best >= LINE; i++) {
    int64_t step = (from[i] < 0 ? -from[i] : from[i]) * size;
    if (step == 0 || step >= best) continue;
    best = step;
    near = i;
  }
  return near;
}

/*
** Where each run lies in another line of the cache, so many runs as the cache keeps while the lines beside them are
** walked: steps of a power of two share few places.
*/
static void cut_across(tt_short_runs *m) {
  int64_t power = m->from_step & -m->from_step;
  if (power > WAY) power = WAY;
  m->most_runs = WAY / power * WAYS > FEW_ALONG ? WAY / power * WAYS : FEW_ALONG;
  m->most_lines = PIECE / least(m->most_runs, PIECE);
}

/* The axes around the two inner ones. */
static void set_others(tt_short_runs *m, const int64_t *len, const int64_t *from, const int64_t *to, int64_t size) {
  const int near = near_axis(m, from, size), n = m->nother;
  m->pieces = 1;
  m->nother = 0;
  for (int i = 0; i < n; i++) {
    if (i == near) continue;
    m->len[m->nother] = len[i];
    m->from_other[m->nother] = from[i] * size;
    m->to_other[m->nother++] = to[i] * size;
    m->pieces *= len[i];
  }
  if (near >= 0) {
    m->down = len[near];
    m->from_down = from[near] * size;
    m->to_down = to[near] * size;
    cut_across(m);
  }
  m->nalong = (m->count + m->most_runs - 1) / m->most_runs;
  m->ndown = (m->down + m->most_lines - 1) / m->most_lines;
  m->pieces *= m->nalong * m->ndown;
}

bool tt__short_runs_of(const tt_kernel *k, const tt_kargs *args, tt_short_runs *out) {
  const int n = k->naxes, load = k->inst[0].slot, store = k->inst[1].slot;
  if (n < 2 || n > TT_RUNS_AXES) return false;
  const int64_t *from = args->step + (size_t)load * n, *to = args->step + (size_t)store * n;
  const int64_t size = (int64_t)tt__dtype_size((tt_dtype)k->access[load].dtype), len = args->len[n - 1];
  if (from[n - 1] != 1 || to[n - 1] != 1 || len * size < 2 || len * size > TT_RUN_BYTES) return false;
  if (to[n - 2] != len || args->len[n - 2] < FEW) return false;
  *out = (tt_short_runs){.points = len,
                         .bytes = len * size,
                         .count = args->len[n - 2],
                         .from_step = from[n - 2] * size,
                         .from = (const char *)args->buf[k->access[load].buf] + args->off[load] * size,
                         .to = (char *)args->buf[k->access[store].buf] + args->off[store] * size,
                         .nother = n - 2,
                         .down = 1,
                         .most_runs = PIECE,
                         .most_lines = 1};
  set_turned(out);
  set_others(out, args->len, from, to, size);
  return true;
}
