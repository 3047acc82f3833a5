#!/usr/bin/env python3
"""Write what is left of the tests of kernel libraries into docs/compat.md, from the newest bench/results/suites-*.json.

python tools/compat_page.py; the file is made by
make conformance-kernels KERNEL_RESULTS=bench/results/suites-DATE.json"""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "compat.md"
BEGIN = "<!-- from here on: python tools/compat_page.py -->\n"
END = "<!-- to here: python tools/compat_page.py -->\n"
NAMES = {"pycuda": "PyCUDA", "pyopencl": "PyOpenCL", "numba": "Numba", "numba-cuda": "numba-cuda", "cupy": "CuPy"}
LEAST = 3  # tests of one cause that get a row; what fewer fail of is counted


def newest():
    return sorted((ROOT / "bench" / "results").glob("suites-*.json"))[-1]


def shown(text):
    """A cause as a cell of a table."""
    return text.replace("|", "\\|").replace("`", "'").replace("<", "&lt;").strip()


def table(path):
    known = json.loads(path.read_text())
    lines = ["| tests of | pass | of those that apply | do not apply |", "|---|---|---|---|"]
    for library in NAMES:
        if library in known:
            row = known[library]
            lines.append(f"| {NAMES[library]} | {row['passed']} | {row['passed'] + row['failed']} | {row['skipped']} |")
    for library in NAMES:
        if library not in known or not known[library]["failed"]:
            continue
        lines += ["", f"What {NAMES[library]}'s tests still miss:", "", "| tests | why |", "|---|---|"]
        causes = known[library]["why failed"]
        rows = sorted(causes.items(), key=lambda row: (-len(row[1]), row[0]))
        lines += [f"| {len(names)} | {shown(why)} |" for why, names in rows if len(names) >= LEAST]
        single = sum(len(names) for _, names in rows if len(names) < LEAST)
        if single:
            lines.append(f"| {single} | of causes of their own, all named in `bench/results/{path.name}` |")
    return "\n".join(lines) + "\n"


def current():
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + "\n" + table(newest()) + "\n" + END + tail


if __name__ == "__main__":
    PAGE.write_text(current())
