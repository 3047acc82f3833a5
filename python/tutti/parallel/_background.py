"""A thread that listens to workers when nobody waits for them: for futures, and iterators whose user is busy."""

import threading
import weakref

_MOMENT = 0.002  # a thread that asks for a result at once listens itself
_IDLE = 25  # moments without a future after which it sleeps


class Background:
    """A thread that listens for futures when nobody asks for their results."""

    def __init__(self, engine):
        self.engine = weakref.ref(engine)
        self.wake = threading.Event()
        self.alive = False
        self.urgent = False
        self.parked = True

    def begin(self):
        """A future is under way."""
        if not self.alive:
            self.alive, self.parked = True, False
            try:
                threading.Thread(target=self._run, name="tutti.parallel", daemon=True).start()
            except BaseException:
                self.alive = False
                raise
        elif self.parked:
            self.parked = False
            self.wake.set()

    def hurry(self):
        """Somebody waits who does not listen."""
        self.urgent = True
        self.begin()
        self.wake.set()

    def _run(self):
        try:
            self._stay()
        finally:
            self.alive = False

    def _stay(self):
        idle = 0
        while True:
            engine = self.engine()
            if engine is None or engine.closed:
                return
            if not engine.futures:
                idle += 1
                self.urgent = False
                if idle > _IDLE:
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
