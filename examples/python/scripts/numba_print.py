"""Threads that print, for Numba: every one of them, then those below a bound."""

from numba import cuda


@cuda.jit
def everyone():
    print("a thread says hello")


@cuda.jit
def some(bound):
    me = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if me < bound:
        print(me)


everyone[1, 3]()
cuda.synchronize()
print("the host says hello")
some[2, 4](6)
cuda.synchronize()
print("the host counts too:", *range(6))
