"""PyOpenCL's ready kernels: operations on each element, a sum of products, sums up to each one, elements chosen."""

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
from pyopencl.algorithm import copy_if
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

context = cl.create_some_context()
queue = cl.CommandQueue(context)
x = cl_array.arange(queue, 10, dtype=np.float32)
y = cl_array.zeros_like(x)

combine = ElementwiseKernel(context, "float a, float *x, float *y", "y[i] = a * x[i] + 1", "combine")
combine(2, x, y)
print("combined:", y.get())

product = ReductionKernel(
    context, np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y"
)
print("product:", product(x, y).get(), cl_array.dot(x, y).get())

counts = cl_array.arange(queue, 6, dtype=np.int32)
InclusiveScanKernel(context, np.int32, "a+b", "0")(counts)
print("sums:", counts.get())

large, count, event = copy_if(y, "ary[i] > limit", [("limit", np.float32(9))])
print("large:", large.get()[: int(count.get())])
