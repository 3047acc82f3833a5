"""Compilers end with the process that started them, with all that they started, however it ends."""

import os
import signal
import subprocess
import sys
import time

import pytest
import tutti as tt

HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))

# A compiler with a child of its own; both would work for an hour.
COMPILER = """#!/bin/sh
sleep 3600 &
echo $$ $! >> "$PIDS"
wait
"""

START = """
import os, sys, threading, time, signal
import tutti as tt

def expression():
    a = tt.ones(1000)
    for _ in range(300):
        tt.eval(tt.sin(a) * 2)

@tt.jit
def twice(x):
    return x + x

def function():
    threading.Thread(target=twice, args=(1.5,), daemon=True).start()

def wait():
    while not os.path.exists(os.environ["PIDS"]) or len(open(os.environ["PIDS"]).read().split()) < 2:
        time.sleep(0.01)
"""

ENDS = {
    "returns": "expression(); wait()",
    "exits": "expression(); wait(); sys.exit(3)",
    "raises": "expression(); wait(); 1 / 0",
    "at once": "expression(); wait(); os._exit(0)",
    "killed": "expression(); wait(); os.kill(os.getpid(), signal.SIGKILL)",
    "terminated": "expression(); wait(); os.kill(os.getpid(), signal.SIGTERM)",
    "another program": "expression(); wait(); os.execv('/bin/true', ['true'])",
    "of a function": "function(); wait(); os.kill(os.getpid(), signal.SIGKILL)",
    "in a thread": "t = threading.Thread(target=expression); t.start(); t.join(); wait(); os._exit(0)",
    # the child has the parent's descriptors, and lives on
    "after fork": """
expression(); wait()
if os.fork() == 0:
    os.close(1), os.close(2)
    time.sleep(30)
os.kill(os.getpid(), signal.SIGKILL)
""",
    "a child of fork": """
pid = os.fork()
if pid == 0:
    expression(); wait(); os._exit(0)
os.waitpid(pid, 0)
""",
}


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("how", ENDS)
def test_compilers_end(how, tmp_path):
    cc, pids = tmp_path / "cc", tmp_path / "pids"
    cc.write_text(COMPILER)
    cc.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": HOME, "TUTTI_CC": str(cc), "PIDS": str(pids)}
    env["TUTTI_CACHE_DIR"] = str(tmp_path / "cache")
    subprocess.run([sys.executable, "-c", START + ENDS[how]], capture_output=True, timeout=60, env=env, check=False)
    started = [int(p) for p in pids.read_text().split()]
    assert len(started) >= 2
    end = time.monotonic() + 10
    while any(is_running(p) for p in started) and time.monotonic() < end:
        time.sleep(0.02)
    left = [p for p in started if is_running(p)]
    for p in left:
        os.kill(p, signal.SIGKILL)
    assert not left
