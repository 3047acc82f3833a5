"""The rows of the field with matrices, transforms and small whole programs."""

import numpy as np
from field_rows import Row, laid, numbers, positive, some

# ---- matrices


def product(xp, a, b):
    return a @ b


def products():
    shapes = {
        "512 x 512": ((512, 512), (512, 512)),
        "100 x 100": ((100, 100), (100, 100)),
        "20000 x 64 by 64 x 32": ((20_000, 64), (64, 32)),
        "20000 x 64 by 64 x 64": ((20_000, 64), (64, 64)),
        "200000 x 3 by 3 x 3": ((200_000, 3), (3, 3)),
        "64 x 20000 by 20000 x 64": ((64, 20_000), (20_000, 64)),
        "2000 x 8 by 8 x 2000": ((2000, 8), (8, 2000)),
        "2000 x 2000 by a vector": ((2000, 2000), (2000,)),
        "a vector by 2000 x 2000": ((2000,), (2000, 2000)),
        "300 of 64 x 64": ((300, 64, 64), (300, 64, 64)),
        "4000 of 16 x 16": ((4000, 16, 16), (4000, 16, 16)),
        "50000 of 4 x 4 by vectors": ((50_000, 4, 4), (50_000, 4, 1)),
        "64 of 128 x 64 by one 64 x 64": ((64, 128, 64), (64, 64)),
    }
    rows = [Row(f"product: {k} f32", some("float32", *v), product, tolerance=1e-3) for k, v in shapes.items()]
    for name in ("512 x 512", "20000 x 64 by 64 x 32", "300 of 64 x 64"):
        rows.append(Row(f"product: {name} f64", some("float64", *shapes[name]), product))
    square = ((300, 300), (300, 300))
    return rows + [
        Row("product: 300 x 300 i32", some("int32", *square), product),
        Row("product: 300 x 300 c64", some("complex64", *square), product, tolerance=1e-3),
        Row("product: 300 x 300 f16", some("float16", *square), product),
        Row("product: gram matrix", some("float32", (20_000, 50)), lambda xp, a: a.T @ a, tolerance=1e-3),
        Row("product: a transposed one", some("float32", (512, 512), (512, 512)), lambda xp, a, b: a @ b.T),
        Row("product: outer", some("float32", (2000,), (1500,)), lambda xp, a, b: xp.outer(a, b)),
        Row("product: einsum bij,bj->bi", some("float32", (500, 60, 60), (500, 60)), rows_by_vectors),
        Row("product: einsum i,ij,j", some("float64", (800,), (800, 800), (800,)), form),
        Row("product: tensordot", some("float32", (30, 40, 50), (40, 50, 60)), lambda xp, a, b: xp.tensordot(a, b, 2)),
        Row("product: kron", some("float64", (40, 40), (30, 30)), lambda xp, a, b: xp.kron(a, b)),
    ]


def rows_by_vectors(xp, a, b):
    return xp.einsum("bij,bj->bi", a, b)


def form(xp, a, m, b):
    return xp.einsum("i,ij,j->", a, m, b)


def definite(kind, *shape):
    def make(rng):
        a = rng.standard_normal(shape)
        return [(a @ np.swapaxes(a, -1, -2) / shape[-1] + np.eye(shape[-1])).astype(kind)]

    return make


def regular(kind, shape, sides):
    def make(rng):
        a = numbers(rng, kind, *shape) + np.asarray(2 * np.sqrt(shape[-1]) * np.eye(shape[-1]), kind)
        return [a, numbers(rng, kind, *shape[:-1], sides)]

    return make


def triangle(xp, a):
    """R without its signs, which are free."""
    return xp.abs(xp.linalg.qr(a)[1])


