"""The program of a worker: it loads the core and the loop by path, and little of Python, for somebody waits for it.

Scripts are compiled at each start, so all that is longer lies in modules, whose compiled text Python keeps.
"""

import _frozen_importlib
import _frozen_importlib_external
import _signal
import sys


def _module(name, path, loader):
    spec = _frozen_importlib.ModuleSpec(name, loader, origin=path)
    spec.has_location = True
    module = sys.modules[name] = _frozen_importlib.module_from_spec(spec)
    loader.exec_module(module)
    return module


def main(fd, folder, core):
    """Begin with what the command line says: the line's descriptor and where the library is."""

    def load(name):
        """A module of ours without its package; whoever imports the package later finds the same one."""
        full, path = "tutti.parallel." + name, f"{folder}/{name}.py"
        return _module(full, path, _frozen_importlib_external.SourceFileLoader(full, path))

    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    del sys.path[0]
    core = _module("tutti._core", core, _frozen_importlib_external.ExtensionFileLoader("tutti._core", core))
    line = core._line_open(int(fd))
    core._line_watch(line)
    message = load("_message")
    sys.modules["__main__"] = type(sys)("__main__")
    try:
        load("_worker").Work(line, core, message, load).run()
    except OSError:
        if not core._line_closed(line):
            raise


if __name__ == "__main__":
    main(*sys.argv[1:])
