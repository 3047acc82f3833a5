"""The monitor: a vendor library of our own stands in for the driver's; the host's figures are the real ones."""

import os
import shlex
import shutil
import subprocess
import sys
import time

import pytest
from tutti import _monitor

FAKE = r"""
#include <string.h>
struct pci { char old[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; };
struct process { unsigned pid; unsigned long long memory; unsigned gi, ci; };
#define DEVICE(d) ((int)(long)(d) - 1)
int nvmlInit_v2(void) { return FAIL_INIT; }
const char *nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "odd"; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { (void)n; strcpy(s, "999.1"); return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = COUNT; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned k, void **out) { *out = (void *)(long)(k + 1); return 0; }
int nvmlDeviceGetName(void *d, char *s, unsigned n) { (void)n; strcpy(s, DEVICE(d) ? "Second" : "First"); return 0; }
int nvmlDeviceGetPciInfo_v3(void *d, struct pci *p) { (void)d; strcpy(p->bus_id, "00000000:3B:00.0"); return 0; }
int nvmlDeviceGetUtilizationRates(void *d, unsigned *u) { u[0] = 37 + DEVICE(d); u[1] = 12; return 0; }
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) {
  (void)d; m[0] = 8ull << 30; m[1] = 6ull << 30; m[2] = 2ull << 30; return 0;
}
int nvmlDeviceGetTemperature(void *d, int what, unsigned *t) { *t = what == 0 ? 41 : 0; return DEVICE(d) ? 3 : 0; }
int nvmlDeviceGetPowerUsage(void *d, unsigned *mw) { (void)d; *mw = 123456; return 0; }
int nvmlDeviceGetClockInfo(void *d, int what, unsigned *c) { (void)d; *c = what == 1 ? 1980 : 0; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, struct process *p) {
  if (DEVICE(d)) { *n = 0; return 0; }
  p[0].pid = PID; p[0].memory = 3 << 20; p[1].pid = 4194305; p[1].memory = ~0ull; *n = 2; return 0;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *d, unsigned *n, struct process *p) {
  (void)d; p[0].pid = PID; p[0].memory = 3 << 20; *n = 1; return 0;
}
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    cc = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not cc:
        pytest.skip("no C compiler to build the stand-in for the driver's library")
    folder = tmp_path_factory.mktemp("nvml")
    (folder / "fake.c").write_text(FAKE)

    def make(name, **defines):
        defines = {"FAIL_INIT": 0, "COUNT": 2, "PID": os.getpid(), **defines}
        out = folder / f"{name}.so"
        flags = [f"-D{k}={v}" for k, v in defines.items()]
        subprocess.run([cc, "-shared", "-fPIC", "-w", *flags, "-o", out, folder / "fake.c"], check=True)
        return str(out)

    return make


def run(library, *args):
    env = {**os.environ, "TUTTI_NVML": library}
    done = subprocess.run([sys.executable, *args], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_figures_of_gpus(build):
    code = """
from tutti import _core, _monitor
a, b = _monitor.gpus()
print(_core._gpu_count())
print(a)
print(b)
"""
    counts, first, second = run(build("two"), "-c", code).splitlines()
    assert counts == "(2, '', '999.1')"
    assert "label='First'" in first and "utilization=37" in first and "memory_utilization=12" in first
    assert f"memory_total={8 << 30}, memory_used={2 << 30}" in first
    assert "temperature=41" in first and "power=123.456" in first and "power_limit=None" in first
    assert "clock=1980" in first and "bus='00000000:3B:00.0'" in first
    # One process is listed once though it computes and draws; the other is not ours to see.
    assert "process_count=2" in first and f"pid={os.getpid()}, name='" in first
    assert "Process(pid=4194305, name='?', memory=None)" in first
    assert "label='Second'" in second and "utilization=38" in second and "temperature=None" in second


def test_top_shows_gpus(build):
    text = run(build("two"), "-m", "tutti", "top", "-n", "2", "-d", "0.1")
    assert text.count("tutti top") == 2 and "\x1b" not in text
    assert text.count("GPUs    2, driver 999.1") == 2
    for part in ("First", "Second", "37%", "2.0 GiB of 8.0 GiB", "41 C", "123 of ?", "1980 MHz", str(os.getpid())):
        assert part in text


@pytest.mark.parametrize(
    "name, defines, why",
    [
        ("dead", {"FAIL_INIT": 9}, "does not answer: Driver Not Loaded"),
        ("empty", {"COUNT": 0}, "sees no GPU"),
        ("absent", None, "no NVIDIA driver: /nowhere/fake.so not found"),
        ("other", {"nvmlInit_v2": "nvmlInit_v1"}, "too old"),
    ],
)
def test_no_gpu_says_why(build, name, defines, why):
    library = build(name, **defines) if defines else "/nowhere/fake.so"
    text = run(library, "-m", "tutti", "top", "-n", "1", "-d", "0.1")
    assert f"GPUs    none: {'' if 'no ' in why[:3] else 'the NVIDIA driver'}" in text and why in text
    assert "host" in text and "memory" in text


def test_host_figures():
    before = _monitor.host()
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        pass
    after = _monitor.host()
    assert before.cores == len(before.ticks) == os.cpu_count()
    assert 0 < after.memory_used < after.memory_total and after.process_memory > 1 << 20
    busy = _monitor.use(before, after)
    assert len(busy) == after.cores and all(0 <= x <= 100 for x in busy)
    assert sum(b - a for (a, _), (b, _) in zip(before.ticks, after.ticks)) >= 10  # this loop took some of them
    assert len(after.load) == 3


def test_top_refuses_no_delay():
    done = subprocess.run([sys.executable, "-m", "tutti", "top", "-d", "0"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "at least 0.05" in done.stderr


def test_top_on_a_terminal_refreshes_in_place():
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    _monitor.top(count=2, delay=0.05, out=out)
    assert out.getvalue().count("\x1b[H") == 2 and out.getvalue().endswith("\x1b[J")


def test_a_reader_that_leaves(tmp_path):
    command = f"{shlex.quote(sys.executable)} -m tutti top -d 0.05 | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("tutti top") and done.stderr == ""
