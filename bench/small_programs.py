"""Rows of the table of small work (small.py): short programs as public benchmarks of array code have them."""

import math

import numpy as np

PROGRAMS = []


def program(sizes, make):
    """make(rng, n): the arguments behind the module, NumPy arrays and numbers."""

    def keep(fn):
        PROGRAMS.append((fn, sizes, make, False))
        return fn

    return keep


# ---- linear algebra and filters


@program((16, 60), lambda rng, n: (rng.random((n, n)) / n,))
def matrix_power(m, a):
    result = m.eye(len(a))
    k = 100
    while k:
        if k & 1:
            result = result @ a
        a = a @ a
        a = a / m.abs(a).max()
        k >>= 1
    return result / m.abs(result).max()


@program((8, 40), lambda rng, n: (rng.random((n, n)) + n * np.eye(n), rng.random(n)))
def gauss_jordan(m, a, b):
    w = m.concatenate([a, b[:, None]], axis=1)
    n = len(b)
    for i in range(n):
        p = i + m.argmax(m.abs(w[i:, i]))
        w[[i, p]] = w[[p, i]]
        w[i] = w[i] / w[i, i]
        for j in range(n):
            if j != i:
                w[j] -= w[j, i] * w[i]
    return w[:, -1]


@program((20, 200), lambda rng, n: (rng.random(n) + 4, rng.random(n), rng.random(n), rng.random(n)))
def thomas(m, diagonal, lower, upper, right):
    n = len(right)
    c, d = m.zeros(n), m.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        w = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / w
        d[i] = (right[i] - lower[i] * d[i - 1]) / w
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


