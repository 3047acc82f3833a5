"""These tests run on whatever device is chosen (TUTTI_DEVICE=cuda:0); those about the processor say so."""

import pytest
import tutti as tt


@pytest.fixture
def on_the_cpu(monkeypatch):
    """For tests of what only the processor does: its compiler, asserts and bad accesses that a program survives, Ctrl-C
    in a kernel, prints in order. Here, and in programs that the test starts."""
    monkeypatch.setenv("TUTTI_DEVICE", "cpu")
    with tt.device("cpu"):
        yield
