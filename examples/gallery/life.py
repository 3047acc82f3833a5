"""Conway's game of life: neighbours are counted by rolling the field."""

import matplotlib.pyplot as plt
import tutti as tt

rng = tt.random.default_rng(3)
field = rng.random((120, 160)) < 0.3
turns = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
for _ in range(60):
    count = sum(tt.roll(field, turn, (0, 1)).astype("int8") for turn in turns)
    field = (count == 3) | (field & (count == 2))
    field.eval()

plt.imshow(field, cmap="Greys")
plt.title(f"{int(field.sum())} cells live")
