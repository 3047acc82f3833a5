"""What rows of the field spend their time on, ours beside the best peer: python bench/why.py --only "max of rows; isin"

For each row and both sides: time, cores at work, page faults, bytes that the program must move at least and how fast
that is beside a copy of as many; instructions, cycles and cache misses where the system counts them (machines that are
guests often do not). The line that reads it stands in READINGS.
"""

import argparse
import ctypes
import os
import pathlib
import platform
import resource
import struct
import time

import field
import field_more
import field_programs
import field_rows
import harness
import numpy as np
import tutti as tt

# The kernel's numbers of what processors count (linux/perf_event.h).
COUNTED = {"cycles": 0, "instructions": 1, "cache misses": 3}
OPEN_CALL = {"x86_64": 298, "aarch64": 241}
ATTRIBUTES = "IIQQQQQ"  # type, size, config, period, sample type, read format, flags
USER_ONLY = 1 << 5 | 1 << 6  # neither the kernel nor what is below it

# A part of a row's name: what its figures and a profile by function (perf record, cpu-clock) say, and nothing else.
READINGS = {
    "max of rows of 50, float32": "half of the samples in the last two rounds of the fold, asking for NaN by scalars",
    "max of rows of 50, int32": "the fold of one vector to one element: six rounds for four loads",
    "determinants 5000 of 3": "37 % elimination, 27 % one thread waiting for the other, 14 % into lanes and back",
    "gram matrix": "61 % in tiles, 22 % packing",
    "64 x 20000": "50 % in tiles, 32 % packing",
    "2000 x 2000 by a vector": "29 % in the product, a quarter waiting for the other thread",
    "a vector by 2000": "50 % in the product, a quarter waiting for the other thread",
    "QR 300": "38 % in OpenBLAS's product; its 0.3.31 with NumPy takes as long, JAX's library does not",
    "inverse 300": "one thread; NumPy's inverse of 400 takes 3.9 ms with one and 2.7 with two",
    "Cholesky 500": "one thread; the library's own threads wait for others' (docs/decisions.md)",
    "edges of a byte": "85 % in the compiled kernel",
    "roll both": "88 % in the compiled kernels, at the speed of a copy",
    "distances of 300": "91 % in the compiled kernel; arithmetic, not bytes",
    "x ** y": "95 % in the compiled kernel; arithmetic, not bytes",
}


class Counters:
    """What the processor counts of all threads of this process, or nothing where it may not be asked."""

    def __init__(self):
        self.files = {name: self.opened(number) for name, number in COUNTED.items()}

    def opened(self, number):
        call = OPEN_CALL.get(platform.machine())
        room = struct.pack(ATTRIBUTES, 0, 128, number, 0, 0, 0, USER_ONLY).ljust(128, b"\0")
        libc = ctypes.CDLL(None)
        tasks = [int(task) for task in os.listdir("/proc/self/task")] if call else []
        files = [libc.syscall(call, room, task, -1, -1, 0) for task in tasks]
        return [f for f in files if f >= 0]

    def read(self):
        return {
            name: sum(struct.unpack("Q", os.read(f, 8))[0] for f in files)
            for name, files in self.files.items()
            if files
        }

    def close(self):
        for files in self.files.values():
            for f in files:
                os.close(f)


def used():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime, u.ru_minflt


def spent(f, seconds):
    """{what: of one call}: the least time, and the means of the rest over calls in a row."""
    time.sleep(harness.PAUSE)
    for _ in range(3):
        f()
    counters = Counters()
    (processor, faults), counts, times = used(), counters.read(), []
    start = time.perf_counter()
    while time.perf_counter() < start + seconds or len(times) < 3:
        times.append(harness.once(f))
    wall = time.perf_counter() - start
    (processor_end, faults_end), counts_end = used(), counters.read()
    counters.close()
    each = {k: (counts_end[k] - v) / len(times) for k, v in counts.items()}
    return {
        "seconds": min(times),
        "cores": round((processor_end - processor) / wall, 2),
        "faults": round((faults_end - faults) / len(times)),
        **each,
    }


def copied(size):
    """Seconds for a copy that moves so many bytes, half of them read."""
    a = np.ones(max(size // 2, 1), np.uint8)
    b = np.empty_like(a)
    return min(harness.once(lambda: np.copyto(b, a)) for _ in range(5))


def reading(name):
    return next((text for part, text in READINGS.items() if part in name), "")


def looked_at(bench, row, seconds):
    """A row's figures: ours and the best peer's."""
    arrays = row.make(np.random.default_rng(1))
    usable = bench.contestants(row, arrays)
    result = field.flat(usable["tutti"]())
    field.settle(usable["tutti"])
    sides = {}
    for name, f in usable.items():
        try:
            sides[name] = spent(f, seconds)
        except Exception as e:  # noqa: BLE001 - a peer that cannot do the work has no figures
            print(f"{row.name}: {name}: {e}")
    peers = {k: v for k, v in sides.items() if k != "tutti"}
    best = min(peers, key=lambda k: peers[k]["seconds"])
    size = sum(a.nbytes for a in (*arrays, *result))
    return {
        "name": row.name,
        "bytes": size,
        "copy": copied(size),
        "peer": best,
        "sides": {k: sides[k] for k in ("tutti", best)},
        "reading": reading(row.name),
    }


def is_behind(one):
    return one["sides"][one["peer"]]["seconds"] < 0.95 * one["sides"]["tutti"]["seconds"]


def show(one):
    print(f"{one['name']}: {one['bytes'] / 1e6:.2f} MB, a copy {harness.pretty(one['copy'])}; {one['reading']}")
    for name, side in one["sides"].items():
        counts = "".join(f", {v:.3g} {k}" for k, v in side.items() if k in COUNTED)
        speed = one["bytes"] / side["seconds"] / 1e9
        cost = f"{harness.pretty(side['seconds'])}, {speed:.1f} GB/s, {side['cores']} cores, {side['faults']} faults"
        print(f"    {name:<6} {cost}{counts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", required=True, help="rows whose name contains one of these, separated by semicolons")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each contestant of a row")
    parser.add_argument("--out", default=None, help="JSON file of the rows that are behind (default: none)")
    parser.add_argument("--shared", action="store_true", help="say in the file that others used the machine, too")
    args = parser.parse_args()
    args.device, args.best, args.cpu = "cpu", True, False
    bench, rows = field.Field(args), []
    for row in field_rows.rows() + field_programs.rows() + field_more.rows():
        if any(part.strip() in row.name for part in args.only.split(";")):
            rows.append(looked_at(bench, row, args.seconds))
            show(rows[-1])
    if args.out:
        machine = [harness.no_folders(line) for line in tt.info().splitlines() if line.startswith("devices")]
        harness.write(
            pathlib.Path(args.out),
            {"machine": machine, "shared": args.shared, "rows": [r for r in rows if is_behind(r)]},
        )


if __name__ == "__main__":
    main()
