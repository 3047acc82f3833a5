"""Small programs that together enter every room of the library; each returns plain Python values."""

import os
import pickle
import struct

import tutti as tt

PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


def grid(rows=4, columns=5, dtype="float64"):
    return tt.array([[(3 * i * columns + 7 * j) % 11 - 4 for j in range(columns)] for i in range(rows)], dtype=dtype)


@program
def elementwise():
    a = grid()
    return (tt.sin(a) * 2 + tt.maximum(a, 0) / 3).tolist()


@program
def broadcasting():
    a = grid()
    return (a + a[:1] * a[:, 2:3]).tolist()


@program
def views():
    a = grid()
    return a[::-1, 1::2].T.reshape(-1).tolist(), a.ravel()[3:9].tolist(), a[None, ..., 0].shape


@program
def stores():
    a = grid()
    b = a[1:, ::2]
    b[...] = b * 2 + 1
    a[0] += 5
    a[:, -1] = [1, 2, 3, 4]
    return a.tolist(), b.tolist()


@program
def overlapping_store():
    a = tt.arange(12) * 1.5
    a[1:] = a[:-1] + a[1:]
    a[::-1] += a
    return a.tolist()


@program
def gradients():
    a = grid().requires_grad_()
    b = a * 2
    b[1:] *= tt.tanh(b[:-1])
    (tt.exp(b[[0, 2, 0]] / 9) * b.max(axis=0) + (b @ b.T).sum()).sum().backward()
    return a.grad.tolist()


@program
def second_derivatives():
    return tt.hessian(lambda x: (tt.sin(x) * x[::-1]).sum())(tt.array([0.5, 1.0, 2.0])).tolist()


@program
def own_derivatives():
    class Twice(tt.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 + ctx.saved_tensors[0] * 0

    a = grid().requires_grad_()
    a.register_hook(lambda g: g * 3)
    tt.checkpoint(lambda x: tt.sin(Twice.apply(x)), a).sum().backward()
    return a.grad.tolist()


@program
def numbers():
    """Elements whose arrays are made when something asks for one."""
    a = grid()
    half = grid(dtype="float16")
    v, h = a[1, 2], half[1, 2]
    asked = [v.shape, v.reshape(1).tolist(), v[None].tolist(), repr(v), f"{v:.2f}", v.T.tolist(), v.strides, v.nbytes]
    asked += [tt.asarray(v).tolist(), tt.stack([v, a[0, 1]]).tolist(), tt.atleast_1d(v).tolist(), v.astype("i4").item()]
    asked += [(a * a[2, 1]).tolist(), (half + v).tolist(), (h * 2 + h**3).item(), (v == [v, 1]).tolist()]
    asked += [pickle.loads(pickle.dumps(v)).item(), memoryview(v).tobytes(), (v + 1j).item(), v == "a"]
    asked += [v.sum().item(), round(v, 1).item()]
    a[0] = a[2, 2]
    a[1, 1] = h
    a[a[2, 3] > 0] = v
    return asked, a.tolist(), {v: hash(v)}[v.item()], [x.shape for x in a[3]], (a * 2)[1, 1].item(), tt.add(v, h).item()


@program
def reductions():
    a = grid()
    return float(a.sum()), a.max(axis=0).tolist(), a.mean(axis=1, keepdims=True).tolist(), int(a.argmin())


@program
def softmax():
    a = grid()
    e = tt.exp(a - a.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)).tolist()


@program
def variance():
    a = grid(3, 70)
    return tt.var(a, axis=1).tolist(), float(tt.std(a)), tt.var(a, axis=0, ddof=1)[:3].tolist()


