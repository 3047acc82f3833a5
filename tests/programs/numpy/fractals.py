"""Escape times, Newton's basins, a Julia set in single precision and the chaos game's attractor."""

import numpy as np

re, im = np.linspace(-2, 0.6, 40), np.linspace(-1.2, 1.2, 30)
c = re + 1j * im[:, None]
z, count = np.zeros_like(c), np.zeros(c.shape, dtype=int)
inside = np.ones(c.shape, dtype=bool)
for _ in range(30):
    z[inside] = z[inside] ** 2 + c[inside]
    inside[inside] = z[inside].real ** 2 + z[inside].imag ** 2 <= 4
    count += inside
w = (re[:, None] + 0.31 + 1j * im).astype(np.complex128)
for _ in range(12):
    w = w - (w**3 - 1) / (3 * w**2)
roots = np.exp(2j * np.pi * np.arange(3) / 3)
basin = np.abs(w[..., None] - roots).argmin(-1)
julia = (re[::2] + 1j * im[::2, None]).astype(np.complex64)
alive = np.zeros(julia.shape, np.uint8)
with np.errstate(all="ignore"):
    for _ in range(20):
        julia = np.where(np.abs(julia) < 2, julia * julia + np.complex64(-0.4 + 0.6j), np.complex64(9))
        alive += (np.abs(julia) < 2).astype(np.uint8)
maps = np.array([[[0.5, 0], [0, 0.5]]] * 3)
shift = np.array([[0, 0], [0.5, 0], [0.25, 0.5]])
points, which = np.zeros((50, 2)), (np.arange(50) * 7) % 3
for k in range(25):
    pick = (which + k * 5) % 3
    points = np.einsum("nij,nj->ni", maps[pick], points) + shift[pick]
hist, xe, ye = np.histogram2d(points[:, 0], points[:, 1], bins=4, range=[[0, 1], [0, 1]])
square = inside[:28]
sizes = []
for s in (1, 2, 4):
    boxes = np.add.reduceat(np.add.reduceat(square, np.arange(0, 28, s), 0), np.arange(0, 40, s), 1)
    sizes.append(int((boxes > 0).sum()))
result = count, basin, alive, hist, sizes, np.bincount(count.ravel()), points
print(sizes, np.bincount(basin.ravel()), int(alive.max()), julia.dtype)
