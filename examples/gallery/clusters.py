"""k-means: distances of all points to all centres by broadcasting."""

import matplotlib.pyplot as plt
import tutti as tt

rng = tt.random.default_rng(2)
points = tt.concatenate([rng.normal(m, 0.6, (200, 2)) for m in ((0, 0), (3, 1), (1, 3))])
centres = points[tt.asarray([0, 250, 450])]
for _ in range(10):
    nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    centres = tt.stack([points[nearest == k].mean(axis=0) for k in range(3)])

plt.scatter(points[:, 0], points[:, 1], c=nearest, s=6)
plt.plot(centres[:, 0], centres[:, 1], "r+", ms=14)
