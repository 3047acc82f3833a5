"""Writes src/scalar/{special,integral,bessel}_tables.h: polynomials of special functions, of Chebyshev's nodes.

A table covers a range of its argument in sections of equal length; a section holds the polynomial of t in [-1, 1],
constant term first.  The functions that read them are in src/scalar/special*.h.  Needs mpmath.
With names as arguments: prints their errors.
"""

import pathlib
import sys

from mpmath import mp, mpf

mp.dps = 45
ROOT = pathlib.Path(__file__).resolve().parent.parent


def section(f, low, high, n):
    """The polynomial of n coefficients that agrees with f at the Chebyshev nodes of [low, high]."""
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    values = [f((low + high) / 2 + (high - low) / 2 * t) for t in nodes]
    series = [
        2 * sum(v * mp.cos(j * mp.pi * (2 * k + 1) / (2 * n)) for k, v in enumerate(values)) / n for j in range(n)
    ]
    series[0] /= 2
    total, before, now = [mpf(0)] * n, [mpf(1)] + [mpf(0)] * (n - 1), [mpf(0), mpf(1)] + [mpf(0)] * (n - 2)
    for c in series:
        total = [a + c * b for a, b in zip(total, before)]
        before, now = now, [2 * a - b for a, b in zip([mpf(0), *now[:-1]], before)]
    return total


def inverse(u):
    """From u = x/(4 + x) back to x."""
    return 4 * u / (1 - u)


def at_zero(f, limit):
    return lambda x: mpf(limit) if x == 0 else f(x)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x) if x < 40 else mp.hyperu(mpf(1) / 2, mpf(1) / 2, x * x) / mp.sqrt(mp.pi)


def dawsn(x):
    return x * mp.hyp1f1(1, mpf(3) / 2, -x * x) if x < 30 else asymptotic_dawsn(x)


def asymptotic_dawsn(x):
    term, total, k = 1 / (2 * x), mpf(0), 0
    while abs(term) > abs(total) * mpf(10) ** -42:
        total += term
        term *= (2 * k + 1) / (2 * x * x)
        k += 1
    return total


def erfinv_ratio(z):
    x = mp.sqrt(z)
    return mp.erfinv(x) / x


def erfcinv_of_root(s):
    """The x with erfc(x) = exp(-s*s), by Newton's steps on the logarithm."""
    goal, x = -s * s, s - mpf("0.3")
    for _ in range(60):
        c = mp.erfc(x)
        step = (mp.log(c) - goal) * c * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
        x += step
        if abs(step) < abs(x) * mpf(10) ** -40:
            break
    return x


PSI_ROOT = mp.findroot(mp.digamma, mpf("1.4616321449683623"))


