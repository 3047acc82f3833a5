"""A straight line and a cubic through noisy points, by least squares."""

import matplotlib.pyplot as plt
import tutti as tt

rng = tt.random.default_rng(5)
x = tt.linspace(-2, 2, 80)
y = x**3 - 2 * x + rng.standard_normal(80)
plt.plot(x, y, "o", ms=3, label="measured")
for degree in (1, 3):
    powers = x[:, None] ** tt.arange(degree + 1)
    found = tt.linalg.lstsq(powers, y)[0]
    plt.plot(x, powers @ found, label=f"degree {degree}")
plt.legend()
