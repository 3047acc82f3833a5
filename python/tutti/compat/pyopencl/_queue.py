"""Queues and events. Commands run when they are asked for, unless they wait for an event of a program's own."""

import threading
import time
import warnings
from collections import deque

import tutti as _tt

from ._constants import CLASSES
from ._errors import CommandQueueUsedAfterExit, Error, failure
from ._handle import Handle

_STATUS = CLASSES["command_execution_status"]
_PROPERTY = CLASSES["command_queue_properties"]


class Event(Handle):
    """A command of a queue, and when it was queued, began and ended."""

    _info = "event_info"
    _clocked = None  # of a device's clock, before somebody asks

    def __init__(self, queue=None, command_type=0, context=None):
        self._queue, self._kind = queue, command_type
        self._context = queue.context if queue is not None else context
        self._status, self._done, self._then, self._why, self._gate = _STATUS.QUEUED, False, [], None, None
        self._lock = threading.Lock()
        now = time.perf_counter_ns()
        self._times = {"queued": now, "submit": now}

    def _run(self, work):
        """Do the command."""
        self._times["start"] = time.perf_counter_ns()
        self._status = _STATUS.RUNNING
        try:
            if self._queue is not None and self._queue._clock is not None:
                self._clocked = self._queue._clock.around(work)
            else:
                work()
        except Exception as error:
            self._why = error
            self._end(error.code if isinstance(error, Error) and error.code < 0 else -14)
            raise
        self._end(_STATUS.COMPLETE)

    def _end(self, status):
        now = time.perf_counter_ns()
        self._times.setdefault("start", now)
        self._times["end"] = self._times["complete"] = now
        with self._lock:
            self._status = status
            then, self._then, self._done = self._then, [], True
            if self._gate is not None:
                self._gate.set()
        for call in then:
            call(status)

    def _when_over(self, call):
        """Call a function with the status, now or when the command is over."""
        with self._lock:
            if not self._done:
                self._then.append(call)
                return
        call(self._status)

    def _wait(self):
        """Wait until the command is over."""
        with self._lock:
            if self._done:
                return
            self._gate = self._gate or threading.Event()
        self._gate.wait()

    def wait(self):
        """Wait until the command is done."""
        self._wait()
        if self._why is not None:
            raise self._why
        if self._status < 0:
            raise failure("EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "clWaitForEvents")
        if self._queue is not None and self._queue.device._place:
            self._queue.device._own.synchronize()

    def set_callback(self, type, cb):  # noqa: A002 (PyOpenCL's name)
        """Call cb(status) when the command is done."""
        self._when_over(cb)

    def get_profiling_info(self, param):
        """Nanoseconds of a clock: when the command was queued, began or ended."""
        profiled = self._queue is not None and self._queue.properties & _PROPERTY.PROFILING_ENABLE
        if not profiled or not self._done:
            why = "the queue has no PROFILING_ENABLE, or the command is not done"
            raise failure("PROFILING_INFO_NOT_AVAILABLE", "clGetEventProfilingInfo", why)
        name = CLASSES["profiling_info"].to_string(param).lower()
        if self._clocked is not None:
            self._times.update(self._queue._clock.read(self._clocked))
            self._clocked = None
        return self._times[name]

    @property
    def profile(self):
        """Its times: event.profile.end - event.profile.start."""
        return _Profile(self)

    def _of_command_queue(self):
        return self._queue

    def _of_command_type(self):
        return self._kind

    def _of_command_execution_status(self):
        return self._status

    def _of_context(self):
        return self._context


class _Clock:
    """The time of a device, in the host's nanoseconds: what lies between events that the device records."""

    def __init__(self, device):
        self._device = device
        self._began, self._at = self._now(), time.perf_counter_ns()

    def _now(self):
        event = _tt.cuda.Event(device=self._device)
        event.record()
        return event

    def around(self, work):
        """Do the work: the events before and behind it."""
        before = self._now()
        work()
        return before, self._now()

    def read(self, clocked):
        """When it began and ended. Waits."""
        clocked[1].synchronize()
        start, end = (self._at + int(self._began.elapsed_time(event) * 1e6) for event in clocked)
        return {"start": start, "end": end, "complete": end}


class NannyEvent(Event):
    """The event of a command that reads or writes memory of the host, which it keeps."""

    _ward = None

    def get_ward(self):
        """The object whose memory is used."""
        return self._ward


class UserEvent(Event):
    """An event that a program ends itself, by set_status."""

    def __init__(self, context):
        super().__init__(None, CLASSES["command_type"].USER, context)
        self._status = _STATUS.SUBMITTED

    def set_status(self, status):
        """The event is over: COMPLETE, or a number below zero for an error."""
        if self._done:
            raise failure("INVALID_OPERATION", "UserEvent.set_status")
        if status > 0:
            raise failure("INVALID_VALUE", "UserEvent.set_status")
        self._end(status)


class _Profile:
    def __init__(self, event):
        self._event = event

    def __getattr__(self, name):
        constant = CLASSES["profiling_info"]._all().get(name.upper())
        if constant is None:
            raise AttributeError(f"Event.profile has no attribute '{name}'")
        return self._event.get_profiling_info(constant)


class CommandQueue(Handle):
    """Commands in their order."""

    _info = "command_queue_info"

    def __init__(self, context, device=None, properties=0):
        if device is None:
            device = context.devices[0]
        elif device not in context.devices:
            raise failure("INVALID_DEVICE", "CommandQueue")
        if isinstance(properties, (list, tuple)):
            pairs = dict(zip(properties[::2], properties[1::2], strict=False))
            properties = pairs.get(CLASSES["queue_properties"].PROPERTIES, 0)
        known = _PROPERTY.OUT_OF_ORDER_EXEC_MODE_ENABLE | _PROPERTY.PROFILING_ENABLE
        if int(properties or 0) & ~known:
            raise failure("INVALID_VALUE", "CommandQueue", "queues of devices are not here")
        self._context, self._device, self._properties = context, device, int(properties or 0)
        self._later, self._lock, self._left = deque(), threading.RLock(), False
        profiled = self._properties & _PROPERTY.PROFILING_ENABLE and device._place
        self._clock = _Clock(device._own) if profiled else None

    def _of_context(self):
        return self._context

    def _of_device(self):
        return self._device

    def _of_properties(self):
        return self._properties

    def _of_properties_array(self):
        return []

    def _get_cl_version(self):
        return self._device._get_cl_version()

    def _check(self):
        if self._left:
            warnings.warn(
                "Command queue used after exiting its context manager. This is deprecated.",
                CommandQueueUsedAfterExit, stacklevel=4,
            )  # fmt: skip

    def _do(self, kind, work, wait_for=None, event=None):
        """Run a command, or keep it until what it waits for is over: its event."""
        self._check()
        event = event or Event(self, getattr(CLASSES["command_type"], kind))
        open_ones = [e for e in wait_for or () if not e._done]
        with self._lock:
            now = not open_ones and not self._later
            if not now:
                self._later.append((event, work, list(wait_for or ())))
        if now:
            self._refuse_failed(wait_for)
            event._run(work)
        for other in open_ones:
            other._when_over(lambda status: self._advance())
        return event

    @staticmethod
    def _refuse_failed(wait_for):
        if any(e._status < 0 for e in wait_for or ()):
            raise failure("EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "clEnqueue")

    def _advance(self):
        """Run what waits no longer, in order."""
        while True:
            with self._lock:
                if not self._later or any(not e._done for e in self._later[0][2]):
                    return
                event, work, waits = self._later.popleft()
                if any(e._status < 0 for e in waits):
                    event._end(CLASSES["status_code"].EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
                    continue
                try:
                    event._run(work)
                except Exception:  # noqa: S112 (whoever waits for the event is told)
                    continue

    def flush(self):
        """Commands are under way as soon as they are asked for."""
        self._check()

    def finish(self):
        """Wait until all commands are done."""
        self._check()
        with self._lock:
            last = self._later[-1][0] if self._later else None
        if last is not None:
            last._wait()
            with self._lock:  # whoever ran it has called those that wait for it
                pass
        _tt.synchronize()

    def _finalize(self):
        self._left = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.finish()
        self._finalize()


def wait_for_events(events):
    """Wait until all are over."""
    for event in events:
        event.wait()


def enqueue_marker(queue, wait_for=None):
    """An event that is over when what it waits for is, or all before it."""
    return queue._do("MARKER", lambda: None, wait_for)


def enqueue_barrier(queue, wait_for=None):
    """The same; what comes behind it waits for it."""
    return queue._do("BARRIER", lambda: None, wait_for)


def enqueue_wait_for_events(queue, events):
    """What comes behind waits for the events."""
    enqueue_barrier(queue, events)


_enqueue_marker, _enqueue_barrier = enqueue_marker, enqueue_barrier
enqueue_marker_with_wait_list, enqueue_barrier_with_wait_list = enqueue_marker, enqueue_barrier
