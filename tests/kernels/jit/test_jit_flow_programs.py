"""Random functions whose names change their types: Python's results in every tier, and as a kernel."""

import copy
import math
import os

import numpy as np
import pytest
import tutti as tt
from flow_programs import program

CALLS = 6
ERRORS = (ZeroDivisionError, ValueError, AssertionError, OverflowError)
pytestmark = pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler")


def plain(value):
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value.hex()
    return type(value).__name__, value


def outcome(f, args):
    """What a call gives, or its error's type, and what it left in its arrays."""
    args = copy.deepcopy(args)
    try:
        result = [plain(value) for value in f(*args)]
    except ERRORS as error:
        result = type(error).__name__
    return result, [plain(value) for value in args[:3]]


def compiled(names):
    """The functions of a program, compiled: those that f calls, then f."""
    own = dict(names)
    for name in ("twice", "split", "checked", "again", "maybe", "perhaps", "f"):
        fn = names[name]
        copied = type(fn)(fn.__code__, own, name, fn.__defaults__)
        own[name] = tt.njit(copied)
    return own["f"]


TIERS = ["compiled", "baseline", "osr:1", "osr:3"] if os.uname().machine == "x86_64" else ["compiled"]


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("seed", range(int(os.environ.get("FLOW_PROGRAMS", "12"))))
def test_python_and_every_tier_agree(seed, monkeypatch):
    text, names, arguments = program(seed)
    want = [outcome(names["f"], arguments(k)) for k in range(CALLS)]
    for tier in TIERS:
        monkeypatch.setenv("TUTTI_JIT_TIER", tier)
        f = compiled(names)
        for k in range(CALLS):
            assert outcome(f, arguments(k)) == want[k], f"{tier}, call {k}:\n{text}"


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("seed", range(int(os.environ.get("FLOW_PROGRAMS", "12"))))
def test_what_is_caught_and_functions_within(seed):
    text, names, arguments = program(seed, attempts=True)
    f = compiled(names)
    for k in range(CALLS):
        want = outcome(names["f"], arguments(k))
        assert outcome(f, arguments(k)) == want, f"call {k}:\n{text}"


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("seed", range(int(os.environ.get("FLOW_PROGRAMS", "12"))))
def test_a_kernel_agrees_where_nothing_is_raised(seed):
    text, names, arguments = program(seed)
    f = compiled(names)

    @tt.cuda.jit
    def kernel(a, b, c, n, x, whole, real):
        i = tt.cuda.grid(1)
        if i == 0:
            p, q, r = f(a, b, c, n, x)
            whole[0], whole[1], real[0] = p, r, q

    for k in range(CALLS):
        args, mine = arguments(k), arguments(k)
        want, arrays = outcome(names["f"], args)
        if isinstance(want, str):
            continue
        whole, real = np.zeros(2, np.int64), np.zeros(1)
        kernel[1, 2](*mine, whole, real)
        tt.cuda.synchronize()
        got = [plain(int(whole[0])), plain(float(real[0])), plain(int(whole[1]))]
        assert (got, [plain(value) for value in mine[:3]]) == (want, arrays), f"call {k}:\n{text}"
