"""Other arrays: xarray, Dask, JAX, einops, Numba, ...; and files: h5py, Zarr, safetensors."""

import numpy as np
import pytest
import tutti as tt
from given import cases, check, same


def xr():
    import xarray

    return xarray


def data(a):
    return xr().DataArray(a.m, dims=("t", "c"), coords={"t": np.arange(12), "c": list("abcd")})


XARRAY = {
    "values": lambda a: data(a).values,
    "where": lambda a: data(a).where(data(a) > 0, 0).values,
    "where-mask": lambda a: data(a).where(a.m > 0).values,
    "where-function": lambda a: xr().where(data(a) > 0, a.m, -1).values,
    "mean": lambda a: data(a).mean("t").values,
    "std": lambda a: data(a).std().values,
    "sel": lambda a: data(a).sel(c="b", t=slice(2, 5)).values,
    "isel": lambda a: data(a).isel(t=a.k[:5]).values,
    "sel-array": lambda a: data(a).sel(t=xr().DataArray(a.k[:5], dims="p")).values,
    "plus": lambda a: (data(a) + data(a).mean("t")).values,
    "plus-array": lambda a: (data(a) + a.m).values,
    "array-plus": lambda a: np.asarray(a.x[0] + data(a)),
    "ufunc": lambda a: np.sin(data(a)).values,
    "apply_ufunc": lambda a: xr().apply_ufunc(np.tanh, data(a)).values,
    "groupby": lambda a: data(a).groupby("t").mean().values,
    "groupby-bins": lambda a: data(a).groupby_bins("t", [0, 4, 11]).sum().values,
    "coarsen": lambda a: data(a).coarsen(t=3).mean().values,
    "cumsum": lambda a: data(a).cumsum("t").values,
    "diff": lambda a: data(a).diff("t").values,
    "shift": lambda a: data(a).shift(t=1).values,
    "roll": lambda a: data(a).roll(t=1).values,
    "fillna": lambda a: data(a).where(data(a) > 0).fillna(a.x[0]).values,
    "isin": lambda a: xr().DataArray(a.k).isin(a.k[:2]).values,
    "clip": lambda a: data(a).clip(a.m.min() / 2, a.m.max() / 2).values,
    "argmax": lambda a: data(a).argmax("t").values,
    "idxmax": lambda a: data(a).idxmax("t").values,
    "quantile": lambda a: data(a).quantile(0.3, "t").values,
    "median": lambda a: data(a).median("t").values,
    "dot": lambda a: xr().dot(data(a), data(a), dim="t").values,
    "transpose": lambda a: data(a).transpose().values,
    "stack": lambda a: data(a).stack(p=("t", "c")).values,
    "concat": lambda a: xr().concat([data(a), data(a)], "t").values,
    "pad": lambda a: data(a).pad(t=1).values,
    "Dataset": lambda a: xr().Dataset({"v": (("t", "c"), a.m), "w": ("t", a.x[:12])}).mean().to_array().values,
    "coords": lambda a: xr().DataArray(a.x, coords={"x": a.y}, dims="x").coords["x"].values,
    "assign": lambda a: data(a).assign_coords(w=("t", a.x[:12])).w.values,
    "pandas": lambda a: data(a).to_pandas().to_numpy(),
    "weighted": lambda a: data(a).weighted(xr().DataArray(a.x[:12], dims="t")).mean("t").values,
    "polyfit": lambda a: data(a).polyfit("t", 1).polyfit_coefficients.values,
    "differentiate": lambda a: data(a).differentiate("t").values,
    "integrate": lambda a: data(a).integrate("t").values,
    "setitem": lambda a: written(data(a).copy(deep=True), a),
    "repr": lambda a: len(repr(data(a))) > 100,
}


if hasattr(tt, "lib"):  # they ask for lib.stride_tricks
    XARRAY |= {
        "rolling": lambda a: data(a).rolling(t=3).mean().values,
        "rolling-centre": lambda a: data(a).rolling(t=3, center=True, min_periods=1).sum().values,
    }


def written(d, a):
    d[{"t": 0}] = a.x[:4]
    d.loc[{"c": "b"}] = a.x[3]
    return d.values


def da():
    import dask.array

    return dask.array


