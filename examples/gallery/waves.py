"""Waves on a string, solved exactly by its eigenvectors."""

import matplotlib.pyplot as plt
import tutti as tt

n = 120
stiffness = 2 * tt.eye(n) - tt.eye(n, k=1) - tt.eye(n, k=-1)
square, modes = tt.linalg.eigh(stiffness)
start = tt.exp(-((tt.arange(n) - 30.0) ** 2) / 40)
amplitude = modes.T @ start
for t in (0, 30, 60, 90):
    plt.plot(modes @ (amplitude * tt.cos(tt.sqrt(square) * t)) + 0.01 * t, label=f"t = {t}")
plt.legend()
