"""docs/compat.md is true: the names it lists are there, those it says are missing say so themselves."""

import importlib
import pathlib
import re

import pytest

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "compat.md").read_text()


def rows(text):
    for line in text.splitlines():
        found = re.match(r"\| `(numba|pycuda|cupyx|cupy)([\w.]*)`[^|]*\|(.*)\|$", line)
        if found:
            for name in re.findall(r"`(\w+)`", found[3]):
                yield found[1] + found[2], name


def home(name):
    """The object of a dotted name: a module, or an attribute of one."""
    head, _, last = name.rpartition(".")
    try:
        return importlib.import_module("tutti.compat." + name)
    except ModuleNotFoundError:
        return getattr(home(head), last)


COVERED, MISSING = TEXT.split("## Not covered")


def test_the_tables_are_read():
    assert len(list(rows(COVERED))) > 250 and len(list(rows(MISSING))) > 15


@pytest.mark.parametrize("module", sorted({m for m, _ in rows(COVERED)}))
def test_names_are_there(module):
    place = home(module)
    assert [name for m, name in rows(COVERED) if m == module and not hasattr(place, name)] == []


@pytest.mark.parametrize("module, name", rows(MISSING))
def test_names_that_are_not_say_so(module, name):
    with pytest.raises(AttributeError, match=f"tutti.compat.{module.split('.')[0]} does not cover {module}.{name}"):
        getattr(home(module), name)


def test_modules_that_do_nothing_can_be_imported():
    import tutti.compat.pycuda.autoinit
    import tutti.compat.pycuda.autoprimaryctx  # noqa: F401


def test_kernels_have_what_the_text_says():
    from tutti.compat.numba import cuda

    kernel = cuda.jit(lambda a: None)
    for name in re.findall(r"`(\w+)`", TEXT[TEXT.index("A kernel has") : TEXT.index("Signatures of")]):
        assert hasattr(kernel, name), name
