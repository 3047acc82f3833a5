"""Arrays of records, records, tuples with names and words in compiled functions: what Python and NumPy do."""

import collections
import enum
import itertools
import linecache
import os
import random
import types

import numpy as np
import pytest
import tutti as tt
from tutti.compat.numba import literal_unroll

TIERS = ["compiled", "baseline", "osr:1"] if os.uname().machine == "x86_64" else ["compiled"]
T = np.dtype([("x", "f8"), ("k", "i8"), ("v", "f8", (2,)), ("p", [("a", "f8"), ("b", "f8")])])
Point = collections.namedtuple("Point", "x y")
FIELDS = ("a1", "a2")


class Color(enum.IntEnum):
    RED = 3
    BLUE = 5


def program(seed):
    """A function that changes an array of records and returns a number."""
    r = random.Random(seed)
    lines = ["def f(a, n, s):"]

    def number():
        return r.choice(
            ["n", "s", "a[n].x", "a[1]['k']", "a.x[0]", "a['k'][-1]", "a[n - 1].v[1]", "a[2].p.b", f"{r.randrange(9)}"]
        )

    for _ in range(12):
        at, value = r.choice(["0", "n", "-1", "n - 1"]), f"{number()} {r.choice('+-*')} {number()}"
        lines += r.choice(
            [
                [f"    a[{at}].x = {value}"],
                [f"    a[{at}]['x'] {r.choice('+-')}= {value}"],
                [f"    a[{at}].k = int({value}) % 97"],
                [f"    a.x[{at}] = {value}"],
                [f"    a['v'][{at}, 0] = {value}"],
                [f"    a[{at}].v[1] = {value}"],
                [f"    a[{at}].p.a = {value}"],
                [f"    a[{at}] = a[{r.randrange(4)}]"],
                ["    for q in a[1:]:", f"        s = (s + q.x * {number()}) % 1009", "        q.k += 1"],
                [f"    b = a[:{at} + 1]", "    s = s + len(b)"],
                [f"    q = a[{at}]", f"    q.p.b = {value}", "    s = s + q.p.b % 7"],
                ["    for i, q in enumerate(a):", "        if i > n:", "            break", "        s += q.k"],
            ]
        )
        lines.append("    s = s % 1009")
    return "\n".join([*lines, "    return s"]) + "\n"


@pytest.mark.parametrize("seed", range(int(os.environ.get("TUTTI_FUZZ_PROGRAMS", "10"))))
def test_programs(seed, monkeypatch):
    text, name, space = program(seed), f"<record program {seed}>", {}
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), space)
    start = np.zeros(4, T)
    start["x"], start["k"] = np.arange(4) / 4, [3, 1, 4, 1]
    want = start.copy().view(np.recarray)
    s = space["f"](want, 2, 1.5)
    for tier in TIERS:
        monkeypatch.setenv("TUTTI_JIT_TIER", tier)
        got = start.copy()
        assert tt.njit(space["f"])(got, 2, 1.5) == s, text
        assert (got == want).all(), text


def test_tuples_with_names():
    def f(p, q):
        r = Point(p.x + 1, y=q.y)
        out = (p, q)
        return r, r.x + r[1], len(r), out[1].x, Color.BLUE + p.x

    args = Point(1, 2.5), Point(3, 4.5)
    got = tt.njit(f)(*args)
    assert got == f(*args) and type(got[0]) is Point
    with pytest.raises(TypeError, match="has no field 'z'.*|z"):
        tt.njit(lambda p: p.z)(args[0])
    with pytest.raises(TypeError, match="needs a value for 'y'"):
        tt.njit(lambda: Point(1))()


def test_words_name_fields():
    @tt.njit
    def f(record):
        out = 0
        for name in literal_unroll(FIELDS):
            out += record[name]
        own = ("a1", "a2")
        word = own[1]
        return out + 10 * record[word] + 100 * record[FIELDS[0]]

    a = np.array([(1, 2)], dtype=[("a1", "f8"), ("a2", "f8")])
    assert f(a[0]) == f.py_func(a[0]) == 123