@program
def stencil():
    a = grid(6, 6)
    for _ in range(3):
        a[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
    return a.tolist()


@program
def matmul():
    a = grid()
    return (a @ a.T + 1).tolist(), tt.dot(a[0], a[1]).item(), (a.astype("complex64") @ a.T).tolist()


@program
def big_matmul():
    a = grid(70, 40, "float32")
    return (a @ a.T).sum(axis=1).tolist()


@program
def einsum():
    a = grid()
    return tt.einsum("ij,kj->ik", a, a).tolist(), tt.tensordot(a, a, axes=2).item()


@program
def sorting():
    a = grid()
    return (
        tt.sort(a, axis=1).tolist(),
        tt.argsort(a[0]).tolist(),
        tt.unique(a).tolist(),
        tt.searchsorted(tt.arange(5), a[1]).tolist(),
    )


@program
def scans():
    a = grid()
    return tt.cumsum(a, axis=1).tolist(), tt.cumprod(a[0] + 0.5).tolist()


@program
def linalg():
    a = grid(4, 4) + 10 * tt.eye(4)
    x = tt.linalg.solve(a, tt.ones(4))
    q, r = tt.linalg.qr(a)
    return (
        x.tolist(),
        float(tt.linalg.det(a)),
        tt.linalg.inv(a).tolist(),
        tt.abs(q @ r - a).max().item() < 1e-12,
        tt.linalg.cholesky(a @ a.T).tolist(),
    )


@program
def transforms():
    a = grid(6, 100)
    spectrum = tt.fft.rfft2(a)
    prime = tt.fft.fft(grid(1, 131)[0])
    long = tt.fft.ifft(tt.arange(5000) * 1j)
    return (
        tt.abs(tt.fft.irfft2(spectrum, (6, 100)) - a).max().item() < 1e-12,
        tt.abs(tt.fft.ifft(prime) - grid(1, 131)[0]).max().item() < 1e-12,
        round(complex(tt.fft.fft(long)[7].item()).imag, 6),
        tt.fft.irfft(tt.fft.rfft(a[:, :9], axis=0), 6, axis=0).shape,
        tt.fft.fftshift(tt.fft.fftfreq(5)).tolist(),
    )


@program
def draws():
    r = tt.random.default_rng(3)
    return (
        r.gamma(2.5, [1.0, 2.0], (3, 2)).tolist(),
        r.poisson([0.5, 50], (2, 2)).tolist(),
        r.binomial(20, 0.3, 4).tolist(),
        r.negative_binomial(3, 0.4),
        r.multinomial(9, [0.2, 0.5, 0.3], 2).tolist(),
        r.dirichlet([1, 2], 2).tolist(),
        r.multivariate_normal([0, 1], [[2, 1], [1, 2]], 2).shape,
        tt.gcd(tt.arange(6) * 4, 18).tolist(),
        (grid() + 0.5).view("uint64").tolist(),
        tt.quantile(grid(), [0.2, 0.8], axis=1, weights=tt.arange(1, 6), method="inverted_cdf").tolist(),
    )


@program
def decompositions():
    a = grid(4, 4)
    u, s, v = tt.linalg.svd(a)
    w, z = tt.linalg.eigh(a + a.T)
    return s.tolist(), w.tolist(), tt.linalg.norm(a).item(), u.shape, v.shape, z.shape


@program
def fancy_read():
    a = grid()
    return a[[0, 2, -1]].tolist(), a[[0, 1], [3, 4]].tolist(), a[:, tt.array([[0, 1], [2, 3]])].tolist()


@program
def fancy_write():
    a = grid()
    a[[0, 2]] = 7
    a[[1, 3], [0, 0]] += 100
    return a.tolist()


@program
def masks():
    a = grid()
    b = a[a > 1].tolist()
    a[a < 0] = 0
    return b, a.tolist(), tt.where(a > 2, a, -1).tolist(), [i.tolist() for i in tt.nonzero(a)]


@program
def random():
    g = tt.random.default_rng(5)
    return g.random(5).tolist(), g.normal(size=3).tolist(), g.integers(0, 10, 4).tolist(), g.permutation(6).tolist()


@program
def random_streams():
    """NumPy's generators: seeds, states, a jump, draws of every kind."""
    b = tt.random.MT19937(tt.random.SeedSequence([1, 2**40]).spawn(1)[0])
    g, old = tt.random.Generator(b.jumped()), tt.random.RandomState([3, 4])
    drawn = [g.random(3), g.integers([0, 2], 9), g.normal([0.0, 1.0], 2), g.choice(20, 3, False), g.permutation(5)]
    drawn += [g.multinomial(9, [0.5, 0.5], 2), g.dirichlet([1, 2]), g.multivariate_hypergeometric([3, 4], 2)]
    drawn += [
        g.choice(3, 2, False, [0.2, 0.3, 0.5]),
        old.randn(3),
        old.hypergeometric(9, 9, 4, 3),
        tt.random.zipf(3, 2) > 0,
    ]
    return [x.tolist() for x in drawn], old.get_state()[2:4]


@program
def joining():
    a = grid()
    return tt.concatenate([a, a[::-1]]).tolist(), tt.stack([a[0], a[1]], axis=1).tolist(), tt.roll(a, 2).tolist()


@program
def tiling():
    a = grid(2, 3)
    return tt.tile(a, (2, 2)).tolist(), tt.repeat(a, 2, axis=1).tolist(), tt.pad(a, 1).tolist()


@program
def casts():
    a = grid()
    return [a.astype(t).tolist() for t in ("int8", "uint64", "float16", "bfloat16", "bool", "complex128")]


@program
def integers():
    a = grid(dtype="int32")
    return (a // 3).tolist(), (a % 4 << 2).tolist(), (a**2).sum(axis=0).tolist(), (a & 6 | 1).tolist()


@program
def out_and_where():
    a, b = grid(), tt.zeros((4, 5))
    tt.add(a, 1, out=b)
    tt.multiply(a, 2, out=b, where=a > 0)
    return b.tolist()


@program
def printing():
    return repr(grid()), str(tt.arange(2000)), repr(grid(dtype="complex64")[0])


@program
def pickling():
    a = grid()[::2]
    return pickle.loads(pickle.dumps(a)).tolist(), pickle.loads(pickle.dumps(a + 1, 5)).tolist()


@program
def dlpack():
    a = grid() * 2
    return tt.from_dlpack(a).tolist(), tt.from_dlpack(a[::2, ::-1]).tolist()


@program
def buffers():
    a = tt.array(memoryview(struct.pack("6d", *range(6))).cast("B").cast("d"))
    return memoryview(a + 1).tolist(), bytes(memoryview(a)[:2])


@program
def explaining():
    return len(tt.explain((grid() + 1).sum(axis=0))) > 0


@program
def profiling():
    with tt.profile() as p:
        tt.eval(grid() * 3)
    return len(str(p)) > 0


@program
def ledger():
    before = tt.ledger()
    tt.eval(grid() - 1)
    return tt.ledger()["evaluations"] - before["evaluations"]


@program
def long_chain():
    a = grid()
    for k in range(300):
        a = a * 0.99 + k
    return a.tolist()


@program
def many_results():
    a = grid()
    parts = [a + k for k in range(12)]
    tt.eval(*parts)
    return [p.tolist() for p in parts]


@program
def creation():
    return tt.linspace(0, 1, 7).tolist(), tt.eye(3, k=1).tolist(), tt.full((2, 2), 3, dtype="int16").tolist()


@program
def histograms():
    a = grid()
    return tt.bincount(tt.array([1, 2, 2, 5])).tolist(), tt.histogram(a, bins=4)[0].tolist()


@program
def cutting():
    a = grid()
    parts = [*tt.split(a, 2), *tt.unstack(tt.arange(20))]
    b = (
        tt.concatenate([a, a * 2], axis=1),
        tt.stack([a, a]),
        tt.roll(a, 3, axis=1),
        tt.tile(a, (2, 1)),
        tt.repeat(a, [1, 0, 2, 3], 0),
    )
    c = tt.insert(a, [0, 2], 9, axis=0), tt.delete(a, [1, 3], axis=1), tt.append(a, 1.5), tt.resize(a, (3, 9))
    d = tt.meshgrid(tt.arange(3), tt.arange(2)), tt.indices((2, 2)), tt.broadcast_shapes((2, 1), (3,))
    return len(parts), [x.tolist() for x in (*b, *c, *d[0], d[1])], d[2]


@program
def choosing():
    a = grid()
    b = (
        tt.where(a > 0),
        tt.take(a, [3, 0], 1),
        tt.compress([True, False, True], a, 0),
        tt.choose([0, 1], [[1, 2], [3, 4]]),
    )
    c = (
        tt.take_along_axis(a, tt.argsort(a, 1), 1),
        tt.select([a > 2, a < 0], [a, -a]),
        tt.argwhere(a),
        tt.clip(a, -1, 2),
    )
    d = tt.array(a)
    tt.put(d, [0, 5], [7, 8])
    tt.place(d, d < 0, [1, 2])
    tt.fill_diagonal(d, 3)
    tt.put_along_axis(d, tt.argmax(a, axis=1, keepdims=True), 0, 1)
    e = tt.allclose(a, a + 1e-12), tt.array_equal(a, d), tt.unravel_index([3, 7], (4, 5))[0].tolist()
    return [x.tolist() for x in (*b[0], *b[1:], *c, d)], e


@program
def ordering():
    a = grid(5, 9)
    b = (
        tt.unique(a, True, True, True),
        tt.unique(a, axis=0, return_inverse=True),
        tt.histogram(a, 4),
        tt.partition(a, [1, 3], 0),
    )
    c = (
        tt.lexsort((a[0], a[1])),
        tt.isin(a, [1, 2]),
        tt.searchsorted(tt.sort(a.ravel()), [0, 3]),
        tt.digitize(a, [-1.0, 0, 2]),
    )
    d = (
        tt.bincount([1, 2, 2]),
        tt.bincount([1, 2, 2], [0.5, 1, 2]),
        tt.cumulative_sum(a, axis=1, include_initial=True),
        tt.diff(a, 2),
    )
    return [x.tolist() for x in (*b[0], *b[1], *b[2], b[3], *c, *d)]


@program
def methods_of_ufuncs():
    a = grid().astype("int64")
    b = (
        tt.bitwise_xor.reduce(a, axis=1),
        tt.gcd.reduce(a, where=a > 3),
        tt.hypot.accumulate(a, axis=1),
        tt.add.reduceat(a, [0, 2, 1]),
        tt.divmod.outer(a[0], a[1] + 1)[1],
    )
    x, far, z = tt.zeros(2_000_000), [0, 1_000_000, 5, 0], tt.ones(6, dtype=complex)
    tt.add.at(x, far, 1.5)
    tt.maximum.at(x, far, [1, 2, 3, 4])
    tt.multiply.at(z, [0, 0, 3], 2j)
    return [v.tolist() for v in (*b, x[:9], x[1_000_000], z)]


@program
def drawing():
    r = tt.random.default_rng(3)
    x = (
        r.normal([0, 5], 2, (4, 2)),
        r.integers(0, [3, 9]),
        r.permutation(9),
        r.choice(5, 3, p=[0.2] * 5),
        r.choice(20_000, 3, replace=False),
        r.permuted(grid(), axis=1),
    )
    return [v.tolist() for v in x], r.random() < 1


@program
def expression_kernels():
    text = "T t = x * y[n - 1 - i]; if (t > 2) z = twice(t); else z = w; w += 1"
    twice = "#define TWO 2\ntemplate <class U> __device__ U twice(U v) { return v * TWO; }"
    way = None if os.environ.get("TUTTI_CHECK") == "1" else "graph"  # checks of indices take a compiler
    k = tt.ElementwiseKernel("T x, raw T y", "T z, T w", text, "k", preamble=twice, way=way)
    a, w = grid().ravel(), tt.ones(20)
    z = k(a, a, tt.zeros(20), w)[0]
    top = tt.ReductionKernel("T x, T f", "T y", "x * f", "max(a, b)", "y = a + 1", "-100", "top", way="graph")
    return z.tolist(), w.tolist(), top(grid(), 2.0, axis=0).tolist()


@program
def series_of_polynomials():
    p = tt.polynomial
    c, x = tt.array([1.0, -2, 0.5, 3]), tt.linspace(-0.9, 0.9, 30)
    made = [
        p.legendre.legmul(c, c), p.chebyshev.chebval(x, c)[:3], p.hermite.hermint(c),
        p.laguerre.lagfromroots([1, 2, 3]),
        p.polynomial.polyfit(x, x * x, 2), p.hermite_e.hermeroots([1.0, 0, 1]), *p.legendre.leggauss(4),
        *p.chebyshev.chebdiv([1.0, 2, 3], [1.0, 1]), tt.polydiv([1.0, 2, 3], [1.0, 1])[0],
    ]  # fmt: skip
    return [tt.round(m, 6).tolist() for m in made]


@program
def rare_functions():
    x = tt.linspace(0.1, 30, 20)
    bits = tt.packbits(x > 3)
    mantissa, exponent = tt.frexp(x)
    made = [
        bits, tt.unpackbits(bits), tt.i0(x)[:2], tt.kaiser(6, 5.0), mantissa[:3], exponent[:3],
        tt.lib.stride_tricks.sliding_window_view(x, 4)[2], tt.histogramdd(grid(), bins=2)[0].sum(),
        tt.real_if_close(x + 0j)[:2],
    ]  # fmt: skip
    return [tt.round(m, 6).tolist() for m in made]


class Marked(tt.ndarray):
    def __array_finalize__(self, obj):
        self.mark = getattr(obj, "mark", 0)


@program
def subclasses():
    a = grid().view(Marked)
    a.mark = 3
    b = (a[1:] * 2).sum(0)
    return type(b).__name__, b.mark, b.tolist(), tt.asarray(a).shape


@program
def networks():
    """Functions of networks, forward and backward; a batch norm that remembers."""
    from tutti.nn import functional as F

    x, w = grid().requires_grad_(), grid(3, 5).requires_grad_()
    mean, var = tt.zeros(5), tt.ones(5)
    y = F.gelu(F.layer_norm(x, 5)) + F.batch_norm(x, mean, var, training=True) + F.pad(x[:, 1:], (0, 1))
    loss = F.cross_entropy(F.linear(y, w), tt.array([2, 0, 1, 1]), label_smoothing=0.1)
    loss = loss + F.binary_cross_entropy(F.sigmoid(y), F.softmax(y.detach(), 1)) + F.triplet_margin_loss(y, x, w[:1])
    loss = loss + F.interpolate(y[None], 7, mode="linear").sum() + F.adaptive_max_pool1d(y, 2).sum()
    loss.backward()
    return float(loss), x.grad.tolist(), w.grad.tolist(), mean.tolist()


@program
def sequences():
    """Recurrent networks, attention of several heads, labels."""
    from tutti import nn
    from tutti.nn import functional as F

    tt.random.seed(1)
    x = grid(6, 4, "float32").reshape(3, 2, 4).requires_grad_()
    y, _ = nn.LSTM(4, 4)(x)
    z, _ = nn.MultiheadAttention(4, 2)(y, y, y)
    log = F.log_softmax(z, 2)
    loss = F.ctc_loss(log, tt.array([[1], [2]]), tt.array([3, 3]), tt.array([1, 1]))
    loss.backward()
    return float(loss), x.grad.tolist()


@program
def optimisers():
    from tutti import nn

    made = []
    for kind in "SGD Adam RMSprop Adagrad Adadelta Adamax NAdam RAdam LBFGS".split():
        w = grid(2, 3).requires_grad_()
        o = getattr(tt.optim, kind)([w], lr=0.1)

        def closure(w=w, o=o):
            o.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            nn.utils.clip_grad_norm_([w], 1.0)
            return loss

        for _ in range(2):
            o.step(closure)
        made.append(w.detach().tolist())
    return made
