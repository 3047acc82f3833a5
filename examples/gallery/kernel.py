"""Interference of two sources, each point by an elementwise kernel in CUDA C: on a GPU or on the CPU's cores."""

import matplotlib.pyplot as plt
import tutti as tt

ripple = tt.ElementwiseKernel(
    "float32 x, float32 y", "float32 z", "z = sinf(40 * hypotf(x - 0.3f, y)) + sinf(40 * hypotf(x + 0.3f, y))", "ripple"
)
x = tt.linspace(-1, 1, 320, dtype="float32")
y = tt.linspace(-0.75, 0.75, 240, dtype="float32")[:, None]

plt.imshow(ripple(x, y), cmap="RdBu", extent=(-1, 1, -0.75, 0.75))
