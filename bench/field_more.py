"""Rows of the field of kinds that the first two files have not: odd lengths, middle axes, ties, small systems, bits."""

import numpy as np
from field_programs import definite, regular
from field_rows import Row, laid, numbers, over, positive, random_bits, some

# ---- elements and reductions


def bits(xp, x, y):
    return ((x & y) << 3) ^ (x >> 2) | ~y


def agreement(xp, a, b):
    return xp.sum((a & b) | ~(a | b), axis=1)


def product_and_phase(xp, x, y):
    z = x * xp.conj(y)
    return xp.real(z) / (xp.abs(z) + 1)


def mixed(xp, x, y, z):
    return x[:, None, None] * y[None, :, None] + z


def integer_statistics(xp, x):
    return xp.mean(x, axis=1), xp.var(x, axis=1)


def elements():
    n = 1_000_001
    return [
        Row("more: bits of int32, 1000001", some("int32", (n,), (n,)), bits),
        Row("more: bits of uint8, 3000001", some("uint8", (3 * n,), (3 * n,)), lambda xp, x, y: (x ^ y) & ~y),
        Row("more: agreement of bool rows of 77", some("bool", (20_000, 77), (20_000, 77)), agreement),
        Row("more: all along the middle", some("bool", (100, 77, 130)), over("all", 1)),
        Row("more: conjugate product", some("complex64", (n,), (n,)), product_and_phase),
        Row("more: arctan2 float64", some("float64", (n,), (n,)), lambda xp, x, y: xp.arctan2(x, y)),
        Row(
            "more: int16 by int64",
            lambda rng: [numbers(rng, "int16", n), numbers(rng, "int64", n)],
            lambda xp, x, y: x * y,
        ),
        Row("more: three ways spread", some("float32", (101,), (77,), (101, 77, 129)), mixed),
        Row("more: column means of int16", some("int16", (5000, 301)), over("mean", 0)),
        Row("more: mean and variance of int32 rows", some("int32", (3001, 333)), integer_statistics),
        Row("more: sum over 1 of 33 x 77 x 401 float64", some("float64", (33, 77, 401)), over("sum", 1)),
        Row("more: max over 1 of 33 x 77 x 401", some("float32", (33, 77, 401)), over("max", 1)),
        Row("more: argmax over 1 of 33 x 77 x 401", some("float32", (33, 77, 401)), over("argmax", 1)),
        Row("more: float16 sums of rows", some("float16", (2001, 501)), over("sum", 1), tolerance=5e-2),
        Row("more: float16 largest over 0", some("float16", (2001, 501)), over("max", 0)),
        Row("more: float16 means over 0", some("float16", (2001, 501)), over("mean", 0), tolerance=5e-2),
        Row("more: int8 largest of rows of 31", some("int8", (50_001, 31)), over("max", 1)),
        Row("more: complex sums over 0", some("complex128", (2001, 301)), over("sum", 0)),
    ]


# ---- scans, order, sets


def scans():
    pairs = [
        (0, "cumsum", "float64", (3001, 301)),
        (0, "cumprod", "float32", (1001, 501)),
        (1, "cumsum", "int32", (33, 501, 77)),
    ]
    return [
        Row(
            f"more: {name} over {axis}, {kind} {len(shape)}-d",
            positive(kind, shape) if kind[0] == "f" else some(kind, shape),
            over(name, axis),
            tolerance=1e-3 if kind == "float32" else None,
        )
        for axis, name, kind, shape in pairs
    ]


def order():
    ties = some("int32", (300_001,))
    three = lambda rng: [rng.integers(0, 100, 200_001) for _ in range(3)]  # noqa: E731 - beside the row that uses it
    rows = some("float32", (5001, 129))
    return [
        Row("more: argsort with ties", ties, lambda xp, x: xp.argsort(x, stable=True)),
        Row("more: argsort of bytes", some("uint8", (1_000_001,)), lambda xp, x: xp.argsort(x, stable=True)),
        Row(
            "more: sort int8 rows",
            lambda rng: [random_bits(rng, "int8", 999_000).reshape(3000, 333)],
            lambda xp, x: xp.sort(x, axis=1),
        ),
        Row("more: lexsort of three", three, lambda xp, a, b, c: xp.lexsort((a, b, c))),
        Row("more: partition of rows", rows, lambda xp, x: xp.sort(xp.partition(x, 9, axis=1)[:, :9], axis=1)),
        Row("more: quantiles of rows", rows, lambda xp, x: xp.quantile(x, xp.asarray([0.1, 0.9]), axis=1)),
        Row(
            "more: unique of bytes with counts",
            some("uint8", (1_000_001,)),
            lambda xp, x: xp.unique(x, return_counts=True),
            jit=False,
        ),
        Row(
            "more: unique float32 with inverse",
            lambda rng: [np.round(rng.standard_normal(200_001), 2).astype("f4")],
            lambda xp, x: xp.unique(x, return_inverse=True),
            jit=False,
        ),
        Row(
            "more: isin of few",
            lambda rng: [rng.integers(0, 10_000, 500_001), rng.integers(0, 10_000, 20)],
            lambda xp, x, y: xp.isin(x, y),
        ),
    ]


# ---- movement, stencils


