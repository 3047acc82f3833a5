"""Tests of OpenCL's devices compare them with the CPU, wherever arrays live by default (TUTTI_DEVICE)."""

import pytest
import tutti as tt


@pytest.fixture(autouse=True)
def beside_the_cpu(request, monkeypatch):
    if not request.module.__name__.startswith("test_opencl"):
        yield
        return
    monkeypatch.setenv("TUTTI_DEVICE", "cpu")
    with tt.device("cpu"):
        yield
