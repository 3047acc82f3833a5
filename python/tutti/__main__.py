"""The command line: python -m tutti run | info | check | top | ops | functions | cache clear."""

import argparse
import sys


def _info(_):
    import tutti

    print(tutti.info().rstrip())


def _check(args):
    from tutti import _check

    try:
        differing = _check.check(args.device, args.minutes)
    except (RuntimeError, ValueError) as e:
        sys.exit(f"python -m tutti check: {e}")
    sys.exit(differing > 0)


def _ops(_):
    import tutti

    print("\n".join(tutti.ops()))


def _functions(_):
    from tutti import _core

    for name, signature in sorted(_core.signatures.items()):
        print(f"{name}({signature})")


def _top(args):
    from tutti import _monitor

    if args.delay < 0.05:
        sys.exit("python -m tutti top: the delay is at least 0.05 seconds")
    _monitor.top(args.count, args.delay)


def _cache(args):
    from tutti import _core

    clear = args.action == "clear"
    folder, files, size = _core.kept_files(clear)
    if not folder:
        sys.exit("python -m tutti cache: no folder, for there is no HOME and no TUTTI_CACHE_DIR")
    print(f"{folder}: {'removed' if clear else 'holds'} {files} files, {size:,} bytes")


def _run(args):
    from tutti.compat import _run

    _run.run(args.script, args.arguments, args.device, args.library)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tutti", description="Arrays on every processor there is.")
    commands = parser.add_subparsers(required=True, metavar="command")
    commands.add_parser("info", help="devices, libraries, cache, threads").set_defaults(run=_info)
    check = commands.add_parser("check", help="compare a device with the CPU, and print a report")
    check.add_argument("--device", default="gpu", help="its name: opencl:0, cuda:1 ... (default gpu)")
    check.add_argument("--minutes", type=float, default=5.0, help="how long at most (default 5)")
    check.set_defaults(run=_check)
    run = commands.add_parser("run", help="run a script that imports numba, pycuda, pyopencl, cupy, jax or torch")
    run.add_argument("--device", help="where arrays go: cpu, cuda, cuda:1 ...")
    run.add_argument("--as", dest="library", metavar="library", help="the one library that tutti stands for: torch ...")
    run.add_argument("script")
    run.add_argument("arguments", nargs=argparse.REMAINDER)
    run.set_defaults(run=_run)
    top = commands.add_parser("top", help="use of GPUs, cores and memory, refreshing")
    top.add_argument("-n", "--count", type=int, help="show so many times, then end")
    top.add_argument("-d", "--delay", type=float, default=1.0, help="seconds between two (default 1)")
    top.set_defaults(run=_top)
    commands.add_parser("ops", help="names of the elementwise functions").set_defaults(run=_ops)
    commands.add_parser("functions", help="names and signatures of the array functions").set_defaults(run=_functions)
    cache = commands.add_parser("cache", help="the folder of compiled kernels")
    cache.add_argument("action", choices=["show", "clear"])
    cache.set_defaults(run=_cache)
    args = parser.parse_args(argv)
    args.run(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