@program((20, 120), lambda rng, n: (rng.random(n) / n,))
def durbin(m, r):
    y = m.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + m.dot(m.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * m.flip(y[:k])
        y[k] = alpha
    return y


@program((50, 500), lambda rng, n: (rng.standard_normal((n, 2)).cumsum(0),))
def kalman(m, seen):
    f = m.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    h = m.array([[1.0, 0, 0, 0], [0, 1, 0, 0]])
    q, r = 0.01 * m.eye(4), 0.5 * m.eye(2)
    x, p = m.zeros(4), m.eye(4)
    out = []
    for z in seen:
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        k = p @ h.T @ m.linalg.inv(s)
        x = x + k @ (z - h @ x)
        p = (m.eye(4) - k @ h) @ p
        out.append(x)
    return m.array(out)


@program((30, 300), lambda rng, n: (rng.standard_normal((n, 6)), 3))
def principal_axes(m, x, k):
    x = x - x.mean(axis=0)
    cov = x.T @ x / (len(x) - 1)
    w, v = m.linalg.eigh(cov)
    order = m.argsort(w)[::-1]
    v = v[:, order[:k]]
    v = v * m.sign(v[m.abs(v).argmax(axis=0), m.arange(k)])
    return x @ v


@program((50, 400), lambda rng, n: (rng.random((n, 5)), rng.integers(0, n, (n, 5)), rng.random(n)))
def sparse_rows(m, values, columns, x):
    y = m.empty(len(x))
    for i in range(len(x)):
        y[i] = m.dot(values[i], x[columns[i]])
    return y


@program((10, 30), lambda rng, n: (np.exp(-rng.random((n, n))), np.full(n, 1 / n)))
def sinkhorn(m, k, a):
    u = m.ones(len(a))
    for _ in range(100):
        v = a / (k.T @ u)
        u = a / (k @ v)
    return u[:, None] * k * v[None, :]


@program((6, 20), lambda rng, n: (rng.random((n, n)),))
def qr_iterations(m, a):
    a = a + a.T
    for _ in range(30):
        mu = a[-1, -1]
        q, r = m.linalg.qr(a - mu * m.eye(len(a)))
        a = r @ q + mu * m.eye(len(a))
    return m.sort(m.diagonal(a)).sum(keepdims=True)


@program((2, 8), lambda rng, n: (rng.random((n, 5, 4, 4)), rng.random((n, 5, 4, 4)), rng.random((4, 3, 4, 4))))
def self_energies(m, g, d, dh):
    s = m.zeros(g.shape)
    nk, ne = g.shape[:2]
    for k in range(nk):
        for e in range(ne):
            for i in range(3):
                for j in range(3):
                    w = dh[0, i] @ g[k, e] @ dh[1, j]
                    s[k, e] += w * d[(k + i) % nk, (e + j) % ne]
    return s


@program((4, 16), lambda rng, n: (rng.random((n, n)) + 1j * rng.random((n, n)), rng.random((n, 2))))
def contour_integral(m, a, y):
    n = len(a)
    p = m.zeros((n, 2), dtype=complex)
    for t in range(16):
        z = 3 * m.exp(2j * math.pi * (t + 0.5) / 16)
        x = m.linalg.inv(z * m.eye(n) - a) @ y
        p += x * z
    return p.real


# ---- images and grids


@program((12, 40), lambda rng, n: (rng.random((2, n, n, 3)), rng.random((3, 3, 3, 4))))
def conv2d_taps(m, x, w):
    k = w.shape[0]
    h, v = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = m.zeros((x.shape[0], h, v, w.shape[3]))
    for i in range(k):
        for j in range(k):
            out += m.tensordot(x[:, i : i + h, j : j + v], w[i, j], axes=([3], [0]))
    return m.maximum(out, 0)


@program((8, 20), lambda rng, n: (rng.random((1, n, n, 3)), rng.random((3, 3, 3, 4))))
def conv2d_points(m, x, w):
    k = w.shape[0]
    h, v = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = m.empty((x.shape[0], h, v, w.shape[3]))
    for i in range(h):
        for j in range(v):
            out[:, i, j, :] = m.sum(x[:, i : i + k, j : j + k, :, None] * w[None], axis=(1, 2, 3))
    return out


@program((16, 64), lambda rng, n: (rng.integers(0, 256, (n, n)).astype(np.uint8),))
def equalised(m, image):
    count = m.bincount(image.ravel(), minlength=256)
    total = count.cumsum()
    low = total[total > 0][0]
    table = m.round((total - low) / (image.size - low) * 255).astype(m.uint8)
    return table[image]


@program((20, 60), lambda rng, n: (rng.random((n, n)),))
def hessian_filter(m, image):
    gy, gx = m.gradient(image)
    hyy, hyx = m.gradient(gy)
    hxy, hxx = m.gradient(gx)
    half = (hxx + hyy) / 2
    root = m.sqrt(((hxx - hyy) / 2) ** 2 + hxy * hyx)
    large, small = half + root, half - root
    return m.where(m.abs(large) > m.abs(small), large, small)


@program((16, 60), lambda rng, n: (rng.random((n, n)) * 255,))
def sobel(m, image):
    p = m.pad(image, 1, mode="edge")
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    gy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    size = m.hypot(gx, gy)
    return size / size.max() > 0.3


@program((12, 40), lambda rng, n: (rng.random((n, n)),))
def median_filter(m, image):
    p = m.pad(image, 1, mode="reflect")
    h, w = image.shape
    near = m.stack([p[i : i + h, j : j + w] for i in range(3) for j in range(3)])
    return m.median(near, axis=0)


@program((16, 50), lambda rng, n: (rng.random((n, n)), 4))
def box_sums(m, image, k):
    total = m.zeros((image.shape[0] + 1, image.shape[1] + 1))
    total[1:, 1:] = image.cumsum(axis=0).cumsum(axis=1)
    return (total[k:, k:] - total[:-k, k:] - total[k:, :-k] + total[:-k, :-k]) / (k * k)


@program((8, 24), lambda rng, n: (rng.random((n, n)) * 255,))
def dithered(m, image):
    a = image.copy()
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            old = a[y, x]
            new = 255.0 if old > 127 else 0.0
            a[y, x] = new
            e = old - new
            if x + 1 < w:
                a[y, x + 1] += e * 7 / 16
            if y + 1 < h:
                a[y + 1, max(x - 1, 0) : x + 2] += e * 3 / 16
    return a


@program((200, 3000), lambda rng, n: (rng.random(n), rng.random(n), 10))
def azimuthal(m, data, radius, bins):
    top = radius.max()
    out = m.zeros(bins)
    for i in range(bins):
        low, high = top * i / bins, top * (i + 1) / bins
        mask = m.logical_and(low < radius, radius <= high)
        out[i] = data[mask].mean()
    return out


@program((16, 50), lambda rng, n: (rng.random((n, n, 4)), rng.random((n, n, 4))))
def horizontal_diffusion(m, u, c):
    lap = 4 * u[1:-1, 1:-1] - (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    fx = lap[1:, 1:-1] - lap[:-1, 1:-1]
    fx = m.where(fx * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0, 0, fx)
    fy = lap[1:-1, 1:] - lap[1:-1, :-1]
    fy = m.where(fy * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0, 0, fy)
    return u[2:-2, 2:-2] - c[2:-2, 2:-2] * (fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1])


@program((10, 40), lambda rng, n: (rng.random((n, n)), rng.random((n, n)), rng.random((n, n))))
def waves_2d(m, ex, ey, hz):
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(30):
        ey[0, :] = t
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz


@program((8, 24), lambda rng, n: (rng.random((n, n)),))
def seidel_rows(m, a):
    a = a.copy()
    n = len(a)
    for _ in range(5):
        for i in range(1, n - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2] + a[i + 1, 1:-1]
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0
    return a


@program((12, 32), lambda rng, n: (rng.random((9, n, n)) + 1,))
def lattice_boltzmann(m, f):
    c = m.array([(x, y) for x in (0, -1, 1) for y in (0, -1, 1)])
    w = m.full(9, 1 / 36)
    w[m.linalg.norm(c, axis=1) < 1.1] = 1 / 9
    w[0] = 4 / 9
    for _ in range(5):
        rho = f.sum(axis=0)
        u = m.tensordot(c, f, axes=([0], [0])) / rho
        cu = 3 * m.tensordot(c, u, axes=([1], [0]))
        usq = 1.5 * (u[0] ** 2 + u[1] ** 2)
        feq = rho * w[:, None, None] * (1 + cu + 0.5 * cu**2 - usq)
        f = f - 1.2 * (f - feq)
        for i in range(9):
            f[i] = m.roll(f[i], (int(c[i, 0]), int(c[i, 1])), axis=(0, 1))
    return f


@program((10, 30), lambda rng, n: (rng.choice(np.array([-1, 1]), (n, n)), rng.random((10, n, n))))
def ising(m, spins, draws):
    spins = spins.copy()
    i, j = m.indices(spins.shape)
    for t in range(len(draws)):
        for colour in (0, 1):
            near = m.roll(spins, 1, 0) + m.roll(spins, -1, 0) + m.roll(spins, 1, 1) + m.roll(spins, -1, 1)
            flip = ((i + j) % 2 == colour) & (draws[t] < m.exp(-0.8 * spins * near))
            spins[flip] *= -1
    return spins


@program((5, 16), lambda rng, n: (rng.random((n, n)) < 0.5,))
def components(m, mask):
    label = m.where(mask, m.arange(1, mask.size + 1).reshape(mask.shape), 0)
    while True:
        p = m.pad(label, 1)
        near = m.maximum.reduce([label, p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]])
        near = m.where(mask, near, 0)
        if m.array_equal(near, label):
            return label
        label = near


