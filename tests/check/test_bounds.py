"""TUTTI_CHECK=1: no kernel of random programs, nor of the fault tests' programs, leaves its buffers.

That a seeded access outside is caught is tested where kernels run: unit tests of the interpreter and renderer.
"""

import os
import re
import subprocess
import sys

import tutti as tt

HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def python(code, **env):
    path = os.pathsep.join([HOME, os.path.join(TESTS, "fuzz"), os.path.join(TESTS, "fault")])
    env = dict(os.environ, PYTHONPATH=path, TUTTI_CHECK="1", **env)
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300, check=False
    )


RANDOM_PROGRAMS = """
from test_programs import Program, assert_close, make_numpy, run_tutti
import numpy as np
for seed in range(20_000, 20_000 + COUNT):
    p = Program(seed)
    want = p.run(np, make_numpy(seed), lambda wanted, pool: None)
    assert_close(run_tutti(p, tier=TIER), want, f"seed {seed}")
print("done")
"""


def test_random_programs_interpreted():
    r = python(RANDOM_PROGRAMS.replace("COUNT", "120").replace("TIER", "0"))
    assert r.stdout == "done\n", r.stderr


def test_random_programs_compiled(tmp_path):
    r = python(RANDOM_PROGRAMS.replace("COUNT", "12").replace("TIER", "1"), TUTTI_CACHE_DIR=str(tmp_path))
    assert r.stdout == "done\n", r.stderr


SMALL_PROGRAMS = """
from programs import PROGRAMS
import tutti as tt
tt.set_tier(0)
for f in PROGRAMS.values():
    f()
print("done")
"""


def test_small_programs():
    r = python(SMALL_PROGRAMS)
    assert r.stdout == "done\n", r.stderr


def test_every_kernel_is_checked():
    r = python("import tutti as tt; print(((tt.arange(90001) * 2)[::2].sum() + 1).item())", TUTTI_DEBUG="kernel")
    heads = re.findall(r"^kernel .*$", r.stderr, re.M)
    assert r.stdout == "4050090001\n" and heads and all(h.endswith(" checked") for h in heads), r.stderr
