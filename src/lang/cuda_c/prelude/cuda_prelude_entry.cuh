/*
** How a __global__ function becomes an entry that the core can call: its parameter types come from the compiler
** itself. Behind the other parts of the prelude, before the user's text.
*/
#if defined(TT_HALF) && !defined(TT_OPENCL)
TT_KIND(__half, TT_D_F16)
TT_KIND(__nv_bfloat16, TT_D_BF16)
#endif
#ifndef TT_OPENCL
TT_KIND(complex<float>, TT_D_C64)
TT_KIND(complex<double>, TT_D_C128)
#endif

template <class T>
struct tt_bare {
  typedef T type;
};
template <class T>
struct tt_bare<T &> {
  typedef T type;
};
template <class T>
struct tt_bare<const T> {
  typedef T type;
};

#ifdef TT_CHECK
static bool tt_watching; /* a kernel's own code runs */
#define TT_UNWATCHED __attribute__((no_sanitize("thread")))
#define TT_UNWATCHED_ENTRY TT_UNWATCHED
#define TT_WATCHED __attribute__((noinline))
#else
#define TT_UNWATCHED_ENTRY
#define TT_UNWATCHED inline __attribute__((always_inline))
#define TT_WATCHED inline __attribute__((always_inline))
#endif

TT_UNWATCHED static void tt_enter(const tt_cudac_grid *g, long block) {
  blockDim.x = g->block[0], blockDim.y = g->block[1], blockDim.z = g->block[2];
  gridDim.x = g->grid[0], gridDim.y = g->grid[1], gridDim.z = g->grid[2];
  blockIdx.x = (unsigned)(block % g->grid[0]);
  blockIdx.y = (unsigned)(block / g->grid[0] % g->grid[1]);
  blockIdx.z = (unsigned)(block / g->grid[0] / g->grid[1]);
#ifdef TT_OPENCL
  tt_work_dim = g->dims;
  tt_offset = {g->offset[0], g->offset[1], g->offset[2]};
#endif
}

#if defined(__clang__)
#define TT_THREADS_ARE_FREE _Pragma("clang loop vectorize(assume_safety)")
#else
#define TT_THREADS_ARE_FREE _Pragma("GCC ivdep")
#endif

template <auto F, class S>
struct tt_run;
template <auto F, class... A>
struct tt_run<F, void (*)(A...)> {
  static constexpr int n = (int)sizeof...(A);
  static constexpr tt_cudac_param param[n + 1] = {{tt_param<A>::kind, (int)sizeof(A), (int)alignof(A)}..., {0, 0, 0}};

