"""Heat that spreads through a plate: slices of one array written from slices of another."""

import matplotlib.pyplot as plt
import tutti as tt

u = tt.zeros((120, 160))
u[40:80, 60:100] = 1.0
for _ in range(300):
    inner = u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    u.eval()

plt.imshow(u, cmap="inferno")
plt.colorbar(label="temperature")
