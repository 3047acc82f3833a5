#!/usr/bin/env python3
"""What bounds the rows of bench/gpu.py: their kernels under Nsight Compute, as one short table.

    tools/gpu_profile.py --only cumsum,transpose [--out FILE]

Runs each row's own work twice, then once under the profiler (ncu, which must be on the PATH and may read counters). Of
each kernel: how often it ran and its time, the share of the memory's and the processors' peak, what it read and wrote
there, hits in the second-level cache, warps that were there, and what they waited for, most first.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STALLS = (
    "long_scoreboard short_scoreboard barrier membar wait branch_resolve drain lg_throttle mio_throttle "
    "math_pipe_throttle tex_throttle not_selected no_instruction dispatch_stall sleeping imc_miss"
).split()
METRICS = {
    "us": ("gpu__time_duration.sum", 1e-3),
    "memory_percent": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "processor_percent": ("sm__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "issue_percent": ("smsp__issue_active.avg.pct_of_peak_sustained_active", 1),
    "l2_hit_percent": ("lts__t_sector_hit_rate.pct", 1),
    "l2_percent": ("lts__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "warps_percent": ("sm__warps_active.avg.pct_of_peak_sustained_active", 1),
    "read_mb": ("dram__bytes_read.sum", 1e-6),
    "written_mb": ("dram__bytes_write.sum", 1e-6),
    "registers": ("launch__registers_per_thread", 1),
} | {s: (f"smsp__average_warps_issue_stalled_{s}_per_issue_active.ratio", 1) for s in STALLS}


def numbers(line):
    out = {}
    for name, (metric, scale) in METRICS.items():
        text = line.get(metric, "").replace(",", "")
        if re.fullmatch(r"[-+.\deE]+", text):
            out[name] = float(text) * scale
    return out


def kernels_of(lines, names):
    """{row: [kernel]}; the kernels of a row stand behind an empty one, row_N, that the bench launches."""
    rows, row = {}, None
    for line in lines:
        name = line["Kernel Name"].split("(")[0]
        if mark := re.fullmatch(r"row_(\d+)", name):
            row = rows.setdefault(names[int(mark[1])], [])
            continue
        if row is None or "Grid Size" not in line:
            continue
        launch = {"kernel": name, "grid": line["Grid Size"], "block": line["Block Size"]}
        same = next((k for k in row if all(k[w] == launch[w] for w in launch)), None)
        if same is None:
            row.append(same := launch | {"launches": []})
        same["launches"].append(numbers(line))
    for kernel in (k for kernels in rows.values() for k in kernels):
        all_of = kernel.pop("launches")
        mean = {n: sum(a.get(n, 0.0) for a in all_of) / len(all_of) for n in METRICS}
        stalls = sorted(STALLS, key=mean.get, reverse=True)[:4]
        kernel["times"] = len(all_of)
        kernel |= {n: round(mean[n], 1) for n in METRICS if n not in STALLS}
        kernel["waits"] = {s: round(mean[s], 1) for s in stalls}
    return rows


def show(rows):
    columns = {"us": "us", "memory_percent": "mem", "processor_percent": "proc", "issue_percent": "issue"}
    columns |= {"l2_percent": "L2", "l2_hit_percent": "hits", "warps_percent": "warps"}
    columns |= {"read_mb": "read", "written_mb": "wrote", "registers": "regs"}
    print(f"{'(percent, MB)':<30}" + "".join(f"{head:>7}" for head in columns.values()) + "  waits for")
    for name, kernels in rows.items():
        print(name)
        for k in kernels:
            times = f"{k['times']} x " if k["times"] > 1 else ""
            waits = ", ".join(f"{n} {v}" for n, v in k["waits"].items())
            print(f"  {times + k['kernel'][:26]:<28}" + "".join(f"{k[c]:7.0f}" for c in columns) + f"  {waits}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", required=True, help="rows whose name contains one of these, separated by commas")
    parser.add_argument("--out", type=pathlib.Path, help="keep the table as JSON, too")
    args = parser.parse_args()
    metrics = ",".join(metric for metric, _ in METRICS.values())
    ncu = "ncu --clock-control none --profile-from-start off --csv --page raw --print-units base --metrics".split()
    work = [sys.executable, str(ROOT / "bench/gpu.py"), "--profile", "--peers", "", "--only", args.only]
    done = subprocess.run([*ncu, metrics, *work], capture_output=True, text=True, check=False)
    lines = list(csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"')))
    names = {int(n): name for n, name in re.findall(r"^row (\d+): (.*)$", done.stdout, re.MULTILINE)}
    if done.returncode or not lines:
        sys.exit(f"ncu gave {done.returncode} and no table:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    rows = kernels_of(lines, names)
    if not rows:
        sys.exit(f"no row was profiled:\n{done.stderr[-2000:]}")
    show(rows)
    if args.out:
        args.out.write_text(json.dumps({"date": time.strftime("%Y-%m-%d"), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
