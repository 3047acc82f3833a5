"""Prices: returns, a lattice of options, averages that cross, drawdowns, a portfolio on the frontier, and tables."""

import io

import numpy as np

bits = np.random.Generator(np.random.PCG64(29))
daily = bits.normal(0.0004, [0.01, 0.02, 0.015], (250, 3))
price = 100 * np.exp(np.cumsum(daily, axis=0))
returns = price[1:] / price[:-1] - 1
top = np.maximum.accumulate(price, axis=0)
fall = (price / top - 1).min(axis=0)
fast, slow = (np.convolve(price[:, 0], np.ones(n) / n, "valid") for n in (10, 30))
above = fast[20:] > slow
cross = np.flatnonzero(above[1:] != above[:-1]) + 1
mean, spread = returns.mean(axis=0), np.cov(returns, rowvar=False)
ones = np.ones(3)
inverse = np.linalg.inv(spread)
lightest = inverse @ ones / (ones @ inverse @ ones)
N, r, sigma, strike = 60, 0.03, 0.25, 100.0
up = np.exp(sigma * np.sqrt(1 / N))
p = (np.exp(r / N) - 1 / up) / (up - 1 / up)
level = 100 * up ** np.arange(N, -N - 1, -2.0)
value = np.maximum(strike - level, 0)
for _ in range(N):
    level = level[:-1] / up
    value = np.maximum(np.exp(-r / N) * (p * value[:-1] + (1 - p) * value[1:]), strike - level)
american = value.item()
rate = np.linspace(0.01, 0.2, 2000)
flows = np.array([-1000, 300, 420, 400, 150.0])
worth = np.polyval(flows[::-1], 1 / (1 + rate))
irr = rate[np.abs(worth).argmin()]
week = price.reshape(50, 5, 3)
candles = np.stack([week[:, 0], week.max(1), week.min(1), week[:, -1]], axis=-1)
text = io.StringIO()
np.savetxt(text, candles[:3, 0], fmt="%.4f", delimiter=",")
again = np.loadtxt(io.StringIO(text.getvalue()), delimiter=",")
rank = np.argsort(np.argsort(returns, axis=0), axis=0)
spearman = np.corrcoef(rank, rowvar=False)
result = fall, cross, lightest, american, irr, candles, again, spearman, np.percentile(returns, [1, 5], axis=0)
print(text.getvalue().splitlines()[0], f"{american:.6f} {irr:.6f}", cross[:3])
