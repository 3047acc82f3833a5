"""Two fluids that separate: the Cahn-Hilliard equation by Fourier transforms, and the sizes of the domains."""

import numpy as np

N, DT, STEPS = 32, 0.1, 40
bits = np.random.Generator(np.random.PCG64(3))
c = 0.1 * bits.uniform(-1, 1, (N, N))
k = 2 * np.pi * np.fft.fftfreq(N)
k2 = k[:, None] ** 2 + k[: N // 2 + 1] ** 2
spectrum = np.fft.rfft2(c)
for _ in range(STEPS):
    c = np.fft.irfft2(spectrum, s=(N, N))
    spectrum = (spectrum - DT * k2 * np.fft.rfft2(c**3 - c)) / (1 + DT * 0.5 * k2**2)
c = np.fft.irfft2(spectrum, s=(N, N))
full = np.fft.fftshift(np.abs(np.fft.fft2(c)) ** 2)
rows, columns = np.indices(full.shape)
ring = np.hypot(rows - N // 2, columns - N // 2).astype(int)
power = np.bincount(ring.ravel(), full.ravel()) / np.bincount(ring.ravel())
phase = c > 0
edges = (phase ^ np.roll(phase, 1, 0)).sum() + (phase ^ np.roll(phase, 1, 1)).sum()
counts, bins = np.histogram(c, bins=10, range=(-1, 1))
result = c, power, counts, bins, np.interp([2.5, 7.25], np.arange(power.size), power)
print(int(edges) > 0, ring.max(), f"{c.mean():+.6f}".replace("-0.000000", "+0.000000"))
