"""Data for tests of compatibility layers."""

import gzip
import pathlib

import numpy as np
import pytest

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv.gz"


@pytest.fixture(scope="session")
def digits():
    """Pixels from 0 to 1, and the digits."""
    with gzip.open(DIGITS, "rt") as f:
        table = np.loadtxt(f, delimiter=",", dtype="float32")
    return table[:, :-1] / 16, table[:, -1].astype("int32")