def stirling(w):
    """x times what Stirling's formula leaves of log gamma, of w = 1/x^2."""
    x = 1 / mp.sqrt(w)
    return x * (mp.loggamma(x) - ((x - mpf(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2))


def psi_tail(w):
    """x^2 (log x - 1/(2x) - digamma x), of w = 1/x^2."""
    x = 1 / mp.sqrt(w)
    return x * x * (mp.log(x) - 1 / (2 * x) - mp.digamma(x))


def i0e(x):
    return mp.besseli(0, x) * mp.exp(-x)


def i1e(x):
    return mp.besseli(1, x) * mp.exp(-x)


def hankel(order, w):
    """P and Q of Bessel functions of a large argument, of w = 1/x^2: the asymptotic series."""
    x, mu, p, q, term, k = 1 / mp.sqrt(w), 4 * order * order, mpf(0), mpf(0), mpf(1), 0
    best = mpf(10) ** 50
    while abs(term) < best and abs(term) > mpf(10) ** -44:
        best = abs(term)
        if k % 2 == 0:
            p += term if k % 4 == 0 else -term
        else:
            q += term if k % 4 == 1 else -term
        k += 1
        term *= (mu - (2 * k - 1) ** 2) / (k * 8 * x)
    return p, q * x


def k0_small(z):
    x = mp.sqrt(z)
    return mp.besselk(0, x) + mp.log(x) * mp.besseli(0, x)


def k1_small(z):
    x = mp.sqrt(z)
    return x * (mp.besselk(1, x) - mp.log(x) * mp.besseli(1, x))


def y0_small(z):
    x = mp.sqrt(z)
    return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)


def y1_small(z):
    x = mp.sqrt(z)
    return x * (mp.bessely(1, x) - 2 / mp.pi * mp.log(x) * mp.besselj(1, x))


EI_ROOT = mp.findroot(mp.ei, mpf("0.3725"))


def expi_near(x):
    """What Ei has beside log(x / its zero), over the distance from the zero."""
    return (mp.ei(x) - mp.log(x / EI_ROOT)) / (x - EI_ROOT) if x else mp.log(EI_ROOT) / -EI_ROOT - mp.euler / EI_ROOT


def expi(u):
    return mp.ei(1 / u) * mp.exp(-1 / u) / u


def of_root(f):
    """A function of z = x*x."""
    return lambda z: f(mp.sqrt(z))


def sine_parts(u):
    """x f(x) and x^2 g(x) of the sine integral's auxiliary functions, of u = 1/x."""
    with mp.workdps(90):
        x = 1 / u
        s, c = mp.pi / 2 - mp.si(x), mp.ci(x)
        return x * (c * mp.sin(x) + s * mp.cos(x)), x * x * (s * mp.sin(x) - c * mp.cos(x))


def fresnel_parts(u):
    """pi x f(x) and pi^2 x^3 g(x) of Fresnel's integrals, of u = 1/x."""
    with mp.workdps(120):
        x = 1 / u
        s, c, turn = mp.mpf(1) / 2 - mp.fresnels(x), mp.mpf(1) / 2 - mp.fresnelc(x), mp.pi * x * x / 2
        f, g = s * mp.cos(turn) - c * mp.sin(turn), s * mp.sin(turn) + c * mp.cos(turn)
        return mp.pi * x * f, mp.pi**2 * x**3 * g


def fourth_root(f):
    return lambda z: f(mp.sqrt(mp.sqrt(z)))


def series(terms):
    """A sum of terms(k), k = 0, 1, ..."""
    total, k = mpf(0), 0
    while True:
        t = terms(k)
        total += t
        k += 1
        if abs(t) < mpf(10) ** -60 and k > 12:
            return total


def ci_near(z):
    """(Ci x - log x - gamma) / z of z = x*x; of -z: Chi's."""
    return series(lambda k: -((-z) ** k) / (2 * (k + 1) * mp.factorial(2 * k + 2)))


def temme(mu, sign):
    """(1/gamma(1 - mu) -+ 1/gamma(1 + mu)) / 2, over mu for the difference."""
    a, b = mp.rgamma(1 - mu), mp.rgamma(1 + mu)
    return (a + b) / 2 if sign > 0 else (a - b) / (2 * mu)


# name: (function, low, high, sections, coefficients)
TABLES = {
    "erf": (lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z), 0, 1, 1, 15),
    "erfcx": (lambda u: erfcx(inverse(u)) * (inverse(u) + 2), 0, 1, 32, 11),
    "erfinv": (erfinv_ratio, 0, mpf(1) / 4, 1, 16),
    "erfcinv_near": (erfcinv_of_root, mpf(4) / 5, mpf(14) / 5, 8, 15),
    "erfcinv": (erfcinv_of_root, mpf(14) / 5, mpf(139) / 5, 25, 15),
    "dawsn": (lambda u: dawsn(inverse(u)) * (1 + inverse(u) ** 2) / inverse(u), 0, 1, 32, 13),
    "gamma": (lambda y: mp.gamma(1 + y), -mpf(1) / 2, mpf(1) / 2, 8, 14),
    "lgamma1": (at_zero(lambda y: mp.loggamma(1 + y) / y, -mp.euler), -mpf(1) / 2, mpf(1) / 2, 8, 14),
    "lgamma2": (at_zero(lambda y: mp.loggamma(2 + y) / y, 1 - mp.euler), -mpf(1) / 2, mpf(1) / 2, 8, 11),
    "stirling": (stirling, 0, mpf(1) / 64, 1, 9),
    "digamma": (lambda x: mp.digamma(x) / (x - PSI_ROOT), 1, 3, 8, 15),
    "psi_tail": (psi_tail, 0, mpf(1) / 100, 1, 10),
    "exp1_near": (lambda x: mp.e1(x) + mp.log(x), 0, 1, 1, 19),
    "exp1": (lambda u: mp.e1(1 / u) * mp.exp(1 / u) / u, 0, 1, 24, 14),
    "expi_near": (expi_near, 0, 6, 6, 16),
    "expi": (expi, 0, mpf(1) / 6, 24, 15),
    "si_near": (of_root(lambda x: mp.si(x) / x), 0, 16, 1, 13),
    "ci_near": (ci_near, 0, 1, 1, 7),
    "ci": (mp.ci, 1, 4, 6, 17),
    "sine_f": (lambda u: sine_parts(u)[0], 0, mpf(1) / 4, 12, 12),
    "sine_g": (lambda u: sine_parts(u)[1], 0, mpf(1) / 4, 12, 12),
    "shi_near": (of_root(lambda x: mp.shi(x) / x), 0, 1, 1, 7),
    "chi_near": (lambda z: -ci_near(-z), 0, 1, 1, 7),
    "fresnel_s": (fourth_root(lambda x: mp.fresnels(x) / x**3), 0, 8, 1, 12),
    "fresnel_c": (fourth_root(lambda x: mp.fresnelc(x) / x), 0, 8, 1, 13),
    "fresnel_f": (lambda u: fresnel_parts(u)[0], 0, mpf(5) / 8, 10, 12),
    "fresnel_g": (lambda u: fresnel_parts(u)[1], 0, mpf(5) / 8, 10, 12),
    "zeta": (lambda s: (s - 1) * mp.zeta(s), 0, 3, 3, 12),
    "temme_1": (of_root(lambda mu: temme(mu, -1)), 0, mpf(1) / 4, 1, 9),
    "temme_2": (of_root(lambda mu: temme(mu, 1)), 0, mpf(1) / 4, 1, 9),
    "i0e": (lambda u: i0e(inverse(u)) * mp.sqrt(1 + 2 * inverse(u)), 0, 1, 32, 12),
    "i1e": (lambda u: i1e(inverse(u)) * mp.sqrt(1 + 2 * inverse(u)) ** 3 / inverse(u), 0, 1, 32, 12),
    "k0_near": (k0_small, 0, 1, 1, 10),
    "k1_near": (k1_small, 0, 1, 1, 10),
    "k0e": (lambda u: mp.besselk(0, 1 / u) * mp.exp(1 / u) / mp.sqrt(u), 0, 1, 16, 13),
    "k1e": (lambda u: mp.besselk(1, 1 / u) * mp.exp(1 / u) / mp.sqrt(u), 0, 1, 16, 13),
    "j0": (lambda x: mp.besselj(0, x), 0, 25, 25, 14),
    "j1": (lambda x: mp.besselj(1, x), 0, 25, 25, 14),
    "y0_near": (y0_small, 0, 4, 1, 15),
    "y1_near": (y1_small, 0, 4, 1, 15),
    "y0": (lambda x: mp.bessely(0, x), 2, 25, 23, 17),
    "y1": (lambda x: mp.bessely(1, x), 2, 25, 23, 17),
    "hankel_p0": (lambda w: hankel(0, w)[0], 0, mpf(1) / 625, 1, 8),
    "hankel_q0": (lambda w: hankel(0, w)[1], 0, mpf(1) / 625, 1, 8),
    "hankel_p1": (lambda w: hankel(1, w)[0], 0, mpf(1) / 625, 1, 8),
    "hankel_q1": (lambda w: hankel(1, w)[1], 0, mpf(1) / 625, 1, 8),
}


