"""--parts: a line for each folder of tests when the last of its tests is done, instead of a letter for each test.

--share N: of each test's cases one in N, others another day. For runs that repeat tests under other conditions.
"""

import collections
import gc
import time
import zlib

import pytest
import tutti as tt


@pytest.fixture
def recorded():
    """For tests of what is recorded, planned and run: small work is not done at the call."""
    tt.set_eager(0)
    yield
    tt.set_eager(-1)


@pytest.fixture
def host():
    """For tests of what the host alone does: its bits, its launches, how its arrays are printed."""
    with tt.device("cpu"):
        yield


def pytest_addoption(parser):
    parser.addoption("--parts", action="store_true", help="print a line for each folder, not a letter for each test")
    parser.addoption("--share", type=int, default=1, help="of each test's cases run one in SHARE")
    parser.addoption("--turn", type=int, default=int(time.time() // 86400), help="which of them; the day's number")
    parser.addoption("--turns", type=int, default=1, help="how many turns of what tests choose themselves, by `turn`")


def pytest_configure(config):
    if config.getoption("--parts") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Parts(config), "parts")


def pytest_generate_tests(metafunc):
    """`turn` is for tests that try another part of something large another day; six turns are all of it."""
    if "turn" in metafunc.fixturenames:
        first, count = metafunc.config.getoption("--turn"), metafunc.config.getoption("--turns")
        metafunc.parametrize("turn", range(first, first + count), ids=[f"turn{k}" for k in range(count)])


def in_turn(cases, share, turn):
    """One in `share` of the cases, one at least; in `share` turns it is each of them. By a digest, since neighbours in
    a product of parameters are alike."""
    mixed = sorted(cases, key=lambda case: (zlib.crc32(case.encode()), case))
    return mixed[turn % min(share, len(mixed)) :: share]


def pytest_collection_modifyitems(config, items):
    share, turn = config.getoption("--share"), config.getoption("--turn")
    if share == 1:
        return
    tests = collections.defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item.nodeid)
    chosen = {case for cases in tests.values() for case in in_turn(cases, share, turn)}
    left = [item for item in items if item.nodeid not in chosen]
    items[:] = [item for item in items if item.nodeid in chosen]
    config.hook.pytest_deselected(items=left)


def pytest_collection_finish():
    """Tests that look for leaks collect garbage hundreds of times: not among the tests that are only waiting."""
    gc.collect()
    gc.freeze()


def folder_of(nodeid):
    return nodeid.split("::")[0].rpartition("/")[0]


class Parts:
    def __init__(self, config):
        self.config = config
        self.count = collections.Counter()
        self.left = None
        self.skipped = collections.Counter()
        self.failed = collections.Counter()
        self.start = time.monotonic()

    def say(self, line):
        self.config.pluginmanager.getplugin("terminalreporter").write_line(line, flush=True)

    def expect(self, ids):
        if self.left is None:  # each worker says the same
            self.count.update(folder_of(i) for i in ids)
            self.left = collections.Counter(self.count)

    def pytest_xdist_node_collection_finished(self, ids):
        self.expect(ids)

    def pytest_collection_finish(self, session):
        if session.items:
            self.expect([item.nodeid for item in session.items])

    def pytest_report_teststatus(self, report):
        """Counted in the summary, not printed."""
        if report.passed and report.when != "call":
            return "", "", ""
        outcome = "error" if report.failed and report.when != "call" else report.outcome
        if outcome in ("passed", "skipped") and hasattr(report, "wasxfail"):
            outcome = "xpassed" if outcome == "passed" else "xfailed"
        return outcome, "", ""

    def pytest_runtest_logreport(self, report):
        folder = folder_of(report.nodeid)
        self.skipped[folder] += report.skipped
        self.failed[folder] += report.failed
        if report.failed:
            self.say(f"FAILED {report.nodeid}")
        if report.when == "teardown":
            self.left[folder] -= 1
            if self.left[folder] == 0:
                self.tell(folder)

    def tell(self, folder):
        more = "".join(
            f", {c[folder]} {what}" for c, what in ((self.skipped, "skipped"), (self.failed, "failed")) if c[folder]
        )
        seconds = time.monotonic() - self.start
        self.say(f"{folder:<20} {self.count[folder]:>6} tests{more}, after {seconds:.0f} s")
