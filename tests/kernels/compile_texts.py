"""Compiles every CUDA text in a folder (collect_texts.py). Rendered kernels share compilations (shared_head.py), each
of them machine code for sm_80, sm_90 or sm_100 in turn: nothing in these texts asks for the chip. Texts written by
hand, ours and users', are compiled for all three: machine code for one in turn, PTX for the others.

With a share, not all rendered kernels are compiled: tests make ten thousands, of a few thousand kinds of lines. Each
kind is compiled TIMES times, of what is left one kernel in SHARE, others another day.

    python tests/kernels/compile_texts.py FOLDER [PROCESSES [SHARE]]
"""

import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import sys
import time

import nvrtc
import shared_head

CHIPS = (80, 90, 100)
TOGETHER = 48
TIMES = 3
# Of each kind of text there are several times as many; fewer mean that they no longer reach the folder.
LEAST = {"kernel": 3000, "library": 60, "program": 50, "Python": 20}

# Programs of users that CUDA itself refuses, by words of the compiler: tests of errors.
REFUSED = ('identifier "nothing" is undefined',)

Text = collections.namedtuple("Text", "file kind options names head name body")
KERNEL = re.compile(r"\btt_k_[0-9a-f]{32}\b")


def read(path):
    """A text with its options. A rendered kernel is parted where it begins: `head` is what others share."""
    lines = path.read_text().split("\n")
    told = [line for line in lines if line.startswith(("//option ", "//name "))]
    options = [line[9:] for line in told if line.startswith("//option ")]
    names = [line[7:] for line in told if line.startswith("//name ")]
    text = "\n".join(lines[len(told) :])
    kernel = KERNEL.search(text)
    if kernel:
        at = text.rfind("typedef struct {\n", 0, kernel.start())
        return Text(path.stem, "kernel", options, names, text[:at], kernel.group(), text[at:])
    kind = "program" if names else "library" if "TT_KERNEL(" in text else "Python"
    return Text(path.stem, kind, options, names, text, "", "")


NUMBERED = re.compile(r"\b([A-Za-z]{1,3})\d+(?:_\d+)*\b")
NUMBER = re.compile(r"\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)([uUlLfF]*)\b")


@functools.cache
def kind_of_line(line):
    """The line without what tells variables and constants apart; types and functions are as they were."""
    return NUMBER.sub(r"0\1", NUMBERED.sub(r"\1", line)).strip()


def kinds(text):
    """Of the lines of a kernel, with the functions and types above it."""
    lines = text.body.replace(text.name, "k").split("\n")
    return {kind_of_line(line) for line in lines} | set(map(shared_head.name_of, shared_head.items_of(text.head)))


def sampled(texts, share, turn):
    """Texts written by hand, each kind of line of rendered kernels TIMES times, one in `share` of the rest."""
    chosen, seen = [], collections.Counter()
    for k, text in enumerate(texts):
        if text.kind == "kernel":
            of_kernel = kinds(text)
            if (k + turn) % share and all(seen[kind] >= TIMES for kind in of_kernel):
                continue
            seen.update(of_kernel)
        chosen.append(text)
    return chosen


def batches(texts):
    groups = collections.defaultdict(list)
    for text in texts:
        alike = shared_head.frame_of(text.head) if text.kind == "kernel" else text.file
        groups[(tuple(text.options), alike)].append(text)
    for group in groups.values():
        for at in range(0, len(group), TOGETHER):
            yield group[at : at + TOGETHER]


def joined(batch):
    """One text: each kernel under a name of its own, its lines counted from its start and called by its file."""
    if not batch[0].name:
        return f'#line 1 "{batch[0].file}"\n{batch[0].head}'
    parts = [shared_head.merged([text.head for text in batch])]
    parts += [f'#line 1 "{text.file}"\n{text.body.replace(text.name, f"k{k}")}' for k, text in enumerate(batch)]
    return "\n".join(parts)


def complaint(batch, chip, log):
    """What the compiler says, and the first line that it means."""
    lines = [f"sm_{chip}: {log.strip()[:1500]}"]
    place = re.search(r"^([0-9a-f]{16})\((\d+)\): (?:catastrophic )?error", log, re.M)
    for text in batch:
        if place and text.file == place.group(1):
            line = (text.body or text.head).split("\n")[int(place.group(2)) - 1]
            lines.append(f"{text.name or text.kind} in {text.file}.cu: {line.strip()}")
    return "\n".join(lines)


def missing(batch, whole):
    """A text that would not compile without its neighbours, or None."""
    for text in batch:
        names = shared_head.lacking(text.head, text.body, whole) if text.name else None
        if names:
            return f"{text.name} in {text.file}.cu has no {', '.join(names)}"
    return None


def compile_batch(batch, chips, turn):
    """What is wrong with it, or None."""
    text = joined(batch)
    can_hurry = nvrtc.version() >= (13, 0)
    for k, chip in enumerate(chips):
        is_binary = (k + turn) % len(chips) == 0
        if batch[0].name and not is_binary:
            continue
        options = [f"--gpu-architecture={'sm' if is_binary else 'compute'}_{chip}", *batch[0].options]
        if can_hurry:
            options.append(f"--Ofast-compile={'min' if is_binary else 'max'}")
        log = nvrtc.compile_text(text, options, batch[0].names)
        if log and batch[0].kind == "program" and any(words in log for words in REFUSED):
            return None
        if log:
            return complaint(batch, chip, log)
    return missing(batch, shared_head.merged([text.head for text in batch]))


def main(folder, processes, share=1):
    if not nvrtc.library():
        print("skipped: NVRTC is not on this machine")
        return 0
    start = time.monotonic()
    chips = [chip for chip in CHIPS if chip in nvrtc.chips()]
    texts = [read(path) for path in sorted(pathlib.Path(folder).glob("*.cu"))]
    count = collections.Counter(text.kind for text in texts)
    chosen = sampled(texts, share, int(time.time() // 86400))
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        work = [pool.submit(compile_batch, batch, chips, turn) for turn, batch in enumerate(batches(chosen))]
        wrong = [w.result() for w in work if w.result()]
    told = ", ".join(f"{count[kind]} {kind}" for kind in LEAST)
    took = time.monotonic() - start
    print(f"{len(texts)} texts ({told}), {len(chosen)} of them in {len(work)} compilations for {chips}, {took:.0f} s")
    for kind, least in LEAST.items():
        if count[kind] < least:
            wrong.append(f"{count[kind]} {kind} texts, and {least} at least were expected")
    print("\n\n".join(wrong[:20]))
    return 1 if wrong or not chips else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:] or [os.cpu_count()])))
