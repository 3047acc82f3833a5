"""Ising's model on a chessboard with a generator of random numbers of its own, in whole numbers of 32 bits."""

import numpy as np

N, SWEEPS = 16, 30
state = np.arange(1, N * N // 2 + 1, dtype=np.uint32) * np.uint32(2654435761)


def numbers():
    """Xorshift, for all cells at once."""
    global state
    state ^= state << np.uint32(13)
    state ^= state >> np.uint32(17)
    state ^= state << np.uint32(5)
    return (state >> np.uint32(8)) / np.float32(1 << 24)


rows, columns = np.ogrid[:N, :N]
black = (rows + columns) % 2 == 0
spins = np.where((rows * 7 + columns * 3) % 5 < 2, 1, -1).astype(np.int8)
beta = 0.6
table = np.exp(-2 * beta * np.arange(-4, 5, dtype=np.float32))
history = np.empty(SWEEPS)
energies = np.empty(SWEEPS, dtype=int)
for t in range(SWEEPS):
    for colour in (black, ~black):
        around = sum(np.roll(spins, s, axis=a) for s in (1, -1) for a in (0, 1))
        cost = (spins * around)[colour]
        flip = numbers() < table[cost + 4]
        chosen = spins[colour]
        chosen[flip] *= -1
        spins[colour] = chosen
    history[t] = spins.mean()
    energies[t] = -(spins * (np.roll(spins, 1, 0) + np.roll(spins, 1, 1))).astype(int).sum()
runs = np.flatnonzero(np.diff(spins.ravel()) != 0)
values, counts = np.unique(spins, return_counts=True)
result = spins, history, energies, runs, values, counts, state.copy()
print("".join("#" if s > 0 else "." for s in spins[0].tolist()))
