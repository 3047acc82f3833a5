"""Cases for test_functions.py: choosing elements; elementwise functions spelled in ops."""

import numpy as np


def cases(chk, chkw):
    A = np.arange(24.0).reshape(2, 3, 4)
    v = np.arange(5)
    m = np.arange(12).reshape(3, 4)
    z = np.array([1 + 2j, 3, -1j, np.nan, 0])
    s = np.array([-2.5, -0.5, 0.5, 1.5, np.nan, np.inf, -np.inf, -0.0])
    rng = np.random.default_rng(0)
    for x in (v, m, A, A > 5, z, s, np.array(3), m[:0]):
        chk("nonzero", x)
        chk("flatnonzero", x)
        chk("argwhere", x)
        chk("where", x)
    chk("where", m > 3, m, 0)
    chk("where", m > 3, m, 1.5)
    chk("where", m > 3, m.astype("i1"), 3)
    chk("where", v, v, A[:, :, :1])
    chk("where", True, 1, 2.0)
    chk("where", m > 3, m)
    chk("where", [True, False], [1, 2], [3, 4])
    for i in (2, [0, 2], np.array([[0, 1], [2, -1]]), -1, 9, [9], [True, False], 2.0, []):
        for ax in (None, 0, 1, -1):
            chk("take", m, i, ax)
        chk("take", v, i, mode="wrap")
        chk("take", v, i, mode="clip")
    chk("take", v, -7, mode="wrap")
    chk("take", v[:0], 0)
    chk("take", m, [0], 5)
    chk("take", A, [[0, 1]], 1)
    idx = np.argsort(rng.random((3, 4)), axis=1)
    chk("take_along_axis", m, idx, 1)
    chk("take_along_axis", m, idx[:, :1], 1)
    chk("take_along_axis", m, idx[:1], 1)
    chk("take_along_axis", m, np.array([3, 2]), None)
    chk("take_along_axis", m, idx, 0)
    chk("take_along_axis", A.transpose(2, 0, 1), np.zeros((4, 2, 1), int), 2)
    chk("take_along_axis", m, v, 1)
    chk("take_along_axis", m, idx * 1.0, 1)
    chk("take_along_axis", m, idx)
    chkw("put", m, [0, 5, -1], [10, 20])
    chkw("put", m, [0, 50], [10, 20])
    chkw("put", m, [0, 50], [10, 20], mode="wrap")
    chkw("put", m, 3, 7)
    chkw("put", m, [-50, 50], [10, 20], "clip")
    chkw("put", v, [], [1])
    chkw("put_along_axis", m, idx[:, :2], 99, 1)
    chkw("put_along_axis", m, np.array([0, 3]), np.array([5, 6]), None)
    chkw("put_along_axis", m, idx, m * 10, axis=1)
    chkw("place", m, m % 2 == 0, [1, 2, 3])
    chkw("place", m, m % 2 == 0, [])
    chkw("place", m, v, [1])
    chkw("putmask", m, m > 5, [1, 2, 3])
    chkw("putmask", m, m > 5, m * 2)
    chkw("copyto", m, 5)
    chkw("copyto", m, v[:4])
    chkw("copyto", m, 2.5)
    chkw("copyto", m, m * 1.5)
    chkw("copyto", m, m * 1.5, casting="unsafe")
    chkw("copyto", m, 0, where=m[0] > 1)
    chk("compress", [True, False, True], m, 0)
    chk("compress", [False, True], m, 1)
    chk("compress", [0, 0, 1, 1], m)
    chk("compress", [1] * 9, m, 0)
    chk("compress", m, m, 0)
    chk("extract", m % 3 == 0, m)
    chk("choose", [2, 0, 1], [[1, 2, 3], [10, 20, 30], [100, 200, 300]])
    chk("choose", np.array([2, 0]), [1, 2, 3.5])
    chk("choose", np.array([5, 0]), [1, 2, 3])
    chk("choose", np.array([5, -1]), [1, 2, 3], mode="wrap")
    chk("choose", np.array([5, -1]), [1, 2, 3], mode="clip")
    chk("select", [v < 2, v > 3], [v, v * v], 42)
    chk("select", [v < 2], [v, v])
    chk("select", [], [])
    chk("select", [v], [v])
    chk("select", [v < 2, v > 3], [v, 1.5])
    chk("ravel_multi_index", ([1, 2], [3, 0]), (3, 4))
    chk("ravel_multi_index", ([1, 2], [3, 0]), (3, 4), order="F")
    chk("ravel_multi_index", ([1, 5], [3, 0]), (3, 4))
    chk("ravel_multi_index", ([1, 5], [3, 0]), (3, 4), mode="wrap")
    chk("unravel_index", [5, 7], (3, 4))
    chk("unravel_index", [5, 17], (3, 4))
    chk("unravel_index", [5, 7], (3, 4), order="F")
    chk("ix_", [0, 2], [1, 3])
    chk("ix_", [True, False, True], [1])
    chkw("fill_diagonal", m, 5)
    chkw("fill_diagonal", np.zeros((6, 3)), 4)
    chkw("fill_diagonal", np.zeros((6, 3)), 4, wrap=True)
    chkw("fill_diagonal", np.zeros((3, 3, 3)), [1, 2, 3])
    chkw("fill_diagonal", v, 4)
    chk("diag_indices", 3)
    chk("tril_indices", 3)
    chk("triu_indices", 3, 1, 4)
    chk("tril_indices", 4, -1)
    for x in (v, m, m.astype("u1"), A, s, s.astype("f4"), A.astype("f2")):
        chk("clip", x, 1, 3)
        chk("clip", x, None, 2)
        chk("clip", x, 1, None)
        chk("clip", x)
        chk("clip", x, min=1)
        chk("clip", x, max=2, min=1)

        chk("clip", x, 0.5, 2.5)
        for n in (
            "fix",
            "nan_to_num",
            "isposinf",
            "isneginf",
            "iscomplex",
            "isreal",
            "angle",
            "degrees",
            "radians",
            "fabs",
            "modf",
            "sinc",
            "positive",
            "deg2rad",
        ):
            chk(n, x)
        for d in (-2, -1, 0, 1, 2):
            chk("round", x, d)
        if x.dtype.kind in "iu":
            chk("bitwise_count", x)
        chk("ptp", x, 0)
        chk("ptp", x)
        chk("heaviside", x, 0.5)
        chk("float_power", x, 2)
        chk("divmod", x, 3)
        chk("logaddexp2", x.astype("f8"), 1.0)
    chk("round", z)
    chk("round", z * 1.234, 1)
    chk("nan_to_num", z)
    chk("nan_to_num", s, nan=5, posinf=6, neginf=7)
    chk("angle", z, deg=True)
    chk("isreal", z)
    chk("iscomplex", z)
    chk("clip", m.astype("u1"), -1, 300)
    chk("bitwise_count", np.array([-128, -1, 127, 0], "i1"))
    chk("isposinf", z)
    chk("round", 1.2345, 2)
    chk("round", np.array([True]))
    chk("fix", 2.5)
    chk("angle", True)
    chk("isreal", 3)
    for a, b in (
        (s, s),
        (s, s + 1e-9),
        (v, v + 1e-9),
        (m, m[0]),
        (v, v[:3]),
        (z, z),
        (1, 1.0),
        (v.astype("i1"), 200),
        (s, np.where(np.isinf(s), 0, s)),
    ):
        for e in (False, True):
            chk("isclose", a, b, equal_nan=e)
            chk("allclose", a, b, equal_nan=e)
            chk("array_equal", a, b, equal_nan=e)
        chk("array_equiv", a, b)
        chk("isclose", a, b, 1e-3, 1e-3)
