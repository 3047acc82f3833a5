"""A pytest plugin: tests run for the kernels that they make, on a device that computes nothing, so what they assert is
evaluated and not looked at. With the stand-ins of tests/fake each CUDA text ends up in a folder (see .ci/run):

    python -m pytest -p collect_texts --assert=plain tests/oracle
"""

import ast
import importlib.machinery
import sys
import tempfile

import numpy.testing


class Evaluate(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Expr(node.test), node)


def source_to_code(self, data, path, **more):
    if "/tests/" in str(path):
        data = ast.fix_missing_locations(Evaluate().visit(ast.parse(data)))
    return as_written(self, data, path, **more)


as_written = importlib.machinery.SourceFileLoader.source_to_code
importlib.machinery.SourceFileLoader.source_to_code = source_to_code
sys.pycache_prefix = tempfile.mkdtemp()  # no other run shall find modules without their assertions
for name in dir(numpy.testing):
    if name.startswith("assert_"):
        setattr(numpy.testing, name, lambda *a, **k: None)


# What makes no text for a device: programs of the host's compiler, NVRTC asked by the test itself; what counts failures
# or waits for processes goes on for minutes here. Who presses Ctrl-C at a kernel that never ends hits the whole run.
NO_TEXTS = ("interrupt", "ctrl_c", "nvrtc", "both_compilers", "out_of_memory", "allocation_fails", "pools_of_processes")


def pytest_collection_modifyitems(items):
    items[:] = [
        i
        for i in items
        if "on_the_cpu" not in i.fixturenames
        and not any(word in i.name for word in NO_TEXTS)
        and "[at_once" not in i.name  # which is the same again, recorded
        and "-at_once" not in i.name
    ]


def pytest_sessionfinish(session):
    """Tests that need right numbers to go on fail here, and that is no news; the count of texts is what is judged."""
    if session.exitstatus == 1:
        session.exitstatus = 0
