"""Random functions with generators, records, objects and strings: Python's results, also with checked indices."""

import copy
import math
import os

import numpy as np
import pytest
import tutti as tt
from language_programs import program
from tutti.compat.numba.experimental import jitclass

CALLS = 4
pytestmark = pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler")
FIELDS = [("n", "int64"), ("z", "float64"), ("a", "float64[:]")]


def plain(value):
    if isinstance(value, (float, np.floating)):
        return "nan" if math.isnan(value) else float(value).hex()
    return int(value) if isinstance(value, (int, np.integer)) else value


def outcome(f, args):
    """What a call gives, and what it left in its records."""
    args = copy.deepcopy(args)
    try:
        result = [plain(value) for value in f(*args)]
    except (IndexError, ValueError, ZeroDivisionError) as error:
        result = type(error).__name__
    return result, args[0].tobytes()


def compiled(names, **options):
    from tutti.compat.numba import types

    own = dict(names)
    fields = [(name, getattr(types, kind.split("[")[0])) for name, kind in FIELDS]
    fields[2] = "a", types.float64[:]
    own["Bag"] = jitclass(fields)(names["Bag"])
    for name in ("evens", "pairs", "fields", "spelled", "step", "f"):
        fn = names[name]
        own[name] = tt.jit(type(fn)(fn.__code__, own, name, fn.__defaults__), **options)
    return own["f"]


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("seed", range(int(os.environ.get("LANGUAGE_PROGRAMS", "8"))))
def test_python_and_compiled_functions_agree(seed):
    text, names, arguments = program(seed)
    functions = {"compiled": compiled(names), "checked": compiled(names, boundscheck=True)}
    for k in range(CALLS):
        want = outcome(names["f"], arguments(k))
        for how, f in functions.items():
            assert outcome(f, arguments(k)) == want, f"{how}, call {k}:\n{text}"
