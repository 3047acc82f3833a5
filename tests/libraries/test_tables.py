"""Tables: pandas, polars, pyarrow and DuckDB take our arrays and give theirs."""

import numpy as np
import pytest
import tutti as tt
from given import cases, check, same


def frame(a):
    import pandas as pd

    return pd.DataFrame({"x": np.asarray(a.x), "k": np.asarray(a.k)})


def assigned(a):
    df = frame(a)
    df["y"] = a.y
    df.loc[:, "u"] = a.u
    df.insert(0, "f", a.f)
    return df.to_dict("list")


def series(a):
    import pandas as pd

    return pd.Series(a.x, index=a.k)


def pd():
    import pandas

    return pandas


PANDAS = {
    "Series": lambda a: series(a).to_numpy(),
    "Series-index": lambda a: series(a).index.to_numpy(),
    "Series-dtypes": lambda a: [str(pd().Series(v).dtype) for v in (a.x, a.f, a.k, a.u, a.b, a.z)],
    "Series-name": lambda a: pd().Series(a.x, name=a.k[0]).to_frame().to_dict("list"),
    "Series-mask": lambda a: series(a)[a.b].to_numpy(),
    "Series-plus": lambda a: (pd().Series(a.x) + a.y).to_numpy(),
    "Series-rplus": lambda a: np.asarray(a.y - pd().Series(a.x)),
    "Series-compare": lambda a: (pd().Series(a.x) > a.y).to_numpy(),
    "Series-and": lambda a: (pd().Series(a.b) & (a.x > 2)).to_numpy(),
    "Series-where": lambda a: pd().Series(a.x).where(a.b, a.y).to_numpy(),
    "Series-mask-method": lambda a: pd().Series(a.x).mask(a.b, -1).to_numpy(),
    "Series-isin": lambda a: pd().Series(a.k).isin(a.k[:2]).to_numpy(),
    "Series-fillna": lambda a: pd().Series([1.0, np.nan]).fillna(a.x[0]).to_numpy(),
    "Series-dot": lambda a: pd().Series(a.x).dot(a.y),
    "Series-searchsorted": lambda a: pd().Series(a.x).searchsorted(a.y),
    "Series-iloc": lambda a: pd().Series(a.x).iloc[a.k].to_numpy(),
    "Series-clip": lambda a: pd().Series(a.x).clip(a.x[9], a.x[20]).to_numpy(),
    "Series-quantile": lambda a: pd().Series(a.x).quantile(a.x[:5] / 10).to_numpy(),
    "Series-ufunc": lambda a: np.add(pd().Series(a.x), a.y).to_numpy(),
    "Index": lambda a: pd().Index(a.k).to_numpy(),
    "MultiIndex": lambda a: pd().MultiIndex.from_arrays([a.k, a.x]).to_list(),
    "Categorical": lambda a: pd().Categorical(a.k).codes,
    "factorize": lambda a: pd().factorize(np.asarray(a.k)),
    "frame": lambda a: pd().DataFrame(a.m, columns=list("abcd")).to_dict("list"),
    "frame-dict": lambda a: pd().DataFrame({"x": a.x, "k": a.k, "b": a.b}).to_dict("list"),
    "frame-list": lambda a: pd().DataFrame([a.x, a.y]).to_numpy(),
    "frame-index": lambda a: pd().DataFrame(a.m, index=a.x[:12]).index.to_numpy(),
    "frame-mask": lambda a: frame(a)[a.b].to_dict("list"),
    "frame-mask-2d": lambda a: pd().DataFrame(a.m)[a.m > 0].fillna(0).to_numpy(),
    "frame-loc": lambda a: frame(a).loc[a.b, "x"].to_numpy(),
    "frame-iloc": lambda a: frame(a).iloc[a.k, 0].to_numpy(),
    "frame-take": lambda a: frame(a).take(a.k).to_numpy(),
    "frame-assign": assigned,
    "frame-assign-method": lambda a: frame(a).assign(y=a.y, z=lambda d: d.x * a.y).to_dict("list"),
    "frame-row": lambda a: (pd().DataFrame(a.m) - a.s[0]).to_numpy(),
    "frame-matmul": lambda a: (pd().DataFrame(a.m) @ a.s).to_numpy(),
    "frame-dot": lambda a: pd().DataFrame(a.m).dot(a.s).to_numpy(),
    "frame-where": lambda a: pd().DataFrame(a.m).where(a.m > 0, a.m * 2).to_numpy(),
    "frame-eval": lambda a: frame(a).query("x > @v", local_dict={"v": float(a.x[4])}).to_numpy(),
    "frame-corrwith": lambda a: pd().DataFrame(a.m).corrwith(pd().Series(a.x[:12])).to_numpy(),
    "frame-apply": lambda a: pd().DataFrame(a.m).apply(lambda c: c @ a.x[:12]).to_numpy(),
    "cut": lambda a: pd().cut(a.x, 5).codes,
    "cut-bins": lambda a: pd().cut(pd().Series(a.x), a.x[::8]).cat.codes.to_numpy(),
    "qcut": lambda a: pd().qcut(a.x, 4).codes,
    "concat": lambda a: pd().concat([pd().Series(a.x), pd().Series(a.y)]).to_numpy(),
    "crosstab": lambda a: pd().crosstab(a.k, a.b).to_numpy(),
    "pivot": lambda a: pd().DataFrame({"k": a.k, "b": a.b, "x": a.x}).pivot_table("x", "k", "b").to_numpy(),
    "merge": lambda a: frame(a).merge(pd().DataFrame({"k": a.k[:9]}), on="k").to_numpy(),
    "get_dummies": lambda a: pd().get_dummies(a.k).to_numpy(),
    "unique": lambda a: pd().unique(pd().Series(a.k)),
    "isna": lambda a: pd().isna(a.x),
    "isna-number": lambda a: bool(pd().isna(a.x[0])),
    "to_datetime": lambda a: pd().to_datetime(a.k, unit="D").astype("int64").to_numpy(),
    "to_numeric": lambda a: pd().to_numeric(a.x),
    "rolling": lambda a: pd().Series(a.x).rolling(int(a.k[1]) + 2).mean().to_numpy(),
    "interpolate": lambda a: pd().Series(a.x).reindex(a.x * 1.0).to_numpy(),
    "csv": lambda a: pd().DataFrame({"x": a.x, "b": a.b}).to_csv(),
    "json": lambda a: pd().DataFrame({"x": a.x}).to_json(),
    "repr": lambda a: repr(pd().DataFrame({"x": a.x, "k": a.k})),
    "describe": lambda a: pd().DataFrame(a.m).describe().to_numpy(),
    "types": lambda a: [
        pd().api.types.is_number(a.x[0]),
        pd().api.types.is_list_like(a.x),
        pd().api.types.is_array_like(a.x),
        pd().api.types.is_numeric_dtype(a.x.dtype),
        pd().api.types.is_float_dtype(a.x),
        pd().api.types.is_bool_dtype(a.b.dtype),
        pd().api.types.is_integer_dtype(a.k),
    ],
    "fillna-column": lambda a: frame(a).astype({"x": a.f.dtype}).dtypes["x"].name,
}