def hexadecimal(x):
    return float(x).hex().replace("0x0.0p+0", "0")


def error(name):
    """The largest error of a table, relative to the function."""
    f, low, high, count, n = TABLES[name]
    low, width, worst = mpf(low), (mpf(high) - low) / count, mpf(0)
    for k in range(count):
        c = section(f, low + k * width, low + (k + 1) * width, n)
        for j in range(7):
            t = mpf(2 * j + 1) / 7 - 1
            x = low + (k + (t + 1) / 2) * width
            worst = max(worst, abs(mp.polyval(c[::-1], t) / f(x) - 1))
    return worst


def sections(name):
    f, low, high, count, n = TABLES[name]
    width = (mpf(high) - mpf(low)) / count
    return [section(f, low + k * width, low + (k + 1) * width, n) for k in range(count)]


def rests(name):
    """What rounding leaves of the constants of a table, whose values are wanted with more digits than float64 has."""
    words = [hexadecimal(row[0] - mpf(float(row[0]))) for row in sections(name)]
    return f"\nTT_CONST tt_f64 tt__{name}_rest[{len(words)}] = {{\n{lines_of(words)}}};\n"


def table(name):
    rows, (_, _, _, count, n) = sections(name), TABLES[name]
    lines = []
    for row in rows:
        line = "    {"
        for k, c in enumerate(row):
            word = hexadecimal(c) + ("," if k < n - 1 else "},")
            if len(line) + len(word) + 1 > 119:
                lines.append(line.rstrip())
                line = "     "
            line += word + " "
        lines.append(line.rstrip())
    return f"TT_CONST tt_f64 tt__{name}_table[{count}][{n}] = {{\n" + "\n".join(lines) + "};\n"


