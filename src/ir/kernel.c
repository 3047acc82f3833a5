/*
** The kernel's birth, key, checker and end. Knows the contract of ir/kernel.h and
** nothing of who writes kernels or runs them.
*/
#include "ir/kernel.h"

#include <assert.h>

#include "base/mem.h"

/* More than any lowering needs; bounds what the checker keeps on its stack. */
enum { MAX_RED = 256, MAX_SCRATCH = 256 };

tt_kernel *tt__kernel_new(void) { return tt__mem_zalloc(sizeof(tt_kernel)); }

void tt__kernel_free(tt_kernel *k) {
  if (!k) return;
  tt__arena_free(&k->arena);
  tt__mem_free(k, sizeof *k);
}

tt_dtype tt__kernel_result(tt_op op, tt_dtype from) {
  assert((unsigned)op < TT_OP_COUNT && (unsigned)from < TT_DTYPE_COUNT);
  switch (tt__ops[op].cls) {
    case TT_CLASS_COMPARE:
    case TT_CLASS_LOGIC:
    case TT_CLASS_TEST:
      return TT_BOOL;
    default:
      return from;
  }
}

/* ---- the key */

static void digest_more(tt_digest *d, const void *data, size_t size) {
  tt_digest pair[2] = {*d, tt__digest(data, size)};
  *d = tt__digest(pair, sizeof pair);
}

/* How many operands an instruction of this code reads. */
static int operands(const tt_kinst *in) {
  if (in->op < TT_OP_COUNT) return tt__ops[in->op].arity;
  switch (in->op) {
    case TT_K_CONST:
    case TT_K_LOAD:
    case TT_K_INDEX:
      return 0;
    case TT_K_STOREX:
      return 2;
    default:
      return 1;
  }
}

/* Two kernels that differ only in fields nobody reads must have one key. */
static void canonical(tt_kinst *in) {
  for (int s = operands(in); s < 3; s++) in->src[s] = -1;
  bool elementwise = in->op < TT_OP_COUNT;
  if (!elementwise && in->op != TT_K_ROUND && in->op != TT_K_REDUCE) in->from = 0;
  if (in->op != TT_K_REDUCE) in->red = 0;
  if (elementwise || in->op == TT_K_ROUND) in->slot = -1;
  if (in->scope == TT_SCOPE_CONST) in->phase = 0;
}

void tt__kernel_seal(tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++) canonical(&k->inst[i]);
  int16_t head[12] = {k->mode, k->nouter,  k->naxes, k->nphase,   k->ninst,  k->naccess,
                      k->nbuf, k->nscalar, k->nred,  k->nscratch, k->serial, k->checked};
  k->key = tt__digest(head, sizeof head);
  digest_more(&k->key, k->inst, (size_t)k->ninst * sizeof *k->inst);
  for (int a = 0; a < k->naccess; a++) {
    const tt_kaccess *x = &k->access[a]; /* packed by hand: the struct has padding */
    int16_t words[6] = {x->buf, x->dtype, x->lane, x->write, x->by, x->next};
    digest_more(&k->key, words, sizeof words);
  }
  digest_more(&k->key, k->scalar_type, (size_t)k->nscalar);
  digest_more(&k->key, k->scratch_type, (size_t)k->nscratch);
}

/* ---- the checker */

static bool is_register(int t) { return t >= 0 && t < TT_DTYPE_COUNT && (t < TT_F16 || t == TT_F32 || t == TT_F64); }

static int type_bit(int t) { return t == TT_BOOL ? TT_OPT_B : tt__is_int((tt_dtype)t) ? TT_OPT_I : TT_OPT_F; }

