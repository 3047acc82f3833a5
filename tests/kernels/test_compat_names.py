"""docs/compat.md is true: the names it lists are there, those it says are missing say so themselves."""

import importlib
import pathlib
import re

import pytest
import tutti as tt
import tutti.compat

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "compat.md").read_text()


def rows(text):
    for line in text.splitlines():
        found = re.match(r"\| `(numba|pycuda|cupyx|cupy)([\w.]*)`[^|]*\|(.*)\|$", line)
        if found:
            for name in re.findall(r"`(\w+)`", found[3]):
                yield found[1] + found[2], name


def home(name):
    """The object of a dotted name: an attribute, or a module that is not there yet. Asking for a module first would ask
    the finders of other libraries too."""
    head, _, last = name.rpartition(".")
    above = home(head) if head else tutti.compat
    return getattr(above, last) if hasattr(above, last) else importlib.import_module("tutti.compat." + name)


COVERED, MISSING = TEXT.split("## Not covered")


def test_the_tables_are_read():
    assert len(list(rows(COVERED))) > 250 and len(list(rows(MISSING))) > 15


@pytest.mark.parametrize("module", sorted({m for m, _ in rows(COVERED)}))
def test_names_are_there(module):
    place = home(module)
    assert [name for m, name in rows(COVERED) if m == module and not hasattr(place, name)] == []


@pytest.mark.parametrize("module, name", list(rows(MISSING)))
def test_names_that_are_not_say_so(module, name):
    with pytest.raises(AttributeError, match=f"tutti.compat.{module.split('.')[0]} does not cover {module}.{name}"):
        getattr(home(module), name)


def test_names_of_numpy_that_are_not_there():
    """What the text calls missing is NumPy's, and is missing; its methods of functions take our arrays."""
    import numpy as np

    listed = TEXT[TEXT.index("- Not there:") : TEXT.index("## Running")]
    parts = re.split(r"of arrays|of `random`", listed)
    places = [(tt, np), (tt.ndarray, np.ndarray), (tt.random, np.random)]
    assert len(parts) == len(places)
    for part, (ours, theirs) in zip(parts, places, strict=True):
        names = re.findall(r"`(\w+)`", part)
        assert len(names) >= 8
        assert [n for n in names if hasattr(ours, n) or not hasattr(theirs, n)] == []
    a = tt.array([1.0, 3.0, 2.0])
    np.add.at(a, [0, 0], 1)
    assert a.tolist() == [3, 3, 2] and np.multiply.reduce(a).item() == 18
    assert np.maximum.accumulate(a).tolist() == [3, 3, 3] and np.subtract.outer(a, a).shape == (3, 3)
    assert np.subtract.outer(a, a)[0].tolist() == [0, 0, 1]


def test_modules_that_do_nothing_can_be_imported():
    import tutti.compat.pycuda.autoinit
    import tutti.compat.pycuda.autoprimaryctx  # noqa: F401


def test_kernels_have_what_the_text_says():
    from tutti.compat.numba import cuda

    kernel = cuda.jit(lambda a: None)
    for name in re.findall(r"`(\w+)`", TEXT[TEXT.index("A kernel has") : TEXT.index("Signatures of")]):
        assert hasattr(kernel, name), name
