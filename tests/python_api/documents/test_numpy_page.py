"""docs/numpy.md is true: every name of NumPy is here or has its reason, the table is what the tool writes."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("numpy_page", ROOT / "tools" / "numpy_page.py")
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)


@pytest.mark.parametrize("path", [*page.MODULES, *page.CLASSES])
def test_every_name_is_here_or_explained(path):
    here, missing, unexplained, stale = page.sort_names(path)
    assert unexplained == [], "give it, or its reason in tools/numpy_page.py"
    assert stale == [], "it is here now: take its reason out of tools/numpy_page.py"
    assert sorted([*here, *missing]) == page.public(page.find(path))


def test_the_page_is_current():
    text = page.PAGE.read_text()
    if f"Of NumPy {page.version()}'s" not in text:
        pytest.skip("written with another NumPy")
    assert text == page.current(), "run python tools/numpy_page.py"
