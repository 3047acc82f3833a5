"""Programs in OpenCL C on the CPU, wherever arrays live by default; on devices: tests/gpu/test_opencl_programs.py."""

import pytest


@pytest.fixture(autouse=True)
def native(on_the_cpu):
    pass