def polars():
    import polars as pl

    return pl


POLARS = {
    "Series": lambda a: polars().Series("x", a.x).to_numpy(),
    "Series-alone": lambda a: polars().Series(a.k).to_list(),
    "Series-dtypes": lambda a: [str(polars().Series(v).dtype) for v in (a.x, a.f, a.k, a.u, a.b)],
    "Series-list": lambda a: polars().Series([a.x[0], a.x[1]]).to_list(),
    "Series-plus": lambda a: (polars().Series(a.x) + polars().Series(a.y)).to_numpy(),
    "Series-filter": lambda a: polars().Series(a.x).filter(polars().Series(a.b)).to_numpy(),
    "Series-mask": lambda a: polars().Series(a.x).filter(a.b).to_numpy(),
    "Series-2d": lambda a: polars().Series(a.m).to_numpy(),
    "Series-ufunc": lambda a: np.sin(polars().Series(a.x)).to_numpy(),
    "frame": lambda a: polars().DataFrame({"x": a.x, "k": a.k, "b": a.b}).to_dict(as_series=False),
    "frame-list": lambda a: polars().DataFrame([polars().Series(a.x).alias("x")]).to_dict(as_series=False),
    "from_numpy": lambda a: polars().from_numpy(np.asarray(a.m)).to_numpy(),
    "with_columns": lambda a: (
        polars().DataFrame({"x": a.x}).with_columns(y=polars().Series(a.y), z=polars().lit(a.x[2]))
    ).to_dict(as_series=False),
    "lit": lambda a: polars().select(polars().lit(a.x[0])).item(),
    "filter-number": lambda a: polars()
    .DataFrame({"x": a.x})
    .filter(polars().col("x") > a.x[3])
    .to_dict(as_series=False),
}


