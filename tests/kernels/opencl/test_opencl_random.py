"""Random programs in OpenCL C (opencl_programs.py): what NumPy says, in each way that a work-group can run."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

sys.path.insert(0, os.path.dirname(__file__))
from opencl_programs import GROUP, ITEMS, TYPES, Program  # noqa: E402

pytestmark = pytest.mark.skipif(
    not any(os.access(os.path.join(p, c), os.X_OK) for p in os.environ["PATH"].split(":") for c in ("c++", "g++")),
    reason="no C++ compiler",
)


def check(seed):
    program = Program(seed)
    out = [np.zeros(want.size, TYPES[base]) for base, want in program.outputs]
    kernel = tt.opencl.Program(program.source()).build().k
    kernel(ITEMS, GROUP, *[data.ravel() for _, data in program.inputs], *out)
    for k, (_, want) in enumerate(program.outputs):
        np.testing.assert_array_equal(out[k].reshape(want.shape), want, f"q{k}, seed {seed}:\n{program.source()}")


@pytest.mark.parametrize("seed", range(4))
def test_program(seed):
    check(seed)


@pytest.mark.parametrize("way", [{"TUTTI_KERNEL_SPLIT": "0"}, {"TUTTI_CHECK": "1"}], ids=["fibers", "checked"])
def test_programs_in_other_ways(way):
    text = "import sys; sys.path.insert(0, sys.argv[1]); from test_opencl_random import check; check(11)"
    folder = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.executable, "-c", text, folder], env=os.environ | way, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
