"""Convolutions by plain sums over windows' elements, in float64 (complex128, int64)."""

import itertools

import numpy as np


def each(v, n):
    return (v,) * n if isinstance(v, int) else tuple(v)


def wide(a):
    return np.asarray(a, {"f": "float64", "c": "complex128"}.get(a.dtype.kind, "int64"))


def places(tap, dilation, stride, out):
    return tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, s, n in zip(tap, dilation, stride, out))


def conv(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """x [images, channels, space...], w [outputs, channels / groups, kernel...]"""
    n = w.ndim - 2
    stride, dilation = each(stride, n), each(dilation, n)
    if padding == "same":
        padding = [(d * (k - 1) // 2, d * (k - 1) - d * (k - 1) // 2) for d, k in zip(dilation, w.shape[2:])]
    else:
        padding = [(p, p) for p in each(0 if padding == "valid" else padding, n)]
    x, w = wide(x), wide(w)
    x = np.pad(x, [(0, 0), (0, 0), *padding])
    kernel = w.shape[2:]
    out = [(a - d * (k - 1) - 1) // s + 1 for a, d, k, s in zip(x.shape[2:], dilation, kernel, stride)]
    x = x.reshape(len(x), groups, x.shape[1] // groups, *x.shape[2:])
    w = w.reshape(groups, len(w) // groups, *w.shape[1:])
    y = np.zeros((len(x), groups, w.shape[1], *out), np.result_type(x, w))
    for tap in itertools.product(*map(range, kernel)):
        part = x[(..., *places(tap, dilation, stride, out))]
        y += np.einsum("ngc...,goc->ngo...", part, w[(..., *tap)])
    y = y.reshape(len(x), groups * w.shape[1], *out)
    return y if b is None else y + wide(b).reshape(-1, *[1] * n)


def conv_transpose(x, w, b=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """x [images, channels, space...], w [channels, outputs / groups, kernel...]"""
    n = w.ndim - 2
    stride, dilation, padding, more = (each(v, n) for v in (stride, dilation, padding, output_padding))
    x, w = wide(x), wide(w)
    kernel, space = w.shape[2:], x.shape[2:]
    whole = [(a - 1) * s + d * (k - 1) + 1 + m for a, s, d, k, m in zip(space, stride, dilation, kernel, more)]
    x = x.reshape(len(x), groups, x.shape[1] // groups, *space)
    w = w.reshape(groups, len(w) // groups, *w.shape[1:])
    y = np.zeros((len(x), groups, w.shape[2], *whole), np.result_type(x, w))
    for tap in itertools.product(*map(range, kernel)):
        y[(..., *places(tap, dilation, stride, space))] += np.einsum("ngc...,gco->ngo...", x, w[(..., *tap)])
    y = y[(..., *(slice(p, a - p) for p, a in zip(padding, whole)))]
    y = y.reshape(len(x), groups * w.shape[2], *y.shape[3:])
    return y if b is None else y + wide(b).reshape(-1, *[1] * n)


def attention(q, k, v, mask=None, causal=False, scale=None):
    """Zeros for queries that see no key."""
    q, k, v = wide(q), wide(k), wide(v)
    s = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf)
    if mask is not None:
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    most = s.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isneginf(most), 0, most))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ v


def pool(x, kernel, stride=None, padding=0, dilation=1, ceil=False, mean=False, count_padding=True, divisor=None):
    """x [images, channels, space...]; window by window."""
    n = x.ndim - 2
    kernel, padding, dilation = (each(v, n) for v in (kernel, padding, dilation))
    stride = kernel if stride is None else each(stride, n)
    out = []
    for a, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation):
        room = a + 2 * p - d * (k - 1) - 1
        out.append((room + (s - 1 if ceil else 0)) // s + 1)
        out[-1] -= ceil and (out[-1] - 1) * s >= a + p
    y = np.zeros((*x.shape[:2], *out))
    for place in np.ndindex(*out):
        taps = [
            [i * s - p + t * d for t in range(k)] for i, k, s, p, d in zip(place, kernel, stride, padding, dilation)
        ]
        inside = [[u for u in t if 0 <= u < a] for t, a in zip(taps, x.shape[2:])]
        window = wide(x)[(..., *np.ix_(*inside))].reshape(*x.shape[:2], -1)
        counted = [[u for u in t if u < a + p] for t, a, p in zip(taps, x.shape[2:], padding)]
        size = divisor or np.prod([len(t) for t in (counted if count_padding else inside)])
        y[(..., *place)] = window.sum(axis=-1) / size if mean else window.max(axis=-1)
    return y
