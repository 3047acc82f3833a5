"""A hundred thousand random walks, and how far they came."""

import matplotlib.pyplot as plt
import tutti as tt

steps = tt.random.default_rng(9).choice(tt.asarray([-1, 1], dtype="int8"), (100_000, 100))
ends = steps.sum(axis=1)
counts, edges = tt.histogram(ends, bins=tt.arange(-41, 43, 2))

plt.bar((edges[:-1] + edges[1:]) / 2, counts, width=1.8)
spread = float(ends.std())
plt.title(f"standard deviation {spread:.2f}, expected {100**0.5:.2f}")