def debye(count):
    """The polynomials U_1 ... of Debye's series over p^k, of p^2: lists of coefficients, the constant one first."""
    u, rows = [mpf(1)], []
    for k in range(count):
        # U(k+1) = p^2 (1 - p^2) U(k)' / 2 + the integral of (1 - 5 p^2) U(k) / 8; U(k) = p^k sum u[j] p^2j
        new = [mpf(0)] * (len(u) + 1)
        for j, c in enumerate(u):
            n = k + 2 * j
            new[j] += c * (mpf(n) / 2 + mpf(1) / (8 * (n + 1)))
            new[j + 1] -= c * (mpf(n) / 2 + mpf(5) / (8 * (n + 3)))
        u = new
        rows.append(u)
    return rows


def lines_of(words):
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) + 2 > 119:
            lines.append(line)
            line = "   "
        line += f" {word},"
    return "\n".join([*lines, line[:-1]])


def debye_table():
    words = [hexadecimal(c) for row in debye(14) for c in row]
    return f"\nTT_CONST tt_f64 tt__debye[{len(words)}] = {{\n{lines_of(words)}}};\n"


BESSEL = [n for n in TABLES if n[0] in "ijky" or n.startswith(("hankel", "temme"))]
INTEGRAL = ["si_near", "ci_near", "ci", "sine_f", "sine_g", "shi_near", "chi_near", "zeta"]
INTEGRAL += [n for n in TABLES if n.startswith("fresnel")]
RESTS = ["gamma"]
KINDS = {"bessel": BESSEL, "integral": INTEGRAL}
KINDS["special"] = [n for n in TABLES if n not in BESSEL + INTEGRAL]
HEAD = """/*
** The polynomials of the %s functions, written by tools/special_tables.py, where each is described.
*/
#ifndef TT_SCALAR_%s_TABLES_H
#define TT_SCALAR_%s_TABLES_H

/* clang-format off */
"""


def write(kind):
    text = HEAD % (("Bessel" if kind == "bessel" else kind), kind.upper(), kind.upper())
    text += "\n".join(table(name) for name in KINDS[kind])
    text += "".join(rests(name) for name in RESTS if name in KINDS[kind]) + "/* clang-format on */\n\n#endif\n"
    (ROOT / f"src/scalar/{kind}_tables.h").write_text(text)


if __name__ == "__main__":
    if sys.argv[1:]:
        for wanted in sys.argv[1:]:
            print(f"{wanted:12} {mp.nstr(error(wanted), 3)}")
    else:
        for kind in KINDS:
            write(kind)
