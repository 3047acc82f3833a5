"""Whole programs for NumPy (tests/programs/numpy) with the import changed: the same results, and the same is printed.

Sums and products are rounded in another order, and what follows from them; everything else is the same.
"""

import contextlib
import io
import pathlib
import warnings

import numpy as np
import pytest
import tutti as tt

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "programs" / "numpy"
PROGRAMS = sorted(FOLDER.glob("*.py"))


def run(path, module):
    """Its `result` and what it printed."""
    text = path.read_text()
    if module is tt:
        assert "import numpy as np" in text
        text = text.replace("import numpy as np", "import tutti as np").replace("from numpy.", "from tutti.")
    scope = {"__name__": path.stem}
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("error")  # as NumPy, which has nothing to say of any
        exec(compile(text, str(path), "exec"), scope)
    return scope["result"], printed.getvalue()


def compare(want, got, where):
    if isinstance(want, (tuple, list)):
        assert len(want) == len(got), where
        for k, (w, g) in enumerate(zip(want, got)):
            compare(w, g, f"{where}[{k}]")
    elif isinstance(want, (np.ndarray, np.generic)):
        assert str(want.dtype) == str(got.dtype) and want.shape == got.shape, where
        loose = want.dtype.kind in "fc"
        rtol = (1e-4 if np.finfo(want.dtype).bits == 32 else 1e-7) if loose else 0
        np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=rtol / 10, err_msg=where)
    elif isinstance(want, float):
        assert got == pytest.approx(want, rel=1e-7, abs=1e-9), where
    else:
        assert want == got, where


@pytest.mark.parametrize("path", PROGRAMS, ids=[path.stem for path in PROGRAMS])
def test_program(path):
    want, said = run(path, np)
    got, told = run(path, tt)
    assert said == told
    compare(want, got, path.stem)


def test_there_are_many():
    assert len(PROGRAMS) >= 30
