"""Principal components three ways, whitening, and a regression on what they leave."""

import numpy as np

bits = np.random.Generator(np.random.PCG64(8))
hidden = bits.normal(size=(80, 3)) * [3, 2, 0.5]
mix = bits.normal(size=(3, 6))
data = hidden @ mix + 0.1 * bits.normal(size=(80, 6)) + np.arange(6)
centred = data - data.mean(axis=0)
values, vectors = np.linalg.eigh(np.cov(data, rowvar=False))
values, vectors = values[::-1], vectors[:, ::-1]
u, s, vt = np.linalg.svd(centred, full_matrices=False)
assert np.allclose(s**2 / (len(data) - 1), values)
assert np.allclose(np.abs(np.sum(vectors.T * vt, axis=1)[:3]), 1)
share = np.cumsum(values) / values.sum()
keep = int(np.searchsorted(share, 0.95)) + 1
sign = np.sign(vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)])
scores = centred @ (vt * sign[:, None]).T
white = scores[:, :keep] / scores[:, :keep].std(axis=0, ddof=1)
target = 2 * hidden[:, 0] - hidden[:, 1] + 0.05 * bits.normal(size=80)
design = np.column_stack([np.ones(80), white])
weights, left, rank, _ = np.linalg.lstsq(design, target, rcond=None)
fitted = design @ weights
r2 = 1 - ((target - fitted) ** 2).sum() / ((target - target.mean()) ** 2).sum()
q, r = np.linalg.qr(design)
assert np.allclose(np.linalg.solve(r, q.T @ target), weights)
result = values, share, keep, np.round(white.T @ white / 79, 8) + 0.0, weights, left, rank, r2
print(keep, rank, f"{r2:.8f}")
