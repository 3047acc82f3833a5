"""Functions of modules that go by value: workers do not import what they do not need, and nobody can tell."""

import importlib
import random
import sys

import pytest
import tutti as tt

MODULE = """
import itertools
import math

import {heavy}

SCALE = 3
NAMES = ("a", "b")
seen = []


class Thing:
    pass


def loaded(x):
    import sys
    return [name for name in ("{name}", "{heavy}") if name in sys.modules]


def constants(x):
    return SCALE * x, NAMES, math.sqrt(x), loaded(x)


def recursive(n):
    return loaded(n) if n == 0 else recursive(n - 1)


def itself(x):
    return itself


def remembers(x):
    seen.append(x)
    return loaded(x)


def makes(x):
    return type(Thing()).__name__, loaded(x)


def spaces(x):
    return "seen" in globals(), loaded(x)


def hinted(x: Thing):
    return loaded(x)


def later(x):
    return loaded(x) if x < 100 else not_there(x)


def of_class(x=Thing):
    return loaded(x)
"""

BINDS = """
STATE = 1


def bind():
    global STATE
    STATE = 2


def reads(x):
    import sys
    return STATE, "{name}" in sys.modules
"""


def made(tmp_path, monkeypatch, text, **words):
    """A module of its own that nobody has imported."""
    name = f"lean_{random.getrandbits(60):x}"
    (tmp_path / f"{name}.py").write_text(text.format(name=name, **words))
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    tt.parallel.shutdown()  # workers are told of the path when they start
    return importlib.import_module(name)


@pytest.fixture
def module(tmp_path, monkeypatch):
    heavy = made(tmp_path, monkeypatch, "LARGE = 1\n").__name__
    module = made(tmp_path, monkeypatch, MODULE, heavy=heavy)
    module.heavy = heavy
    return module


def by_one(f, x):
    return tt.parallel.map(f, [x, x], workers=1, chunk=1)[0]


@pytest.mark.parametrize("name", ["loaded", "recursive"])
def test_a_module_that_is_not_needed_is_not_imported(module, name):
    assert by_one(getattr(module, name), 4) == []


def test_numbers_texts_and_helpers_come_along(module):
    assert by_one(module.constants, 4) == (12, ("a", "b"), 2.0, [])
    module.SCALE = 5  # as it is when it is handed over
    assert by_one(module.constants, 4) == (20, ("a", "b"), 2.0, [])


@pytest.mark.parametrize("name", ["remembers", "makes", "spaces", "hinted", "of_class", "later"])
def test_what_needs_its_module_has_it(module, name):
    got = by_one(getattr(module, name), 4)
    assert (got[1] if isinstance(got, tuple) else got) == [module.__name__, module.heavy]


def test_a_function_comes_back_as_itself(module):
    assert by_one(module.itself, 1) is module.itself
    assert by_one(lambda x: module.itself, 1) is module.itself


def test_a_name_that_is_not_there_is_an_error(module):
    with pytest.raises(NameError, match="not_there"):
        by_one(module.later, 100)


def test_what_a_module_binds_is_its_own(tmp_path, monkeypatch):
    module = made(tmp_path, monkeypatch, BINDS)
    module.bind()
    assert by_one(module.reads, 0) == (1, True)  # as a worker that imports it finds it


def program(rng, n):
    """A module of functions that use numbers and each other, some through what makes them need it."""
    lines = ["import math", "box = []", *(f"N{k} = {rng.randint(-9, 9)}" for k in range(3))]
    for k in range(n):
        terms = [f"N{rng.randrange(3)} * x", "math.floor(x / 3)", "abs(x)", "len(str(x))"]
        terms += [f"f{rng.randrange(k)}(x - 1)"] * 2 if k else []
        if rng.random() < 0.2:
            terms = [*terms, "len(box)"]
        lines += [f"def f{k}(x, c={rng.randint(0, 9)}):", f"    return c + {' + '.join(rng.sample(terms, 2))}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(4))
def test_random_modules_do_as_a_loop_does(tmp_path, monkeypatch, seed):
    rng = random.Random(seed)
    module = made(tmp_path, monkeypatch, program(rng, 12))
    for k in range(12):
        f = getattr(module, f"f{k}")
        assert tt.parallel.map(f, range(-5, 9), workers=2, chunk=3) == list(map(f, range(-5, 9)))


def test_the_limit_of_recursion_is_the_programs(monkeypatch):
    tt.parallel.shutdown()
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 1234)
    try:
        assert by_one(lambda _: __import__("sys").getrecursionlimit(), 0) == before + 1234
    finally:
        sys.setrecursionlimit(before)
        tt.parallel.shutdown()
