"""What one would write under Numba: loops, compiled and parallel. Each form takes the arrays and gives the call."""

import functools
import types

import numpy as np


@functools.cache
def forms(nb):
    """The forms, made once: {name of the row's form: function of arrays that gives a function without arguments}."""
    return types.SimpleNamespace(**elements(nb), **rows(nb), **places(nb), **stencils(nb))


def elements(nb):
    @nb.njit(parallel=True)
    def chain(x, y, out):
        for i in nb.prange(x.size):
            out[i] = (x[i] + y[i]) * x[i] - y[i] * y[i] + x[i] * y[i]
        return out

    @nb.njit(parallel=True)
    def options(s, k, t):
        out = np.empty_like(s)
        for i in nb.prange(s.size):
            d = (np.log(s[i] / k[i]) + 0.065 * t[i]) / (0.3 * np.sqrt(t[i]))
            e = d - 0.3 * np.sqrt(t[i])
            out[i] = s[i] / (1 + np.exp(-1.702 * d)) - k[i] * np.exp(-0.02 * t[i]) / (1 + np.exp(-1.702 * e))
        return out

    return {
        "chain": lambda a: lambda: chain(a[0], a[1], np.empty_like(a[0])),
        "options": lambda a: lambda: options(*a),
    }


def rows(nb):
    @nb.njit(parallel=True)
    def row_max(x):
        out = np.empty(x.shape[0], x.dtype)
        for i in nb.prange(x.shape[0]):
            best = x[i, 0]
            for j in range(1, x.shape[1]):
                best = max(best, x[i, j])
            out[i] = best
        return out

    @nb.njit(parallel=True, fastmath=True)
    def softmax(x):
        out = np.empty_like(x)
        for i in nb.prange(x.shape[0]):
            best = x[i].max()
            total = np.float32(0)
            for j in range(x.shape[1]):
                out[i, j] = np.exp(x[i, j] - best)
                total += out[i, j]
            for j in range(x.shape[1]):
                out[i, j] /= total
        return out

    @nb.njit(parallel=True, fastmath=True)
    def distances(a, b):
        out = np.empty((a.shape[0], b.shape[0]), a.dtype)
        for i in nb.prange(a.shape[0]):
            for j in range(b.shape[0]):
                total = np.float32(0)
                for k in range(a.shape[1]):
                    d = a[i, k] - b[j, k]
                    total += d * d
                out[i, j] = np.sqrt(total)
        return out

    return {
        "row_max": lambda a: lambda: row_max(*a),
        "softmax": lambda a: lambda: softmax(*a),
        "distances": lambda a: lambda: distances(*a),
    }


def places(nb):
    @nb.njit
    def scan(x):
        out = np.empty_like(x)
        total = x.dtype.type(0)
        for i in range(x.size):
            total += x[i]
            out[i] = total
        return out

    @nb.njit
    def count(x):
        out = np.zeros(11, np.int64)
        for i in range(x.size):
            out[x[i]] += 1
        return out

    @nb.njit(parallel=True)
    def gather(x, i):
        out = np.empty(i.size, x.dtype)
        for k in nb.prange(i.size):
            out[k] = x[i[k]]
        return out

    return {
        "scan": lambda a: lambda: scan(*a),
        "count": lambda a: lambda: count(*a),
        "gather": lambda a: lambda: gather(*a),
    }


def stencils(nb):
    @nb.njit(parallel=True)
    def stencil2(u):
        out = np.empty((u.shape[0] - 2, u.shape[1] - 2), u.dtype)
        for i in nb.prange(out.shape[0]):
            for j in range(out.shape[1]):
                s = u[i + 1, j + 1] + u[i + 1, j] + u[i + 1, j + 2] + u[i, j + 1] + u[i + 2, j + 1]
                out[i, j] = np.float32(0.2) * s
        return out

    @nb.njit(parallel=True)
    def stencil3(u):
        out = np.empty((u.shape[0] - 2, u.shape[1] - 2, u.shape[2] - 2), u.dtype)
        for i in nb.prange(out.shape[0]):
            for j in range(out.shape[1]):
                for k in range(out.shape[2]):
                    c = u[i + 1, j + 1, k + 1]
                    x = u[i, j + 1, k + 1] + u[i + 2, j + 1, k + 1]
                    y = u[i + 1, j, k + 1] + u[i + 1, j + 2, k + 1]
                    z = u[i + 1, j + 1, k] + u[i + 1, j + 1, k + 2]
                    out[i, j, k] = c + np.float32(0.1) * (x + y + z - 6 * c)
        return out

    return {"stencil2": lambda a: lambda: stencil2(*a), "stencil3": lambda a: lambda: stencil3(*a)}
