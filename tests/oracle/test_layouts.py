"""Where results lie in memory, over operands in all orders: strides and flags are NumPy's."""

import copy
import itertools
import pickle

import numpy as np
import pytest
import tutti as tt


def layouts(m):
    """Arrays in C order, Fortran's, transposed, reversed, with gaps."""
    blocks = {
        "cube": np.arange(1.0, 25).reshape(2, 3, 4),
        "whole": np.arange(1, 25).reshape(2, 3, 4),
        "matrix": np.arange(1.0, 13).reshape(3, 4),
        "complex": (np.arange(12) + 1j).reshape(3, 4),
        "square": np.random.default_rng(0).random((4, 4)),
    }
    for name, a in blocks.items():
        x = m.array(a)
        yield name + " C", x
        yield name + " F", x.copy(order="F")
        yield name + " transposed", x.T
        yield name + " reversed", x[::-1]
        yield name + " both", x.T[::-1, ..., ::-1]
        yield name + " gaps", x[..., ::2]
        if x.ndim == 3:
            yield name + " permuted", x.transpose(1, 0, 2)


# The operands have not full rank: bases of what is left over, and their signs, are the library's choice. So is the
# order of what lies on one side of a partition.
ANY_CHOICE = ["m.argpartition(x,1,0)", "m.linalg.svd(x)[0]", "m.linalg.svd(x)[2]", "m.linalg.qr(x)[0]",
              "m.linalg.eigh(x)[1]", "m.linalg.eig(x)[1]", "m.linalg.cholesky(x@x.conj().T)"]  # fmt: skip


def steps(a):
    """Along axes that are walked."""
    return [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1]


def compare(call, values=True):
    for (name, x), (_, y) in zip(layouts(np), layouts(tt), strict=True):
        try:
            want = call(np, x)
        except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):
            continue  # what NumPy does not take is other tests' business
        got = call(tt, y)
        if not isinstance(want, (tuple, list)):
            want, got = [want], [got]
        for w, g in zip(want, got, strict=True):
            if not isinstance(w, np.ndarray) or w.size <= 1:
                continue
            assert g.shape == w.shape and steps(g) == steps(w), name
            assert g.flags.writeable == w.flags.writeable, name
            for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS"):
                assert g.flags[flag] == w.flags[flag], name
            if values:
                np.testing.assert_allclose(np.asarray(g), w, rtol=1e-6, atol=1e-12, err_msg=name)


ORDERED = [
    "x.copy(order)",
    "x.flatten(order)",
    "x.ravel(order)",
    "m.ravel(x, order)",
    "m.array(x, order=order)",
    "m.copy(x, order=order)",
    "m.asarray(x, order=order)",
    "x.astype('complex64', order=order)",
    "m.zeros_like(x, order=order)",
    "m.full_like(x, 3, order=order)",
    "m.ones_like(x, shape=(2,) * x.ndim, order=order)",
    "m.ones_like(x, shape=(2, 3, 4, 5), order=order)",
    "m.add(x, x.copy(), order='K' if order == 'A' else order)",
]


@pytest.mark.parametrize("order", "CFAK")
@pytest.mark.parametrize("text", ORDERED)
def test_orders(text, order):
    compare(eval("lambda m, x: " + text, {"order": order}))


@pytest.mark.parametrize("order", "CFAK")
def test_empty_like(order):
    compare(lambda m, x: m.empty_like(x, order=order), values=False)


def without_copy(m, x, shape, order):
    try:
        return x.reshape(shape, order=order, copy=False)
    except ValueError as e:
        return m.array([[len(str(e)), 2]])


@pytest.mark.parametrize("order", "CFA")
@pytest.mark.parametrize("shape", [-1, (2, -1), (3, -1), (2, 2, -1), (-1, 2), (4, -1), (12, -1)])
def test_reshape(shape, order):
    compare(lambda m, x: x.reshape(shape, order=order))
    compare(lambda m, x: x.reshape(shape, order=order, copy=True))
    compare(lambda m, x: m.reshape(x, shape, order=order, copy=True))
    compare(lambda m, x: without_copy(m, x, shape, order))


def test_refusals():
    for m in (np, tt):
        a = m.ones((2, 3)).T
        with pytest.raises(ValueError, match="order 'K' is not permitted for reshaping"):
            a.reshape(6, order="K")
        with pytest.raises(ValueError, match="Unable to avoid creating a copy while reshaping."):
            a.reshape(6, copy=False)
        with pytest.raises(ValueError, match="order must be one of 'C', 'F', 'A', or 'K'"):
            a.ravel("X")
        with pytest.raises(AttributeError):
            a.shape = 6


