"""Shallow water in a basin with walls, in place, with slices that overlap."""

import numpy as np

N, STEPS, G, DT = 20, 40, 9.8, 0.02
h = np.ones((N + 2, N + 2))
u, v = np.zeros((N + 2, N + 2)), np.zeros((N + 2, N + 2))
bump = np.exp(-((np.indices((7, 7)) - 3) ** 2).sum(0) / 4)
h[4:11, 5:12] += 0.5 * bump
volume = h[1:-1, 1:-1].sum()


def walls(h, u, v):
    for a, sign_u, sign_v in ((h, 1, 1), (u, -1, 1), (v, 1, -1)):
        a[:, 0], a[:, -1] = sign_v * a[:, 1], sign_v * a[:, -2]
        a[0, :], a[-1, :] = sign_u * a[1, :], sign_u * a[-2, :]


def fluxes(a, b):
    return (a[1:, 1:-1] + a[:-1, 1:-1]) / 2, (b[1:-1, 1:] + b[1:-1, :-1]) / 2


heights = np.zeros((STEPS, N))
for t in range(STEPS):
    walls(h, u, v)
    fx, fy = fluxes(h * u, h * v)
    u[1:-1, 1:-1] -= DT * G * (h[2:, 1:-1] - h[:-2, 1:-1]) / 2
    v[1:-1, 1:-1] -= DT * G * (h[1:-1, 2:] - h[1:-1, :-2]) / 2
    h[1:-1, 1:-1] -= DT * (np.diff(fx, axis=0) + np.diff(fy, axis=1))
    u *= 0.999
    v *= 0.999
    heights[t] = h[N // 2, 1:-1]
inner = h[1:-1, 1:-1]
crest = np.argwhere(inner > inner.mean() + inner.std())
result = inner.copy(), heights, crest, np.percentile(inner, [5, 50, 95]), np.sign(u[5]).tolist()
print(f"{volume:.4f} {inner.sum():.4f}", len(crest))