def factorizations():
    tall = some("float64", (20_000, 32))

    def solve(xp, a, b):
        return xp.linalg.solve(a, b)

    def inverse(xp, a):
        return xp.linalg.inv(a)

    least = {"jax": lambda xp, a, b: xp.linalg.lstsq(a, b)[0]}
    return [
        Row("factor: Cholesky 500", definite("float64", 500, 500), lambda xp, a: xp.linalg.cholesky(a)),
        Row("factor: Cholesky 500 of 30", definite("float64", 500, 30, 30), lambda xp, a: xp.linalg.cholesky(a)),
        Row("factor: solve 500", regular("float64", (500, 500), 1), solve),
        Row("factor: solve 1000 of 16", regular("float64", (1000, 16, 16), 2), solve),
        Row("factor: inverse 300", definite("float64", 300, 300), inverse),
        Row("factor: inverse 5000 of 4", definite("float64", 5000, 4, 4), inverse),
        Row("factor: determinants 5000 of 3", definite("float64", 5000, 3, 3), lambda xp, a: xp.linalg.det(a)),
        Row("factor: QR 20000 x 32", tall, triangle),
        Row("factor: QR 300", some("float64", (300, 300)), triangle, tolerance=1e-6),
        Row("factor: QR 1000 of 20 x 8", some("float64", (1000, 20, 8)), triangle),
        Row("factor: singular values 200", some("float64", (200, 200)), lambda xp, a: xp.linalg.svdvals(a)),
        Row("factor: singular values 20000 x 32", tall, lambda xp, a: xp.linalg.svdvals(a)),
        Row("factor: symmetric values 200", definite("float64", 200, 200), lambda xp, a: xp.linalg.eigvalsh(a)),
        Row("factor: symmetric values 2000 of 3", definite("float64", 2000, 3, 3), lambda xp, a: xp.linalg.eigvalsh(a)),
        Row("factor: pseudoinverse 300 x 40", some("float64", (300, 40)), lambda xp, a: xp.linalg.pinv(a)),
        Row(
            "factor: least squares 20000 x 32",
            some("float64", (20_000, 32), (20_000,)),
            squares,
            tolerance=1e-6,
            **least,
        ),
        Row(
            "factor: matrix power 10 of 200", definite("float64", 200, 200), lambda xp, a: xp.linalg.matrix_power(a, 10)
        ),
    ]


def squares(xp, a, b):
    return xp.linalg.lstsq(a, b)[0]


# ---- transforms


def transforms():
    def spectrum(name, **options):
        return lambda xp, x: getattr(xp.fft, name)(x, **options)

    rows = [
        Row(f"transform: {name}, {kind} {n}", some(kind, (n,)), spectrum(name))
        for name, kind, n in (
            ("fft", "complex128", 1 << 18),
            ("fft", "complex64", 1 << 18),
            ("fft", "complex128", 1024),
            ("fft", "complex128", 100_003),
            ("rfft", "float64", 1_000_000),
            ("rfft", "float32", 4096),
            ("ifft", "complex128", 100_000),
        )
    ]
    image = some("float64", (512, 512))
    return rows + [
        Row("transform: fft of 1000 rows of 256", some("complex64", (1000, 256)), spectrum("fft")),
        Row("transform: fft over 0 of 512 x 512", some("complex128", (512, 512)), spectrum("fft", axis=0)),
        Row("transform: fft2 of 512 x 512", some("complex128", (512, 512)), spectrum("fft2")),
        Row("transform: rfft2 of 512 x 512", image, spectrum("rfft2")),
        Row("transform: fftn of 64 x 64 x 64", some("complex64", (64, 64, 64)), spectrum("fftn")),
        Row("transform: blur by spectrum", some("float64", (512, 512), (512, 512)), blur),
        Row("transform: power spectrum", some("float64", (200, 2048)), lambda xp, x: xp.abs(xp.fft.rfft(x)) ** 2),
    ]


def blur(xp, x, k):
    return xp.fft.irfft2(xp.fft.rfft2(x) * xp.fft.rfft2(k), s=x.shape)


# ---- small whole programs


def softmax(axis):
    def work(xp, x):
        e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
        return e / xp.sum(e, axis=axis, keepdims=True)

    return work


def normal(axis):
    def work(xp, x):
        m = xp.mean(x, axis=axis, keepdims=True)
        return (x - m) / xp.sqrt(xp.var(x, axis=axis, keepdims=True) + 1e-5)

    return work


def layer_norm(xp, x, gain, bias):
    m = xp.mean(x, axis=-1, keepdims=True)
    v = xp.mean((x - m) ** 2, axis=-1, keepdims=True)
    return (x - m) / xp.sqrt(v + 1e-5) * gain + bias


