import os
import sys

import pytest
import tutti as tt

sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture(params=["interpreted", "unfused", "compiled"])
def way(request):
    """How kernels run: interpreted, one operation a step, or compiled."""
    tt.set_tier({"interpreted": 0, "unfused": 0, "compiled": 1}[request.param])
    tt.set_fuse(request.param != "unfused")
    yield request.param
    tt.set_tier(2)
    tt.set_fuse(True)
