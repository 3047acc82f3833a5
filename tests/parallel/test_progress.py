"""What bars say, and when."""

import io
import sys
import types

import pytest
from tutti.parallel import _progress


class Watched(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def times(monkeypatch):
    """A clock that the test sets."""
    now = types.SimpleNamespace(now=0.0)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now.now)
    return now


def test_none():
    assert _progress.bar(None, 3) is None and _progress.bar(False, 3) is None
    with pytest.raises(TypeError, match="progress is True, a label or a callable, not int"):
        _progress.bar(3, 3)


def test_callable_is_told_ten_times_a_second_and_at_the_end(times):
    told = []
    bar = _progress.bar(lambda done, total: told.append((done, total)), 100)
    for k in range(100):
        times.now = k * 0.02
        bar.done()
    bar.close()
    bar.close()
    assert told[-1] == (100, 100) and 18 <= len(told) <= 21
    assert [d for d, _ in told] == sorted(d for d, _ in told)


def test_a_line_that_is_watched_is_written_over(times, monkeypatch):
    out = Watched()
    monkeypatch.setattr(sys, "stderr", out)
    bar = _progress.bar("pictures", 4)
    times.now = 1.0
    bar.done(2)
    times.now = 2.0
    bar.done(2)
    bar.close()
    lines = out.getvalue().split("\r")
    assert lines[1].startswith("pictures  [###############...............]  2 of 4  1.0 s  1.0 s left  2.0 a second")
    assert lines[-1].startswith("pictures  [##############################]  4 of 4  2.0 s  2.0 a second")
    assert out.getvalue().endswith("\n")


def test_a_line_in_a_file_is_written_once(times, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    bar = _progress.bar(True)
    for k in range(100):
        times.now = 70.0 * k
        bar.done()
    bar.close()
    assert out.getvalue() == "100 done  1:55:30  69.3 s each\n"


def test_no_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    bar = _progress.bar(True, 1)
    bar.done()
    bar.close()


def test_notebook(times, monkeypatch):
    shown = []

    class HTML:
        def __init__(self, text):
            shown.append(text)

    handle = types.SimpleNamespace(update=lambda html: None)
    display = types.SimpleNamespace(HTML=HTML, display=lambda html, display_id: handle)
    kernel = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    bar = _progress.bar("<a>", 4)
    times.now = 1.0
    bar.done(3)
    bar.close()
    assert shown[-1] == '<progress value="3" max="4"></progress> &lt;a&gt;  3 of 4  1.0 s  0.3 s left  3.0 a second'
