"""The whole library as two files, tutti.c and tutti/tutti.h, for programs that take it among their sources.

    python tools/amalgamate.py BUILD OUT      (BUILD has the texts in generated/: any build folder)

Headers stand once, where they are first needed; sources follow each other. What two files call by one name is called by
its file as well, and macros of a file end with it, so the tree may keep short names. The interpreter's loops are there
once, for the processor that tutti.c is compiled for (-march=native), where the library has them for three.
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "src", ROOT / "include", ROOT / "third_party")
PASTED = (
    "src/render/proc/proc_text.h",
    "src/render/proc/strings_text.h",
    "src/scalar/program_math.h",
)  # texts for programs, which a source takes for itself
PASTED_AS = tuple(name.removeprefix("src/") for name in PASTED)
# What macros of several files glue together.
GLUED = {"lib/fft/": {"rfft", "irfft"}, "lib/linalg/": {"widen_f32", "narrow_f64"}, "lib/pick/": {"find_range"}}
HANDLER = re.compile(r'^TT_FN\("[^"]*", (\w+)', re.M)
COUNT = re.compile(r"TT_COUNT\((\w+)")  # fields
LEFT_OUT = ("src/device/null/",)  # for tests
HEAD = """/*
** tutti in one file, made by tools/amalgamate.py; LICENSE holds for it, and xxhash's for that part. Compile it with
**   -std=gnu11 -O2 -fno-math-errno -fno-trapping-math -ffp-contract=off -fwrapv -fno-strict-aliasing
** (bits may differ without) and link with -pthread -ldl -lm.
*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define TT_ONE_FILE 1
#ifdef __FAST_MATH__
#error "results are IEEE's here: no -ffast-math"
#endif
"""
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
GUARD = re.compile(r"^#ifndef (\w+)\n#define \1\b", re.M)
STRUCT = re.compile(r"\b(?:struct|union)\b[^;{}()]*\{")
FIELD = re.compile(r"\b(\w+)(?=\s*(?:\[[^;{}]*?\]\s*)*[;,:])|(?<=\(\*)(\w+)(?=(?:\[\w+\])?\)\()")
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?:->|\.)?\b[A-Za-z_]\w*')
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)
DEPTH = {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}
# What a file declares for itself, by how clang-format lays it out: at the start of a line.
DECLARED = (
    re.compile(
        r"^(?:\w+\([^()]*\) )*static\b(?: _Alignas\(\w+\))?[^;{}=()]*?\b(\w+)\s*(?:\[[^;={}]*\])*\s*[=;(,]", re.M
    ),
    re.compile(r"^static\b[^;{}=()]*?\(\*(?:const )?(\w+)", re.M),
    re.compile(r"^static (?:TT_VEC|_Atomic)\([^()]*\) \*?(\w+)", re.M),
    re.compile(r"^TT_(?:FN|RARE)\b[^;{}=()]*?\b(\w+)\(", re.M),
    re.compile(r"^TT_LOCK\((\w+)", re.M),
    re.compile(r"^typedef\b[^;{}]*?\b(\w+)(?:\[[^;={}]*\])*;", re.M),
    re.compile(r"^typedef\b[^;{}]*?\(\*?(\w+)\)\(", re.M),
    re.compile(r"^\}\s*(\w+)(?:\[\w*\])*;", re.M),
    re.compile(r"^(?:static |typedef |const )*(?:struct|union|enum) (\w+)\s*\{", re.M),
    re.compile(r"^\} (\w+)\[?[^;]*\]? =", re.M),
)
ENUM = re.compile(r"^(?:static |typedef |const )*enum\b[^{;]*\{(.*?)\}", re.M | re.S)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
KEEP = {
    "const",
    "char",
    "int",
    "bool",
    "double",
    "float",
    "void",
    "NULL",
    "unsigned",
    "struct",
    "_Atomic",
    "__thread",
    "_Thread_local",
    "_Alignas",
    "TT_VEC",
}


def plain(path):
    """A text without comments, its lines kept."""
    return COMMENT.sub(lambda m: m[0] if m[0][0] in "\"'" else " " + "\n" * m[0].count("\n"), path.read_text())


def is_shared(path):
    """A header that all sources see once, and no part of the one that includes it."""
    return GUARD.search(plain(path)) is not None and not str(path).endswith(PASTED)


def own_names(text):
    names = {name for pattern in DECLARED for name in pattern.findall(text)}
    for line in re.findall(r"^static\b([^;{}()]*);", text, re.M):
        names.update(re.findall(r"(\w+)\s*(?:\[[^,]*\])*\s*(?:=[^,]*)?(?:,|$)", line))
    for body in ENUM.findall(text):
        names.update(re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", re.sub(r"\([^()]*\)", "", body)))
    return {n for n in names - KEEP if not n.startswith(("__", "tt__", "PTHREAD", "atomic_")) and not n.endswith("_t")}


def fields(text):
    """Where names of fields stand, which are called by no file's name."""
    places = set()
    for match in STRUCT.finditer(text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        places.update(m.start() for m in FIELD.finditer(text, match.end(), at - 1))
    return places


def renamed(text, rename):
    if not rename:
        return text
    kept = fields(text) | {m.start(1) for m in COUNT.finditer(text)}
    return TOKEN.sub(lambda m: m[0] if m.start() in kept else rename.get(m[0], m[0]), text)


def beside(name, path):
    return next((f / name for f in (path.parent, *FOLDERS) if (f / name).is_file()), None)


class Writer:
    def __init__(self):
        self.lines, self.seen = [], set()

    def take(self, path, rename):
        """A file and what it includes. Under a condition a header comes with its guard, and may come again."""
        text = plain(path)
        guard = GUARD.search(text)
        depth = -1 if guard else 0
        for line, original in zip(renamed(text, rename).split("\n"), text.split("\n"), strict=True):
            found = INCLUDE.match(original)
            header = found and beside(found[1], path)
            if header:
                self.include(header.resolve(), depth, rename)
                continue
            directive = re.match(r"\s*#\s*(\w+)", line)
            depth += DEPTH.get(directive[1], 0) if directive else 0
            self.lines.append(line)

    def include(self, header, depth, rename):
        once = is_shared(header)
        if header in self.seen:
            return
        if once and depth == 0:
            self.seen.add(header)
        self.take(header, {} if once else rename)


def texts_within(path, seen):
    """A source and the texts without guards that it includes."""
    text = plain(path)
    for name in INCLUDE.findall(text):
        header = beside(name, path)
        if header and header not in seen and not is_shared(header):
            text += "\n" + texts_within(header, seen | {header})
    return text


def sources(build):
    tracked = subprocess.run(["git", "ls-files", "src/*.c"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = [name for name in tracked.stdout.split() if not name.startswith(LEFT_OUT)]
    return [ROOT / name for name in listed] + sorted(build.glob("generated/tt__*.c"))


def clashes(files):
    """For each file its names that another has too, or a header."""
    own = {f: own_names(texts_within(f, set())) for f in files}
    count = collections.Counter(name for names in own.values() for name in names)
    public = set()
    for folder in FOLDERS[:2]:
        for header in folder.rglob("*.h"):
            if is_shared(header):
                public.update(re.findall(r"\w+", plain(header)))
    shown = {n for n in public if n.startswith("tt_")}  # a header names it, its file says what it is
    return {f: {n for n in names if (count[n] > 1 or n in public) and n not in shown} for f, names in own.items()}


def from_macros():
    """Names that macros of headers give to functions of each file."""
    lines = [line for header in FOLDERS[0].rglob("*.h") for line in plain(header).split("\n") if line.endswith("\\")]
    return {n for line in lines for n in re.findall(r"\bstatic \w+ \*?(\w+)\(", line) if f"{n}##" not in line} - {
        "__attribute__"
    }


def pasted_names(path, names):
    """What macros of the file may glue to other names is renamed by the preprocessor, unless fields have it too."""
    text = texts_within(path, set())
    rows = " ".join(re.findall(r"\b[A-Z][A-Z0-9_]*\(([^;{}]*)\)", text))
    counted = set(COUNT.findall(text))
    return {n for n in names & set(re.findall(r"\w+", rows)) - counted if not re.search(rf"(->|\.){n}\b", text)}


def main(build, out):
    files = sources(build)
    writer, rename, shared = Writer(), clashes(files), from_macros()
    handlers = sorted(set(HANDLER.findall(plain(ROOT / "src/fn/functions.def"))))
    known = {n for f in FOLDERS[:2] for h in f.rglob("*.h") if is_shared(h) for n in MACRO.findall(plain(h))}
    pasted = {n for name in PASTED for n in own_names(plain(ROOT / name))}
    for path in files:
        tag = "_".join(path.relative_to(ROOT).with_suffix("").parts[1:]).replace(".", "_")
        writer.lines.append(f"/* ---- {path.name} */")
        glued = [names for folder, names in GLUED.items() if folder in str(path)]
        also = pasted_names(path, rename[path]).union(shared, *glued) | (
            pasted if any(name in plain(path) for name in PASTED_AS) else set()
        )
        if "/fn/" in str(path):
            glued = {h for h in handlers if h.endswith(tuple(rename[path]))}
            glued.update(f"{family}_{n}" for family in ("random", "legacy", "generator") for n in rename[path])
            writer.lines += [f"#define tt__fn_{h}__{tag} tt__fn_{h}" for h in sorted(glued)]
        macros = set(MACRO.findall(texts_within(path, set())))
        writer.lines += [f'#pragma push_macro("{n}")' for n in sorted(macros & known)]
        writer.lines += [f"#define {n} {n}__{tag}" for n in sorted(also)]
        writer.take(path, {n: f"{n}__{tag}" for n in rename[path] - also})
        writer.lines += [f"#undef {n}" for n in sorted(macros - known | also | {"complex", "I"})]
        writer.lines += [f'#pragma pop_macro("{n}")' for n in sorted(macros & known)]
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", "\n".join(writer.lines)))
    out.mkdir(parents=True, exist_ok=True)
    (out / "tutti.c").write_text(HEAD + text + "\n")
    header = Writer()
    header.take(ROOT / "include/tutti/tutti.h", {})
    (out / "tutti").mkdir(exist_ok=True)
    (out / "tutti/tutti.h").write_text("\n".join(header.lines) + "\n")
    longer = sum(map(len, rename.values()))
    print(f"{out}/tutti.c: {text.count(chr(10))} lines of {len(files)} files, {longer} names made longer")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
