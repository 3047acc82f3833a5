/*
** Bits in bytes: packbits and unpackbits, as shifts of every eighth element.
*/
#include <string.h>

#include "fn/fn.h"

/* Which end of a byte comes first; a word that is none is recorded as a failure. */
static bool is_little(tt_composer *c, const tt_call_frame *f, int k) {
  const char *order = tt__arg_string(c, f, k, "big");
  bool little = order && strcmp(order, "little") == 0;
  if (c->code == TT_OK && !little && strcmp(order, "big") != 0)
    tt__compose_fail(c, TT_EVALUE, "'order' must be either 'little' or 'big'");
  return little;
}

/* The operand and its axis: without one, all elements on one. */
static tt_array *along(tt_composer *c, const tt_call_frame *f, tt_array *a, int *axis) {
  *axis = 0;
  if (!tt__arg_given(f, 1) || a->rank == 0) return tt__compose_ravel(c, a);
  *axis = tt__arg_axis(c, f, 1, a->rank, 0);
  return c->code == TT_OK ? a : NULL;
}

/* a with zeros behind, up to n along an axis. */
static tt_array *filled_up(tt_composer *c, tt_array *a, int axis, int64_t n) {
  int64_t len[TT_MAX_RANK];
  if (tt__array_len(a)[axis] >= n) return a;
  memcpy(len, tt__array_len(a), sizeof *len * (size_t)a->rank);
  len[axis] = n - len[axis];
  tt_array *part[2] = {a, tt__compose_full(c, (tt_dtype)a->dtype, a->rank, len, tt_v_int(0))};
  return part[1] ? tt__compose_concat(c, part, 2, axis) : NULL;
}

/* ---- at hand: rows of bytes to rows of bits and back, eight at a time in a word */

/* 8 bytes, each 0 or 1, the first in the lowest byte: the first's bit is the highest, or the lowest. */
static uint8_t packed(uint64_t w, bool little) {
  return (uint8_t)(w * (little ? UINT64_C(0x0102040810204080) : UINT64_C(0x8040201008040201)) >> 56);
}
static uint64_t word_of(const uint8_t *in) {
  uint64_t w;
  memcpy(&w, in, 8);
  return w;
}
/* Those of n bytes that are there, the first lowest (as every processor that we know has them). */
static uint64_t word_at(const uint8_t *in, int64_t n) {
  uint64_t w = 0;
  memcpy(&w, in, n < 8 ? (size_t)n : 8);
  return w;
}

static void pack_row(const uint8_t *in, int64_t n, bool little, uint8_t *out) {
  int64_t i = 0;
  if (little)
    for (; i + 8 <= n; i += 8) *out++ = packed(word_of(in + i), true);
  else
    for (; i + 8 <= n; i += 8) *out++ = packed(word_of(in + i), false);
  if (i < n) *out = packed(word_at(in + i, n - i), little);
}

/* The bits of a byte as 8 bytes: each keeps its own bit, and what is not 0 carries into the highest. */
static uint64_t unpacked(uint8_t byte, bool little) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  uint64_t own = little ? UINT64_C(0x8040201008040201) : UINT64_C(0x0102040810204080);
  return ((byte * ones & own) + 0x7f * ones) >> 7 & ones;
}

/* Bits behind the last byte are 0. */
static void unpack_row(const uint8_t *in, int64_t bytes, int64_t bits, bool little, uint8_t *out) {
  int64_t whole = bits / 8 < bytes ? bits / 8 : bytes;
  for (int64_t i = 0; i < whole; i++, out += 8) {
    uint64_t w = unpacked(in[i], little);
    memcpy(out, &w, 8);
  }
  uint64_t w = whole < bytes ? unpacked(in[whole], little) : 0;
  bits -= whole * 8;
  memset(out, 0, (size_t)bits);
  memcpy(out, &w, bits < 8 ? (size_t)bits : 8);
}