def test_what_is_refused():
    a = np.zeros(3, [("a", "f8"), ("b", "f8")])

    @tt.cuda.jit
    def kernel(r):
        tt.cuda.atomic.add(r["b"], 0, 1)

    with pytest.raises(NotImplementedError, match="(?s)packed records.*align=True.*line"):
        kernel[1, 1](np.zeros(3, [("a", "i1"), ("b", "i4")]))
    with pytest.raises(NotImplementedError, match="no attribute 'c'"):
        tt.njit(lambda r: r.c)(a)


@pytest.mark.parametrize("align", [False, True])
def test_fields_of_bytes(align):
    kind = np.dtype([("a", "f8"), ("s", "S5"), ("b", "i2")], align=align)
    a = np.zeros(4, kind)
    a["s"] = [b"abcde", b"x\0y", b"", b"\xff'\""]
    get = tt.njit(lambda r, i: r[i].s)
    assert [get(a, i) for i in range(4)] == list(a["s"])

    @tt.njit
    def put(r, i, word):
        r[i].s = word
        return r[i].s == r[0].s, len(r[i].s), r[i].s[0] if len(r[i].s) else -1

    assert put(a, 1, "abcdefg") == (True, 5, 97)
    assert a["s"][1] == b"abcde"
    assert a["b"].tolist() == [0] * 4
    assert put(a, 2, "") == (False, 0, -1)
    with pytest.raises(ValueError, match="ASCII"):
        put(a, 2, "ü")
    copied = tt.njit(lambda r: (r[3].s, str(r[3].s)))
    assert copied(a) == (b"\xff'\"", str(b"\xff'\""))

    @tt.njit
    def move(r):
        r[2].s = r[3].s

    move(a)
    assert a["s"][2] == a["s"][3]
    with pytest.raises(TypeError, match="of bytes in a compiled function"):
        tt.njit(lambda r: r[0].s.upper())(a)
    with pytest.raises(TypeError, match="of bytes in a compiled function"):
        tt.njit(lambda r: r[0].s[1:])(a)


PACKED = [("a", "i1"), ("b", "f8"), ("s", "U5"), ("v", "f4", (2,)), ("n", [("x", "i2"), ("y", "c16")])]


def packed_records():
    r = np.zeros(5, PACKED)
    r["a"], r["b"], r["s"], r["n"]["y"] = 7, np.arange(5), ["one", "", "ünf", "x", "y"], 1 + 2j
    return r


def test_packed_records():
    def work(r, i):
        r[i].b = r[i].b * 2 + r[i].a
        r[i]["v"][1] = 3
        r[i].s = "changed"
        r.b[0] = 100
        t = 0.0
        for one in r:
            t += one.b + one.n.y.real
        for k in range(len(r)):
            r[k].n.x = k
        r[3] = r[1]
        return t + r.b[1:].sum() + np.sum(r["b"][::2]) + np.sort(r.b)[0], r[2].s + r[0].s

    mine, theirs = packed_records(), packed_records().view(np.recarray)
    assert tt.njit(work)(mine, 2) == work(theirs, 2) and mine.tobytes() == theirs.tobytes()
    checked = packed_records()
    assert tt.jit(work, boundscheck=True)(checked, 2) and checked.tobytes() == theirs.tobytes()
    with pytest.raises(IndexError):
        tt.jit(lambda r, i: r[i].b, boundscheck=True)(checked, 5)


def test_one_record_is_written_where_it_is():
    @tt.njit
    def change(r):
        r.b = 9.5
        r["a"] = 3
        r[3][0] = 2
        r.v[:] = r.v + 1
        r.s = "new"
        return r.b + r[0]

    r = packed_records()
    assert change(r[4]) == 12.5 and r[4]["b"] == 9.5 and r[4]["v"].tolist() == [3, 1] and r[4]["s"] == "new"


