"""What the ledger, the profile and `python -m tutti top` show of workers."""

import io
import json
import sys
import time

import pytest
import tutti as tt
from tutti import _monitor
from tutti.parallel import _engine, _workers


def test_between_calls_nobody_waits():
    """A call may lie in memory where the last one lay: that one's rest is not this one's."""

    class Call:
        pass

    worker = _workers.Worker.__new__(_workers.Worker)
    worker.work = ()
    first = Call()
    worker.rests(first)
    assert worker.rested(first) >= 0
    del first
    for _ in range(100):
        assert worker.rested(Call()) == 0


def nap(x):
    time.sleep(0.02)
    return x


def test_ledger():
    tt.parallel.map(nap, range(2), workers=2, chunk=1)  # the workers are there
    before, counts = tt.ledger(), tt.parallel.counts()
    assert tt.parallel.map(nap, range(8), workers=2, chunk=2) == list(range(8))
    after = tt.ledger()
    assert after["parallel_tasks"] - before["parallel_tasks"] == 8
    assert after["parallel_messages"] - before["parallel_messages"] == 4
    assert tt.parallel.counts()["tasks"] - counts["tasks"] == 8
    assert after["parallel_idle_us"] - before["parallel_idle_us"] < 1e6
    assert "calls of functions done by workers" in str(after)


def test_shared_and_copied_bytes():
    np = pytest.importorskip("numpy")
    a = np.arange(1_000_000.0)
    before = tt.ledger()
    tt.parallel.map(lambda x: x[-1], [a, a, a], workers=2, chunk=1)
    after = tt.ledger()
    assert after["parallel_shared_bytes"] - before["parallel_shared_bytes"] == a.nbytes


def test_workers_are_tracks_of_the_trace():
    with tt.profile() as p:
        tt.parallel.map(nap, range(6), workers=2, chunk=1)
        tt.arange(3).sum().item()
    events = json.loads(p.trace())["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    calls = [e for e in events if e.get("cat") == "worker"]
    assert len(calls) == 6 and {e["name"] for e in calls} == {"nap"} and {e["args"]["items"] for e in calls} == {1}
    tracks = {e["pid"] for e in calls}
    assert tracks and all(names[pid] == "tutti worker" for pid in tracks) and len(names) == 1 + len(tracks)
    for pid in tracks:  # a worker does one thing at a time
        spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in calls if e["pid"] == pid)
        assert all(end <= begin for (_, end), (begin, _) in zip(spans, spans[1:]))
    assert all(e["ts"] >= 0 and e["dur"] >= 19e3 for e in calls)
    assert "nap" in p.table()


def test_nothing_is_recorded_outside():
    with tt.profile() as p:
        pass
    tt.parallel.map(nap, range(2), workers=2, chunk=1)
    assert "nap" not in p.trace()


def test_top_shows_workers():
    import os

    tt.parallel.map(nap, range(2), workers=2, chunk=1)
    out = io.StringIO()
    _monitor.top(count=1, delay=0.05, out=out)
    line = next(line for line in out.getvalue().splitlines() if f"of process {os.getpid()}," in line)
    assert line.startswith("workers ") and "MiB" in line


def test_a_function_is_let_go_without_code_of_pythons():
    """Where none runs no interrupt can be lost: what is raised in a finaliser is only printed."""
    engine = _engine.Engine(1)
    function, calls = engine.function(abs, None), []
    number = function.number
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    try:
        del function
    finally:
        sys.setprofile(None)
    assert not calls and [gone.number for gone in engine.forgotten] == [number]
    engine._forget()
    assert not engine.forgotten and not engine.travelling
    engine.close()
