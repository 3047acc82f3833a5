"""Maxwell's equations in one dimension on a staggered grid, with an absorbing end and a slab of glass."""

import numpy as np

N, STEPS = 120, 260
e, h = np.zeros(N, "f4"), np.zeros(N - 1, "f4")
eps = np.ones(N, "f4")
eps[70:90] = 2.25
ends = np.zeros(2, "f4")
probe = np.zeros((STEPS, 3), "f4")
snaps = {}
for t in range(STEPS):
    h += np.float32(0.5) * (e[1:] - e[:-1])
    e[1:-1] += np.float32(0.5) / eps[1:-1] * (h[1:] - h[:-1])
    e[20] += np.float32(np.exp(-((t - 40) ** 2) / 120) * np.cos(0.4 * t))
    last = e[[1, -2]].copy()
    e[[0, -1]], ends = ends + (last - e[[0, -1]]) * np.float32(-1 / 3), last
    probe[t] = e[[40, 80, 105]]
    if t % 65 == 64:
        snaps[t] = e.copy()
arrival = np.argmax(np.abs(probe) > 0.05, axis=0)
envelope = np.maximum.accumulate(np.abs(probe), axis=0)[-1]
spectrum = np.abs(np.fft.rfft(probe, axis=0))[:40]
result = np.stack(list(snaps.values())), probe, arrival, envelope, spectrum.argmax(axis=0), e.dtype.name
print(arrival, e.dtype, sorted(snaps))
