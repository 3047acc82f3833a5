"""docs/compat.md is true: the names it lists are there, those it says are missing say so themselves."""

import importlib
import importlib.util
import pathlib
import re

import pytest
import tutti.compat

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "compat.md").read_text()

LIBRARIES = "numba|pycuda|pyopencl|cupyx|cupy|jax|keras|tensorflow|torch|joblib|multiprocessing|concurrent"


def rows(text):
    for line in text.splitlines():
        found = re.match(rf"\| `({LIBRARIES})([\w.]*)`[^|]*\|(.*)\|$", line)
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


@pytest.mark.parametrize("tool", ["torch_page", "compat_page"])
def test_the_tables_are_those_of_today(tool):
    path = pathlib.Path(__file__).resolve().parents[2] / "tools" / f"{tool}.py"
    spec = importlib.util.spec_from_file_location(tool, path)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert page.current() == TEXT, f"python tools/{tool}.py"


def test_modules_that_do_nothing_can_be_imported():
    import tutti.compat.pycuda.autoinit
    import tutti.compat.pycuda.autoprimaryctx  # noqa: F401


def test_kernels_have_what_the_text_says():
    from tutti.compat.numba import cuda

    kernel = cuda.jit(lambda a: None)
    for name in re.findall(r"`(\w+)`", TEXT[TEXT.index("A kernel has") : TEXT.index("Signatures of")]):
        assert hasattr(kernel, name), name