@program((16, 64), lambda rng, n: (rng.random((n, n)), rng.random(n) * (n - 1.01), rng.random(n) * (n - 1.01)))
def bilinear(m, image, y, x):
    y0, x0 = m.floor(y).astype(int), m.floor(x).astype(int)
    fy, fx = y - y0, x - x0
    top = image[y0, x0] * (1 - fx) + image[y0, x0 + 1] * fx
    low = image[y0 + 1, x0] * (1 - fx) + image[y0 + 1, x0 + 1] * fx
    return top * (1 - fy) + low * fy


# ---- learning


@program((8, 64), lambda rng, n: (rng.random((n, 20)), rng.random((20, 32)), rng.random((32, 10))))
def mlp_forward(m, x, w1, w2):
    h = m.maximum(x @ w1, 0)
    z = h @ w2
    e = m.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@program((16, 64), lambda rng, n: (rng.random((n, 8)), rng.integers(0, 3, n), rng.random((8, 16)), rng.random((16, 3))))
def mlp_training(m, x, y, w1, w2):
    w1, w2 = w1.copy(), w2.copy()
    n = len(x)
    for _ in range(30):
        h = m.tanh(x @ w1)
        z = h @ w2
        p = m.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[m.arange(n), y] -= 1
        p /= n
        g2 = h.T @ p
        g1 = x.T @ ((p @ w2.T) * (1 - h**2))
        w1 -= 0.1 * g1
        w2 -= 0.1 * g2
    return w1


@program((40, 300), lambda rng, n: (rng.standard_normal((n, 4)), rng.integers(0, 2, n)))
def logistic_regression(m, x, y):
    w, b = m.zeros(x.shape[1]), 0.0
    for _ in range(50):
        p = 1 / (1 + m.exp(-(x @ w + b)))
        w -= 0.1 * (x.T @ (p - y)) / len(y)
        b -= 0.1 * float((p - y).mean())
    return m.append(w, b)