def test_what_is_a_view():
    a = tt.arange(6)
    assert not tt.shares_memory(a[::2].ravel(), a) and not tt.shares_memory(a[::-1].ravel("K"), a)
    assert tt.shares_memory(a.ravel(), a) and not tt.shares_memory(a.flatten(), a)
    f = a.reshape(2, 3).T
    assert tt.shares_memory(f.ravel("F"), a) and tt.shares_memory(f.ravel("K"), a)
    assert tt.shares_memory(f.ravel("A"), a) and not tt.shares_memory(f.ravel(), a)
    b = tt.arange(3.0)
    assert b.conj() is b


RESULTS = [
    "x+1",
    "-x",
    "x*x.T if x.ndim==2 and x.shape[0]==x.shape[1] else x*2",
    "m.sin(x)",
    "x>2",
    "x+x[:1]",
    "x+x[...,:1]",
    "m.where(x.real>2,x,0)",
    "m.where(x.real>2,x.real,x.imag)",
    "x.sum(0)",
    "x.sum(-1)",
    "x.sum((0,1))",
    "x.sum(0,keepdims=True)",
    "x.mean(0)",
    "x.mean(-1)",
    "x.std(0)",
    "x.var(-1)",
    "m.max(x,0)",
    "m.min(x,1)",
    "x.argmax(0)",
    "x.prod(1)",
    "m.any(x,0)",
    "m.all(x,axis=-1)",
    "m.cumsum(x,0)",
    "m.cumsum(x,1)",
    "m.cumprod(x,1)",
    "m.sort(x,0)",
    "m.sort(x,1)",
    "m.sort(x)",
    "m.argsort(x,0)",
    "m.argsort(x)",
    "m.partition(x,1,0)",
    "m.argpartition(x,1,0)",
    "m.take(x,[0,1],0)",
    "m.take(x,[0,1],1)",
    "m.take(x,1,-1)",
    "x[[0,1],[1,0]]",
    "x[x.real>3]",
    "x[None]",
    "x[...,0]",
    "m.concatenate([x,x])",
    "m.concatenate([x,x],1)",
    "m.concatenate([x,x],-1)",
    "m.stack([x,x])",
    "m.stack([x,x],-1)",
    "m.stack([x,x],1)",
    "m.vstack([x,x])",
    "m.hstack([x,x])",
    "m.dstack([x,x])",
    "m.column_stack([x[0],x[0]])",
    "m.clip(x,1,2)",
    "m.round(x)",
    "m.real(x)",
    "m.imag(x)",
    "m.conj(x)",
    "m.abs(x)",
    "m.angle(x)",
    "m.diff(x)",
    "m.diff(x,axis=0)",
    "m.flip(x)",
    "m.flip(x,0)",
    "m.roll(x,1)",
    "m.roll(x,1,0)",
    "m.rot90(x)",
    "m.repeat(x,2)",
    "m.repeat(x,2,0)",
    "m.repeat(x,2,1)",
    "m.tile(x,2)",
    "m.tile(x,(2,1))",
    "m.pad(x,1)",
    "m.pad(x,1,mode='edge')",
    "m.pad(x,1,mode='reflect')",
    "m.delete(x,0,0)",
    "m.delete(x,0,1)",
    "m.insert(x,1,5,0)",
    "m.insert(x,1,5,1)",
    "m.append(x,x,0)",
    "m.append(x,x)",
    "m.tril(x)",
    "m.triu(x)",
    "m.diagonal(x)",
    "m.diag(x)",
    "m.trace(x)",
    "m.dot(x,x.T)",
    "m.matmul(x,x.swapaxes(-1,-2))",
    "m.tensordot(x,x.T,1)",
    "m.einsum('...ij->...ji',x)",
    "m.einsum('...ij->...i',x)",
    "m.einsum('...ij,...ij->...j',x,x)",
    "m.inner(x,x)",
    "m.outer(x,x)",
    "m.kron(x,x)",
    "m.unique(x)",
    "m.unique(x,axis=0)",
    "m.histogram(x.real)[0]",
    "m.bincount(m.asarray([1,2]))",
    "m.searchsorted(m.arange(3),x)",
    "m.digitize(x,m.arange(3))",
    "m.quantile(x,[.1,.5],0)",
    "m.quantile(x,.5,0)",
    "m.quantile(x,[.1,.5],axis=1)",
    "m.percentile(x,[10,50],axis=-1)",
    "m.nansum(x,0)",
    "m.nanmean(x,0)",
    "m.nanmax(x,0)",
    "m.nan_to_num(x)",
    "m.average(x,0)",
    "m.ptp(x,0)",
    "m.cov(x)",
    "m.corrcoef(x)",
    "m.gradient(x,axis=0)",
    "m.trapezoid(x,axis=0)",
    "m.interp(x,m.arange(5.),m.arange(5.))",
    "m.unwrap(x)",
    "m.fft.fft(x)",
    "m.fft.fft(x,axis=0)",
    "m.fft.rfft(x)",
    "m.fft.ifft2(x)",
    "m.fft.fftshift(x)",
    "m.linalg.inv(x)",
    "m.linalg.svd(x)[0]",
    "m.linalg.svd(x)[1]",
    "m.linalg.svd(x)[2]",
    "m.linalg.qr(x)[0]",
    "m.linalg.eigh(x)[1]",
    "m.linalg.eigh(x)[0]",
    "m.linalg.cholesky(x@x.conj().T)",
    "m.linalg.solve(x,x)",
    "m.linalg.pinv(x)",
    "m.linalg.norm(x,axis=0)",
    "m.linalg.matrix_power(x,3)",
    "m.linalg.lstsq(x,x)[0]",
    "m.vander(x[0],3)",
    "m.vander(x.ravel()[:3])",
    "m.correlate(x.ravel(),m.arange(3.),'full')",
    "m.convolve(x.ravel(),m.arange(3.))",
    "m.add.reduce(x,0)",
    "m.add.accumulate(x,0)",
    "m.add.outer(x,x)",
    "m.multiply.reduce(x,(0,1))",
    "m.modf(x)",
    "m.divmod(x,2)",
    "m.meshgrid(x.ravel(),m.arange(2))",
    "m.indices(x.shape)",
    "m.flatnonzero(x)",
    "m.compress([True,False],x,0)",
    "m.extract(x.real>3,x)",
    "m.choose(m.asarray([0,1]),[m.arange(2),m.arange(2)])",
    "m.take_along_axis(x,m.argsort(x.real,0),0)",
    "m.isin(x,[1,2])",
    "m.isclose(x,x)",
    "m.logical_not(x)",
    "m.broadcast_to(x,(2,)+x.shape)",
    "m.squeeze(x[None])",
    "m.expand_dims(x,0)",
    "m.moveaxis(x,0,-1)",
    "m.swapaxes(x,0,1)",
    "m.atleast_3d(x)",
    "m.array_split(x,2)[0]",
    "m.split(x,x.shape[0])[0]",
    "m.linspace(x,x+1,3)",
    "m.linspace(x,x+1,3,axis=-1)",
    "m.logspace(x.real/9,x.real/9+1,3)",
    "m.select([x.real>3],[x],0)",
    "m.piecewise(x,[x.real>3],[1,2])",
    "m.apply_along_axis(lambda v:v,0,x)",
    "m.ediff1d(x)",
    "m.fix(x)",
    "m.sinc(x)",
    "m.tri(3)",
    "m.block([[x,x]])",
    "m.fliplr(x)",
    "m.heaviside(x,1)",
    "m.ldexp(x,2)",
    "m.resize(x,(3,5))",
    "m.trim_zeros(x.ravel())",
    "m.array([x,x])",
    "m.array(x,dtype='f4')",
    "m.asarray(x,dtype='f4')",
    "m.ascontiguousarray(x)",
    "m.asfortranarray(x)",
    "m.vecdot(x,x)",
    "x.dot(x.T)",
    "x.clip(2)",
    "x.round()",
    "x.conj()",
    "x.cumsum()",
    "x.cumsum(0)",
    "x.repeat(2)",
    "x.take([0])",
    "x**2",
    "x**0.5",
    "x//2",
    "x%2",
    "abs(x)",
    "~(x>2)",
    "x==x",
    "x/2",
    "m.maximum(x,2)",
    "m.minimum(x,x[::-1])",
    "m.sqrt(x)",
    "m.sign(x)",
    "m.exp(x)",
    "m.power(x,2)",
    "m.logaddexp(x,x)",
    "m.hypot(x,x)",
    "m.arctan2(x,x)",
    "m.nanargmax(x,0)",
    "m.nanquantile(x,[.5,.1],0)",
    "m.count_nonzero(x,0)",
    "m.cumulative_sum(x,axis=0)",
    "m.matrix_transpose(x)",
    "m.permute_dims(x)",
    "m.lexsort(x)",
    "m.sort_complex(x)",
    "m.angle(x)",
    "m.fft.irfft(x)",
    "m.fft.fftn(x)",
    "m.linalg.det(x)",
    "m.linalg.eigvalsh(x)",
    "m.linalg.tensorinv(x)",
    "m.linalg.multi_dot([x,x.T,x])",
    "m.linalg.outer(x.ravel(),x.ravel())",
    "m.linalg.eig(x)[1]",
    "m.add.reduceat(x, [0, 1], 0) if x.flags.c_contiguous else x",
    "m.positive(x)",
    "m.polyval([1,2],x)",
    "copy.copy(x)",
    "copy.deepcopy(x)",
    "pickle.loads(pickle.dumps(x)) if x.flags.forc else x",
    "pickle.loads(pickle.dumps(x,5)) if x.flags.forc else x",
    "m.positive(x,dtype='c16')",
    "m.choose(x.real.astype(int)%2,[x,2])",
    "m.unpackbits(x.real.astype('u1'),axis=0)",
    "m.packbits(x>3,axis=-1)",
    "m.iscomplex(x)",
    "m.isreal(x)",
    "x.max(())",
    "x.max(0)",
    "x.prod(-1)",
    "x.min(1,keepdims=True)",
    "m.tile(x,())",
    "m.tile(x,1)",
    "x.prod((),initial=2)",
    "m.ones_like(x,order='F',device='cpu')",
    "m.zeros_like(x,device='cpu')",
    "m.asanyarray(x,'c8',device='cpu')",
]


