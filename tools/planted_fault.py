"""Writes far behind an array on the GPU: a checker that is at work ends this with an error."""

import tutti as tt

kernel = tt.RawKernel('extern "C" __global__ void write(float *x) { x[threadIdx.x + 100000000] = 1; }', "write")
kernel((1,), (32,), (tt.zeros(32, dtype=tt.float32, device="cuda:0"),))
try:
    tt.cuda.synchronize()
except RuntimeError as e:  # the device is lost: without a checker, too
    print(e)