@program((40, 200), lambda rng, n: (rng.standard_normal((n, 4)), rng.choice(np.array([-1.0, 1.0]), n)))
def perceptron(m, x, y):
    w = m.zeros(x.shape[1])
    for _ in range(3):
        for i in range(len(x)):
            if y[i] * m.dot(w, x[i]) <= 0:
                w += y[i] * x[i]
    return w


@program((30, 150), lambda rng, n: (rng.random((n, 3)), rng.integers(0, 4, n), rng.random((20, 3))))
def nearest_votes(m, x, label, asked):
    out = m.zeros(len(asked), dtype=int)
    for i in range(len(asked)):
        d = m.sqrt(m.sum((x - asked[i]) ** 2, axis=1))
        near = m.argsort(d, kind="stable")[:5]
        out[i] = m.argmax(m.bincount(label[near], minlength=4))
    return out


@program((40, 300), lambda rng, n: (rng.standard_normal((n, 4)), rng.integers(0, 3, n), rng.standard_normal((10, 4))))
def naive_bayes(m, x, y, asked):
    found = []
    for c in m.unique(y):
        mine = x[y == c]
        mean, var = mine.mean(axis=0), mine.var(axis=0)
        prior = m.log(len(mine) / len(x))
        found.append(prior - 0.5 * m.sum(m.log(2 * math.pi * var) + (asked - mean) ** 2 / var, axis=1))
    return m.argmax(m.stack(found), axis=0)


@program((8, 24), lambda rng, n: (rng.random((n, 16)), rng.random((16, 48)) - 0.5))
def attention(m, x, w):
    q, k, v = m.split(x @ w, 3, axis=-1)
    s = q @ k.T / math.sqrt(16)
    s = m.where(m.tril(m.ones(s.shape, dtype=bool)), s, -1e9)
    s = m.exp(s - s.max(axis=-1, keepdims=True))
    s = s / s.sum(axis=-1, keepdims=True)
    y = s @ v
    mean, var = y.mean(axis=-1, keepdims=True), y.var(axis=-1, keepdims=True)
    return (y - mean) / m.sqrt(var + 1e-5)


@program((20, 60), lambda rng, n: (np.sign(rng.standard_normal((3, n))), np.sign(rng.standard_normal(n))))
def hopfield(m, patterns, state):
    w = sum(m.outer(p, p) for p in patterns) / len(patterns)
    w[m.diag_indices(len(state))] = 0
    state = state.copy()
    for _ in range(3):
        for i in range(len(state)):
            state[i] = 1 if w[i] @ state >= 0 else -1
    return state


# ---- sequences, words and bits


@program((20, 100), lambda rng, n: (rng.integers(0, 256, n).astype(np.uint8),))
def crc16(m, data):
    crc = 0xFFFF
    for b in data:
        now = 0xFF & int(b)
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if (crc & 1) ^ (now & 1) else crc >> 1
            now >>= 1
    return m.array([~crc & 0xFFFF])


@program((50, 400), lambda rng, n: (n,))
def shift_register(m, n):
    state = m.array([1, 0, 0, 1, 1, 0, 1])
    out = m.empty(n, dtype=int)
    for i in range(n):
        bit = state[6] ^ state[5]
        out[i] = state[6]
        state[1:] = state[:-1].copy()
        state[0] = bit
    return out


@program((64, 1024), lambda rng, n: (rng.random(n) + 1j * rng.random(n),))
def stockham(m, x):
    n = len(x)
    y = x.reshape(1, n)
    while y.shape[1] > 1:
        half = y.shape[1] // 2
        even, odd = y[:, :half], y[:, half:]
        turn = m.exp(-1j * math.pi * m.arange(y.shape[0]) / y.shape[0])[:, None]
        y = m.vstack([even + turn * odd, even - turn * odd])
    return y.ravel()


