"""Series of measurements: moving statistics, a filter of fitted parabolas, gaps filled, peaks and changes found."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

t = np.arange(200) / 10
signal = np.sin(t) + 0.3 * np.sin(7 * t) + 0.002 * (np.arange(200) * 7919 % 101)
signal[::37] = np.nan
hole = np.isnan(signal)
filled = signal.copy()
filled[hole] = np.interp(np.flatnonzero(hole), np.flatnonzero(~hole), signal[~hole])
W = 11
windows = sliding_window_view(np.pad(filled, W // 2, mode="reflect"), W)
mean, middle = windows.mean(axis=1), np.median(windows, axis=1)
spread = windows.std(axis=1, ddof=1)
powers = np.vander(np.arange(W) - W // 2, 3, increasing=True)
kernel = np.linalg.pinv(powers)[0]
parabola = windows @ kernel
slope = np.convolve(np.pad(filled, 1, mode="edge"), [0.5, 0, -0.5], mode="valid")
exponential = np.empty_like(filled)
level = filled[0]
for k, v in enumerate(filled):
    level = 0.3 * v + 0.7 * level
    exponential[k] = level
peaks = np.flatnonzero((parabola[1:-1] > parabola[:-2]) & (parabola[1:-1] >= parabola[2:])) + 1
outliers = np.abs(filled - middle) > 1.4826 * 2 * np.median(np.abs(filled - middle))
bins = np.digitize(filled, np.linspace(-1, 1, 5))
grouped = [filled[bins == b].sum() for b in range(bins.max() + 1)]
sums = np.add.reduceat(filled, np.arange(0, 200, 25))
result = mean, middle, spread, parabola, slope, exponential, peaks, np.nonzero(outliers), bins, grouped, sums
print(hole.sum(), peaks[:5], f"{np.nanmean(signal):.8f}", np.nanargmax(signal))