def pa():
    import pyarrow

    return pyarrow


PYARROW = {
    "array": lambda a: pa().array(a.x).to_pylist(),
    "array-types": lambda a: [str(pa().array(v).type) for v in (a.x, a.f, a.k, a.u, a.b)],
    "array-strided": lambda a: pa().array(a.x[::2]).to_pylist(),
    "array-mask": lambda a: pa().array(np.asarray(a.x), mask=np.asarray(a.b)).to_pylist(),
    "array-typed": lambda a: pa().array(a.k, type=pa().float32()).to_pylist(),
    "chunked": lambda a: pa().chunked_array([a.x, a.y]).to_pylist(),
    "table": lambda a: pa().table({"x": a.x, "k": a.k, "b": a.b}).to_pydict(),
    "record_batch": lambda a: pa().record_batch({"x": a.x, "u": a.u}).to_pydict(),
    "from_arrays": lambda a: pa().Table.from_arrays([a.x, a.k], names=["x", "k"]).to_pydict(),
    "compute": lambda a: importlib_compute().sum(pa().array(a.x)).as_py(),
    "is_in": lambda a: importlib_compute().is_in(pa().array(a.k), value_set=pa().array(a.k[:1])).to_pylist(),
    "tensor": lambda a: pa().Tensor.from_numpy(np.asarray(a.m)).to_numpy(),
    "buffer": lambda a: pa().py_buffer(a.x).to_pybytes(),
}


def importlib_compute():
    import pyarrow.compute

    return pyarrow.compute


def duck(query, **tables):
    import duckdb

    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.sql(query).fetchall()


DUCKDB = {
    "dict": lambda a: duck("select sum(x), max(k) from t", t={"x": np.asarray(a.x), "k": np.asarray(a.k)}),
    "arrow": lambda a: duck("select sum(x) from t", t=pa().table({"x": a.x})),
}


@pytest.mark.parametrize("case", cases("pandas", PANDAS))
def test_pandas(case):
    same(case)


@pytest.mark.parametrize("case", cases("polars", POLARS))
def test_polars(case):
    same(case)


@pytest.mark.parametrize("case", cases("pyarrow", PYARROW))
def test_pyarrow(case):
    same(case)


@pytest.mark.parametrize("case", cases("duckdb", DUCKDB))
def test_duckdb(case):
    same(case)


def test_columns_come_back():
    pandas = pytest.importorskip("pandas")
    df = pandas.DataFrame({"x": [1.0, 2.0], "k": [3, 4], "b": [True, False]})
    assert tt.asarray(df["x"]).dtype == "float64" and tt.asarray(df["k"]).tolist() == [3, 4]
    assert tt.asarray(df["b"]).dtype == "bool" and tt.asarray(df.index).tolist() == [0, 1]
    check(tt.asarray(df[["x", "k"]]), df[["x", "k"]].to_numpy())
    check(tt.sin(df["x"]), np.sin([1.0, 2.0]))
    assert tt.asarray(pandas.Series([1, 2], dtype="Int64").to_numpy()).tolist() == [1, 2]


def test_arrow_comes_back():
    pyarrow, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    for made in (pyarrow.array, pl.Series, lambda v: pyarrow.chunked_array([v[:1], v[1:]])):
        for values in ([1.5, 2.5, 3.5], [1, 2, 3], [True, False, True]):
            got = tt.asarray(made(values))
            assert got.tolist() == values and got.dtype == np.array(values).dtype
    with pytest.raises((TypeError, ValueError)):
        tt.asarray(pyarrow.array(["a"]))
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    check(tt.asarray(frame), frame.to_numpy())


def test_ways_around_what_asks_for_numpys_class():
    """docs/numpy.md names them."""
    pandas, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    mask, df = tt.asarray([True, False, True]), pandas.DataFrame({"a": [1.0, 2.0, 3.0]})
    df.loc[mask, "a"] = 9
    assert df["a"].tolist() == [9.0, 2.0, 9.0]
    series = pandas.Series([1.0, 2.0, 3.0])
    series[mask] = 0
    assert series.tolist() == [0.0, 2.0, 0.0]
    assert pl.from_numpy(tt.arange(6).reshape(2, 3)).shape == (2, 3)
    assert df.groupby(tt.asarray([0, 1, 0]).numpy()).sum()["a"].tolist() == [18.0, 2.0]
