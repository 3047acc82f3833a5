"""Any number of random programs about versions of memory, in every way there is, over several processes.

    python tests/fuzz/many_versions.py FIRST COUNT [--processes 16] [--ways interpreted,null] [--every 60]

Each seed of versions.py from FIRST on runs interpreted, interpreted with each operation a step of its own, and on a
simulated device; one seed in COMPILED compiled, which takes a compiler's time, and one in ON_GPU on a GPU if there
is one. Seeds go to the ways a block at a time, and every block to every way before the next one starts, so a run that
was stopped goes on at the seed that its last line names. Each minute a line of counts; a program that differs, or ends
its process, is shown cut down, with its seed.
"""

import argparse
import collections
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import tutti as tt

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = 10_000
COMPILED, ON_GPU = 100, 10
STUCK = 300  # seconds after which a program counts as one without end
NULL = {"TUTTI_NULL_DEVICE": "1", "TUTTI_DEVICE": "null:0"}
# What a way sets, the flags of versions.py, and how many seeds there are for one that it takes. Kernels of one type are
# compiled once where those of fifteen types hardly ever meet again.
WAYS = {
    "interpreted": ({"TUTTI_CC": "none"}, ["--interpreted"], 1),
    "unfused": ({"TUTTI_CC": "none"}, ["--interpreted", "--unfused"], 1),
    "null": ({"TUTTI_CC": "none"} | NULL, ["--interpreted"], 1),
    "compiled": ({}, ["--compiled"], COMPILED),
    "gpu": ({"TUTTI_DEVICE": "cuda:0"}, ["--types", "int64"], ON_GPU),
}


def ways_here():
    return [way for way in WAYS if way != "gpu" or any(d.name.startswith("cuda") for d in tt.devices())]


class Piece:
    """Seeds of a block that one process runs in one way; where the process dies, another goes on behind the seed."""

    def __init__(self, way, first, count, folder):
        self.way, self.first, self.end = way, first, first + count
        self.path = os.path.join(folder, f"{way}-{first}")
        self.wrong, self.text = 0, ""
        self.seen, self.since = first, time.monotonic()
        self.start(first)

    def start(self, seed):
        with open(self.path, "wb") as f:
            f.write(seed.to_bytes(8, "little"))
        names, flags, _ = WAYS[self.way]
        command = [sys.executable, os.path.join(HERE, "versions.py"), str(seed), str(self.end - seed), *flags]
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [*command, "--progress", self.path], env=os.environ | names, stdout=self.out, stderr=subprocess.STDOUT
        )

    def at(self):
        with open(self.path, "rb") as f:
            return int.from_bytes(f.read(8), "little")

    def watch(self):
        """End the process where its program does not end."""
        at = self.at()
        if at != self.seen:
            self.seen, self.since = at, time.monotonic()
        elif time.monotonic() - self.since > STUCK:
            self.process.kill()

    def is_over(self):
        """Whether the last seed was run; a process that died is told of and followed by another."""
        code = self.process.poll()
        if code is None:
            self.watch()
            return False
        self.out.seek(0)
        self.text += self.out.read()
        self.out.close()
        seed = self.at()
        if 0 <= code <= 100:
            self.wrong += code
            return True
        self.wrong += 1
        why = signal.Signals(-code).name if code < 0 else f"code {code}"
        self.text += f"---- seed {seed} ends the process: {why}\n"
        if seed + 1 == self.end:
            return True
        self.start(seed + 1)
        return False


def pieces_of(first, count, ways):
    """(block, way, first seed, how many), block by block."""
    for lo in range(first, first + count, BLOCK):
        n = min(BLOCK, first + count - lo)
        for way in ways:
            yield lo, way, lo, -(-n // WAYS[way][2])


class Counts:
    """What was run, what was wrong, and the seed below which everything was."""

    def __init__(self, first, count, ways):
        self.first, self.end, self.begun = first, first + count, time.monotonic()
        self.done, self.wrong, self.seeds = collections.Counter(), 0, []
        self.open = collections.Counter(lo for lo, *_ in pieces_of(first, count, ways))

    def note(self, block, piece):
        self.done[piece.way] += piece.end - piece.first
        self.wrong += piece.wrong
        self.open[block] -= 1
        if piece.wrong:
            found = re.findall(r"^---- seed (\d+)", piece.text, re.M)
            self.seeds += [f"{piece.way} {seed}" for seed in found]
            print(f"== {piece.way}, {piece.wrong} wrong\n{piece.text}", flush=True)

    def line(self, running):
        done = self.done + collections.Counter({p.way: 0 for _, p in running})
        for _, p in running:
            done[p.way] += p.at() - p.first
        below = min([block for block, n in self.open.items() if n], default=self.end)
        took = max(time.monotonic() - self.begun, 1e-9)
        each = ", ".join(f"{way} {n}" for way, n in done.items())
        print(
            f"{time.strftime('%H:%M:%S')} {sum(done.values())} programs ({each}), {self.wrong} wrong, "
            f"{sum(done.values()) / took:.0f} a second; go on at {below}",
            flush=True,
        )


def run(first, count, ways, processes, every):
    counts, waiting, running = Counts(first, count, ways), pieces_of(first, count, ways), []
    told = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            while True:
                for entry in [e for e in running if e[1].is_over()]:
                    running.remove(entry)
                    counts.note(*entry)
                while len(running) < processes and (taken := next(waiting, None)):
                    running.append((taken[0], Piece(*taken[1:], folder)))
                if not running:
                    break
                if time.monotonic() - told >= every:
                    told = time.monotonic()
                    counts.line(running)
                time.sleep(0.05)
        except KeyboardInterrupt:
            pass
        finally:
            counts.line(running)
            for _, piece in running:
                piece.process.kill()
                piece.process.wait()
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--ways", default="", help="names with commas between; all that are here without")
    parser.add_argument("--every", type=float, default=60, help="seconds between lines of counts")
    args = parser.parse_args()
    os.environ.setdefault("TUTTI_NUM_THREADS", "1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the line says where to go on, no process is left
    counts = run(args.first, args.count, args.ways.split(",") if args.ways else ways_here(), args.processes, args.every)
    if counts.seeds:
        print("differ: " + ", ".join(counts.seeds))
    sys.exit(counts.wrong > 0)


if __name__ == "__main__":
    main()
