"""A chirp and noise: the signal and its spectrum by a fast Fourier transform."""

import matplotlib.pyplot as plt
import tutti as tt

n, rate = 4096, 1000.0
t = tt.arange(n) / rate
signal = tt.sin(2 * tt.pi * (60 + 20 * t) * t) + 0.5 * tt.random.default_rng(1).standard_normal(n)
power = tt.abs(tt.fft.rfft(signal * tt.hanning(n))) ** 2

fig, (above, below) = plt.subplots(2)
above.plot(t[:400], signal[:400], lw=0.7)
above.set_xlabel("seconds")
below.semilogy(tt.fft.rfftfreq(n, 1 / rate), power, lw=0.7)
below.set_xlabel("hertz")
fig.tight_layout()
