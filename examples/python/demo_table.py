"""What the parts of the demo share: progress on a terminal, timing, comparing, pictures, the table of programs."""

import struct
import sys
import time
import zlib

import tutti as tt

try:
    import numpy as np
except ImportError:
    np = None

REPEATS = 3


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()
    elif text:
        print("  ..", text, file=sys.stderr, flush=True)


def timed(f, repeats=REPEATS):
    """The best of a few runs, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = f()
        best = min(best, time.perf_counter() - start)
    return best, result


def close(tolerance):
    def agree(a, b):
        a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance * (np.abs(b).max() + 1e-30)))

    return agree


def same(a, b):
    return bool(np.array_equal(np.asarray(a), b))


def write_png(path, gray):
    """An array (height, width) of uint8 as a greyscale PNG."""
    height, width = gray.shape
    pixels = gray.tobytes()
    lines = b"".join(b"\0" + pixels[i * width : (i + 1) * width] for i in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    )


class Table:
    """Array programs beside NumPy; where each ran is tutti's choice."""

    def __init__(self):
        self.failed = 0
        print(
            f"{'program':<34} {'tutti':>9} {'first':>9} {'NumPy':>9} {'ratio':>7} {'kernels':>8} {'moved':>9}"
            "  where / agrees"
        )

    def row(self, name, ours, theirs, agree, exact=None):
        """ours() and theirs() do the same work; agree(a, b) compares the results, or ours with exact()."""
        progress(f"{name}: tutti")
        start = time.perf_counter()
        ours()
        first = time.perf_counter() - start
        tt.compile_wait()
        before = tt.ledger()
        mine, a = timed(ours, 1)
        after = tt.ledger()
        again, a = timed(ours)
        mine = min(mine, again)
        where = a.device  # of the result, before anybody looks at it
        kernels = after["launches"] + after["library_calls"] - before["launches"] - before["library_calls"]
        moved = sum(after[k] - before[k] for k in ("bytes_read", "bytes_written"))
        other, ratio, verdict = "-", "-", "no NumPy here"
        if np is not None:
            progress(f"{name}: NumPy")
            seconds, b = timed(theirs)
            ok = agree(a, exact() if exact else b)
            self.failed += not ok
            other, ratio, verdict = f"{seconds * 1e3:.1f} ms", f"{seconds / mine:.2f}x", "yes" if ok else "NO"
        progress("")
        print(
            f"{name:<34} {mine * 1e3:>6.1f} ms {first * 1e3:>6.1f} ms {other:>9} {ratio:>7} {kernels:>8,} "
            f"{moved / 1e6:>6.0f} MB  {where} / {verdict}",
            flush=True,
        )
        return a
