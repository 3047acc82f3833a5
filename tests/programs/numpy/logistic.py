"""Logistic regression by Newton's method, with confusion tables, a curve of ranks and folds."""

import numpy as np

bits = np.random.Generator(np.random.PCG64(21))
x = bits.normal(size=(150, 3))
truth = np.array([0.5, 1.5, -2.0, 0.7])
design = np.hstack([np.ones((150, 1)), x])
y = (bits.random(150) < 1 / (1 + np.exp(-design @ truth))).astype(int)


def fit(design, y, ridge=1e-3):
    w = np.zeros(design.shape[1])
    for _ in range(25):
        p = 1 / (1 + np.exp(-design @ w))
        slope = design.T @ (y - p) - ridge * w
        curve = (design * (p * (1 - p))[:, None]).T @ design + ridge * np.identity(len(w))
        w += (step := np.linalg.solve(curve, slope))
        if np.abs(step).max() < 1e-12:
            break
    return w, np.linalg.inv(curve)


w, spread = fit(design, y)
p = 1 / (1 + np.exp(-design @ w))
guess = (p > 0.5).astype(int)
table = np.zeros((2, 2), dtype=int)
np.add.at(table, (y, guess), 1)
order = np.argsort(-p, kind="stable")
hits = np.concatenate(([0], np.cumsum(y[order]))) / y.sum()
false = np.concatenate(([0], np.cumsum(1 - y[order]))) / (1 - y).sum()
area = np.trapezoid(hits, false)
folds = np.array_split(np.arange(150), 5)
scores = [((design[f] @ fit(np.delete(design, f, 0), np.delete(y, f))[0] > 0) == y[f]).mean() for f in folds]
result = w, np.sqrt(np.diag(spread)), table, area, np.array(scores), np.quantile(p, [0.1, 0.9])
print(table.tolist(), f"{area:.8f}", np.round(scores, 6))
