"""The Mandelbrot set: how long points stay near, all of them at once."""

import matplotlib.pyplot as plt
import tutti as tt

re, im = tt.linspace(-2.2, 0.8, 480), tt.linspace(-1.2, 1.2, 360)
c = re + 1j * im[:, None]
z, steps = tt.zeros_like(c), tt.zeros(c.shape, "int32")
for _ in range(40):
    near = tt.abs(z) < 2
    z = tt.where(near, z * z + c, z)
    steps += near

plt.imshow(steps, cmap="magma", extent=(-2.2, 0.8, -1.2, 1.2))
plt.title("Mandelbrot set")