def logsumexp(xp, x):
    m = xp.max(x, axis=1, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - m), axis=1)) + m[:, 0]


def nearest(xp, x, c):
    """A step of k-means: the nearest centre of each point."""
    d = xp.sum(c * c, axis=1)[None, :] - 2 * (x @ c.T)
    return xp.argmin(d, axis=1)


def centres(xp, x, c):
    one = (nearest(xp, x, c)[:, None] == xp.arange(c.shape[0])[None, :]).astype(x.dtype)
    return (one.T @ x) / (xp.sum(one, axis=0)[:, None] + 1e-9)


def components(xp, x):
    m = x - xp.mean(x, axis=0)
    return xp.linalg.eigvalsh(m.T @ m / (x.shape[0] - 1))


def images(xp, x):
    y = x.astype(xp.float32) / 255
    m = xp.mean(y, axis=(1, 2, 3), keepdims=True)
    return (y - m) / (xp.std(y, axis=(1, 2, 3), keepdims=True) + 1e-6)


def channels(xp, x):
    y = x.astype(xp.float32) / 255
    return laid(xp, xp.permute_dims((y - xp.mean(y, axis=(0, 1, 2))) / xp.std(y, axis=(0, 1, 2)), (0, 3, 1, 2)))


def grey(xp, x):
    return (0.299 * x[..., 0] + 0.587 * x[..., 1] + 0.114 * x[..., 2]).astype(xp.uint8)


def distances(xp, a, b):
    return xp.sqrt(xp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1))


def distances_by_product(xp, a, b):
    s = xp.sum(a * a, axis=1)[:, None] + xp.sum(b * b, axis=1)[None, :] - 2 * (a @ b.T)
    return xp.sqrt(xp.maximum(s, 0))


def layer(xp, x, w, b):
    return xp.tanh(x @ w + b)


def gelu(xp, x, w, v):
    h = x @ w
    return (0.5 * h * (1 + xp.tanh(0.7978845608 * (h + 0.044715 * h * h * h)))) @ v


def attention(xp, q, k, v):
    return softmax(-1)(xp, q @ xp.swapaxes(k, -1, -2) / 8) @ v


def cosine(xp, a, b):
    n = xp.sqrt(xp.sum(a * a, axis=1)) * xp.sqrt(xp.sum(b * b, axis=1))
    return xp.sum(a * b, axis=1) / n


def logistic(xp, x, y, w):
    p = 1 / (1 + xp.exp(-(x @ w)))
    return x.T @ (p - y) / x.shape[0]


def options(xp, s, k, t):
    d = (xp.log(s / k) + 0.065 * t) / (0.3 * xp.sqrt(t))
    e = d - 0.3 * xp.sqrt(t)
    return s / (1 + xp.exp(-1.702 * d)) - k * xp.exp(-0.02 * t) / (1 + xp.exp(-1.702 * e))


def mandelbrot(xp, x, y):
    a, b = x * 0, y * 0
    n = a
    for _ in range(20):
        a, b = xp.clip(a * a - b * b + x, -4, 4), xp.clip(2 * a * b + y, -4, 4)
        n = n + (a * a + b * b < 4)
    return n


def forces(xp, p, m):
    d = p[None, :, :] - p[:, None, :]
    r = xp.sum(d * d, axis=-1) + 0.01
    return xp.sum(d * (m / (r * xp.sqrt(r)))[:, :, None], axis=1)


def horner(xp, x):
    y = x * 0.1
    for k in range(12):
        y = y * x + 1 / (k + 1)
    return y


def moving(xp, x):
    c = xp.cumsum(x)
    return (c[50:] - c[:-50]) / 50


def circle(xp, x, y):
    return 4 * xp.mean((x * x + y * y < 1).astype(xp.float64))


def one_hot(xp, k):
    return (k[:, None] == xp.arange(50)[None, :]).astype(xp.float32)


def confusion(xp, a, b):
    return xp.bincount(a * 11 + b, minlength=121)


def ridge(xp, x, y):
    return xp.linalg.solve(x.T @ x + xp.eye(x.shape[1], dtype=x.dtype), x.T @ y)


def power_iteration(xp, a, v):
    for _ in range(20):
        v = a @ v
        v = v / xp.sqrt(xp.sum(v * v))
    return v


