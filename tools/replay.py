#!/usr/bin/env python3
"""What a refactoring must not change: the plans and kernels of 200 programs, byte for byte.

    python tools/replay.py             compare with tests/replay; what differs is shown, the first plan of it as a diff
    python tools/replay.py --write     keep what they are now; the commit says why they are others

A file holds the plans of 20 programs, whole unless they are long. Of the kernels that plans are lowered to there is a
hash: their text follows from the plan's, and TUTTI_DEBUG=kernel prints it. The programs are those of
tests/fuzz/program.py by seed, on a simulated device, where nothing is computed at once.
"""

import difflib
import hashlib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "replay"
PROGRAMS, IN_A_FILE = 200, 20
LONG = 4000  # characters of a program's plans; beyond, they are hashes, too
HEAD = r"^-- (?:sched|kernel): (plan|kernel)\n"
PLAYER = """
import sys
sys.path.insert(0, "tests/fuzz")
import numpy as np, program, tutti as tt
tt.set_eager(0)
for seed in range({first}, {first} + {count}):
    p = program.Program(seed)
    rng = np.random.default_rng(seed)
    print(f"== program {{seed}}", file=sys.stderr, flush=True)
    pool = p.run(tt, lambda i, shape: tt.asarray(rng.random(shape), dtype=["float64", "float32"][i % 2]),
                 lambda some, pool: tt.eval(*pool) if some else None)
    tt.eval(*pool)
"""


def mark(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def told(part):
    """A program's number, the hashes of its kernels, its plans."""
    name, *rest = re.split(HEAD, part, flags=re.M)
    made = list(zip(rest[::2], rest[1::2]))
    plans = [text for kind, text in made if kind == "plan"]
    if sum(map(len, plans)) > LONG:
        plans = [text.partition("\n")[0] + f" text={mark(text)}\n" for text in plans]
    kernels = " ".join(mark(text) for kind, text in made if kind == "kernel")
    return f"{name.strip()}\nkernels {kernels}\n" + "".join(plans)


def play(first, count):
    """The text of some programs, in a process of its own: what was planned before is found, not told."""
    env = {**os.environ, "TUTTI_DEBUG": "sched,kernel", "TUTTI_NULL_DEVICE": "1", "TUTTI_DEVICE": "null:0"}
    for name in ("TUTTI_CHECK", "TUTTI_NULL_SCATTER"):
        env.pop(name, None)
    code = PLAYER.format(first=first, count=count)
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return "".join(map(told, re.split(r"^== (?=program )", done.stderr, flags=re.M)[1:]))


def files():
    """Each file and what belongs into it."""
    for first in range(0, PROGRAMS, IN_A_FILE):
        yield KEPT / f"programs_{first:03}.txt", play(first, IN_A_FILE)


def main():
    write = sys.argv[1:] == ["--write"]
    if sys.argv[1:] and not write:
        raise SystemExit(__doc__)
    KEPT.mkdir(exist_ok=True)
    good = True
    for path, text in files():
        if write:
            path.write_text(text)
            continue
        kept = path.read_text() if path.exists() else ""
        if kept == text:
            continue
        good = False
        lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), path.name, "now", lineterm="", n=6)
        print("\n".join(list(lines)[:60]))
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