DASK = {
    "sum": lambda a: da().from_array(a.m, chunks=4).sum().compute(),
    "std": lambda a: da().from_array(a.m, chunks=4).std().compute(),
    "std-axis": lambda a: da().from_array(a.m, chunks=(4, 2)).std(axis=0).compute(),
    "var": lambda a: da().from_array(a.m, chunks=4).var(ddof=1).compute(),
    "mean": lambda a: da().from_array(a.m, chunks=4).mean(axis=1).compute(),
    "asarray": lambda a: da().asarray(a.m).sum().compute(),
    "sin": lambda a: da().sin(da().from_array(a.x, chunks=16)).compute(),
    "plus": lambda a: (da().from_array(a.x, chunks=16) + a.y).compute(),
    "array-plus": lambda a: np.asarray(a.y + da().from_array(a.x, chunks=16)),
    "matmul": lambda a: (da().from_array(a.m, chunks=4) @ da().from_array(a.s, chunks=2)).compute(),
    "dot": lambda a: da().dot(da().from_array(a.m, chunks=4), a.s).compute(),
    "map_blocks": lambda a: da().from_array(a.x, chunks=16).map_blocks(lambda b: b * 2).compute(),
    "mask": lambda a: da().from_array(a.x, chunks=16)[a.b].compute(),
    "take": lambda a: da().from_array(a.x, chunks=16)[a.k].compute(),
    "argmax": lambda a: da().from_array(a.x, chunks=16).argmax().compute(),
    "where": lambda a: da().where(da().from_array(a.b, chunks=16), a.x, a.y).compute(),
    "histogram": lambda a: da().histogram(da().from_array(a.x, chunks=16), bins=4, range=(0, 7))[0].compute(),
    "cumsum": lambda a: da().from_array(a.x, chunks=16).cumsum(axis=0).compute(),
    "fft": lambda a: da().fft.fft(da().from_array(a.x, chunks=64)).compute(),
    "concatenate": lambda a: da().concatenate([da().from_array(a.x), da().from_array(a.y)]).compute(),
    "stack": lambda a: da().stack([da().from_array(a.x), da().from_array(a.y)]).compute(),
    "rechunk": lambda a: da().from_array(a.m, chunks=4).rechunk((3, 2)).compute(),
    "overlap": lambda a: da().from_array(a.x, chunks=16).map_overlap(lambda b: b + 1, depth=1, boundary=0).compute(),
    "unique": lambda a: da().unique(da().from_array(a.k, chunks=16)).compute(),
    "bincount": lambda a: da().bincount(da().from_array(a.k, chunks=16), minlength=4).compute(),
    "svd": lambda a: da().linalg.svd(da().from_array(a.m, chunks=(4, 4)))[1].compute(),
    "tensordot": lambda a: da().tensordot(da().from_array(a.m, chunks=4), da().from_array(a.s, chunks=4), 1).compute(),
    "einsum": lambda a: da().einsum("ij,jk", da().from_array(a.m, chunks=4), da().from_array(a.s, chunks=4)).compute(),
    "topk": lambda a: da().topk(da().from_array(a.x, chunks=16), 3).compute(),
    "nanmean": lambda a: da().nanmean(da().from_array(a.x, chunks=16)).compute(),
    "delayed": lambda a: __import__("dask").delayed(np.sum)(a.x).compute(),
}


def jnp():
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy

    return jax.numpy


def jax():
    jnp()
    import jax

    return jax


JAX = {
    "sum": lambda a: np.asarray(jnp().sum(a.x)),
    "asarray": lambda a: np.asarray(jnp().asarray(a.m)),
    "array": lambda a: np.asarray(jnp().array(a.f)),
    "array-bool": lambda a: np.asarray(jnp().asarray(a.b)),
    "sin": lambda a: np.asarray(jnp().sin(a.x)),
    "dot": lambda a: np.asarray(jnp().dot(a.m, a.s)),
    "einsum": lambda a: np.asarray(jnp().einsum("ij,jk->ik", a.m, a.s)),
    "where": lambda a: np.asarray(jnp().where(a.b, a.x, a.y)),
    "concatenate": lambda a: np.asarray(jnp().concatenate([a.x, a.y])),
    "plus": lambda a: np.asarray(jnp().asarray(np.asarray(a.x)) + a.y),
    "rplus": lambda a: np.asarray(a.y + jnp().asarray(np.asarray(a.x))),
    "jit": lambda a: np.asarray(jax().jit(lambda x: (x * 2).sum())(a.x)),
    "jit-two": lambda a: np.asarray(jax().jit(lambda x, y: x @ y)(a.m, a.s)),
    "jit-number": lambda a: np.asarray(jax().jit(lambda x, n: x * n)(a.x, a.x[3])),
    "jit-tree": lambda a: np.asarray(jax().jit(lambda t: t["x"] + t["y"])({"x": a.x, "y": a.y})),
    "jit-closed": lambda a: np.asarray(jax().jit(lambda x: x + a.y)(a.x)),
    "grad": lambda a: np.asarray(jax().grad(lambda x: jnp().sum(jnp().sin(x)))(a.x)),
    "vmap": lambda a: np.asarray(jax().vmap(lambda r: r.sum())(a.m)),
    "device_put": lambda a: np.asarray(jax().device_put(a.x)),
    "softmax": lambda a: np.asarray(jax().nn.softmax(a.m)),
    "solve": lambda a: np.asarray(jnp().linalg.solve(a.s, a.x[:4])),
    "fft": lambda a: np.asarray(jnp().fft.fft(a.x)),
    "scan": lambda a: np.asarray(jax().lax.scan(lambda c, v: (c + v, c), 0.0, a.x)[1]),
    "dlpack": lambda a: np.asarray(jnp().from_dlpack(a.x)),
}