def test_records_come_back():
    r = packed_records()
    one = tt.njit(lambda r, i: r[i])(r, 1)
    assert one == r[1] and one.dtype == r.dtype
    one["b"] = 77
    assert r[1]["b"] == 1
    part, same = tt.njit(lambda r: (r[1:3], r.b))(r)
    assert part.dtype == r.dtype and np.shares_memory(part, r) and np.shares_memory(same, r)
    assert (part == r[1:3]).all()
    nested = np.array([([(0,), (1,)],), ([(3,), (4,)],)], [("items", [("f", "i4")], 2)])
    assert tt.njit(lambda x: x[1])(nested) == nested[1]


FIELD_TYPES = ["i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", "?"]


def kernel_program(r):
    """The dtype of records that are packed, and a kernel in which each thread changes one of them."""
    kinds = [r.choice(FIELD_TYPES) for _ in range(r.randint(2, 5))]
    dtype = np.dtype([("pad", "i1"), *((f"f{k}", kind) for k, kind in enumerate(kinds)), ("v", "f4", (3,))])
    lines = ["def kernel(a, b, one, n):", "    i = cuda.grid(1)", "    if i < n:", "        t = i % 7"]
    for _ in range(8):
        k = r.randrange(len(kinds))
        real = kinds[k] not in ("c8", "c16", "?")
        lines.append(
            "        "
            + r.choice(
                [
                    f"a[i].f{k} = b[n - 1 - i].f{k}",
                    f"a.f{k}[i] = t + {r.randrange(5)}",
                    f"a['f{k}'][i] {'+=' if real else '='} {r.randrange(2)}",
                    "a[i] = b[(i + 1) % n]",
                    f"a[i].v[t % 3] = {f'a[i].f{k}' if real else 't'} + one.v[1]",
                    "a['v'][i, 1:] = b['v'][i, :2]",
                    f"t = int(a[i].f{k}) % 11" if real else "t += 1",
                    "t += one.pad",
                ]
            )
        )
    lines.append("        a[i].pad = t")
    if r.random() < 0.5:
        lines += ["    cuda.syncthreads()", "    if i < n:", "        a[i].v[0] = a[i].v[0] + b[i].pad"]
    return dtype, "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(int(os.environ.get("TUTTI_FUZZ_PROGRAMS", "12"))))
def test_packed_records_in_kernels(seed, monkeypatch):
    """Threads of a kernel and Python, which takes one after the other; the same under checks of each access."""
    r, n = random.Random(seed), 37
    dtype, text = kernel_program(r)
    thread = itertools.count()
    plain = types.SimpleNamespace(grid=lambda axes: next(thread), syncthreads=lambda: None)
    name, space, as_python = f"<packed kernel {seed}>", {"cuda": tt.cuda}, {"cuda": plain}
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), space)
    exec(text, as_python)
    start = np.zeros(n, dtype)
    for k in dtype.names[:-1]:
        start[k] = [r.randrange(2) for _ in range(n)]
    start["v"] = np.arange(n)[:, None] % 5
    other = start[::-1].copy()
    want = start.copy().view(np.recarray)
    for _ in range(64):
        as_python["kernel"](want, other.view(np.recarray), other.view(np.recarray)[3], n)
    kernel = tt.cuda.jit(space["kernel"])
    for checked in "01":
        monkeypatch.setenv("TUTTI_CHECK", checked)
        got = start.copy()
        kernel[1, 64](got, other, other[3], n)
        assert got.tobytes() == want.tobytes(), text


def test_one_packed_record_in_a_kernel():
    """A record by itself is written where it lies; so are parts of arrays."""

    @tt.cuda.jit
    def kernel(one, part):
        one.b = one.b * 2 + part[1].b
        one.n.y = 3j
        part[0].v[1] = 7

    r = packed_records()
    single = r[2].copy()
    kernel[1, 1](single, r[1:4:2])
    assert single["b"] == 2 * 2 + 3 and single["n"]["y"] == 3j and r["v"].tolist()[1] == [0, 7] and not r["v"][2:].any()
