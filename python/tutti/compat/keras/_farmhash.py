"""The 64-bit fingerprint of bytes that is the same everywhere (Google's FarmHash): which bin a text falls into."""

_ALL = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _turn(x, n):
    x &= _ALL
    return (x >> n | x << (64 - n)) & _ALL


def _mix(x):
    x &= _ALL
    return x ^ x >> 47


def _pair(u, v, mul):
    a = _mix((u ^ v) * mul)
    return _mix((v ^ a) * mul) * mul & _ALL


def _up_to_16(s, n, word):
    if n >= 8:
        mul = _K2 + n * 2
        a, b = word(0) + _K2 & _ALL, word(n - 8)
        return _pair((_turn(b, 37) * mul + a) & _ALL, (_turn(a, 25) + b) * mul & _ALL, mul)
    if n >= 4:
        first, last = (int.from_bytes(s[k : k + 4], "little") for k in (0, n - 4))
        return _pair(n + (first << 3), last, _K2 + n * 2)
    if n == 0:
        return _K2
    y, z = s[0] + (s[n >> 1] << 8), n + (s[n - 1] << 2)
    return _mix((y * _K2 ^ z * _K0) & _ALL) * _K2 & _ALL


def _up_to_32(n, word):
    mul = _K2 + n * 2
    a, b, c, d = word(0) * _K1, word(8), word(n - 8) * mul, word(n - 16) * _K2
    first = _turn(a + b, 43) + _turn(c, 30) + d
    return _pair(first & _ALL, (a + _turn(b + _K2, 18) + c) & _ALL, mul)


def _up_to_64(n, word):
    mul = _K2 + n * 2
    a, b, c, d = word(0) * _K2, word(8), word(n - 8) * mul, word(n - 16) * _K2
    y = (_turn(a + b, 43) + _turn(c, 30) + d) & _ALL
    z = _pair(y, (a + _turn(b + _K2, 18) + c) & _ALL, mul)
    e, f, g, h = word(16) * mul, word(24), (y + word(n - 32)) * mul, (z + word(n - 24)) * mul
    return _pair((_turn(e + f, 43) + _turn(g, 30) + h) & _ALL, (e + _turn(f + a, 18) + g) & _ALL, mul)


def _weak(word, at, a, b):
    w, x, y, z = (word(at + 8 * k) for k in range(4))
    a = (a + w) & _ALL
    b = _turn(b + a + z, 21)
    c, a = a, (a + x + y) & _ALL
    return (a + z) & _ALL, (b + _turn(a, 44) + c) & _ALL


def _round(word, at, state, mul, shares):
    """64 bytes more."""
    x, y, z, v, w = state
    ninth, nine = shares
    x = _turn(x + y + v[0] + word(at + 8), 37) * mul & _ALL
    y = _turn(y + v[1] + word(at + 48), 42) * mul & _ALL
    x ^= w[1] * ninth & _ALL
    y = (y + v[0] * nine + word(at + 40)) & _ALL
    z = _turn(z + w[0], 33) * mul & _ALL
    v = _weak(word, at, v[1] * mul, x + w[0])
    w = _weak(word, at + 32, z + w[1], y + word(at + 16))
    return z, y, x, v, w


def fingerprint(s):
    """Of bytes."""
    n = len(s)

    def word(k):
        return int.from_bytes(s[k : k + 8], "little")

    if n <= 16:
        return _up_to_16(s, n, word)
    if n <= 64:
        return _up_to_32(n, word) if n <= 32 else _up_to_64(n, word)
    y = (81 * _K1 + 113) & _ALL
    state = (81 * _K2 + word(0)) & _ALL, y, _mix(y * _K2 + 113) * _K2 & _ALL, (0, 0), (0, 0)
    for at in range(0, (n - 1) // 64 * 64, 64):
        state = _round(word, at, state, _K1, (1, 1))
    x, y, z, v, w = state
    mul = _K1 + ((z & 0xFF) << 1)
    w = w[0] + ((n - 1) & 63), w[1]
    v = (v[0] + w[0]) & _ALL, v[1]
    w = (w[0] + v[0]) & _ALL, w[1]
    z, y, x, v, w = _round(word, n - 64, (x, y, z, v, w), mul, (9, 9))
    # The last round gave x and z in each other's place, as all rounds do.
    first = (_pair(v[0], w[0], mul) + _mix(y) * _K0 + x) & _ALL
    return _pair(first, (_pair(v[1], w[1], mul) + z) & _ALL, mul)
