"""Linear systems by hand beside the library: elimination, factors, reflections, conjugate gradients, powers."""

import numpy as np

bits = np.random.Generator(np.random.PCG64(17))
A = bits.normal(size=(9, 9)) + 4 * np.eye(9)
b = bits.normal(size=(9, 2))


def eliminate(A, b):
    m = np.hstack([A, b])
    n = len(A)
    for k in range(n):
        p = k + np.abs(m[k:, k]).argmax()
        m[[k, p]] = m[[p, k]]
        m[k + 1 :] -= np.outer(m[k + 1 :, k] / m[k, k], m[k])
    x = np.zeros_like(b)
    for k in reversed(range(n)):
        x[k] = (m[k, n:] - m[k, k + 1 : n] @ x[k + 1 :]) / m[k, k]
    return x


def reflect(A):
    q, r = np.eye(len(A)), A.copy()
    for k in range(len(A) - 1):
        v = r[k:, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v)
        r[k:] -= 2 * np.outer(v, v @ r[k:])
        q[:, k:] -= 2 * np.outer(q[:, k:] @ v, v)
    return q, np.triu(r)


x = eliminate(A, b)
assert np.allclose(x, np.linalg.solve(A, b))
q, r = reflect(A)
S = A @ A.T
u, left = np.zeros(9), b[:, 0].copy()
way, size, steps = left.copy(), left @ left, 0
while size > 1e-20 and steps < 60:
    Sp = S @ way
    a = size / (way @ Sp)
    u += a * way
    left -= a * Sp
    size, before = left @ left, size
    way = left + size / before * way
    steps += 1
L = np.zeros_like(S)
for k in range(9):
    L[k, k] = np.sqrt(S[k, k] - L[k, :k] @ L[k, :k])
    L[k + 1 :, k] = (S[k + 1 :, k] - L[k + 1 :, :k] @ L[k, :k]) / L[k, k]
v = np.ones(9)
for _ in range(400):
    v = S @ v
    v /= np.linalg.norm(v)
shape = np.linalg.multi_dot([b.T, S, b]), np.linalg.matrix_rank(b @ b.T), np.linalg.cond(A, 1)
result = x, np.abs(r).round(10), q @ r, u, L, v @ S @ v, shape, np.linalg.det(A), np.linalg.norm(A, "nuc")
assert np.allclose(L, np.linalg.cholesky(S)) and np.allclose(q.T @ q, np.eye(9))
print(steps < 60, shape[1], f"{np.linalg.det(A):.6e}")
