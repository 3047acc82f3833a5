"""Minimax polynomials for the kernel prelude, by the Remez exchange in high precision.

Each entry of JOBS is (name, f, low, high, number of coefficients, weight): the polynomial p minimises
max |p(t) - f(t)| * weight(t) on [low, high].  The prelude's comment beside each table of coefficients names
its job; the values there are these, rounded to the type.  Needs mpmath.  Usage: minimax.py [name ...]
"""

import sys

from mpmath import mp, mpf

mp.dps = 100


def remez(f, lo, hi, n, weight):
    """Coefficients (constant term first) and the weighted error of the best polynomial with n coefficients."""
    lo, hi = mpf(lo), mpf(hi)
    m = n + 1
    mid, half = (lo + hi) / 2, (hi - lo) / 2
    xs = [mid - half * mp.cos(mp.pi * i / (m - 1)) for i in range(m)]
    for _ in range(12):
        a = mp.matrix(m, m)
        b = mp.matrix(m, 1)
        for i, x in enumerate(xs):
            for j in range(n):
                a[i, j] = x**j
            a[i, n] = (-1) ** i / weight(x)
            b[i] = f(x)
        sol = mp.lu_solve(a, b)
        c = [sol[j] for j in range(n)]

        def err(x, c=c):
            return (mp.polyval(c[::-1], x) - f(x)) * weight(x)

        grid = [mid - half * mp.cos(mp.pi * i / (24 * m)) for i in range(24 * m + 1)]
        vals = [err(x) for x in grid]
        # One extremum per sign run, refined by a parabola through its neighbours.
        runs, start = [], 0
        for i in range(1, len(vals) + 1):
            if i == len(vals) or (vals[i] > 0) != (vals[start] > 0):
                k = max(range(start, i), key=lambda q: abs(vals[q]))
                runs.append(k)
                start = i
        while len(runs) > m:
            runs.pop(0 if abs(vals[runs[0]]) < abs(vals[runs[-1]]) else -1)
        if len(runs) < m:
            break
        new = []
        for k in runs:
            if 0 < k < len(grid) - 1:
                x0, x1, x2 = grid[k - 1 : k + 2]
                y0, y1, y2 = vals[k - 1 : k + 2]
                num = (x1 - x0) ** 2 * (y1 - y2) - (x1 - x2) ** 2 * (y1 - y0)
                den = (x1 - x0) * (y1 - y2) - (x1 - x2) * (y1 - y0)
                new.append(x1 - num / den / 2 if den else x1)
            else:
                new.append(grid[k])
        xs = new
        peak = [abs(vals[k]) for k in runs]
        if max(peak) < min(peak) * mpf("1.001"):
            break
    return c, max(abs(v) for v in vals)


def limit(f, at=mpf(0), eps=mpf("1e-22")):
    """f with its removable singularity at 0 filled by a neighbouring value."""
    return lambda t: f(t) if abs(t) > eps else f(at + eps)


LN2 = mp.log(2)
R = LN2 / 2 * mpf("1.0005")
ZLOG = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.001")
ZTRIG = (mp.pi / 4) ** 2 * mpf("1.001")


def near(top):
    """Weight z, kept away from 0: there the leading terms decide."""
    return lambda z: z + top / 20


def half_sqrt(g):
    """Functions of z = x*x, given g(x)."""
    return limit(lambda z: g(mp.sqrt(z)), mpf(0), mpf("1e-30"))


def exp_job(n):
    return limit(lambda r: (mp.exp(r) - 1 - r) / r**2), -R, R, n, lambda r: (r**2 + mpf("0.004")) * mp.exp(-r)


def expm1_job(n):
    return limit(lambda r: (mp.exp(r) - 1 - r - r**2 / 2) / r**3), -R, R, n, lambda r: r**2 + mpf("0.004")


def exp2_job(n):
    f = limit(lambda r: (mpf(2) ** r - 1 - r * LN2) / r**2)
    return f, mpf("-0.5001"), mpf("0.5001"), n, lambda r: r**2 + mpf("0.008")


def log_job(n):
    """log((1+s)/(1-s)) = 2s + s*z*p(z), z = s*s."""
    return half_sqrt(lambda s: (mp.log((1 + s) / (1 - s)) / s - 2) / s**2), 0, ZLOG, n, near(ZLOG)