static tt_code check_space(const tt_kernel *k, tt_error *err) {
  if (k->mode > TT_MODE_COL) return tt__fail(err, TT_EVALUE, "kernel: unknown mode %d", k->mode);
  if (k->naxes > TT_MAX_RANK || k->nouter > k->naxes)
    return tt__fail(err, TT_EVALUE, "kernel: %d outer of %d axes", k->nouter, k->naxes);
  if (k->ninst < 0 || k->naccess < 0 || k->nbuf < 0 || k->nscalar < 0 || k->nred < 0 || k->nscratch < 0)
    return tt__fail(err, TT_EVALUE, "kernel: a negative count");
  if (k->nred > MAX_RED || k->nscratch > MAX_SCRATCH)
    return tt__fail(err, TT_EVALUE, "kernel: %d reductions, %d scratches: too many", k->nred, k->nscratch);
  if (k->nphase < 1 || k->nphase == UINT8_MAX) return tt__fail(err, TT_EVALUE, "kernel: %d phases", k->nphase);
  if (k->mode == TT_MODE_MAP) {
    if (k->nouter != k->naxes || k->nphase != 1 || k->nred != 0)
      return tt__fail(err, TT_EVALUE, "kernel: a map has outer axes only, one phase and no reduction");
  } else if (k->nouter == k->naxes || k->nred == 0) {
    return tt__fail(err, TT_EVALUE, "kernel: no row axis or no reduction");
  }
  if (k->mode == TT_MODE_COL && k->nouter == 0) return tt__fail(err, TT_EVALUE, "kernel: no lane axis");
  if (k->nscratch && k->mode != TT_MODE_ROW) return tt__fail(err, TT_EVALUE, "kernel: scratch outside row mode");
  return TT_OK;
}

/* Are the step that an access knows and its place after the one before it what there can be? */
static bool is_step(const tt_kernel *k, int a) {
  const tt_kaccess *x = &k->access[a], *last = a ? x - 1 : NULL;
  if (x->by != 0 && (!tt__lane_knows(x->by) || x->lane != TT_LANE_ANY)) return false;
  if (!x->next) return true;
  return last && x->by > 1 && x->buf >= 0 && last->by == x->by && last->buf == x->buf && last->dtype == x->dtype &&
         last->write == x->write;
}

static tt_code check_tables(const tt_kernel *k, tt_error *err) {
  for (int s = 0; s < k->nscalar; s++)
    if (!is_register(k->scalar_type[s])) return tt__fail(err, TT_EVALUE, "scalar %d: not a register type", s);
  for (int s = 0; s < k->nscratch; s++)
    if (!is_register(k->scratch_type[s])) return tt__fail(err, TT_EVALUE, "scratch %d: not a register type", s);
  for (int a = 0; a < k->naccess; a++) {
    const tt_kaccess *x = &k->access[a];
    if (x->lane > TT_LANE_ANY) return tt__fail(err, TT_EVALUE, "access %d: unknown lane step %d", a, x->lane);
    if (!is_step(k, a)) return tt__fail(err, TT_EVALUE, "access %d: no such step as %d", a, x->by);
    if (x->buf == -1) {
      if (x->dtype != TT_I64 || x->write) return tt__fail(err, TT_EVALUE, "access %d: an index is a read of int64", a);
      continue;
    }
    if (x->dtype >= TT_DTYPE_COUNT || tt__is_complex((tt_dtype)x->dtype))
      return tt__fail(err, TT_EVALUE, "access %d: no real element type", a);
    if (x->buf >= k->nbuf) return tt__fail(err, TT_EVALUE, "access %d: no buffer %d", a, x->buf);
    if (x->buf >= 0) continue;
    int scratch = -2 - x->buf;
    if (scratch >= k->nscratch) return tt__fail(err, TT_EVALUE, "access %d: no scratch %d", a, scratch);
    if (x->dtype != k->scratch_type[scratch])
      return tt__fail(err, TT_EVALUE, "access %d: scratch %d has another type", a, scratch);
  }
  return TT_OK;
}

