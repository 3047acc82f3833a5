"""A flow past a cylinder by the lattice Boltzmann method, with nine directions."""

import numpy as np

NX, NY, STEPS, OMEGA = 40, 16, 25, 1.2
ex = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
ey = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
back = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
y, x = np.mgrid[:NY, :NX]
wall = (x - 10) ** 2 + (y - 8) ** 2 < 9
wall |= (y == 0) | (y == NY - 1)


def rest(rho, ux, uy):
    along = 3 * (ex[:, None, None] * ux + ey[:, None, None] * uy)
    return w[:, None, None] * rho * (1 + along + 0.5 * along**2 - 1.5 * (ux**2 + uy**2))


f = rest(np.ones((NY, NX)), 0.08 * np.ones((NY, NX)), np.zeros((NY, NX)))
f *= 1 + 0.001 * np.sin(2 * np.pi * x / NX)
drag = np.zeros(STEPS)
for t in range(STEPS):
    for k in range(9):
        f[k] = np.roll(f[k], (ey[k], ex[k]), axis=(0, 1))
    bounced = f[:, wall][back]
    rho = f.sum(axis=0)
    ux = np.tensordot(ex, f, axes=1) / rho
    uy = np.tensordot(ey, f, axes=1) / rho
    drag[t] = (ex @ bounced).sum()
    f += OMEGA * (rest(rho, ux, uy) - f)
    f[:, wall] = bounced
    f[:, 1:-1, 0] = rest(np.ones((NY, 1)), np.full((NY, 1), 0.08), np.zeros((NY, 1)))[:, 1:-1, 0]
curl = np.gradient(uy, axis=1) - np.gradient(ux, axis=0)
result = f, drag, np.where(wall, 0, curl)
print(rho.shape, int(wall.sum()), f"{rho.mean():.5f}")
