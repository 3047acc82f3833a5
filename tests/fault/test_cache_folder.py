"""TUTTI_CACHE_DIR full, read-only, a file, gone, damaged: programs of all kinds go on and are right."""

import os
import random
import shutil
import subprocess
import sys

import pytest
import tutti as tt

HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))
HAS_C, HAS_CXX = (
    any(shutil.which(name) for name in names if os.environ.get(told, "") != "none")
    for told, names in (("TUTTI_CC", ("cc", "gcc", "clang")), ("TUTTI_CXX", ("c++", "g++", "clang++")))
)
pytestmark = pytest.mark.skipif(not HAS_C, reason="no C compiler: nothing is kept")

# Each kind of thing that is kept: what array expressions, functions, kernels in Python and in CUDA C become.
PROGRAM = """
import os, shutil, sys
import tutti as tt
from tutti import cuda

def run(k):
    tt.set_tier(1)
    a = tt.arange(1.0, 65.0)
    right = [(tt.sqrt(a + k) * k).tolist()[63] == (64.0 + k) ** 0.5 * k, tt.sort(a)[0].item() == 1]

    @tt.jit
    def total(x, n):
        s = 0.0
        for i in range(n):
            s += x[i] * k
        return s

    @cuda.jit
    def add(x, n):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += n + k

    b = tt.zeros(8)
    add[1, 8](b, 2)
    right += [total(a, 64) == 2080 * k, b.tolist() == [2.0 + k] * 8]
    if CXX:
        c = tt.zeros(8, dtype="float32")
        text = 'extern "C" __global__ void f(float *a) { a[threadIdx.x] = threadIdx.x + %d; }' % k
        tt.RawKernel(text, "f")((1,), (8,), (c,))
        right.append(c.tolist() == [float(j + k) for j in range(8)])
    tt.compile_wait()
    assert all(right), right

""".replace("CXX", str(HAS_CXX))


@pytest.fixture
def python(tmp_path_factory):
    return lambda *args: run_python(tmp_path_factory.mktemp("program") / "program.py", *args)


def run_python(path, code, folder, *before):
    path.write_text(PROGRAM + code)
    env = {**os.environ, "PYTHONPATH": HOME, "TUTTI_CACHE_DIR": str(folder), "TUTTI_DEVICE": "cpu"}
    command = [*before, sys.executable, str(path)]
    r = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)
    assert r.returncode == 0 and r.stdout == "done\n" and not r.stderr, (r.returncode, r.stdout, r.stderr)


def mounted(folder, options):
    """A command that runs another one with a file system of its own at `folder`."""
    script = f'mount -t tmpfs {options} none "{folder}" && exec "$@"'
    command = ["unshare", "-rm", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file systems of one's own here")
    return command


@pytest.mark.parametrize("size", ["4k", "16k", "40k", "100k"])
def test_full(python, tmp_path, size):
    """What fits is kept, what does not leaves nothing that is taken for an entry."""
    python("run(2); run(3); run(2); print('done')", tmp_path, *mounted(tmp_path, f"-o size={size},mode=700"))


def test_full_for_the_next_process(python, tmp_path):
    code = """
import subprocess
if len(sys.argv) < 2:
    run(2)
    print("done", flush=True)
    sys.exit(subprocess.run([sys.executable, __file__, "again"]).returncode)
run(2)
run(3)
"""
    python(code, tmp_path, *mounted(tmp_path, "-o size=24k,mode=700"))


def test_read_only(python, tmp_path):
    python("run(2); print('done')", tmp_path)
    python("run(2); run(3); print('done')", tmp_path, *mounted(tmp_path, "-o ro,mode=700"))


def test_a_file_in_place_of_each_folder(python, tmp_path):
    python("run(2); print('done')", tmp_path / "first")
    names = sorted(os.listdir(tmp_path / "first"))
    for name in names:
        folder = tmp_path / name
        folder.mkdir(mode=0o700)
        if (tmp_path / "first" / name).is_dir():
            (folder / name).write_text("a file")
        else:
            (folder / name).mkdir()
        python("run(2); run(2); print('done')", folder)
        assert (folder / name).is_dir() or (folder / name).read_text() == "a file"


def test_gone_while_it_runs(python, tmp_path):
    code = """
import threading
folder = os.environ["TUTTI_CACHE_DIR"]
stop = threading.Event()
def remove():
    while not stop.is_set():
        shutil.rmtree(folder, ignore_errors=True)
        stop.wait(0.02)
t = threading.Thread(target=remove, daemon=True)
t.start()
run(2)
run(3)
run(2)
stop.set()
t.join()
print('done')
"""
    python(code, tmp_path / "kept")


def files_of(folder):
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size)


def test_damaged(python, tmp_path):
    """Cut short, or with a byte changed: made anew, never loaded."""
    kept = tmp_path / "kept"
    python("run(2); print('done')", kept)
    files = {p: p.read_bytes() for p in files_of(kept)}
    assert len(files) >= 2
    r = random.Random(1)
    for trial in range(4):
        for p, data in files.items():
            data = bytearray(data)
            if trial % 2:
                data[r.randrange(len(data))] ^= 1 << r.randrange(8)
            else:
                del data[r.randrange(len(data)) :]
            p.write_bytes(data)
        python("run(2); print('done')", kept)
