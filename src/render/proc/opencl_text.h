/*
** What programs for OpenCL devices call besides the text of all programs, below which it stands: fences, meetings of a
** block, atomics. OpenCL C 1.2 has no functions of one name for several types, and pointers say which memory they point
** into: the name of an atomic has both.
*/
#ifndef TT_RENDER_PROC_OPENCL_TEXT_H
#define TT_RENDER_PROC_OPENCL_TEXT_H

#define TT_FENCE() mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

/* ---- how many threads of the block gave true; the next meeting begins where all have read that. Without branches:
 * PoCL 3.1 has all threads take one between two barriers of a loop. */
static tt_i64 tt__meet(tt_b8 p, volatile __local tt_i32 *count) {
  TT_BARRIER();
  *count = 0;
  TT_BARRIER();
  atomic_add(count, p != 0);
  TT_BARRIER();
  return *count;
}
static tt_i64 tt_sync_count(tt_b8 p, __local tt_i32 *count) { return tt__meet(p, count); }
static tt_b8 tt_sync_or(tt_b8 p, __local tt_i32 *count) { return tt__meet(p, count) != 0; }
static tt_b8 tt_sync_and(tt_b8 p, __local tt_i32 *count) {
  return tt__meet(p, count) == (tt_i64)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

/* ---- atomics: each gives the old value. Everything is made of an exchange of words where they are the same. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define TT__KEPT(x) (x)
#define TT__SWAP(M, S, T, U, SWAP, TO, FROM) \
  TT_FN T tt_##M##_cas_##S(__##M T *p, T old, T v) { return FROM(SWAP((volatile __##M U *)p, TO(old), TO(v))); }
#define TT__LOOP(NAME, M, S, T, TO, NEW)           \
  TT_FN T tt_##M##_##NAME##_##S(__##M T *p, T v) { \
    T old = *p, seen;                              \
    for (;;) {                                     \
      seen = tt_##M##_cas_##S(p, old, (NEW));      \
      if (TO(seen) == TO(old)) return old;         \
      old = seen;                                  \
    }                                              \
  }
#define TT__ATOMIC(M, S, T, TO)                              \
  TT__LOOP(add, M, S, T, TO, old + v)                        \
  TT__LOOP(sub, M, S, T, TO, old - v)                        \
  TT__LOOP(max, M, S, T, TO, v > old ? v : old)              \
  TT__LOOP(min, M, S, T, TO, v < old ? v : old)              \
  TT__LOOP(nanmax, M, S, T, TO, v != v || old > v ? old : v) \
  TT__LOOP(nanmin, M, S, T, TO, v != v || old < v ? old : v) \
  TT__LOOP(exch, M, S, T, TO, v)
#define TT__ATOMIC_BITS(M, S, T)                           \
  TT__LOOP(and, M, S, T, TT__KEPT, old &v)                 \
  TT__LOOP(or, M, S, T, TT__KEPT, old | v)                 \
  TT__LOOP(xor, M, S, T, TT__KEPT, old ^ v)                \
  TT__LOOP(inc, M, S, T, TT__KEPT, old >= v ? 0 : old + 1) \
  TT__LOOP(dec, M, S, T, TT__KEPT, old == 0 || old > v ? v : old - 1)
/* What is an instruction as it is. */
#define TT__ATOMIC_WHOLE(M, S, T, PRE)                                                        \
  TT_FN T tt_##M##_add_##S(__##M T *p, T v) { return PRE##_add((volatile __##M T *)p, v); }   \
  TT_FN T tt_##M##_sub_##S(__##M T *p, T v) { return PRE##_sub((volatile __##M T *)p, v); }   \
  TT_FN T tt_##M##_exch_##S(__##M T *p, T v) { return PRE##_xchg((volatile __##M T *)p, v); } \
  TT__LOOP(max, M, S, T, TT__KEPT, v > old ? v : old)                                         \
  TT__LOOP(min, M, S, T, TT__KEPT, v < old ? v : old)                                         \
  TT__LOOP(nanmax, M, S, T, TT__KEPT, v > old ? v : old)                                      \
  TT__LOOP(nanmin, M, S, T, TT__KEPT, v < old ? v : old)                                      \
  TT__ATOMIC_BITS(M, S, T)
#define TT__ATOMICS(M)                                                 \
  TT__SWAP(M, i32, tt_i32, tt_i32, atomic_cmpxchg, TT__KEPT, TT__KEPT) \
  TT__SWAP(M, u32, tt_u32, tt_u32, atomic_cmpxchg, TT__KEPT, TT__KEPT) \
  TT__SWAP(M, i64, tt_i64, tt_i64, atom_cmpxchg, TT__KEPT, TT__KEPT)   \
  TT__SWAP(M, u64, tt_u64, tt_u64, atom_cmpxchg, TT__KEPT, TT__KEPT)   \
  TT__SWAP(M, f32, tt_f32, tt_u32, atomic_cmpxchg, as_uint, as_float)  \
  TT__SWAP(M, f64, tt_f64, tt_u64, atom_cmpxchg, as_ulong, as_double)  \
  TT__ATOMIC_WHOLE(M, i32, tt_i32, atomic)                             \
  TT__ATOMIC_WHOLE(M, u32, tt_u32, atomic)                             \
  TT__ATOMIC_WHOLE(M, i64, tt_i64, atom)                               \
  TT__ATOMIC_WHOLE(M, u64, tt_u64, atom)                               \
  TT__ATOMIC(M, f32, tt_f32, as_uint)                                  \
  TT__ATOMIC(M, f64, tt_f64, as_ulong)
TT__ATOMICS(global)
TT__ATOMICS(local)

/* Of a thread's own array, which nobody else can reach. */
#define TT__OWN(NAME, S, T, NEW)                         \
  TT_FN T tt_private_##NAME##_##S(__private T *p, T v) { \
    T old = *p;                                          \
    *p = (NEW);                                          \
    return old;                                          \
  }
#define TT__OWN_ANY(S, T)                                   \
  TT__OWN(add, S, T, old + v)                               \
  TT__OWN(sub, S, T, old - v)                               \
  TT__OWN(max, S, T, v > old ? v : old)                     \
  TT__OWN(min, S, T, v < old ? v : old)                     \
  TT__OWN(nanmax, S, T, v != v || old > v ? old : v)        \
  TT__OWN(nanmin, S, T, v != v || old < v ? old : v)        \
  TT__OWN(exch, S, T, v)                                    \
  TT_FN T tt_private_cas_##S(__private T *p, T want, T v) { \
    T old = *p;                                             \
    if (old == want) *p = v;                                \
    return old;                                             \
  }
#define TT__OWN_BITS(S, T)                   \
  TT__OWN_ANY(S, T)                          \
  TT__OWN(and, S, T, old &v)                 \
  TT__OWN(or, S, T, old | v)                 \
  TT__OWN(xor, S, T, old ^ v)                \
  TT__OWN(inc, S, T, old >= v ? 0 : old + 1) \
  TT__OWN(dec, S, T, old == 0 || old > v ? v : old - 1)
TT__OWN_BITS(i32, tt_i32)
TT__OWN_BITS(u32, tt_u32)
TT__OWN_BITS(i64, tt_i64)
TT__OWN_BITS(u64, tt_u64)
TT__OWN_ANY(f32, tt_f32)
TT__OWN_ANY(f64, tt_f64)

#endif