/* Along the last axis, of elements in memory of the host; the result has n on that axis. NULL: leave it to kernels. */
static tt_array *in_rows(tt_composer *c, tt_array *a, int axis, int64_t n, bool pack, bool little) {
  int64_t len[TT_MAX_RANK], from = tt__array_len(a)[axis];
  void *data;
  if (a->size == 0 || axis != a->rank - 1 || a->storage->node->op != TT_N_BUFFER || !tt__array_at_hand(a)) return NULL;
  memcpy(len, tt__array_len(a), sizeof *len * (size_t)a->rank);
  len[axis] = n;
  const uint8_t *in = tt__compose_peek(c, a);
  tt_array *out = in ? tt__compose_block(c, TT_U8, a->rank, len, &data) : NULL;
  for (int64_t r = 0; out && r < a->size / from; r++) {
    if (pack)
      pack_row(in + r * from, from, little, (uint8_t *)data + r * n);
    else
      unpack_row(in + r * from, from, n, little, (uint8_t *)data + r * n);
  }
  return out;
}

/* packbits(a, axis, bitorder) */
static tt_array *packbits(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *byte = NULL;
  bool little = is_little(c, f, 2);
  int axis;
  if (!a || c->code != TT_OK) return NULL;
  if (a->dtype != TT_BOOL && !tt__is_int((tt_dtype)a->dtype))
    return tt__compose_fail(c, TT_ETYPE, "Expected an input array of integer or boolean data type");
  a = along(c, f, a, &axis);
  a = a ? tt__compose_cast(c, a, TT_BOOL) : NULL;
  int64_t n = a ? (tt__array_len(a)[axis] + 7) / 8 : 0;
  tt_array *done = a ? in_rows(c, a, axis, n, true, little) : NULL;
  if (done || c->code != TT_OK) return done;
  a = tt__compose_cast(c, a, TT_U8);
  a = a ? filled_up(c, a, axis, n * 8) : NULL;
  for (int k = 0; k < 8 && a; k++) {
    tt_array *bit = tt__compose_opi(c, TT_SHL, tt__compose_slice(c, a, axis, n ? k : 0, n, 8), little ? k : 7 - k);
    byte = byte ? tt__compose_op2(c, TT_OR, byte, bit) : bit;
  }
  return byte;
}
TT_HANDLER_LAID(packbits, 'A')

/* unpackbits(a, axis, count, bitorder) */
static tt_array *unpackbits(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *part[8];
  bool little = is_little(c, f, 3);
  int64_t len[TT_MAX_RANK], count = tt__arg_int(c, f, 2, 0);
  int axis;
  if (!a || c->code != TT_OK) return NULL;
  if (a->dtype != TT_U8) return tt__compose_fail(c, TT_ETYPE, "Expected an input array of unsigned byte data type");
  if (!(a = along(c, f, a, &axis))) return NULL;
  if (a->rank == TT_MAX_RANK) return tt__compose_fail(c, TT_EVALUE, "too many axes");
  int64_t n = tt__array_len(a)[axis] * 8, wanted = n;
  if (tt__arg_given(f, 2)) wanted = count < 0 ? n + count : count;
  if (wanted < 0) return tt__compose_fail(c, TT_EVALUE, "-count larger than number of elements");
  tt_array *done = in_rows(c, a, axis, wanted, false, little);
  if (done || c->code != TT_OK) return done;
  for (int k = 0; k < 8; k++) {
    tt_array *bit = tt__compose_opi(c, TT_AND, tt__compose_opi(c, TT_SHR, a, little ? k : 7 - k), 1);
    if (!(part[k] = tt__compose_expand(c, bit, axis + 1))) return NULL;
  }
  tt_array *bits = tt__compose_concat(c, part, 8, axis + 1);
  memcpy(len, tt__array_len(a), sizeof *len * (size_t)a->rank);
  len[axis] = n;
  bits = bits ? tt__compose_reshape(c, bits, a->rank, len) : NULL;
  if (!bits || wanted == n) return bits;
  return wanted < n ? tt__compose_slice(c, bits, axis, 0, wanted, 1) : filled_up(c, bits, axis, wanted);
}
TT_HANDLER_LAID(unpackbits, 'A')
