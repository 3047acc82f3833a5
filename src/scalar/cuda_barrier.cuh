/*
** A barrier of the whole grid for CUDA: of the threads that have not ended, in a launch whose blocks are all under way at
** once. The driver gives such a launch a word to count blocks in, at the address that two of its registers hold, as
** the toolkit's own barrier expects it. One thread of each block counts, whichever is there.
*/
static __device__ void tt_grid_barrier() {
  __shared__ unsigned one;
  unsigned me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  __syncthreads();
  *(volatile unsigned *)&one = me;
  __syncthreads();
  if (*(volatile unsigned *)&one == me) {
    unsigned low, high;
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    unsigned *count = (unsigned *)((unsigned long long)high << 32 | low) + 1;
    /* The first block adds what makes the sum of all turn the highest bit. */
    bool first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
    __threadfence();
    unsigned before = atomicAdd(count, first ? 0x80000000u - (blocks - 1) : 1u);
    while (((*(volatile unsigned *)count ^ before) & 0x80000000u) == 0) continue;
    __threadfence();
  }
  __syncthreads();
}
