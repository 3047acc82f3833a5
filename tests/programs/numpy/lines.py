"""Lines found by voting (Hough), corners by gradients, and a path through the picture's cheapest seam."""

import numpy as np

N = 40
picture = np.zeros((N, N))
i = np.arange(N)
picture[i, i] = 1
picture[12, :] = 1
picture[5:30, 25] += 0.5
ys, xs = np.nonzero(picture)
angles = np.deg2rad(np.arange(0, 180, 3))
radius = np.rint(xs[:, None] * np.cos(angles) + ys[:, None] * np.sin(angles)).astype(int)
reach = int(np.ceil(np.hypot(N, N)))
votes = np.zeros((2 * reach + 1, angles.size), dtype=int)
np.add.at(votes, (radius + reach, np.broadcast_to(np.arange(angles.size), radius.shape)), 1)
best = np.argpartition(votes.ravel(), -3)[-3:]
best = best[np.argsort(votes.ravel()[best])]
found = np.column_stack(np.unravel_index(best, votes.shape)) - [reach, 0]
gy, gx = np.gradient(picture)
window = np.ones(5)


def blur(a):
    a = np.apply_along_axis(np.convolve, 0, a, window, "same")
    return np.apply_along_axis(np.convolve, 1, a, window, "same")


xx, yy, xy = blur(gx * gx), blur(gy * gy), blur(gx * gy)
corner = xx * yy - xy**2 - 0.05 * (xx + yy) ** 2
strong = np.argwhere(corner > 0.5 * corner.max())
cost = np.abs(gx) + np.abs(gy) + 0.01 * (np.arange(N * N).reshape(N, N) * 31 % 17)
total, came = cost.copy(), np.zeros((N, N), dtype=np.intp)
for r in range(1, N):
    around = np.stack([np.r_[np.inf, total[r - 1, :-1]], total[r - 1], np.r_[total[r - 1, 1:], np.inf]])
    came[r] = around.argmin(0)
    total[r] += np.take_along_axis(around, came[r][None], 0)[0]
seam = [int(total[-1].argmin())]
for r in range(N - 1, 0, -1):
    seam.append(seam[-1] + int(came[r, seam[-1]]) - 1)
keep = np.ones((N, N), dtype=bool)
keep[np.arange(N - 1, -1, -1), seam] = False
result = votes, np.sort(votes.ravel())[-3:], strong, seam, picture[keep].reshape(N, N - 1), total[-1]
print(sorted(votes.ravel()[best].tolist()), len(strong), found.shape)
