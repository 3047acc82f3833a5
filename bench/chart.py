"""docs/performance.md and the README's chart from bench/results: python bench/chart.py [--check]

Of each bench and machine the newest file counts. Every row in which tutti and a peer were measured is shown, also those
that tutti loses. --check writes nothing and fails where the two files are not what the results give.
"""

import json
import math
import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS, PAGE, CHART = ROOT / "bench" / "results", ROOT / "docs" / "performance.md", ROOT / "docs" / "speeds.svg"
NAME = re.compile(r"(?P<bench>[a-z-]+)-(?P<date>\d{4}-\d\d-\d\d)-(?P<machine>.+)\.json")
# What is shown, in this order: the bench, how it is run, what it measures.
BENCHES = {
    "field-cpu": ("bench/field.py", "Programs of NumPy's kind on the CPU, each beside all peers that can run it."),
    "field-cuda": ("bench/field.py --device cuda", "The same programs on a GPU."),
    "small": ("bench/small.py", "Loops over small work, where a call's own cost counts, beside NumPy."),
    "calls": ("bench/calls.py", "Single calls on small arrays, beside NumPy."),
    "gradients": ("bench/gradients.py", "Training steps and gradients on the CPU beside JAX, jitted."),
    "gradients-cuda": ("TUTTI_DEVICE=cuda:0 bench/gradients.py", "The same on a GPU, and beside PyTorch."),
    "networks": ("bench/networks.py", "Steps of training beside JAX, jitted, and PyTorch."),
    "networks-cuda": ("TUTTI_DEVICE=cuda:0 bench/networks_gpu.py", "The same on a GPU, and larger ones."),
    "jit": ("bench/jit.py", "Functions of loops that are compiled, beside Numba."),
    "kernels": ("bench/kernels.py", "Kernels in CUDA C run on the CPU, beside C and Numba."),
    "cpu": ("make bench", "The table of the CPU."),
    "gpu": ("bench/gpu.py", "The table of the GPU."),
}
EVEN = 0.95  # less is behind


def newest():
    """[(bench, path)] in the order of BENCHES: of each machine its last file."""
    found = {}
    for path in sorted(RESULTS.glob("*.json")):
        m = NAME.fullmatch(path.name)
        if m and m["bench"] in BENCHES:
            found[m["bench"], m["machine"]] = path  # names of one bench and machine sort by date
    order = list(BENCHES)
    return sorted(((b, p) for (b, _), p in found.items()), key=lambda x: (order.index(x[0]), x[1].name))


class Compared:
    """A row that both have: `ratio` is the best peer's time over ours, `ratios` each one's, `spread` from quartiles."""

    def __init__(self, row):
        times = {k: v for k, v in row["seconds"].items() if k != "tutti"}
        self.name, self.own = row["name"], row["seconds"]["tutti"]
        self.ratios = {k: v / self.own for k, v in times.items()}
        self.peer = min(times, key=times.get)
        self.best = times[self.peer]
        self.ratio = self.best / self.own
        q = row.get("quartiles", {})
        self.spread = (q[self.peer][0] / q["tutti"][1], q[self.peer][1] / q["tutti"][0]) if q else None


def compared(result):
    return [Compared(r) for r in result["rows"] if "tutti" in r["seconds"] and len(r["seconds"]) > 1]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def summary(ratios):
    """How many, their geometric mean and how many are behind."""
    return f"{len(ratios)} rows, {mean(ratios):.2f}x, {sum(r < EVEN for r in ratios)} behind"


def group_of(name):
    return name.split(":")[0] if ":" in name else ""


def groups(rows):
    """{group: its rows}, in the order of the file."""
    out = {}
    for r in rows:
        out.setdefault(group_of(r.name), []).append(r)
    return out


def pretty(s):
    for unit, factor in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if s * factor < 1000:
            return f"{s * factor:.3g} {unit}"
    return f"{s:.3g} s"


# ---- the page

HEAD = """# Speed beside others

Made by `python bench/chart.py` from the newest file of each bench and machine in `bench/results`; not written by hand.
A ratio is the time of the best peer in that row over tutti's: above 1 tutti is faster; **below {even} it is behind**,
in bold. Every row in which a peer was measured is here. The spread of a ratio goes from the peer's lower quartile over
tutti's upper one to the peer's upper over tutti's lower; a file without it was written before quartiles were kept.

"""


def machine_of(result):
    lines = result.get("machine") or result.get("info") or []
    wanted = [line.removeprefix("devices").split(maxsplit=1)[1] for line in lines if re.search(r"(cpu|cuda):\d", line)]
    return "; ".join(wanted) or f"{result.get('processor', '')}, {result.get('threads', '?')} threads"


def how_of(result):
    notes = result.get("how") or result
    times = {"min": "best times", "median": "medians"}.get(notes.get("times"), "medians")
    clock = "of the processor" if notes.get("clock") == "processor_time" else "of the clock"
    return f"{times} {clock}"


def table(rows):
    yield "| program | tutti | best peer | ratio | spread |"
    yield "|---|--:|--:|--:|--:|"
    for r in rows:
        ratio = f"{r.ratio:.2f}x" if r.ratio >= EVEN else f"**{r.ratio:.2f}x**"
        spread = f"{r.spread[0]:.2f} to {r.spread[1]:.2f}" if r.spread else ""
        name = r.name.replace("|", "\\|").replace("*", "\\*")
        yield f"| {name} | {pretty(r.own)} | {r.peer} {pretty(r.best)} | {ratio} | {spread} |"


