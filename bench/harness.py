"""Measuring: ours and the peers' take turns in one process; the median counts; the first call is told apart."""

import json
import platform
import re
import resource
import statistics
import sys
import time

PAUSE = 0.12  # an OpenBLAS keeps a core busy for 2^28 ticks, 0.1 s, after each call of its threads
BURST = 0.01  # of calls in a row, of which the first is not counted
LONG = 0.05  # a call that needs no other before it to be warm


class Row:
    def __init__(self, name, goal, work, limit=None):
        self.name, self.goal, self.work, self.limit = name, goal, work, limit
        self.seconds, self.first, self.error = {}, {}, {}
        self.quartiles = {}  # {name: (a quarter of the times is below, three quarters are)}


clock = time.perf_counter


def processor_time():
    """Of this process and the compilers it ran: what a machine that others use, too, does not change much."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def add_arguments(parser):
    parser.add_argument("--best", action="store_true", help="best times, not medians: others use the machine, too")
    parser.add_argument("--cpu", action="store_true", help="time of the processor, not the clock's: for one thread")


def chosen(args):
    """The function that picks a time, as the arguments ask, and notes for the file."""
    global clock
    clock = processor_time if args.cpu else time.perf_counter
    pick = min if args.best else statistics.median
    return pick, {"times": pick.__name__, "clock": clock.__name__}


def once(f):
    start = clock()
    f()
    return clock() - start


def burst(f, times):
    end = time.perf_counter() + BURST
    times.append(once(f))
    while time.perf_counter() < end:
        times.append(once(f))


def measure(row, contestants, seconds=1.5, least=5, pick=statistics.median):
    """contestants: {name: function that does the work and waits for it}. Fills row.seconds and row.first.

    pick: which of a contestant's times counts; min where others use the machine, too.
    """
    alive, long_ones = {}, set()
    for name, f in contestants.items():
        try:
            row.first[name] = once(f)
            if once(f) > LONG:
                long_ones.add(name)
            alive[name] = f
        except Exception as e:  # noqa: BLE001 - a peer that cannot do the work is a fact of the table
            row.error[name] = f"{type(e).__name__}: {e}".splitlines()[0][:120]
    times = {name: [] for name in alive}
    end = time.perf_counter() + seconds * max(len(alive), 1)
    while alive and (time.perf_counter() < end or min(map(len, times.values())) < least):
        for name, f in alive.items():
            time.sleep(PAUSE)  # the threads of the one before stop spinning
            if name not in long_ones:
                f()
            burst(f, times[name])
    row.seconds = {name: pick(t) for name, t in times.items()}
    row.quartiles = {name: quartiles(t) for name, t in times.items()}
    return row


def quartiles(times):
    low, _, high = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3
    return low, high


def show(rows):
    print(f"{'work':<46} {'tutti':>10} {'first call':>10}   {'best peer':<22} {'ratio':>6}  goal")
    for r in rows:
        if "tutti" not in r.seconds:
            print(f"{r.name:<46} {'failed: ' + r.error.get('tutti', '?')}")
            continue
        mine = r.seconds["tutti"]
        peers = {k: v for k, v in r.seconds.items() if k != "tutti"}
        best = min(peers, key=peers.get) if peers else None
        ratio = f"{peers[best] / mine:.2f}x" if best else "-"
        peer = f"{best} {pretty(peers[best])}" if best else "-"
        print(f"{r.name:<46} {pretty(mine):>10} {pretty(r.first['tutti']):>10}   {peer:<22} {ratio:>6}  {r.goal}")
        for name, value in sorted(peers.items(), key=lambda kv: kv[1]):
            if name != best:
                print(f"{'':<46} {'':>10} {'':>10}   {name} {pretty(value)}, first {pretty(r.first[name])}")
        for name, error in r.error.items():
            print(f"{'':<46} {'':>10} {'':>10}   {name}: {error}")
        if r.limit:
            print(f"{'':<46} {'':>10} {'':>10}   {r.limit(mine)}")


def pretty(s):
    return (
        f"{s * 1e9:.0f} ns"
        if s < 1e-6
        else f"{s * 1e6:.2f} us"
        if s < 1e-3
        else f"{s * 1e3:.2f} ms"
        if s < 1
        else f"{s:.2f} s"
    )


def no_folders(line):
    """A line of tt.info() without the folders of a library: they say nothing of its speed."""
    return re.sub(r"/\S*/", "", line)


def write(path, data):
    data = {
        "date": time.strftime("%Y-%m-%d"),
        "processor": platform.machine(),
        "python": platform.python_version(),
        **data,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1) + "\n")


def save_beside(rows, args, tutti, notes):
    """What is measured so far: a run that is cut short keeps it."""
    if not args.json:
        return
    info = [no_folders(line) for line in str(tutti.info()).splitlines()]
    peers = {k: m.__version__ for k, m in sys.modules.items() if k in ("jax", "torch")}
    save(rows, args.json, {"tutti": tutti.__version__, "peers": peers, "machine": info, **notes})


def save(rows, path, notes):
    lines = [
        {
            "name": r.name,
            "goal": r.goal,
            "seconds": r.seconds,
            "quartiles": r.quartiles,
            "first": r.first,
            "errors": r.error,
        }
        for r in rows
    ]
    write(path, {**notes, "rows": lines})
