"""A Kalman filter and smoother for a moving point, with gates for outliers."""

import numpy as np

bits = np.random.Generator(np.random.PCG64(13))
F = np.kron(np.array([[1, 0.1], [0, 1]]), np.eye(2))
H = np.eye(2, 4)
Q = np.diag([1e-4, 1e-4, 1e-2, 1e-2])
R = 0.05 * np.eye(2)
state, truth, seen = np.array([0, 0, 1, 0.5]), [], []
for t in range(60):
    state = F @ state + bits.multivariate_normal(np.zeros(4), np.zeros((4, 4)))
    truth.append(state)
    seen.append(H @ state + np.sqrt(0.05) * bits.normal(size=2) + (t % 17 == 16) * 5)
truth, seen = np.array(truth), np.array(seen)
m, P = np.zeros(4), np.eye(4)
means, spreads, refused = [], [], []
for z in seen:
    m, P = F @ m, F @ P @ F.T + Q
    S = H @ P @ H.T + R
    off = z - H @ m
    if off @ np.linalg.solve(S, off) > 9.2:
        refused.append(True)
    else:
        K = np.linalg.solve(S, H @ P).T
        m, P = m + K @ off, (np.eye(4) - K @ H) @ P
        refused.append(False)
    means.append(m)
    spreads.append(P)
smooth, last = [means[-1]], spreads[-1]
for m, P in zip(means[-2::-1], spreads[-2::-1]):
    ahead = F @ P @ F.T + Q
    G = np.linalg.solve(ahead, F @ P).T
    smooth.insert(0, m + G @ (smooth[0] - F @ m))
    last = P + G @ (last - ahead) @ G.T
smooth = np.vstack(smooth)
error = [np.sqrt(((a[:, :2] - truth[:, :2]) ** 2).mean()) for a in (np.array(means), smooth)]
result = np.array(means), smooth, last, np.flatnonzero(refused), error
print(np.where(refused)[0], error[1] < error[0])
