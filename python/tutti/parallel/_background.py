"""A thread that listens to workers when nobody waits for them: for futures, and iterators whose user is busy."""

import threading
import weakref

_MOMENT = 0.002  # a thread that asks for a result at once listens itself
_of = weakref.WeakKeyDictionary()
_making = threading.Lock()


def of(engine):
    """The one of an engine."""
    found = _of.get(engine)
    if found is None:
        with _making:
            found = _of.get(engine)
            if found is None:
                found = _of[engine] = Background(engine)
    return found


class Background:
    """A thread that listens for futures when nobody asks for their results."""

    def __init__(self, engine):
        self.engine = weakref.ref(engine)
        self.wake = threading.Event()
        self.thread = None
        self.urgent = False
        self.parked = True

    def begin(self):
        """A future is under way."""
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._run, name="tutti.parallel", daemon=True)
            self.parked = False
            self.thread.start()
        elif self.parked:
            self.parked = False
            self.wake.set()

    def hurry(self):
        """Somebody waits who does not listen."""
        self.urgent = True
        self.begin()
        self.wake.set()

    def _run(self):
        idle = 0
        while True:
            engine = self.engine()
            if engine is None or engine.closed:
                return
            if not engine.futures:
                idle += 1
                self.urgent = False
                if idle > 25:
                    self.parked = True
                    del engine
                    if not self.wake.wait(5.0) and self.parked:
                        continue
                    self.wake.clear()
                    idle = 0
                    continue
            else:
                idle = 0
                if self.urgent or not engine.listening:
                    try:
                        engine.wait(lambda e=engine: not e.futures or e.closed)
                    except OSError:
                        return
                    continue
            del engine
            self.wake.wait(_MOMENT)
            self.wake.clear()
