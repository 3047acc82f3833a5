"""k-means with the usual care for empty clusters, silhouettes and a table of what belongs together."""

import numpy as np

bits = np.random.Generator(np.random.PCG64(5))
centres = np.array([[0, 0], [4, 1], [1, 5], [6, 6]], dtype=float)
points = (centres[:, None] + bits.normal(0, 0.7, (4, 30, 2))).reshape(-1, 2)
bits.shuffle(points)
means = points[:4].copy()
for _ in range(50):
    away = ((points[:, None] - means) ** 2).sum(axis=2)
    label = away.argmin(axis=1)
    size = np.bincount(label, minlength=4)
    total = np.zeros_like(means)
    np.add.at(total, label, points)
    new = np.where(size[:, None] > 0, total / np.maximum(size, 1)[:, None], means)
    if np.allclose(new, means):
        break
    means = new
gap = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
member = label[:, None] == np.arange(4)
inside = gap @ member / np.maximum(size - member, 1)
own = np.take_along_axis(inside, label[:, None], axis=1)[:, 0]
other = np.where(member, np.inf, gap @ member / size).min(axis=1)
silhouette = (other - own) / np.maximum(own, other)
order = np.argsort(means[:, 0], kind="stable")
rank = np.empty(4, dtype=int)
rank[order] = np.arange(4)
result = means[order], size[order], rank[label], silhouette, np.sort(away.min(axis=1))[-5:]
print(size[order], f"{silhouette.mean():.6f}")
