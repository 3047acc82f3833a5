"""Cases for test_functions.py: sorting, searching, counting, scanning."""

import numpy as np


def cases(chk, chkw):
    v = np.arange(5)
    m = np.arange(12).reshape(3, 4)
    z = np.array([1 + 2j, 3, -1j, np.nan, 0])
    s = np.array([-2.5, -0.5, 0.5, 1.5, np.nan, np.inf, -np.inf, -0.0, np.nan, 0.5])
    rng = np.random.default_rng(0)
    R = rng.integers(-5, 6, (3, 4, 5))
    F = rng.normal(size=(4, 6)).astype("f4")
    U = rng.integers(0, 255, 37).astype("u1")
    B = rng.random(9) > 0.5
    H = F.astype("f2")
    for x in (
        R,
        F,
        U,
        B,
        H,
        s,
        z,
        m[:0],
        np.array(3),
        R.transpose(2, 0, 1),
        F[:, ::-2],
        R.astype("i2"),
        rng.integers(0, 2**63, 5).astype("u8"),
    ):
        for ax in (-1, 0, None, 1, 7):
            chk("sort", x, ax)
            chk("argsort", x, ax, kind="stable")
            for n in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
                chk(n, x if n != "cumprod" or x.dtype.kind != "f" or 1 else x, ax)
            for n in ("cumulative_sum", "cumulative_prod"):
                chk(n, x, axis=ax)
                chk(n, x, axis=ax, include_initial=True)
            for k in (0, 1, 2, 3):
                chk("diff", x, k, ax) if ax is not None else None
        chk("ediff1d", x)
        for i in (False, True):
            for j in (False, True):
                for k in (False, True):
                    chk("unique", x, i, j, k)
        chk("unique", x, equal_nan=False)
        chk("unique", x, axis=0, return_index=True, return_inverse=True, return_counts=True)
        chk("unique", x, axis=1)
        chk("unique", x, axis=-1)
    chk("sort", R, kind="x")
    chk("cumsum", U, dtype="u1")
    chk("cumsum", B, dtype=bool)
    chk("cumsum", R, 0, dtype="f4")
    chk("lexsort", (v[::-1], v % 2))
    chk("lexsort", (R[0], R[1]))
    chk("lexsort", (R[0], R[1]), 0)
    chk("lexsort", R)
    chk("lexsort", ())
    chk("lexsort", (v, v[:2]))
    chk("lexsort", (R[0] * 1.5, R[1]), axis=4)
    S = np.sort(F.ravel())
    for q in (0.3, F, np.float32(0.1), 2, np.nan, S):
        for sd in ("left", "right"):
            chk("searchsorted", S, q, sd)
    chk("searchsorted", v, [1.5, 2, 3])
    chk("searchsorted", v[::-1].copy(), 3, sorter=np.argsort(v[::-1]))
    chk("searchsorted", v, 1, "x")
    chk("searchsorted", m, 1)
    chk("searchsorted", v, 1, sorter=[0, 1])
    for b in ([0.0, 1, 2.5, 4], [4.0, 2.5, 1, 0], [1.0, 3, 2], [], [2.0]):
        for r in (0, 1):
            chk("digitize", np.array([0.2, 6.4, 3, 1, np.nan, 2.5]), np.array(b), right=bool(r))
    chk("digitize", m, np.array([2, 5, 7]))
    chk("digitize", 3, np.array([2, 5]))
    for inv in (0, 1):
        chk("isin", R, [1, 2, 3], invert=bool(inv))
        chk("isin", s, [np.nan, 0.5])
        chk("isin", m, [])
        chk("isin", U, [3, 500])
        chk("isin", 3, [3])
        chk("isin", [True, False], [True])
    chk("bincount", U)
    chk("bincount", U, minlength=300)
    chk("bincount", U, rng.random(37))
    chk("bincount", v - 1)
    chk("bincount", m)
    chk("bincount", F[0])
    chk("bincount", v, v[:2])
    chk("bincount", v[:0])
    chk("bincount", v, minlength=-1)
    chk("bincount", v, v)
    chk("bincount", B)
    chk("bincount", v[:0], minlength=3)
    D = rng.normal(size=1000)
    for x in (D, D.astype("f4"), R, U, F, H, B, v[:0] * 1.0, np.ones(5), m):
        for b in (
            10,
            1,
            33,
            [0, 1, 2, 3],
            np.linspace(-2, 2, 7),
            "auto",
            "sqrt",
            "sturges",
            "rice",
            "scott",
            "fd",
            0,
            [3, 1],
            "foo",
            [[1]],
        ):
            for kw in (
                {},
                {"density": True},
                {"range": (-1, 2)},
                {"weights": np.arange(x.size).reshape(x.shape) * 0.5},
                {"weights": np.arange(x.size).reshape(x.shape)},
                {"range": (3, 1)},
                {"range": (1, 1)},
            ):
                if isinstance(b, str) and ("weights" in kw or "range" in kw):
                    continue
                chk("histogram", x, b, **kw)
                kw2 = {k: w for k, w in kw.items() if k != "density"}
                chk("histogram_bin_edges", x, b, **kw2)
    chk("histogram", s)
    chk("histogram", v, weights=[1, 2])
    chk("histogram", D, range=(0, np.inf))
    chk("diff", R, prepend=0)
    chk("diff", R, append=R[:, :, :2])
    chk("diff", B)
    chk("diff", v, -1)
    chk("diff", 3)
    chk("diff", v, prepend=[9, 8], append=7.5)
    chk("diff", m, axis=0, prepend=m)
    chk("ediff1d", v, 99, [1, 2])
    chk("ediff1d", v, to_end=1.5)
    chk("ediff1d", F, to_begin=[1.0])
    chk("diff", U)
    for n in (0, 1, 2, 7, 12, -3):
        for name in ("bartlett", "blackman", "hamming", "hanning"):
            chk(name, n)
    phase = np.array([0, 1, 2, 5.5, 6.5, -3, 3.2, 0.1, 9])
    chk("unwrap", phase)
    chk("unwrap", phase.reshape(3, 3), axis=0)
    chk("unwrap", phase, period=4)
    chk("unwrap", phase, 5.0)
    chk("unwrap", np.array([0, 5, 1, 6]), period=6)
    chk("unwrap", 3.0)
    for x in (v, F[0], z[:3], m):
        chk("vander", x)
        chk("vander", x, 3, increasing=True)
    chk("vander", v, 1)
    chk("vander", v, 0)
    chk("polyval", [3, 0, 1], v)
    chk("polyval", np.array([1.5, -2]), m)
    chk("ldexp", F, v[:1])
    chk("ldexp", np.array([1.5, -2.25, 0.1]), np.array([10, -1060, 1020]))
    chk("ldexp", 3, 2)
    chk("ldexp", 3.0, 2.0)
    chk("spacing", np.array([1.0, -2.5, 0, 1e300, np.nan, -1e-310]))
    chk("spacing", F)
    for x in (v, F[0], z, U, F[0].astype("f8"), v.astype("i2")):
        chk("sort_complex", x)
    for x in (np.array([0, 0, 1, 2, 0, 3, 0]), np.zeros(3), np.ones(2)):
        for trim in ("fb", "f", "b", "B"):
            chk("trim_zeros", x, trim)
    chk("trim_zeros", np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]))
    chk("trim_zeros", np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]), axis=1)
    other = rng.normal(size=1000)
    for kw in (
        {},
        {"bins": 4},
        {"bins": [3, 5]},
        {"bins": [[-1, 0, 1], [-2, 0, 2, 3]]},
        {"density": True},
        {"weights": other},
    ):
        chk("histogram2d", D, other, **kw)
    chk("histogram2d", D, other, range=[[-1, 1], [0, 2]])
    chk("histogram2d", D, other[:5])
    chk("diag_indices_from", np.zeros((3, 3)))
    chk("tril_indices_from", m, 1)
    chk("triu_indices_from", m)
    chk("block", [[np.ones((2, 2)), np.zeros((2, 1))], [np.zeros((1, 2)), np.array([[5.0]])]])
    chk("block", [v, v])
    chk("block", [[v], [v]])
    chk("block", [v, 1])
    chk("block", [v, [v]])
    chk("block", [[[v]], [v]])
    chk("block", v)
