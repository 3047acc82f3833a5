"""A wave packet that meets a barrier, by the split-step method, and the eigenvalues of its well."""

import numpy as np

N, DX, DT = 128, 0.25, 0.02
x = (np.arange(N) - N // 2) * DX
k = 2 * np.pi * np.fft.fftfreq(N, DX)
barrier = np.where(np.abs(x) < 0.6, 1.5, 0.0) + 0.002 * x**2
psi = np.exp(-((x + 6) ** 2) / 4 + 1.5j * x)
psi /= np.sqrt((np.abs(psi) ** 2).sum() * DX)
potential, kinetic = np.exp(-0.5j * DT * barrier), np.exp(-0.5j * DT * k**2)
passed = []
for t in range(100):
    psi = potential * np.fft.ifft(kinetic * np.fft.fft(potential * psi))
    if t % 10 == 9:
        density = psi.real**2 + psi.imag**2
        passed.append([density[x > 0].sum() * DX, (x * density).sum() * DX])
norm = np.vdot(psi, psi).real * DX
h = np.diag(1 / DX**2 + barrier)
h += np.diag(np.full(N - 1, -0.5 / DX**2), 1) + np.diag(np.full(N - 1, -0.5 / DX**2), -1)
levels = np.linalg.eigvalsh(h)
ground = np.linalg.eigh(h)[1][:, 0]
ground *= np.sign(ground[np.argmax(np.abs(ground))])
result = psi, np.array(passed), levels[:8], np.abs(ground), np.angle(psi[60:68])
print(f"{norm:.10f}", f"{passed[-1][0]:.6f}")
