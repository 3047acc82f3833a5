"""The program of a worker: it loads the core by path and the loop from its line, and little of Python: somebody waits.

Scripts are compiled at each start, so this one is short. The other modules come compiled from the one who started it,
for whom that is done once, wherever Python may keep compiled text.
"""

import _frozen_importlib
import _frozen_importlib_external
import _signal
import marshal
import sys


def _module(name, path, loader, code=None):
    """A module of ours without its package; whoever imports the package later finds the same one."""
    spec = _frozen_importlib.ModuleSpec(name, loader(name, path), origin=path)
    spec.has_location = True
    module = sys.modules[name] = _frozen_importlib.module_from_spec(spec)
    exec(code, module.__dict__) if code else spec.loader.exec_module(module)
    return module


def _receive(core, line):
    """The compiled modules by name, of messages that say how many come behind; None: who started this is gone."""
    found, left = {}, 1
    while left and not core._line_closed(line):
        if taken := core._line_take(line):
            left = taken[0]
            found.update(marshal.loads(taken[1]))
        else:
            core._line_wait([line], -1.0, False)
    return None if left else found


def main(fd, folder, core):
    """Begin with what the command line says: the line's descriptor and where the library is."""
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    del sys.path[0]
    core = _module("tutti._core", core, _frozen_importlib_external.ExtensionFileLoader)
    line = core._line_open(int(fd))
    core._line_watch(line)
    code = _receive(core, line)
    if code is None:
        return

    def load(name):
        path = f"{folder}/{name}.py"
        return _module("tutti.parallel." + name, path, _frozen_importlib_external.SourceFileLoader, code[name])

    message = load("_message")
    sys.modules["__main__"] = type(sys)("__main__")
    try:
        load("_worker").Work(line, core, message, load).run()
    except OSError:
        if not core._line_closed(line):
            raise


if __name__ == "__main__":
    main(*sys.argv[1:])