def ei():
    import einops

    return einops


EINOPS = {
    "rearrange": lambda a: ei().rearrange(a.cube, "b h w c -> b c h w"),
    "split": lambda a: ei().rearrange(a.cube, "b (h p) (w q) c -> (b h w) (p q c)", p=2, q=3),
    "reduce": lambda a: ei().reduce(a.cube, "b (h p) (w q) c -> b h w c", "max", p=2, q=2),
    "mean": lambda a: ei().reduce(a.cube, "b h w c -> b c", "mean"),
    "prod": lambda a: ei().reduce(a.cube, "b h w c -> b", "prod"),
    "repeat": lambda a: ei().repeat(a.m, "h w -> (h p) (w q)", p=2, q=3),
    "list": lambda a: ei().rearrange([a.m, a.m], "n h w -> h (n w)"),
    "einsum": lambda a: ei().einsum(a.m, a.s, "i j, j k -> i k"),
    "pack": lambda a: ei().pack([a.m, a.x[:12]], "t *")[0],
    "parse": lambda a: ei().parse_shape(a.cube, "b h w c"),
    "asnumpy": lambda a: ei().asnumpy(a.m),
}


def njit(f):
    import numba

    return numba.njit(f)


def total(x):
    s = 0.0
    for v in x:
        s += v
    return s


def doubled(x):
    return x * 2 + 1


def product(x, y):
    return np.dot(x, y)


def both(x, n):
    return x[n] + x.shape[0]


NUMBA = {
    "loop": lambda a: njit(total)(a.x),
    "loop-strided": lambda a: njit(total)(a.x[::2]),
    "float32": lambda a: njit(total)(a.f),
    "array": lambda a: njit(doubled)(a.x),
    "array-2d": lambda a: njit(doubled)(a.m),
    "transposed": lambda a: njit(doubled)(a.m.T),
    "ints": lambda a: njit(doubled)(a.k),
    "bools": lambda a: njit(lambda b: b.sum())(a.b),
    "complex": lambda a: njit(doubled)(a.z),
    "dot": lambda a: njit(product)(a.m, a.s),
    "number": lambda a: njit(doubled)(a.x[3]),
    "int-number": lambda a: njit(both)(a.x, a.k[0]),
    "tuple": lambda a: njit(lambda t: t[0].sum() + t[1].sum())((a.x, a.y)),
    "vectorize": lambda a: __import__("numba").vectorize(doubled)(a.x),
}


def gradient(a):
    import autograd
    import autograd.numpy as anp

    return autograd.grad(lambda p: anp.sum(anp.sin(p) * np.asarray(a.y)))(np.asarray(a.x))


def standard(a):
    import array_api_compat

    xp = array_api_compat.array_namespace(a.x)
    return [
        xp.sum(a.x),
        xp.concat([a.x, a.y]),
        array_api_compat.size(a.x),
        array_api_compat.is_array_api_obj(a.x),
    ]


@pytest.mark.parametrize("case", cases("xarray", XARRAY))
def test_xarray(case):
    same(case)


@pytest.mark.parametrize("case", cases("dask", DASK))
def test_dask(case):
    same(case)


@pytest.mark.parametrize("case", cases("jax", JAX))
def test_jax(case):
    same(case)


@pytest.mark.parametrize("case", cases("einops", EINOPS))
def test_einops(case):
    same(case)


@pytest.mark.parametrize("case", cases("numba", NUMBA))
def test_numba(case):
    same(case)


@pytest.mark.parametrize("case", cases("autograd", {"grad": gradient}))
def test_autograd(case):
    same(case)


