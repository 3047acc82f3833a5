"""Random programs in random surroundings: every variable that tutti reads set to something usual, odd or wrong.

    python tests/fuzz/surroundings.py FIRST COUNT     each that goes wrong is shown; COUNT 0: without end

A process for each seed: it runs programs of the other generators (mixed, copies, broad, versions) and compares
with NumPy. A setting that makes no sense may be refused, by an error that names the variable, and by nothing else.
"""

import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import tutti as tt

HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path(tt.__file__).absolute().parent.parent  # where its files are linked from
# What may be set, most of it usual: a folder that cannot be made, a file in the place of one, texts for numbers.
CHOICES = {
    "TUTTI_NUM_THREADS": ["1", "2", "3", "16", "0", "-1", "two", "1e3", "999999999999999999999", ""],
    "TUTTI_CC": ["none", "", "cc", "/nowhere/cc", "false", "true"],
    "TUTTI_CXX": ["none", "", "/nowhere/c++"],
    "TUTTI_MEM_LIMIT": ["512M", "64M", "1G", "0", "-5", "much", "1T", ""],
    "TUTTI_CACHE_DIR": ["/dev/null", "/proc/none", "{tmp}/new/deep", "{tmp}", ""],
    "TUTTI_CACHE_LIMIT": ["0", "1K", "10M", "-1", "x"],
    "TUTTI_CC_TIMEOUT": ["1", "0", "-3", "soon", "1000"],
    "TUTTI_CC_MEMORY": ["1M", "2G", "0", "?"],
    "TUTTI_CPU_LEVEL": ["0", "1", "2", "3", "4", "9", "-1", "avx"],
    "TUTTI_CHECK": ["0", "1", "2", "yes", ""],
    "TUTTI_POISON": ["0", "1", "x"],
    "TUTTI_BLAS": ["none", "", "/nowhere/blas.so", "/dev/null"],
    "TUTTI_KEEP": ["0", "1", "all", "none", "bytes"],
    "TUTTI_DEBUG": ["0", "", "x"],
    "TUTTI_JIT_TIER": ["compiled", "baseline", "only", "fast", ""],
    "TUTTI_NULL_DEVICE": ["0", "1", "2", "-1", "many"],
    "TUTTI_NULL_SEED": ["0", "7", "x"],
    "TUTTI_NULL_MEMORY": ["100000000", "30000000"],
    "TUTTI_NULL_SCATTER": ["0", "3", "x"],
    "TUTTI_DEVICE": ["cpu", "null:0", "null:7", "auto", "cuda:0", "nothing", ""],
    "TUTTI_OPENCL": ["none", "0", "", "/nowhere/libOpenCL.so"],
    "TUTTI_NVML": ["none", "/nowhere"],
    "TUTTI_KERNEL_STEP": ["1", "0", "x", "1000000"],
}
BODY = """
import faulthandler, sys, warnings
faulthandler.enable()
sys.path.insert(0, {here!r})
warnings.simplefilter("ignore")
import broad, copies, mixed, versions
for seed in range({first}, {first} + {count}):
    for found in (mixed.difference(seed), copies.difference(seed), broad.difference(seed)):
        assert found is None, found
    found = versions.difference(versions.Program(seed, versions.TYPES))
    assert found is None, found
print("as NumPy")
"""


def settings(seed, tmp):
    draw = random.Random(seed)
    names = draw.sample(sorted(CHOICES), draw.choice([1, 1, 2, 3, 5]))
    return {name: draw.choice(CHOICES[name]).format(tmp=tmp) for name in names}


def run(seed, tmp, count=10):
    """None, or what went wrong: the variables, the status, the last lines."""
    given = settings(seed, tmp)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TUTTI_")}
    cache = {"TUTTI_CACHE_DIR": os.fspath(tmp)} if "TUTTI_CACHE_DIR" not in given else {}
    body = BODY.format(here=os.fspath(HERE), first=seed * 31 % 100_000, count=count)
    env = {**kept, **cache, **given, "PYTHONPATH": os.fspath(HOME), "HOME": os.fspath(tmp)}
    command = [sys.executable, "-c", body]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False, cwd=tmp)
    except subprocess.TimeoutExpired:
        return f"{seed}: {given}: no end"
    if done.returncode == 0 and done.stdout == "as NumPy\n":
        return None if not done.stderr else f"{seed}: {given} says\n{done.stderr[-800:]}"
    last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
    named = any(name in last for name in given) or any(v and v in last for v in given.values())
    refused = done.returncode == 1 and named and "AssertionError" not in last
    return None if refused else f"{seed}: {given}: status {done.returncode}\n{done.stderr[-1500:]}"


def main():
    first, count = map(int, sys.argv[1:])
    found = 0
    for seed in range(first, first + count) if count else itertools.count(first):
        with tempfile.TemporaryDirectory() as tmp:
            if text := run(seed, tmp):
                found += 1
                print(text, flush=True)
    print(f"{found} of {count} go wrong")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
