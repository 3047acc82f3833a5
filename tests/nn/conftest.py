"""Every test of networks runs twice: with small work done at the call, and with all work recorded."""

import os
import sys

import pytest
import tutti as tt

sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture(autouse=True, params=[-1, 0], ids=["at_once", "recorded"])
def eager(request):
    tt.set_eager(request.param)
    yield
    tt.set_eager(-1)
