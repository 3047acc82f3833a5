"""Edges of a picture: differences of neighbours, in one pass over memory."""

import matplotlib.pyplot as plt
import tutti as tt

y, x = tt.mgrid[-1:1:240j, -1:1:320j]
picture = tt.exp(-8 * (x**2 + y**2)) + (tt.hypot(x - 0.5, y + 0.3) < 0.25) * 0.6
across = picture[1:-1, 2:] - picture[1:-1, :-2]
down = picture[2:, 1:-1] - picture[:-2, 1:-1]

fig, (left, right) = plt.subplots(1, 2)
left.imshow(picture, cmap="gray")
right.imshow(tt.hypot(across, down), cmap="gray")
for ax in (left, right):
    ax.axis("off")
