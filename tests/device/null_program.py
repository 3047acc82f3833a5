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