@program((64, 512), lambda rng, n: (rng.random(n) + 0j,))
def bit_reversed_fft(m, x):
    n = len(x)
    bits = n.bit_length() - 1
    at = m.arange(n)
    rev = m.zeros(n, dtype=int)
    for b in range(bits):
        rev |= ((at >> b) & 1) << (bits - 1 - b)
    x = x[rev]
    size = 2
    while size <= n:
        w = m.exp(-2j * m.pi * m.arange(size // 2) / size)
        y = x.reshape(-1, size)
        odd = y[:, size // 2 :] * w
        x = m.concatenate([y[:, : size // 2] + odd, y[:, : size // 2] - odd], axis=1).ravel()
        size *= 2
    return x


@program((20, 80), lambda rng, n: (rng.random(n), rng.random(n)))
def time_warping(m, a, b):
    cost = m.full((len(a) + 1, len(b) + 1), m.inf)
    cost[0, 0] = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost[i, j] = abs(a[i - 1] - b[j - 1]) + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[1:, 1:]


@program((30, 120), lambda rng, n: (rng.integers(0, 4, n), rng.integers(0, 4, n)))
def alignment_diagonals(m, a, b):
    n = len(a)
    h = m.zeros((n + 1, n + 1), dtype=int)
    for d in range(2, 2 * n + 1):
        i = m.arange(max(1, d - n), min(n, d - 1) + 1)
        j = d - i
        same = m.where(a[i - 1] == b[j - 1], 2, -1)
        h[i, j] = m.maximum(0, m.maximum(h[i - 1, j - 1] + same, m.maximum(h[i - 1, j], h[i, j - 1]) - 1))
    return h


@program((100, 2000), lambda rng, n: (rng.integers(0, 3, n),))
def run_lengths(m, x):
    starts = m.flatnonzero(m.concatenate([m.array([True]), x[1:] != x[:-1]]))
    lengths = m.diff(m.append(starts, len(x)))
    return m.stack([x[starts], lengths])


@program((50, 500), lambda rng, n: (rng.random(n).cumsum(),))
def moving_statistics(m, x):
    w = 10
    fast = m.convolve(x, m.ones(w) / w, mode="valid")
    rows = m.lib.stride_tricks.sliding_window_view(x, w)
    return (x[w - 1 :] - fast) / (rows.std(axis=1) + 1e-9)


@program((100, 1000), lambda rng, n: (rng.standard_normal(n).cumsum() + 100,))
def indicators(m, price):
    change = m.diff(price)
    up, down = m.where(change > 0, change, 0), m.where(change < 0, -change, 0)
    average = m.zeros(len(price))
    average[0] = price[0]
    for i in range(1, len(price)):
        average[i] = 0.1 * price[i] + 0.9 * average[i - 1]
    top = m.maximum.accumulate(price)
    return m.array([float(up.mean()), float(down.mean()), float((price / top - 1).min()), float(average[-1])])


@program((50, 400), lambda rng, n: (rng.random(n), rng.integers(0, n, (50, n))))
def bootstrap(m, x, picks):
    means = m.empty(len(picks))
    for i in range(len(picks)):
        means[i] = m.mean(x[picks[i]])
    return m.percentile(means, [2.5, 50, 97.5])


@program((5, 12), lambda rng, n: (rng.random((n, n)) < 0.3, 0))
def breadth_first(m, adjacent, start):
    n = len(adjacent)
    depth = m.full(n, -1)
    depth[start] = 0
    front = m.array([start])
    d = 0
    while front.size:
        d += 1
        near = m.any(adjacent[front], axis=0)
        front = m.nonzero(near & (depth < 0))[0]
        depth[front] = d
    return depth


@program((10, 40), lambda rng, n: (rng.random((n, n)) * 10,))
def prim_tree(m, w):
    n = len(w)
    inside = m.zeros(n, dtype=bool)
    best = m.full(n, m.inf)
    best[0] = 0
    total = 0.0
    for _ in range(n):
        k = int(m.argmin(m.where(inside, m.inf, best)))
        inside[k] = True
        total += float(best[k])
        best = m.where(inside, best, m.minimum(best, w[k]))
    return m.array([total])


@program((20, 100), lambda rng, n: (rng.random((n, 4)), rng.random((n, 3))))
def rotations(m, q, p):
    q = q / m.linalg.norm(q, axis=1, keepdims=True)
    w, v = q[:, :1], q[:, 1:]
    t = 2 * m.cross(v, p)
    return p + w * t + m.cross(v, t)


@program((50, 400), lambda rng, n: (n,))
def runge_kutta_three(m, steps):
    def f(y):
        return m.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

    y, h = m.array([1.0, 1.0, 1.0]), 0.01
    for _ in range(steps):
        a = f(y)
        b = f(y + h / 2 * a)
        c = f(y + h / 2 * b)
        d = f(y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
    return y * 1e-9


@program((20, 100), lambda rng, n: (n,))
def legendre(m, n):
    x = m.linspace(-1, 1, 51)
    p = [m.ones_like(x), x]
    for k in range(2, n):
        p.append(((2 * k - 1) * x * p[-1] - (k - 1) * p[-2]) / k)
    return m.array(p)


@program((20, 200), lambda rng, n: (rng.random(n) * 8 + 1,))
def bisection(m, target):
    low, high = m.zeros_like(target), m.full_like(target, 10.0)
    for _ in range(40):
        middle = (low + high) / 2
        over = middle * middle > target
        high[over] = middle[over]
        low[~over] = middle[~over]
    return low


@program((30, 200), lambda rng, n: (rng.random((n, 3)) * 10, 10.0))
def pair_energies(m, x, box):
    force = m.zeros(x.shape)
    energy = 0.0
    for i in range(len(x) - 1):
        d = x[i] - x[i + 1 :]
        d -= box * m.rint(d / box)
        r2 = m.sum(d * d, axis=1)
        near = r2 < 9.0
        inv = 1 / (r2[near] + 0.5)
        s6 = inv**3
        energy += 4 * m.sum(s6 * s6 - s6)
        f = ((48 * s6 * s6 - 24 * s6) * inv)[:, None] * d[near]
        force[i] += f.sum(axis=0)
        force[i + 1 :][near] -= f
    return m.append(force.ravel(), energy)


@program((100, 1000), lambda rng, n: (rng.random(n) * 100, rng.random(n) * 50 + 50))
def arc_distance(m, x, y):
    a, b = m.radians(x), m.radians(y)
    h = m.sin((b - a) / 2) ** 2 + m.cos(a) * m.cos(b) * m.sin((b - a) / 3) ** 2
    return 2 * m.arctan2(m.sqrt(h), m.sqrt(1 - h))


@program((10, 60), lambda rng, n: (rng.random((n, n)),))
def go_fast(m, a):
    trace = 0.0
    for i in range(len(a)):
        trace += m.tanh(a[i, i])
    return a + trace


@program((3, 9), lambda rng, n: (rng.integers(0, 10, (9, 9)), n))
def sudoku_marks(m, board, turns):
    allowed = m.ones((9, 9, 9), dtype=bool)
    for _ in range(turns):
        for r in range(9):
            for c in range(9):
                v = int(board[r, c])
                if v:
                    allowed[r, :, v - 1] = False
                    allowed[:, c, v - 1] = False
                    allowed[r // 3 * 3 : r // 3 * 3 + 3, c // 3 * 3 : c // 3 * 3 + 3, v - 1] = False
    return allowed.sum(axis=2)


@program((50, 500), lambda rng, n: (rng.standard_normal(n), np.sort(rng.random(9))))
def quantile_bins(m, x, q):
    edges = m.quantile(x, q)
    bins = m.digitize(x, edges)
    count = m.bincount(bins, minlength=len(q) + 1)
    sums = m.bincount(bins, weights=x, minlength=len(q) + 1)
    return sums / m.maximum(count, 1)


@program((10, 60), lambda rng, n: (rng.random(n).cumsum(), rng.random(n), rng.random(30)))
def spline(m, x, y, at):
    n = len(x)
    h = m.diff(x)
    a = m.zeros((n, n))
    b = m.zeros(n)
    a[0, 0] = a[-1, -1] = 1
    for i in range(1, n - 1):
        a[i, i - 1 : i + 2] = m.array([h[i - 1], 2 * (h[i - 1] + h[i]), h[i]])
        b[i] = 3 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    c = m.linalg.solve(a, b)
    t = x[0] + at * (x[-1] - x[0])
    k = m.clip(m.searchsorted(x, t) - 1, 0, n - 2)
    d = t - x[k]
    slope = (y[k + 1] - y[k]) / h[k] - h[k] * (2 * c[k] + c[k + 1]) / 3
    return y[k] + slope * d + c[k] * d**2 + (c[k + 1] - c[k]) / (3 * h[k]) * d**3


@program((20, 60), lambda rng, n: (rng.random((n, 5)), rng.random((n, 5))))
def swarm(m, x, v):
    x, v = x.copy(), v.copy()

    def cost(x):
        return (x**2 - 10 * m.cos(2 * m.pi * x) + 10).sum(axis=1)

    best, worth = x.copy(), cost(x)
    for _ in range(30):
        top = best[m.argmin(worth)]
        v = 0.7 * v + 0.5 * (best - x) + 0.5 * (top - x)
        x = x + v
        now = cost(x)
        better = now < worth
        best[better] = x[better]
        worth = m.where(better, now, worth)
    return worth
