"""A picture through cosines of blocks of eight, quantised as photographs are, and back."""

import numpy as np

B = 8
k = np.arange(B)
basis = np.sqrt(2 / B) * np.cos(np.pi * (2 * k[None] + 1) * k[:, None] / (2 * B))
basis[0] /= np.sqrt(2)
assert np.allclose(basis @ basis.T, np.eye(B))
y, x = np.ogrid[:32, :40]
picture = 128 + 50 * np.cos(0.3 * x + 0.02 * y * y) + 30 * (x > 20) * (y < 15)
tiles = picture.reshape(4, B, 5, B).swapaxes(1, 2)
waves = basis @ (tiles - 128) @ basis.T
weights = 6 + 3 * (k[:, None] + k)
coded = np.rint(waves / weights).astype(np.int16)
zigzag = sorted(((i, j) for i in range(B) for j in range(B)), key=lambda p: (sum(p), p[sum(p) % 2]))
rows, columns = (np.array(c) for c in zip(*zigzag))
stream = coded[..., rows, columns].reshape(-1, B * B)
last = np.array([np.flatnonzero(s)[-1] + 1 if s.any() else 0 for s in stream])
lengths = []
for s in stream:
    ends = np.flatnonzero(np.diff(s)) + 1
    lengths.append(np.diff(np.concatenate(([0], ends, [s.size]))).tolist())
back = np.zeros_like(coded)
back[..., rows, columns] = stream.reshape(4, 5, -1)
again = (basis.T @ (back * weights) @ basis + 128).swapaxes(1, 2).reshape(32, 40)
noise = np.mean((again - picture) ** 2)
values, counts = np.unique(stream, return_counts=True)
share = counts / counts.sum()
entropy = -(share * np.log2(share)).sum()
result = coded, last, lengths, again, noise, entropy, values
print(f"{10 * np.log10(255**2 / noise):.4f} dB {entropy:.4f} bits", last.sum())