/* Is the value of `def` there when `use` runs? */
static bool in_scope(const tt_kinst *def, const tt_kinst *use) {
  if (def->op == TT_K_REDUCE) return use->scope != TT_SCOPE_CONST && use->phase > def->phase;
  switch (def->scope) {
    case TT_SCOPE_CONST:
      return true;
    case TT_SCOPE_OUTER:
      return use->scope != TT_SCOPE_CONST && use->phase >= def->phase;
    default:
      return use->scope == TT_SCOPE_ROW && use->phase == def->phase;
  }
}

/* Operand `s` of instruction `i` exists, is a value in scope and has type `type`. */
static tt_code check_operand(const tt_kernel *k, int i, int s, int type, tt_error *err) {
  const tt_kinst *in = &k->inst[i];
  int from = in->src[s];
  if (from < 0 || from >= i) return tt__fail(err, TT_EVALUE, "instruction %d: operand %d is %d", i, s, from);
  const tt_kinst *def = &k->inst[from];
  if (def->op == TT_K_STORE || def->op == TT_K_STOREX)
    return tt__fail(err, TT_EVALUE, "instruction %d: operand %d is a store", i, s);
  if (!in_scope(def, in)) return tt__fail(err, TT_EVALUE, "instruction %d: operand %d is out of scope", i, s);
  if (def->dtype != type)
    return tt__fail(err, TT_EVALUE, "instruction %d: operand %d is %s, not %s", i, s, tt__dtypes[def->dtype].suffix,
                    tt__dtypes[type].suffix);
  return TT_OK;
}

static tt_code check_scope(const tt_kernel *k, int i, tt_error *err) {
  const tt_kinst *in = &k->inst[i];
  if ((in->scope == TT_SCOPE_CONST) != (in->op == TT_K_CONST))
    return tt__fail(err, TT_EVALUE, "instruction %d: only constants have const scope", i);
  if (in->scope == TT_SCOPE_CONST) return TT_OK;
  if (in->scope == TT_SCOPE_ROW && in->phase < k->nphase) return TT_OK;
  if (in->scope == TT_SCOPE_OUTER && in->phase <= k->nphase && k->mode != TT_MODE_MAP) return TT_OK;
  return tt__fail(err, TT_EVALUE, "instruction %d: no scope %d of phase %d here", i, in->scope, in->phase);
}

static tt_code check_elementwise(const tt_kernel *k, int i, tt_error *err) {
  const tt_kinst *in = &k->inst[i];
  const tt_op_info *op = &tt__ops[in->op];
  if (!is_register(in->from) || !is_register(in->dtype))
    return tt__fail(err, TT_EVALUE, "instruction %d: not a register type", i);
  bool fits = (op->types & type_bit(in->from)) != 0;
  if (in->op == TT_PHILOX) fits = in->from == TT_U64;
  if (!fits) return tt__fail(err, TT_EVALUE, "instruction %d: no %s for %s", i, op->lower, tt__dtypes[in->from].suffix);
  if (in->op != TT_CAST && in->dtype != tt__kernel_result((tt_op)in->op, (tt_dtype)in->from))
    return tt__fail(err, TT_EVALUE, "instruction %d: %s does not give %s", i, op->lower, tt__dtypes[in->dtype].suffix);
  for (int s = 0; s < op->arity; s++)
    TT_TRY(check_operand(k, i, s, tt__op_operand((tt_op)in->op, (tt_dtype)in->from, s), err));
  return TT_OK;
}