@pytest.mark.parametrize("text", RESULTS)
def test_results(text):
    compare(eval("lambda m, x: " + text, {"copy": copy, "pickle": pickle}), values=text not in ANY_CHOICE)


ITERATED = ["m.positive(x)", "m.rad2deg(x.real.astype('f2'))", "m.fabs(x.real.astype('i1'))", "m.round(x.real, 1)",
            "m.round(x)",
            "m.round(x.real.astype('i1'), 1)", "m.iscomplex(x)", "m.isreal(x)", "m.frexp(x.real.astype('f2'))",
            "m.heaviside(x.real.astype('i1'), 1)", "m.ldexp(x.real.astype('f2'), 1)", "x.cumsum(0)", "x.cumprod(-1)",
            "m.add.accumulate(x.astype('c8'))", "m.cumulative_sum(x, axis=0)", "m.isposinf(x.real)", "x.copy('K')",
            "x.astype('c8')", "m.asanyarray(x, 'c8', device='cpu')"]  # fmt: skip


@pytest.mark.parametrize("text", ITERATED)
def test_broadcast_operands(text):
    """NumPy's iterator goes through what is broadcast in C's order, its copies go through the axis that moves last."""
    call = eval("lambda m, x: " + text)
    compare(lambda m, x: call(m, m.broadcast_to(x[:1], x.shape)))


