"""Vectors added for PyOpenCL: buffers, a kernel in OpenCL C, and the same by an array's operators."""

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array

rng = np.random.default_rng(3)
x, y = rng.random(50000, dtype=np.float32), rng.random(50000, dtype=np.float32)

context = cl.create_some_context()
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
flags = cl.mem_flags
x_there = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
y_there = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=y)
sum_there = cl.Buffer(context, flags.WRITE_ONLY, x.nbytes)

program = cl.Program(
    context,
    """
__kernel void add(__global const float *x, __global const float *y, __global float *sum)
{
    int i = get_global_id(0);
    sum[i] = x[i] + y[i];
}
""",
).build()

event = program.add(queue, x.shape, None, x_there, y_there, sum_there)
event.wait()
print("it took time:", event.profile.end > event.profile.start)

total = np.empty_like(x)
cl.enqueue_copy(queue, total, sum_there)
print("the same as NumPy's:", np.array_equal(total, x + y))

a, b = cl_array.to_device(queue, x), cl_array.to_device(queue, y)
print("by arrays:", np.array_equal((a + b).get(), total))