def rotary(xp, x, c, s):
    a, b = x[..., ::2], x[..., 1::2]
    return xp.reshape(xp.stack([a * c - b * s, a * s + b * c], axis=-1), x.shape)


def adam(xp, w, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return w - 0.001 * m / (xp.sqrt(v) + 1e-8), m, v


def programs():
    f = "float32"
    points = some(f, (20_000, 16), (50, 16))
    pixels = some("uint8", (64, 100, 100, 3))
    return [
        Row("program: softmax of rows of 100", some(f, (20_000, 100)), softmax(1), numba="softmax"),
        Row("program: softmax of rows of 1000", some(f, (2000, 1000)), softmax(1), numba="softmax"),
        Row("program: softmax over 0 of 2000 x 1000", some(f, (2000, 1000)), softmax(0)),
        Row("program: softmax over 1 of 32 x 50 x 1000", some(f, (32, 50, 1000)), softmax(1)),
        Row("program: log sum exp of rows of 1000", some(f, (2000, 1000)), logsumexp),
        Row("program: layer norm of 2000 x 768", some(f, (2000, 768), (768,), (768,)), layer_norm, tolerance=1e-3),
        Row("program: standard columns", some(f, (20_000, 50)), normal(0), tolerance=1e-3),
        Row("program: batch norm", some(f, (32, 16, 50, 50)), normal((0, 2, 3)), tolerance=1e-3),
        Row("program: k-means, nearest", points, nearest),
        Row("program: k-means, centres", points, centres, tolerance=1e-3),
        Row("program: principal components", some("float64", (20_000, 30)), components),
        Row("program: images to floats", pixels, images, tolerance=1e-3),
        Row("program: channels first", pixels, channels, tolerance=2e-2),
        Row("program: grey of bytes", pixels, grey, tolerance=1e-2),
        Row("program: distances of 1000 in 3d", some(f, (1000, 3), (1000, 3)), distances, numba="distances"),
        Row("program: distances of 300 in 64d", some(f, (300, 64), (300, 64)), distances, numba="distances"),
        Row("program: distances by a product", some(f, (2000, 32), (1000, 32)), distances_by_product, tolerance=1e-2),
        Row("program: tanh of a product", some(f, (2000, 256), (256, 256), (256,)), layer, tolerance=1e-2),
        Row("program: gelu between products", some(f, (500, 128), (128, 512), (512, 128)), gelu, tolerance=1e-3),
        Row("program: attention", some(f, (8, 200, 64), (8, 200, 64), (8, 200, 64)), attention, tolerance=1e-3),
        Row("program: cosines of rows", some(f, (20_000, 64), (20_000, 64)), cosine),
        Row("program: logistic gradient", some("float64", (20_000, 30), (20_000,), (30,)), logistic),
        Row("program: options", positive("float64", (500_000,), (500_000,), (500_000,)), options, numba="options"),
        Row("program: Mandelbrot, 20 steps", some("float64", (300_000,), (300_000,)), mandelbrot),
        Row("program: forces of 500 bodies", lambda rng: [numbers(rng, "float64", 500, 3), rng.random(500)], forces),
        Row("program: polynomial of degree 12", some("float64", (1_000_000,)), horner),
        Row("program: moving average", some("float64", (1_000_000,)), moving),
        Row("program: circle by throws", lambda rng: list(rng.random((2, 2_000_000))), circle),
        Row("program: one-hot", lambda rng: [rng.integers(0, 50, 50_000)], one_hot),
        Row("program: confusion", some("int64", (500_000,), (500_000,)), confusion, jax=None),
        Row("program: correlations", some("float64", (50, 10_000)), lambda xp, x: xp.corrcoef(x)),
        Row("program: ridge regression", some("float64", (20_000, 40), (20_000,)), ridge),
        Row("program: power iteration", definite_and_vector, power_iteration),
        Row("program: rotary embedding", some(f, (8, 500, 64), (500, 32), (500, 32)), rotary),
        Row("program: Adam step", lambda rng: list(rng.random((4, 500_000)).astype(f)), adam),
    ]


def definite_and_vector(rng):
    return [*definite("float64", 500, 500)(rng), rng.random(500)]


def rows():
    return products() + factorizations() + transforms() + programs()