  /*
  ** One block whose threads wait for nobody. The count along x is the global index itself: so the compiler sees that
  ** a guard against the end splits the loop, and that memory is walked step by step.
  */
  template <class... B>
  TT_INLINE void one(int x, int start, unsigned y, unsigned z, B... a) {
    threadIdx.x = (unsigned)(x - start);
    threadIdx.y = y;
    threadIdx.z = z;
    tt_global_x = x;
    F(a...);
  }
  template <class... B>
  TT_INLINE void block(B... a) {
    unsigned nx = blockDim.x, ny = blockDim.y, nz = blockDim.z;
    int start = tt_first_x(), end = start + (int)nx;
    for (unsigned z = 0; z < nz; z++)
      for (unsigned y = 0; y < ny; y++) {
        if (start > 0) {
          TT_THREADS_ARE_FREE
          for (int x = start; x < end; x++) one(x, start, y, z, a...);
        } else { /* the first alone, so that the others are known to be above zero: a border costs no test */
          if (end > 0) one(0, 0, y, z, a...);
          TT_THREADS_ARE_FREE
          for (int x = 1; x < end; x++) one(x, 0, y, z, a...);
        }
      }
  }
  /*
  ** The same with the form of the kernel that is told its place. STRIP: blocks side by side are one loop. TELL: other
  ** functions look at the place, too.
  */
  template <auto S, bool TELL, class... B>
  TT_INLINE void tell(int x, int start, tt_uint3 t, tt_uint3 b, tt_uint3 nb, tt_uint3 ng, B... a) {
    t.x = (unsigned)(x - start);
    if constexpr (TELL) threadIdx = t, tt_global_x = x;
    S(t, x, b, nb, ng, a...);
  }
  template <auto S, bool STRIP, bool TELL, class... B>
  TT_INLINE void free_all(const tt_cudac_grid *g, long lo, long hi, B... a) {
    tt_dynamic_shared = g->dynamic_shared;
    for (long b = lo, next; b < hi; b = next) {
      tt_enter(g, b);
      const tt_uint3 at = blockIdx, nb = blockDim, ng = gridDim;
      next = b + 1;
      if (STRIP && tt_strips) next = b + (ng.x - at.x) < hi ? b + (ng.x - at.x) : hi;
      int start = tt_first_x(), end = start + (int)(next - b) * (int)nb.x;
      for (unsigned z = 0; z < nb.z; z++)
        for (unsigned y = 0; y < nb.y; y++) {
          const tt_uint3 t = {0, y, z};
          if (start > 0) {
            TT_THREADS_ARE_FREE
            for (int x = start; x < end; x++) tell<S, TELL>(x, start, t, at, nb, ng, a...);
          } else {
            if (end > 0) tell<S, TELL>(0, 0, t, at, nb, ng, a...);
            TT_THREADS_ARE_FREE
            for (int x = 1; x < end; x++) tell<S, TELL>(x, 0, t, at, nb, ng, a...);
          }
        }
    }
  }
  template <auto S, bool STRIP, bool TELL, int... I>
  TT_INLINE void free_of(tt_numbers<I...>, const tt_cudac_grid *g, void *const *arg, long lo, long hi) {
    free_all<S, STRIP, TELL>(g, lo, hi, *(typename tt_bare<A>::type *)arg[I]...);
  }
  template <auto S, bool STRIP, bool TELL>
  static void free_blocks(const tt_cudac_grid *g, void *const *arg, long lo, long hi) {
    free_of<S, STRIP, TELL>(typename tt_count<n>::type(), g, arg, lo, hi);
  }
  /* Blocks of a kernel whose barriers split it: S runs one of them. */
  template <auto S, int... I>
  TT_INLINE void split_of(tt_numbers<I...>, const tt_cudac_grid *g, void *const *arg, long lo, long hi) {
    tt_dynamic_shared = g->dynamic_shared;
    for (long b = lo; b < hi; b++) {
      tt_enter(g, b);
      S(*(typename tt_bare<A>::type *)arg[I]...);
    }
  }
  template <auto S>
  static void split(const tt_cudac_grid *g, void *const *arg, long lo, long hi) {
    split_of<S>(typename tt_count<n>::type(), g, arg, lo, hi);
  }
  template <int... I, class... B>
  TT_INLINE void all(const tt_cudac_grid *g, long lo, long hi, B... a) {
    tt_dynamic_shared = g->dynamic_shared;
    for (long b = lo; b < hi; b++) {
      tt_enter(g, b);
      block(a...);
    }
  }
  template <int... I>
  TT_INLINE void all_of(tt_numbers<I...>, const tt_cudac_grid *g, void *const *arg, long lo, long hi) {
    all(g, lo, hi, *(typename tt_bare<A>::type *)arg[I]...);
  }
  static void blocks(const tt_cudac_grid *g, void *const *arg, long lo, long hi) {
    all_of(typename tt_count<n>::type(), g, arg, lo, hi);
  }
  /* (checked) The core's memory is read by nobody who is watched; a kernel's code is watched. */
  template <class... B>
  static TT_WATCHED void watched(B... a) {
#ifdef TT_CHECK
    tt_watching = true;
#endif
    F(a...);
  }
  template <int... I>
  TT_UNWATCHED static void one_of(tt_numbers<I...>, void *const *arg) {
    watched(*(typename tt_bare<A>::type *)arg[I]...);
  }
  TT_UNWATCHED_ENTRY static void thread(const tt_cudac_grid *g, void *const *arg, long b, unsigned t) {
#ifdef TT_CHECK
    tt_watching = false;
#endif
    tt_dynamic_shared = g->dynamic_shared;
    tt_enter(g, b);
    threadIdx.x = t % g->block[0];
    threadIdx.y = t / g->block[0] % g->block[1];
    threadIdx.z = t / g->block[0] / g->block[1];
    tt_global_x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    one_of(typename tt_count<n>::type(), arg);
  }
};

/* One row of the program's table. W: its threads may wait for each other. */
template <auto F, bool W>
static constexpr tt_cudac_entry tt_entry(const char *name, int most) {
  typedef tt_run<F, decltype(F)> run;
#ifdef TT_CHECK
  return {name, run::n, W ? 1 : 3, most, run::param, nullptr, run::thread};
#endif
  if constexpr (W)
    return {name, run::n, 1, most, run::param, nullptr, run::thread};
  else
    return {name, run::n, 0, most, run::param, run::blocks, nullptr};
}
static constexpr tt_cudac_entry tt_together(tt_cudac_entry e) {
  e.sync |= TT_CUDAC_TOGETHER;
  return e;
}
static constexpr tt_cudac_entry tt_asked(tt_cudac_entry e, unsigned x, unsigned y, unsigned z) {
  e.asked[0] = x, e.asked[1] = y, e.asked[2] = z;
  return e;
}
template <auto F, auto S>
static constexpr tt_cudac_entry tt_entry_split(const char *name, int most, int sync) {
  typedef tt_run<F, decltype(F)> run;
  return {name, run::n, sync, most, run::param, run::template split<S>, nullptr};
}
template <auto F, auto S, bool STRIP, bool TELL>
static constexpr tt_cudac_entry tt_entry_thread(const char *name, int most) {
  typedef tt_run<F, decltype(F)> run;
  return {name, run::n, 0, most, run::param, run::template free_blocks<S, STRIP, TELL>, nullptr};
}
