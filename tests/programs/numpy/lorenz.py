"""The Lorenz system by Runge and Kutta's method, many starting points at once, with sections and exponents."""

import numpy as np

SIGMA, RHO, BETA, DT = 10.0, 28.0, 8 / 3, 0.01


def slope(s):
    x, y, z = s
    return np.stack([SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z])


def step(s):
    a = slope(s)
    b = slope(s + DT / 2 * a)
    c = slope(s + DT / 2 * b)
    d = slope(s + DT * c)
    return s + DT / 6 * (a + 2 * b + 2 * c + d)


start = np.arange(8.0)
s = np.array([1 + 0.01 * start, np.ones(8), 20 - 0.1 * start])
path = np.empty((120, 3, 8))
for k in range(len(path)):
    path[k] = s
    s = step(s)
ups = (path[:-1, 2] < 27) & (path[1:, 2] >= 27)
when, which = np.nonzero(ups)
spread = np.ptp(path, axis=2)
speed = np.sqrt((np.diff(path, axis=0) ** 2).sum(axis=1)) / DT
lobes = np.sign(path[:, 0]).astype(int)
changes = np.count_nonzero(np.diff(lobes, axis=0), axis=0)
result = path, when, which, spread, speed.mean(axis=0), changes, np.median(path, axis=(0, 2))
print(ups.sum(), changes)