/* The access of a load or store: there, of the right direction and type, scratch only in rows. */
static tt_code check_access(const tt_kernel *k, int i, bool write, tt_error *err) {
  const tt_kinst *in = &k->inst[i];
  if (in->slot < 0 || in->slot >= k->naccess)
    return tt__fail(err, TT_EVALUE, "instruction %d: no access %d", i, in->slot);
  const tt_kaccess *x = &k->access[in->slot];
  if ((x->buf == -1) != (in->op == TT_K_INDEX))
    return tt__fail(err, TT_EVALUE, "instruction %d: access %d is of the wrong kind", i, in->slot);
  if (x->write != write) return tt__fail(err, TT_EVALUE, "instruction %d: access %d goes the other way", i, in->slot);
  if (in->dtype != (uint8_t)tt__kernel_reg((tt_dtype)x->dtype))
    return tt__fail(err, TT_EVALUE, "instruction %d: access %d has another type", i, in->slot);
  if (x->buf <= -2 && (in->scope != TT_SCOPE_ROW || in->op == TT_K_LOADX || in->op == TT_K_STOREX))
    return tt__fail(err, TT_EVALUE, "instruction %d: scratch is for row loads and stores", i);
  return TT_OK;
}

static tt_code check_reduce(const tt_kernel *k, int i, uint8_t *seen, tt_error *err) {
  const tt_kinst *in = &k->inst[i];
  if (in->scope != TT_SCOPE_ROW || k->mode == TT_MODE_MAP)
    return tt__fail(err, TT_EVALUE, "instruction %d: a reduction belongs in a row", i);
  if (in->red >= TT_RED_COUNT || !is_register(in->from))
    return tt__fail(err, TT_EVALUE, "instruction %d: unknown reduction", i);
  bool arg = in->red == TT_RED_ARGMAX || in->red == TT_RED_ARGMIN;
  bool truth = in->red == TT_RED_ANY || in->red == TT_RED_ALL;
  if (truth && in->from != TT_BOOL) return tt__fail(err, TT_EVALUE, "instruction %d: any and all fold bool", i);
  if (in->dtype != (arg ? (uint8_t)TT_I64 : in->from))
    return tt__fail(err, TT_EVALUE, "instruction %d: wrong result type of a reduction", i);
  if (in->slot < 0 || in->slot >= k->nred || seen[in->slot]++)
    return tt__fail(err, TT_EVALUE, "instruction %d: reduction %d is out of range or taken", i, in->slot);
  return check_operand(k, i, 0, in->from, err);
}

/* stored[s]: 1 + the phase that stores scratch s, 0 while none has. */
static tt_code check_scratch(const tt_kernel *k, int i, uint8_t *stored, tt_error *err) {
  const tt_kinst *in = &k->inst[i];
  int buf = k->access[in->slot].buf;
  if (buf > -2) return TT_OK;
  if (in->op == TT_K_STORE) {
    if (stored[-2 - buf]) return tt__fail(err, TT_EVALUE, "instruction %d: a second store to one scratch", i);
    stored[-2 - buf] = (uint8_t)(in->phase + 1);
  } else if (!stored[-2 - buf] || in->phase < stored[-2 - buf]) {
    return tt__fail(err, TT_EVALUE, "instruction %d: the scratch is not written yet", i);
  }
  return TT_OK;
}

static tt_code check_inst(const tt_kernel *k, int i, uint8_t *seen, uint8_t *stored, tt_error *err) {
  const tt_kinst *in = &k->inst[i];
  if (!is_register(in->dtype)) return tt__fail(err, TT_EVALUE, "instruction %d: not a register type", i);
  TT_TRY(check_scope(k, i, err));
  if (in->op < TT_OP_COUNT) return check_elementwise(k, i, err);
  switch (in->op) {
    case TT_K_CONST:
      if (in->slot < 0 || in->slot >= k->nscalar || in->dtype != k->scalar_type[in->slot])
        return tt__fail(err, TT_EVALUE, "instruction %d: no scalar %d of that type", i, in->slot);
      return TT_OK;
    case TT_K_LOAD:
      TT_TRY(check_access(k, i, false, err));
      return check_scratch(k, i, stored, err);
    case TT_K_INDEX:
      return check_access(k, i, false, err);
    case TT_K_LOADX:
      TT_TRY(check_access(k, i, false, err));
      return check_operand(k, i, 0, TT_I64, err);
    case TT_K_STORE:
      TT_TRY(check_access(k, i, true, err));
      TT_TRY(check_operand(k, i, 0, in->dtype, err));
      return check_scratch(k, i, stored, err);
    case TT_K_STOREX:
      TT_TRY(check_access(k, i, true, err));
      TT_TRY(check_operand(k, i, 0, TT_I64, err));
      return check_operand(k, i, 1, in->dtype, err);
    case TT_K_REDUCE:
      return check_reduce(k, i, seen, err);
    case TT_K_ROUND:
      if (in->dtype != TT_F32 || (in->from != TT_F16 && in->from != TT_BF16))
        return tt__fail(err, TT_EVALUE, "instruction %d: only float32 is rounded, to a 16-bit float", i);
      return check_operand(k, i, 0, TT_F32, err);
    default:
      return tt__fail(err, TT_EVALUE, "instruction %d: unknown code %d", i, in->op);
  }
}