@pytest.mark.parametrize("case", cases("array_api_compat", {"standard": standard}))
def test_array_api_compat(case):
    same(case)


# ---- files


def test_h5py(tmp_path):
    h5py = pytest.importorskip("h5py")
    m = np.arange(12.0).reshape(3, 4)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["m"] = tt.asarray(m)
        f.create_dataset("z", data=tt.asarray(m), chunks=(1, 4), compression="gzip")
        f["row"] = np.zeros(4)
        f["row"][...] = tt.asarray(m)[1]
        f["row"][1:3] = tt.asarray([7.0, 8.0])
        f["number"] = tt.asarray(m)[1, 2]
        f.attrs["mean"] = tt.asarray(m).mean()
        f.attrs["list"] = tt.asarray([1, 2])
        f["bools"] = tt.asarray(m > 3)
    with h5py.File(tmp_path / "a.h5") as f:
        for name in ("m", "z"):
            check(tt.asarray(f[name]), m)
            check(tt.asarray(f[name][1:]), m[1:])
        check(f["row"][...], np.array([4.0, 7.0, 8.0, 7.0]))
        assert f["number"][()] == 6.0 and f.attrs["mean"] == 5.5 and f.attrs["list"].tolist() == [1, 2]
        check(tt.asarray(f["bools"]), m > 3)
        check(f["m"][tt.asarray([True, False, True])], m[[0, 2]])
        check(f["m"][tt.asarray([0, 2])], m[[0, 2]])
        check(f["m"][tt.asarray([1, 2])[0]], m[1])
        made = tt.zeros((2, 4))
        made[...] = f["m"][1:]
        check(made, m[1:])


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr")
    m = np.arange(12.0).reshape(3, 4)
    z = zarr.create_array(store=str(tmp_path / "a.zarr"), shape=(3, 4), chunks=(2, 2), dtype="f8")
    z[...] = tt.asarray(m)
    z[0] = tt.asarray(m)[2]
    m[0] = m[2]
    check(tt.asarray(z[...]), m)
    check(tt.asarray(z[1]), m[1])


def test_safetensors():
    st = pytest.importorskip("safetensors.numpy")
    x = np.arange(6.0).reshape(2, 3)
    back = st.load(st.save({"x": np.asarray(tt.asarray(x))}))
    check(tt.asarray(back["x"]), x)


def test_ml_dtypes():
    ml = pytest.importorskip("ml_dtypes")
    got = tt.asarray(ml.bfloat16(3.5))
    assert (got.dtype, got.shape, got.item()) == (tt.bfloat16, (), 3.5)
    got = tt.asarray(np.array([1.5, -2.0], ml.bfloat16))
    assert (got.dtype, got.tolist()) == (tt.bfloat16, [1.5, -2.0])
    assert tt.asarray([ml.bfloat16(3.5), ml.bfloat16(1)]).dtype == tt.bfloat16
    assert (tt.ones(2, "bfloat16") * ml.bfloat16(2)).dtype == tt.bfloat16
    assert tt.dtype(ml.bfloat16) == tt.bfloat16 and tt.zeros(1, ml.bfloat16).dtype == tt.bfloat16
    back = tt.asarray([1.5, 2.5], dtype="bfloat16").numpy()
    assert back.dtype == ml.bfloat16 and back.astype("f4").tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "name", ["copysign", "arctan2", "hypot", "heaviside", "logaddexp", "nextafter", "add", "true_divide"]
)
def test_types_of_functions_with_bfloat16(name):
    ml = pytest.importorskip("ml_dtypes")
    x = np.array([1.5, -2.0], ml.bfloat16)
    for t in "bool int8 uint8 int16 uint16 int32 int64 float16 float32 float64".split():
        y = np.array([1, 1], t)
        for args in ((x, y), (y, x)):
            want = getattr(np, name)(*args)
            got = getattr(tt, name)(*map(tt.asarray, args))
            assert str(got.dtype) == str(want.dtype), (t, args)
            np.testing.assert_allclose(got.numpy().astype("f8"), want.astype("f8"), rtol=1e-6)


def test_arrays_come_back():
    j = pytest.importorskip("jax.numpy")
    x = np.arange(4.0, dtype="f4")
    check(tt.asarray(j.asarray(x)), x)
    check(tt.asarray(j.asarray(x, j.bfloat16)).astype("f4"), x)
    check(tt.from_dlpack(j.asarray(x)), x)
    check(tt.sin(j.asarray(x)), np.sin(x))
