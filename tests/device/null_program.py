"""Programs with simulated devices, in processes of their own: how many there are is settled when one is opened."""

import os
import subprocess
import sys
import textwrap


def run_program(*parts, devices=1, **env):
    """What a program prints; it must end well. Memory that nobody wrote holds NaN."""
    env = {**os.environ, "TUTTI_DEVICE": "auto", "TUTTI_NULL_DEVICE": str(devices), "TUTTI_POISON": "1", **env}
    code = "".join(textwrap.dedent(part) for part in parts)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


# fails(kind, make, same, calls): the n-th call of a kind fails while what make() gives is looked at, for n of calls.
# An error, or the work is done another way; `same` values come out the next time.
FAILS = """
def fails(kind, make, same, calls):
    from tutti import _core
    seen = set()
    for n in calls:
        y = make()
        _core._test_fail(kind, n, False)
        try:
            assert same(y), n
            seen.add("right")
        except (MemoryError, RuntimeError) as e:
            seen.add("error")
        finally:
            _core._test_fail(kind, -1, False)
        assert same(y), n
    assert "right" in seen, seen
    assert ("error" in seen) == (kind in ("launch", "copy", "memory")), seen
"""
