"""The Lorenz attractor, its loop compiled from Python."""

import matplotlib.pyplot as plt
import tutti as tt


@tt.jit
def walk(path, steps, dt):
    x, y, z = 1.0, 1.0, 1.0
    for k in range(steps):
        x, y, z = x + dt * 10 * (y - x), y + dt * (x * (28 - z) - y), z + dt * (x * y - 8 / 3 * z)
        path[0, k], path[1, k], path[2, k] = x, y, z


path = tt.zeros((3, 8000))
walk(path, 8000, 0.005)
plt.axes(projection="3d").plot(path[0], path[1], path[2], lw=0.4)
