"""docs/learn.md is true: the table of PyTorch's names is what the tool writes."""

import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("learn_page", ROOT / "tools" / "learn_page.py")
page = importlib.util.module_from_spec(spec)
spec.loader.exec_module(page)


def test_the_page_is_current():
    assert page.PAGE.read_text() == page.current(), "run python tools/learn_page.py"
