"""Ctrl-C at a program whose kernel never ends."""

import os
import signal
import subprocess
import sys
import time


def after_ctrl_c(script, **env):
    """Run `script` until it has said "begin", press Ctrl-C: what it says from then on, and its exit status."""
    p = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | env,
        # Whoever started us may ignore it, as a shell does for what runs in the background; children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert p.stdout.readline() == "begin\n"
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=30)
        return out, p.returncode
    finally:
        p.kill()
