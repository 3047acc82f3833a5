"""What the machine does right now: GPUs, their processes, the host's cores and memory; `python -m tutti top`."""

import os
import shutil
import sys
import time
from collections import namedtuple

from . import _core

Process = namedtuple("Process", ["pid", "name", "memory"])
GPU = namedtuple(
    "GPU",
    [
        "index",
        "label",
        "bus",
        "utilization",
        "memory_utilization",
        "memory_total",
        "memory_used",
        "temperature",
        "power",
        "power_limit",
        "clock",
        "process_count",
        "processes",
    ],
)
Host = namedtuple("Host", ["cores", "memory_total", "memory_used", "process_memory", "load", "ticks", "workers", "at"])
Worker = namedtuple("Worker", ["program", "seconds", "memory"])


def gpu(k):
    """The k-th GPU of the machine: percent, bytes, degrees Celsius, watts, MHz; None where nobody tells."""
    figures = _core._gpu_read(k)
    figures["processes"] = [Process(*p) for p in figures["processes"]]
    return GPU(**figures)


def gpus():
    """Every GPU of the machine, whatever this process may use."""
    return [gpu(k) for k in range(_core._gpu_count()[0])]


def host():
    """The host: cores, bytes of memory, load, and each core's clock ticks (busy, total) since it started."""
    return Host(**_core._host_read(), workers=workers(), at=time.monotonic())


def workers():
    """The workers of `tutti.parallel` of all programs: {process: (its program, seconds of work, bytes of memory)}."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if b"/tutti/parallel/_worker_main.py\0" not in f.read(4096):
                    continue
            with open(f"/proc/{pid}/stat", "rb") as f:
                words = f.read().rpartition(b")")[2].split()
        except OSError:  # it has ended meanwhile, or is none of ours to look at
            continue
        ticks = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        found[int(pid)] = Worker(int(words[1]), ticks, int(words[21]) * os.sysconf("SC_PAGE_SIZE"))
    return found


def use(before, after):
    """Percent of the time between two readings of the host in which each core was busy."""
    pairs = zip(before.ticks, after.ticks)
    return [100.0 * max(0, b1 - b0) / max(1, t1 - t0) for (b0, t0), (b1, t1) in pairs]


# ---- the table


def _bytes(n):
    return "?" if n is None else f"{n / 2**30:.1f} GiB" if n >= 2**30 else f"{n / 2**20:.0f} MiB"


def _number(x, unit, digits=0):
    return "?" if x is None else f"{x:.{digits}f}{unit}"


def _bar(percent, width):
    filled = round(width * min(100.0, max(0.0, percent or 0.0)) / 100)
    return "#" * filled + "." * (width - filled)


def _gpu_lines(width):
    count, why, driver = _core._gpu_count()
    if not count:
        return [f"GPUs    none: {why}"]
    lines = [f"GPUs    {count}, driver {driver or '?'}"]
    for g in gpus():
        total, used = g.memory_total, g.memory_used
        share = 100.0 * used / total if total and used is not None else None
        lines.append(
            f"  {g.index:<3} {g.label:<24.24} use {_number(g.utilization, '%'):>4} [{_bar(g.utilization, 12)}]  "
            f"memory {_bytes(used)} of {_bytes(total)} [{_bar(share, 12)}]  "
            f"{_number(g.temperature, ' C')}  {_number(g.power, '')} of {_number(g.power_limit, ' W')}  "
            f"{_number(g.clock, ' MHz')}"
        )
        lines += [f"        {p.pid:>8}  {p.name:<32.32} {_bytes(p.memory):>10}" for p in g.processes]
        if g.process_count > len(g.processes):
            lines.append(f"        and {g.process_count - len(g.processes)} more processes")
    return lines


def _host_lines(before, after, width):
    busy = use(before, after)
    mean = sum(busy) / max(1, len(busy))
    load = " ".join(f"{x:.2f}" for x in after.load)
    lines = [f"host    {after.cores} cores, use {mean:.0f}% [{_bar(mean, 12)}], load {load}"]
    cells = [f"{k:>4} {percent:>3.0f}%" for k, percent in enumerate(busy)]
    per_line = max(1, (width - 4) // 10)
    lines += ["  " + " ".join(cells[k : k + per_line]) for k in range(0, len(cells), per_line)]
    share = 100.0 * after.memory_used / max(1, after.memory_total)
    lines.append(
        f"memory  {_bytes(after.memory_used)} of {_bytes(after.memory_total)}, {share:.0f}% [{_bar(share, 12)}]"
    )
    return lines


def _worker_lines(before, after):
    """A line for each program that has workers."""
    programs = {}
    for pid, worker in after.workers.items():
        programs.setdefault(worker.program, []).append((pid, worker))
    lines = []
    for program, its in sorted(programs.items()):
        busy = sum(w.seconds - before.workers[pid].seconds for pid, w in its if pid in before.workers)
        percent = 100.0 * busy / max(1e-9, after.at - before.at) / len(its)
        lines.append(
            f"workers {len(its)} of process {program}, use {percent:.0f}% [{_bar(percent, 12)}], "
            f"memory {_bytes(sum(w.memory for _, w in its))}"
        )
    return lines


def table(before, after, width=120):
    """One picture of the machine as lines of text, for the time between two readings of the host."""
    now = time.strftime("tutti top  %Y-%m-%d %H:%M:%S")
    return [now, *_gpu_lines(width), *_host_lines(before, after, width), *_worker_lines(before, after)]


def top(count=None, delay=1.0, out=None):
    """Show the machine `count` times (None: until interrupted), `delay` seconds apart; in place on a terminal."""
    out = out or sys.stdout
    terminal = out.isatty()
    shown, before = 0, host()
    try:
        while count is None or shown < count:
            time.sleep(delay if shown else min(delay, 0.2))
            after = host()
            width, height = shutil.get_terminal_size((120, 50)) if terminal else (120, None)
            lines = table(before, after, width)
            if terminal:
                lines = [line[:width] for line in lines[: height - 1]]
                out.write("\x1b[H" + "".join(line + "\x1b[K\n" for line in lines) + "\x1b[J")
            else:
                out.write("\n".join(lines) + ("\n" if count == shown + 1 else "\n\n"))
            out.flush()
            before, shown = after, shown + 1
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        # The reader has gone: what the interpreter still flushes at its end goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
