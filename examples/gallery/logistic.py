"""The logistic map: a thousand growth rates side by side."""

import matplotlib.pyplot as plt
import tutti as tt

rate = tt.linspace(2.6, 4, 1000)
x = tt.full(1000, 0.5)
for _ in range(200):
    x = rate * x * (1 - x)
kept = []
for _ in range(60):
    x = rate * x * (1 - x)
    kept.append(x)
seen = tt.stack(kept)
plt.plot(tt.broadcast_to(rate, seen.shape).ravel(), seen.ravel(), ",k", alpha=0.4)
plt.xlabel("growth rate")
