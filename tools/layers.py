#!/usr/bin/env python3
"""The rules of the tree that a script can hold: who may include whom, and how long things may get.

    include/tutti < base < ir < random scalar <
    graph sched kernel lang render device lib io dist parallel < fn < run < launch < frame < api

A folder includes itself and what stands left of it; the stages between ir and run never include each other. Given a
build's folder, the same is checked of what its objects call: a declaration is quickly said again by hand.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RANK = {"tutti": 0, "base": 1, "ir": 2, "random": 3, "scalar": 3, "fn": 5, "run": 6, "launch": 7, "frame": 8, "api": 9}
RANK |= dict.fromkeys(("graph", "sched", "kernel", "lang", "render", "device", "lib", "io", "dist", "parallel"), 4)
# The text above rendered programs, which baseline code calls by name, by design one text.
SHARED = {"src/device/cpu/baseline/helpers.c": "render/proc/proc_text"}
# Text that is pasted above programs: it includes nothing, so it says again what it needs.
# Functions that a lower folder declares as its own need and a higher one defines.
SEAMS = {"tt__lib_row": "ir/library.h: the rows of the library, by name"}
PASTED = {"src/render/proc/proc_text.h", "src/render/proc/strings_text.h"}
MAX_FILE, MAX_FUNCTION = 1000, 80
CALL = r"(?<![\w.>])%s\s*\("
BANNED = {
    "ends or prints": (CALL % r"(?:abort|exit|_exit|quick_exit|printf|fprintf|vfprintf|puts|putchar|perror)"),
    "allocates past base/mem.h": (CALL % r"(?:malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|strndup)"),
}
ALLOWED = {"src/base/log.c": "ends or prints", "src/base/mem.c": "allocates past base/mem.h"}
ALLOWED |= {"src/base/os/apart.c": "ends or prints"}  # a process that is ending does so
ALLOWED |= {"src/device/opencl/probe_child.c": "ends or prints"}  # a process of ours, in place of a program


def strip(text):
    """Comments and literals out, line numbers kept."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''

    def blank(match):
        found = match.group()
        return "\n" * found.count("\n") if found[0] == "/" else found[0] + found[-1]

    return re.sub(pattern, blank, text, flags=re.S)


def includes(text):
    return re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, flags=re.M)


def check_direction(path, names, report):
    """`path` is relative to the root; names are what it includes."""
    home = "_core" if path.parts[0] == "python" else "tutti" if path.parts[0] == "include" else path.parts[1]
    if home not in RANK and home != "_core":
        report(path, 0, f"folder {home} has no place in the layers")
        return
    for name in names:
        if "/" not in name:
            continue
        folder = name.split("/")[0]
        if folder not in RANK:
            continue
        if home == "_core":
            if folder != "tutti":
                report(path, 0, f"a binding includes the public headers only, not {name}")
        elif name.startswith(SHARED.get(path.as_posix(), "\0")):
            continue
        elif folder != home and RANK[folder] >= RANK[home]:
            report(path, 0, f"{home} must not include {name}")


def check_own_header(path, names, report):
    own = path.with_suffix(".h")
    if path.suffix == ".c" and (ROOT / own).exists() and names[:1] != [str(own.relative_to("src"))]:
        report(path, 0, f"includes its own header {own.name} first, to prove that it stands alone")


def check_lengths(path, lines, report):
    if len(lines) > MAX_FILE:
        report(path, MAX_FILE, f"{len(lines)} lines; a file has at most {MAX_FILE}")
    start = None
    for number, line in enumerate(lines, 1):
        if re.match(r"^[A-Za-z_].*\(", line) and not line.rstrip().endswith(";"):
            start = number
        if line.startswith("}"):
            if start and line.rstrip() == "}" and number - start + 1 > MAX_FUNCTION:
                report(path, start, f"a function of {number - start + 1} lines; it has at most {MAX_FUNCTION}")
            start = None


def check_calls(path, lines, report):
    for what, pattern in BANNED.items():
        if ALLOWED.get(path.as_posix()) == what:
            continue
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line) and not line.lstrip().startswith("#"):
                report(path, number, f"{what}: {line.strip()}")


def check_cycles(graph, report):
    state = {}

    def visit(name, trail):
        if state.get(name) == "done" or name not in graph:
            return
        if state.get(name) == "open":
            report(pathlib.Path(name), 0, "include cycle: " + " > ".join([*trail[trail.index(name) :], name]))
            return
        state[name] = "open"
        for target in graph[name]:
            visit(target, [*trail, name])
        state[name] = "done"

    for name in graph:
        visit(name, [])


def check_types(path, lines, defined, report):
    """A name of ours is one type: whoever reads it must not have to ask which."""
    for number, line in enumerate(lines, 1):
        for name in re.findall(r"^(?:typedef\b.*\W|\} ?)(tt_\w+);", line):
            first = defined.setdefault(name, path)
            if first != path and not re.match(r"typedef (?:struct|union|enum) (\w+) \1;", line):
                report(path, number, f"{name} is already a type of {first}")


def check_documented(path, text, report):
    """Each public function has a comment of its own above it."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        above = lines[number - 2].rstrip()
        if line.startswith("TT_API") and (not above.endswith("*/") or above.startswith(("/* ----", "TT_API"))):
            report(path, number, "says nothing above itself")


def check_symbols(build, report):
    """Who calls whom, by the objects of a build; whole names, since nothing of ours is exported twice."""
    compiled = (p for folder in build.glob("CMakeFiles/tutti_*.dir") for p in folder.rglob("src/**/*.o"))
    objects = [
        str(p) for p in compiled if (ROOT / str(p).partition(".dir/")[2][:-2]).exists()
    ]  # files that moved leave theirs
    listed = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout
    home, calls = {}, []
    for path, kind, name in re.findall(r"\.dir/src/(\S+)\.c\.o:\s*[0-9a-f]* (\w) (\S+)$", listed, flags=re.M):
        if kind == "U":
            calls.append((path, name))
        elif kind in "TDRBVW":
            home[name] = path
    for path, name in sorted(set(calls)):
        ours, theirs = path.split("/")[0], home.get(name, path).split("/")[0]
        if ours != theirs and RANK[theirs] >= RANK[ours] and name not in SEAMS:
            report(pathlib.Path("src", path + ".c"), 0, f"{ours} must not call {name} of {theirs}")
    if len(calls) < 1000:
        report(build, 0, f"only {len(calls)} calls found in its objects")


def main():
    problems = []

    def report(path, line, text):
        problems.append(f"{path}:{line}: {text}")

    files = [p for folder in ("include", "src", "python/tutti/_core") for p in sorted((ROOT / folder).rglob("*.[ch]"))]
    graph, defined = {}, {}
    for file in files:
        path, text = file.relative_to(ROOT), file.read_text()
        names = includes(text)
        lines = strip(text).split("\n")
        check_direction(path, names, report)
        if path.parts[0] == "src":
            check_own_header(path, names, report)
            check_calls(path, lines, report)
        check_lengths(path, lines, report)
        if path.parts[0] == "include":
            check_documented(path, text, report)
        if re.search(r"\b(TODO|FIXME|XXX)\b", text):
            report(path, 0, "leave no note to do it later")
        if path.suffix == ".h":
            graph[path.relative_to(path.parts[0]).as_posix()] = names
            if path.as_posix() not in PASTED:
                check_types(path, lines, defined, report)
    check_cycles(graph, report)
    if sys.argv[1:]:
        check_symbols(pathlib.Path(sys.argv[1]), report)
    print("\n".join(problems) if problems else f"{len(files)} files keep the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