def twenty_seven(xp, u):
    n = [k - 2 for k in u.shape]
    parts = [u[i : i + n[0], j : j + n[1], k : k + n[2]] for i in range(3) for j in range(3) for k in range(3)]
    return sum(parts[1:], parts[0]) / 27


def edges(xp, u):
    x = u.astype(xp.int32)
    a = x[1:-1, 2:] - x[1:-1, :-2]
    b = x[2:, 1:-1] - x[:-2, 1:-1]
    return xp.clip(xp.abs(a) + xp.abs(b), 0, 255).astype(xp.uint8)


def blend(xp, a, b):
    return ((a.astype(xp.uint16) * 3 + b.astype(xp.uint16)) >> 2).astype(xp.uint8)


def movement():
    image = some("uint8", (501, 701, 3))
    return [
        Row("more: 27 points in 3d", some("float64", (80, 81, 83)), twenty_seven),
        Row("more: edges of a byte image", some("uint8", (1001, 1203)), edges),
        Row("more: blend of byte images", some("uint8", (1001, 1203), (1001, 1203)), blend),
        Row("more: flip an image", image, lambda xp, x: laid(xp, xp.flip(x, axis=1))),
        Row("more: colours turned", image, lambda xp, x: laid(xp, x[..., ::-1])),
        Row(
            "more: middle axes exchanged, int16",
            some("int16", (50, 77, 101)),
            lambda xp, x: laid(xp, xp.permute_dims(x, (0, 2, 1))),
        ),
        Row("more: complex transposed", some("complex64", (801, 1203)), lambda xp, x: laid(xp, x.T)),
    ]


# ---- matrices, transforms


def matrices():
    f, d = "float32", "float64"
    return [
        Row("more: solve 5000 of 4", regular(d, (5000, 4, 4), 1), lambda xp, a, b: xp.linalg.solve(a, b)),
        Row(
            "more: solve 300 of 32, f32",
            regular(f, (300, 32, 32), 3),
            lambda xp, a, b: xp.linalg.solve(a, b),
            tolerance=1e-2,
        ),
        Row("more: inverse 2000 of 8", definite(d, 2000, 8, 8), lambda xp, a: xp.linalg.inv(a)),
        Row("more: inverse 300 of 24", definite(d, 300, 24, 24), lambda xp, a: xp.linalg.inv(a)),
        Row("more: Cholesky 5000 of 4", definite(d, 5000, 4, 4), lambda xp, a: xp.linalg.cholesky(a)),
        Row(
            "more: Cholesky 2000 of 12, f32",
            definite(f, 2000, 12, 12),
            lambda xp, a: xp.linalg.cholesky(a),
            tolerance=1e-3,
        ),
        Row("more: determinants 2000 of 8", definite(d, 2000, 8, 8), lambda xp, a: xp.linalg.det(a)),
        Row(
            "more: complex 4000 of 5 x 5",
            some("complex64", (4000, 5, 5), (4000, 5, 5)),
            lambda xp, a, b: a @ b,
            tolerance=1e-3,
        ),
        Row("more: 10000 of 7 x 5 by 5 x 9", some(d, (10_000, 7, 5), (10_000, 5, 9)), lambda xp, a, b: a @ b),
        Row("more: int64 200 x 200", some("int64", (201, 201), (201, 201)), lambda xp, a, b: a @ b),
        Row(
            "more: einsum ijk,kl->ijl",
            some(f, (50, 61, 33), (33, 29)),
            lambda xp, a, b: xp.einsum("ijk,kl->ijl", a, b),
            tolerance=1e-3,
        ),
        Row(
            "more: einsum bhqd,bhkd->bhqk",
            some(f, (4, 8, 65, 32), (4, 8, 65, 32)),
            lambda xp, a, b: xp.einsum("bhqd,bhkd->bhqk", a, b),
            tolerance=1e-3,
        ),
        Row(
            "more: einsum ii->i and ij->j",
            some(d, (1001, 1001)),
            lambda xp, a: xp.einsum("ii->i", a) + xp.einsum("ij->j", a),
        ),
        Row("more: einsum bi,bj->bij", some(f, (2000, 17), (2000, 23)), lambda xp, a, b: xp.einsum("bi,bj->bij", a, b)),
        Row("more: kron of float32", some(f, (31, 17), (23, 41)), lambda xp, a, b: xp.kron(a, b)),
        Row("more: cross products", some(d, (100_000, 3), (100_000, 3)), lambda xp, a, b: xp.cross(a, b)),
    ]


def transforms():
    return [
        Row("more: fft of 3 ** 11", some("complex128", (3**11,)), lambda xp, x: xp.fft.fft(x)),
        Row("more: fft of rows of 101", some("complex128", (1000, 101)), lambda xp, x: xp.fft.fft(x)),
        Row("more: rfft of rows of 1001 f32", some("float32", (301, 1001)), lambda xp, x: xp.fft.rfft(x)),
        Row("more: rfft2 of 301 x 401", some("float64", (301, 401)), lambda xp, x: xp.fft.rfft2(x)),
        Row(
            "more: irfft of 100001",
            lambda rng: [np.fft.rfft(rng.standard_normal(100_001))],
            lambda xp, x: xp.fft.irfft(x, n=100_001),
        ),
    ]


def rows():
    return elements() + scans() + order() + movement() + matrices() + transforms()