def pow_job(n):
    """The same less its 2/3: = 2s + s*z*(2/3 + z*p(z))."""
    f = half_sqrt(lambda s: ((mp.log((1 + s) / (1 - s)) / s - 2) / s**2 - mpf(2) / 3) / s**2)
    return f, 0, ZLOG, n, lambda z: (z + ZLOG / 20) ** 2


def powf_job(n):
    """log2((1+s)/(1-s)) = s 2/ln2 + s*z*p(z)."""
    top = mpf("0.04") * mpf("1.002")
    f = half_sqrt(lambda s: (mp.log((1 + s) / (1 - s)) / s - 2) / s**2 / LN2)
    return f, 0, top, n, near(top)


def logf_job(n):
    """log(1+f) = f - f*f/2 + f^3*p(f)."""
    f = limit(lambda t: (mp.log1p(t) - t + t * t / 2) / t**3)
    return f, -mpf("1.001") / 3, mpf("1.001") / 3, n, lambda t: t**2 + mpf("0.004")


def sin_job(n):
    return half_sqrt(lambda x: (mp.sin(x) / x - 1) / x**2), 0, ZTRIG, n, near(ZTRIG)


def cos_job(n):
    return half_sqrt(lambda x: (mp.cos(x) - 1 + x**2 / 2) / x**4), 0, ZTRIG, n, lambda z: (z + ZTRIG / 20) ** 2


def tan_job(n):
    return half_sqrt(lambda x: (mp.tan(x) / x - 1) / x**2), 0, ZTRIG, n, near(ZTRIG)


def asin_job(n):
    return half_sqrt(lambda x: (mp.asin(x) / x - 1) / x**2), 0, mpf("0.2501"), n, near(mpf("0.25"))


def atan_job(n, top="0.4376"):
    return half_sqrt(lambda x: (mp.atan(x) / x - 1) / x**2), 0, mpf(top) ** 2, n, near(mpf(top) ** 2)


def sinh_job(n):
    return half_sqrt(lambda x: (mp.sinh(x) / x - 1) / x**2), 0, mpf("1.001"), n, near(mpf(1))


def tanh_job(n):
    """e^r - 1 = r + r^2 p(r) for r from 0 to log 2."""
    f = limit(lambda r: (mp.exp(r) - 1 - r) / r**2, mpf(0), mpf("1e-22"))
    return f, mpf(0), LN2 + mpf("0.001"), n, lambda r: (r**2 + mpf("1e-4")) / (mp.expm1(r) + mpf("1e-3"))


def cbrt_job(n):
    """(1 - h)^(-1/3) = 1 + h p(h)."""
    f = limit(lambda h: (1 / mp.cbrt(1 - h) - 1) / h)
    top = mpf("0.1105")
    return f, -top, top, n, lambda h: max(abs(h), top / 50)


def ndtr_job(n):
    """(a + 4) e^(a * a / 2) ndtr(-a) by t = (a - 4) / (a + 4), a up to 14.8."""

    def f(t):
        a = 4 * (1 + t) / (1 - t)
        return (a + 4) * mp.exp(a * a / 2) * mp.erfc(a / mp.sqrt(2)) / 2

    return f, mpf(-1), mpf("10.8") / mpf("18.8"), n, lambda t: 1 / f(t)


JOBS = {
    "exp": exp_job(10),
    "expm1": expm1_job(10),
    "exp2": exp2_job(10),
    "log": log_job(7),
    "pow": pow_job(8),
    "sin": sin_job(6),
    "cos": cos_job(6),
    "asin": asin_job(12),
    "atan": atan_job(13, "0.5001"),
    "sinh": sinh_job(7),
    "cbrt": cbrt_job(6),
    # float32, and float64 arithmetic that ends in float32
    "expf": exp_job(5),
    "exp2f": exp2_job(6),
    "logf": logf_job(8),
    "powf": powf_job(4),
    "cbrtf": cbrt_job(3),
    "ndtrf": ndtr_job(10),
    "sinf": sin_job(3),
    "cosf": cos_job(3),
    "tanhf": tanh_job(6),
    "sinhf": sinh_job(4),
    "asinf": asin_job(5),
    "atanf": atan_job(6, "0.5001"),
}


def main():
    for name in sys.argv[1:] or JOBS:
        c, e = remez(*JOBS[name])
        print(name, f"error 2^{float(mp.log(e, 2)):.1f}")
        print("  " + ", ".join(float(v).hex() for v in c))


if __name__ == "__main__":
    main()
