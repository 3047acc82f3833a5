/*
** Cooperative groups, as far as the CPU and CUDA both have what they are made of: what a program gets for
** cooperative_groups.h and cooperative_groups/reduce.h, whatever toolkit there is. TT_GROUP stands before functions,
** tt_grid_barrier() is the barrier of the grid.
*/
namespace cooperative_groups {

TT_GROUP unsigned tt_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
TT_GROUP unsigned tt_size() { return blockDim.x * blockDim.y * blockDim.z; }

struct thread_block {
  static TT_GROUP void sync() { __syncthreads(); }
  static TT_GROUP unsigned thread_rank() { return tt_rank(); }
  static TT_GROUP unsigned size() { return tt_size(); }
  static TT_GROUP unsigned num_threads() { return tt_size(); }
  static TT_GROUP dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static TT_GROUP dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static TT_GROUP dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static TT_GROUP dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
TT_GROUP thread_block this_thread_block() { return thread_block(); }

struct grid_group {
  static TT_GROUP void sync() { tt_grid_barrier(); }
  static TT_GROUP bool is_valid() { return true; }
  static TT_GROUP unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static TT_GROUP unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static TT_GROUP unsigned long long thread_rank() { return block_rank() * tt_size() + tt_rank(); }
  static TT_GROUP unsigned long long size() { return num_blocks() * tt_size(); }
  static TT_GROUP unsigned long long num_threads() { return size(); }
  static TT_GROUP dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static TT_GROUP dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static TT_GROUP dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
TT_GROUP grid_group this_grid() { return grid_group(); }

/* Which lane has the n-th bit of a mask. */
TT_GROUP unsigned tt_lane_of(unsigned mask, unsigned n) {
  while (n-- > 0) mask &= mask - 1;
  return (unsigned)__ffs((int)mask) - 1;
}
/* Threads of a warp: those that are here. */
struct coalesced_group {
  unsigned mask;
  TT_GROUP void sync() const { __syncwarp(mask); }
  TT_GROUP unsigned thread_rank() const { return (unsigned)__popc(mask & ((1u << (tt_rank() & 31)) - 1)); }
  TT_GROUP unsigned size() const { return (unsigned)__popc(mask); }
  TT_GROUP unsigned num_threads() const { return size(); }
  TT_GROUP int any(int yes) const { return __any_sync(mask, yes); }
  TT_GROUP int all(int yes) const { return __all_sync(mask, yes); }
  TT_GROUP unsigned ballot(int yes) const {
    unsigned lanes = __ballot_sync(mask, yes), out = 0;
    for (unsigned k = 0, rest = mask; rest; rest &= rest - 1, k++)
      out |= (lanes >> ((unsigned)__ffs((int)rest) - 1) & 1) << k;
    return out;
  }
  template <class T>
  TT_GROUP T shfl(T value, unsigned rank) const {
    return __shfl_sync(mask, value, (int)tt_lane_of(mask, rank % size()));
  }
  template <class T>
  TT_GROUP T shfl_down(T value, unsigned by) const {
    unsigned from = thread_rank() + by;
    return __shfl_sync(mask, value, (int)tt_lane_of(mask, from < size() ? from : thread_rank()));
  }
  template <class T>
  TT_GROUP T shfl_up(T value, int by) const {
    int from = (int)thread_rank() - by;
    return __shfl_sync(mask, value, (int)tt_lane_of(mask, from < 0 ? thread_rank() : (unsigned)from));
  }
};
TT_GROUP coalesced_group coalesced_threads() {
  coalesced_group g = {__activemask()};
  return g;
}
/* Those of a group that have the same label, or the same answer. */
template <class T>
TT_GROUP coalesced_group labeled_partition(const coalesced_group &g, T label) {
  coalesced_group part = {__match_any_sync(g.mask, label)};
  return part;
}
TT_GROUP coalesced_group binary_partition(const coalesced_group &g, bool yes) {
  return labeled_partition(g, (int)yes);
}

template <unsigned N, class Parent = void>
struct thread_block_tile {
  static_assert(N > 0 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  TT_GROUP thread_block_tile() {}
  template <class Other>
  TT_GROUP thread_block_tile(const thread_block_tile<N, Other> &) {}
  static TT_GROUP unsigned tt_mask() { return (N == 32 ? ~0u : (1u << (N & 31)) - 1) << (tt_rank() & 31 & ~(N - 1)); }
  static TT_GROUP void sync() { __syncwarp(tt_mask()); }
  static TT_GROUP unsigned thread_rank() { return tt_rank() & (N - 1); }
  static constexpr TT_GROUP unsigned size() { return N; }
  static constexpr TT_GROUP unsigned num_threads() { return N; }
  static TT_GROUP unsigned meta_group_rank() { return tt_rank() / N; }
  static TT_GROUP unsigned meta_group_size() { return (tt_size() + N - 1) / N; }
  static TT_GROUP int any(int yes) { return __any_sync(tt_mask(), yes); }
  static TT_GROUP int all(int yes) { return __all_sync(tt_mask(), yes); }
  static TT_GROUP unsigned ballot(int yes) {
    return __ballot_sync(tt_mask(), yes) >> (tt_rank() & 31 & ~(N - 1)) & (N == 32 ? ~0u : (1u << (N & 31)) - 1);
  }
  template <class T>
  static TT_GROUP T shfl(T value, int rank) {
    return __shfl_sync(tt_mask(), value, rank, N);
  }
  template <class T>
  static TT_GROUP T shfl_up(T value, unsigned by) {
    return __shfl_up_sync(tt_mask(), value, by, N);
  }
  template <class T>
  static TT_GROUP T shfl_down(T value, unsigned by) {
    return __shfl_down_sync(tt_mask(), value, by, N);
  }
  template <class T>
  static TT_GROUP T shfl_xor(T value, unsigned bits) {
    return __shfl_xor_sync(tt_mask(), value, (int)bits, N);
  }
};
template <unsigned N, class Parent>
TT_GROUP thread_block_tile<N, Parent> tiled_partition(const Parent &) {
  return thread_block_tile<N, Parent>();
}

/* A group of any kind, or a tile of a size that the text does not say. */
struct thread_group {
  unsigned mask; /* 0: the block */
  TT_GROUP thread_group(unsigned lanes) : mask(lanes) {}
  TT_GROUP thread_group(const thread_block &) : mask(0) {}
  TT_GROUP thread_group(const coalesced_group &g) : mask(g.mask) {}
  template <unsigned N, class Parent>
  TT_GROUP thread_group(const thread_block_tile<N, Parent> &g) : mask(g.tt_mask()) {}
  TT_GROUP void sync() const {
    if (mask)
      __syncwarp(mask);
    else
      __syncthreads();
  }
  TT_GROUP unsigned thread_rank() const {
    return mask ? (unsigned)__popc(mask & ((1u << (tt_rank() & 31)) - 1)) : tt_rank();
  }
  TT_GROUP unsigned size() const { return mask ? (unsigned)__popc(mask) : tt_size(); }
  TT_GROUP unsigned num_threads() const { return size(); }
};
TT_GROUP thread_group tiled_partition(const thread_group &, unsigned n) {
  return thread_group((n >= 32 ? ~0u : (1u << n) - 1) << (tt_rank() & 31 & ~(n - 1)));
}

template <class G>
TT_GROUP void sync(const G &g) {
  g.sync();
}

#define TT_OPERATION(name, expression)                                             \
  template <class T>                                                               \
  struct name {                                                                    \
    TT_GROUP T operator()(const T &a, const T &b) const { return (T)(expression); } \
  };
TT_OPERATION(plus, a + b)
TT_OPERATION(less, b < a ? b : a)
TT_OPERATION(greater, a < b ? b : a)
TT_OPERATION(bit_and, a &b)
TT_OPERATION(bit_or, a | b)
TT_OPERATION(bit_xor, a ^ b)

template <unsigned N, class Parent, class T, class F>
TT_GROUP T reduce(const thread_block_tile<N, Parent> &g, T value, F f) {
  for (unsigned by = N / 2; by > 0; by /= 2) value = f(value, g.shfl_xor(value, by));
  return value;
}
/* In the order of the ranks; each gets all of it. */
template <class T, class F>
TT_GROUP T reduce(const coalesced_group &g, T value, F f) {
  unsigned n = g.size();
  T all = g.shfl(value, 0);
  for (unsigned k = 1; k < n; k++) all = f(all, g.shfl(value, k));
  return all;
}
template <unsigned N, class Parent, class T>
TT_GROUP coalesced_group labeled_partition(const thread_block_tile<N, Parent> &g, T label) {
  coalesced_group part = {__match_any_sync(g.tt_mask(), label)};
  return part;
}
template <unsigned N, class Parent>
TT_GROUP coalesced_group binary_partition(const thread_block_tile<N, Parent> &g, bool yes) {
  return labeled_partition(g, (int)yes);
}
}  // namespace cooperative_groups
