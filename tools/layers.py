#!/usr/bin/env python3
"""The rules of the tree that a script can hold: who may include whom, and how long things may get.

    include/tutti < base < ir < random scalar <
    graph sched kernel lang render device lib dist < run < launch < frame < api

A folder includes itself and what stands left of it; the stages between ir and run never include each other.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RANK = {"tutti": 0, "base": 1, "ir": 2, "random": 3, "scalar": 3, "run": 5, "launch": 6, "frame": 7, "api": 8}
RANK |= dict.fromkeys(("graph", "sched", "kernel", "lang", "render", "device", "lib", "dist"), 4)
# The text above rendered programs, which first code calls by name, by design one text.
SHARED = {"src/device/first/helpers.c": "render/program_text"}
# Text that is pasted above programs: it includes nothing, so it says again what it needs.
PASTED = {"src/render/program_text.h"}
MAX_FILE, MAX_FUNCTION = 1000, 80
CALL = r"(?<![\w.>])%s\s*\("
BANNED = {
    "ends or prints": (CALL % r"(?:abort|exit|_exit|quick_exit|printf|fprintf|vfprintf|puts|putchar|perror)"),
    "allocates past base/mem.h": (CALL % r"(?:malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|strndup)"),
}
ALLOWED = {"src/base/log.c": "ends or prints", "src/base/mem.c": "allocates past base/mem.h"}
ALLOWED |= {"src/base/apart.c": "ends or prints"}  # a process that is ending does so


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
        if re.search(r"\b(TODO|FIXME|XXX)\b", text):
            report(path, 0, "leave no note to do it later")
        if path.suffix == ".h":
            graph[path.relative_to(path.parts[0]).as_posix()] = names
            if path.as_posix() not in PASTED:
                check_types(path, lines, defined, report)
    check_cycles(graph, report)
    print("\n".join(problems) if problems else f"{len(files)} files keep the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