bool tt__kernel_ok(const tt_kernel *k, tt_error *err) {
  uint8_t seen[MAX_RED] = {0}, stored[MAX_SCRATCH] = {0};
  if (check_space(k, err) != TT_OK || check_tables(k, err) != TT_OK) return false;
  bool serial = false;
  for (int i = 0; i < k->ninst; i++) {
    if (check_inst(k, i, seen, stored, err) != TT_OK) return false;
    serial |= k->inst[i].op == TT_K_STOREX;
  }
  for (int r = 0; r < k->nred; r++)
    if (!seen[r]) return tt__fail(err, TT_EVALUE, "kernel: nothing folds reduction %d", r), false;
  if (serial != k->serial) return tt__fail(err, TT_EVALUE, "kernel: serial is not what its stores say"), false;
  return true;
}

uint32_t tt__kernel_types(const tt_kernel *k) {
  uint32_t types = 0;
  for (int i = 0; i < k->ninst; i++) types |= 1u << k->inst[i].dtype;
  for (int a = 0; a < k->naccess; a++) types |= 1u << k->access[a].dtype;
  return types;
}

bool tt__kernel_is_of_row(const tt_kernel *k, int i) {
  return k->inst[i].scope == TT_SCOPE_OUTER || k->inst[i].op == TT_K_REDUCE;
}

/* May instruction `i` of a row's body be done with a lane for each element of each row? */
static bool is_beside(const tt_kernel *k, int i) {
  const tt_kinst *q = &k->inst[i];
  if (q->op == TT_K_LOADX || q->op == TT_K_INDEX || q->op == TT_K_STOREX) return false;
  if (q->op == TT_K_REDUCE && (q->red == TT_RED_ARGMAX || q->red == TT_RED_ARGMIN)) return false;
  if (q->op < TT_OP_COUNT && tt__ops[q->op].flags & TT_OPF_SLOW) return false;
  if (q->op == TT_K_LOAD || q->op == TT_K_STORE) {
    const tt_kaccess *a = &k->access[q->slot];
    if (a->buf < 0 || a->lane != TT_LANE_ANY || a->next) return false;
  }
  return true;
}

/* Values of rows that bodies read: all are made before a body's loop, so only of what other loops give. */
static bool values_are_few(const tt_kernel *k) {
  int of_rows = 0;
  for (int i = 0; i < k->ninst; i++) of_rows += tt__kernel_is_of_row(k, i);
  return of_rows <= TT_BESIDE_VALUES;
}

bool tt__kernel_beside(const tt_kernel *k) {
  if (k->mode != TT_MODE_ROW || k->nouter != 1 || k->naxes != 2 || k->nred > TT_BESIDE_RED) return false;
  if (k->serial || k->checked || !values_are_few(k)) return false;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->scope == TT_SCOPE_ROW && !is_beside(k, i)) return false;
    if (q->scope != TT_SCOPE_ROW && q->op == TT_K_LOAD) return false;
    if (q->scope == TT_SCOPE_OUTER && q->phase < k->nphase && q->op == TT_K_STORE) return false;
  }
  return true;
}