@pytest.mark.parametrize("name", ["logaddexp2", "heaviside", "ldexp", "fmod", "copysign", "float_power"])
def test_two_operands(name):
    """One in an order, one that is broadcast, of types that are cast first."""
    compare(lambda m, x: getattr(m, name)(x.real.astype("f4"), m.broadcast_to(x[:1].real.astype("i4"), x.shape)))


def strides_of_copies():
    cube = np.arange(120.0).reshape(2, 3, 4, 5)
    for axes in itertools.permutations(range(4)):
        yield f"permuted {axes}", cube.transpose(axes)
    yield "gaps", cube[:, ::2]
    yield "columns with gaps", np.asfortranarray(cube)[:, ::2]
    yield "reversed", cube.transpose(2, 0, 1, 3)[:, ::-1]
    yield "broadcast", np.broadcast_to(np.arange(4.0), (3, 4))
    yield "long axes of one", np.zeros((1, 3, 1, 2)).transpose(2, 1, 0, 3)
    yield "empty", np.zeros((3, 0, 2)).transpose(2, 1, 0)


@pytest.mark.parametrize("order", [None, "K", "A", "C", "F"])
@pytest.mark.parametrize("theirs", strides_of_copies(), ids=lambda p: p[0])
def test_copies_of_their_arrays(theirs, order):
    """What comes from NumPy lies as NumPy's own copy of it does."""
    theirs = theirs[1][...]
    how = {} if order is None else {"order": order}
    for function in ("array", "copy"):
        want, got = getattr(np, function)(theirs, **how), getattr(tt, function)(theirs, **how)
        assert np.array_equal(want, got.numpy())
        assert got.flags.c_contiguous == want.flags.c_contiguous and got.flags.f_contiguous == want.flags.f_contiguous
        assert got.size == 0 or 1 in got.shape or got.strides == want.strides
    got, kept = tt.asarray(theirs, **how), np.array(theirs, order="K" if order in (None, "A") else order)
    assert not theirs.flags.writeable or got.size == 0 or 1 in got.shape or got.strides == kept.strides
    theirs.flags.writeable = False  # shared then, where NumPy does not copy either
    want, got = np.asarray(theirs, **how), tt.asarray(theirs, **how)
    assert got.size == 0 or 1 in got.shape or got.strides == want.strides
    assert np.array_equal(want, got.numpy())
