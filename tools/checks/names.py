#!/usr/bin/env python3
"""Files that comments and documents name are there, so that nobody is sent to a room that has moved; and the tour
names every room."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAME = re.compile(r"(?<![\w/<*.])([a-z][a-z_0-9/]*(?:\.text\.h|\.[ch]|\.inc|\.def|\.cuh))\b(?!\w|\.\w)")
READ = (".c", ".h", ".inc", ".def", ".cuh", ".md")
# Files of users, of NVIDIA, and what the amalgamation writes.
OTHERS = {"prog.c", "tutti.c", "cooperative_groups.h", "cooperative_groups/reduce.h", ".text.h"}

listed = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    cwd=ROOT,
    capture_output=True,
    text=True,
    check=True,
)
files = [name for name in listed.stdout.split("\n") if (ROOT / name).is_file()]
ends = {"/".join(name.split("/")[k:]) for name in files for k in range(name.count("/") + 1)}
bad = []
for name in files:
    if not name.endswith(READ) or name.startswith(("tests/replay/", "third_party/")):
        continue
    text = (ROOT / name).read_text()
    comments = (
        re.finditer(r"/\*.*?\*/", text, flags=re.S) if not name.endswith(".md") else [re.search(".*", text, re.S)]
    )
    for comment in comments:
        for found in NAME.finditer(comment.group()):
            if found[1] not in ends and found[1] not in OTHERS:
                line = text.count("\n", 0, comment.start() + found.start()) + 1
                bad.append(f"{name}:{line}: no such file: {found[1]}")
tour = (ROOT / "docs/tour.md").read_text()
below = re.findall(r"`([\w./]+)` and below", tour)
for room in sorted({name.rpartition("/")[0] for name in files} - {""}):
    if f"`{room}`" not in tour and not any(f"{room}/".startswith(f"{top}/") for top in below):
        bad.append(f"docs/tour.md: does not name {room}")
print("\n".join(bad))
sys.exit(bool(bad))
