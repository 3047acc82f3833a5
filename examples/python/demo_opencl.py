"""A kernel in OpenCL C, with no OpenCL installed: bodies that attract each other, vectors and local memory."""

import tutti as tt

SOURCE = """
__kernel void attract(__global const float4 *body, __global float4 *pull, __local float4 *tile) {
  int i = get_global_id(0), l = get_local_id(0), n = get_global_size(0), size = get_local_size(0);
  float4 me = body[i];
  float3 sum = (float3)(0.0f);
  for (int first = 0; first < n; first += size) {
    tile[l] = body[first + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < size; k++) {
      float3 apart = tile[k].xyz - me.xyz;
      float r = rsqrt(dot(apart, apart) + SOFT);
      sum += apart * (tile[k].w * r * r * r);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  pull[i] = (float4)(sum, 0.0f);
}
"""

program = tt.opencl.Program(SOURCE).build("-D SOFT=0.01f")
tt.random.seed(0)
body = tt.random.random((1024, 4)).astype("float32")
pull = tt.zeros((1024, 4), dtype="float32")
program.attract(1024, 64, body, pull, tt.opencl.LocalMemory(64 * 16))
total = (pull * body[:, 3:]).sum(axis=0)
print("kernels:", program.kernels)
print("all pulls together are nothing:", bool(abs(total).max() < 0.1 * abs(pull).max()))