def section(bench, path, result):
    rows = compared(result)
    if not rows:
        return
    how, what = BENCHES[bench]
    peers = ", ".join(f"{k} {v}" for k, v in (result.get("peers") or {}).items())
    yield f"## {bench}, {NAME.fullmatch(path.name)['machine']}, {result['date']}"
    yield ""
    yield f"{what} `{how}`, {how_of(result)}; file `bench/results/{path.name}`."
    yield ""
    yield f"{machine_of(result)}." + (f" Peers: {peers}." if peers else "")
    yield ""
    names = sorted({k for r in rows for k in r.ratios})
    each = "; ".join(f"{k}: {summary([r.ratios[k] for r in rows if k in r.ratios])}" for k in names)
    yield f"**Geometric mean beside the best peer: {summary([r.ratio for r in rows])}.** Beside each: {each}."
    for group, some in groups(rows).items():
        yield ""
        if group:
            yield f"{group}: {summary([r.ratio for r in some])}"
            yield ""
        yield from table(some)
    yield ""


def reasons():
    """The newest file of bench/why.py: what rows that are behind spend their time on."""
    path = max(RESULTS.glob("why-*.json"), default=None)
    if not path:
        return
    result = json.loads(path.read_text())
    yield f"## What rows that are behind spend their time on, {result['date']}"
    yield ""
    others = "; others used the machine, too, so that fewer cores were at work than threads" if result["shared"] else ""
    counted = any("instructions" in side for r in result["rows"] for side in r["sides"].values())
    yield f"`bench/why.py`, best times, cores at work beside them{others}; file `bench/results/{path.name}`."
    yield "MB are those of operands and results; a copy is NumPy's of as many."
    if not counted:
        yield "The system counted no instructions for this guest: profiles are by time and function."
    yield ""
    yield "| program | MB | copy | tutti | best peer | what a profile says |"
    yield "|---|--:|--:|--:|--:|---|"
    for r in result["rows"]:
        sides = [f"{pretty(side['seconds'])}, {side['cores']}" for side in r["sides"].values()]
        name = r["name"].replace("*", "\\*")
        cells = [name, f"{r['bytes'] / 1e6:.2f}", pretty(r["copy"]), sides[0], f"{r['peer']} {sides[1]}", r["reading"]]
        yield f"| {' | '.join(cells)} |"
    yield ""


def page(results):
    lines = [line for bench, path, result in results for line in section(bench, path, result)]
    lines += reasons()
    return HEAD.format(even=EVEN) + "\n".join(lines).rstrip("\n") + "\n"


# ---- the chart

LABEL, LEFT, RIGHT, TOP, STEP = 170, 180, 740, 74, 20
LEAST, MOST = 0.25, 64.0


def place(factor):
    """Where a factor stands: the scale is logarithmic."""
    part = math.log(min(max(factor, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + part * (RIGHT - LEFT)


def scale(bottom):
    factor = LEAST
    while factor <= MOST:
        x, width = place(factor), 1.5 if factor == 1 else 0.5
        yield f'<line x1="{x:.1f}" y1="{TOP - 12}" x2="{x:.1f}" y2="{bottom}" stroke="#ced4da" stroke-width="{width}"/>'
        yield f'<text x="{x:.1f}" y="{TOP - 15}" text-anchor="middle" font-size="9">{factor:g}</text>'
        factor *= 2


def line_of(group, rows, y):
    """A dot for each row, a bar where their geometric mean is."""
    yield f'<text x="{LABEL}" y="{y + 4}" text-anchor="end">{escape(group)} ({len(rows)})</text>'
    for r in rows:
        colour = "#2a9d8f" if r.ratio >= EVEN else "#e76f51"
        tip = f"<title>{escape(r.name)}: {r.ratio:.2f} of {escape(r.peer)}</title>"
        yield f'<circle cx="{place(r.ratio):.1f}" cy="{y}" r="3" fill="{colour}" fill-opacity="0.45">{tip}</circle>'
    x = place(mean([r.ratio for r in rows]))
    yield f'<line x1="{x:.1f}" y1="{y - 7}" x2="{x:.1f}" y2="{y + 7}" stroke="#264653" stroke-width="2"/>'


def chart(path, result):
    rows = compared(result)
    lines = groups(rows)
    bottom = TOP + STEP * len(lines)
    title = f"{len(rows)} programs: time of the best peer over tutti's (right of 1: tutti is faster), {result['date']}"
    peers = ", ".join(f"{k} {v.split('+')[0]}" for k, v in result["peers"].items())
    out = ['<rect width="100%" height="100%" fill="white"/>', f'<text x="10" y="16">{escape(title)}</text>']
    where = escape(f"{path.stem}: {machine_of(result)}. Peers: {peers}")
    out.append(f'<text x="10" y="31" font-size="10">{where}</text>')
    note = (
        f"A dot is a program, a bar the geometric mean; all together {summary([r.ratio for r in rows])} (below {EVEN})"
    )
    out.append(f'<text x="10" y="45" font-size="10">{note}</text>')
    out += scale(bottom)
    for k, (group, some) in enumerate(lines.items()):
        out += line_of(group or "others", some, TOP + STEP * k + 6)
    size = f'width="780" height="{bottom + 12}" font-family="sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, *out, "</svg>\n"])


def main():
    results = [(bench, path, json.loads(path.read_text())) for bench, path in newest()]
    made = {PAGE: page(results)}
    first = next((r for r in results if r[0].startswith("field")), None)
    if first:
        made[CHART] = chart(*first[1:])
    stale = [path.name for path, text in made.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        if stale:
            print(f"not what bench/results gives: {', '.join(stale)}; run python bench/chart.py")
        sys.exit(bool(stale))
    for path, text in made.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
