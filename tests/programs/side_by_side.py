"""Programs of a file by ours and by the library whose names they use: numbers and processor time beside each other."""

import argparse
import json
import math
import subprocess
import sys
import time

import numpy as np


def run(programs, names):
    for program in programs:
        if names and program.__name__ not in names:
            continue
        least = math.inf
        for _ in range(2):
            begun = time.process_time()
            losses = program()
            least = min(least, time.process_time() - begun)
        print(json.dumps([program.__name__, least, [float(x) for x in losses]]), flush=True)


def numbers(command, names):
    """{program: (seconds, losses)} of a Python."""
    done = subprocess.run([*command, "--run", *names], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {name: (seconds, np.array(losses)) for name, seconds, losses in found}


def main(file, programs, most=5e-3, served="torch"):
    """Run the programs of a file, and beside them what they are served as; `most` is what they may be off."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--run", action="store_true")
    args = parser.parse_args()
    if args.run:
        return run(programs, args.names)
    ours = numbers([sys.executable, "-m", "tutti", "run", "--as", served, file], args.names)
    theirs = numbers([args.torch, file], args.names) if args.torch else {}
    bad = 0
    for name, (seconds, losses) in ours.items():
        line = f"{name:12s} {seconds:7.3f} s  {losses[-1]:10.5f}"
        if theirs:
            took, others = theirs[name]
            off = np.abs(losses - others).max() / max(1e-3, np.abs(others).max())
            bad += int(not off <= most)
            line += f"  {served} {took:7.3f} s  off by {off:.1e}"
        print(line, flush=True)
    return int(bad > 0)
