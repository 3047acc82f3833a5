"""How far a call is: a line of text, a bar in a notebook, or a function that is told."""

import sys
import time

EVERY = 0.1  # seconds between two signs
WIDTH = 30  # characters of the bar


def bar(progress, total=None):
    """What shows the progress of a call, or None.

    Parameters
    ----------
    progress : None, bool, str or callable
        True or a label: a bar, in a notebook as its own, else as a line on standard error. A callable takes the items
        that are done and their number (None where it is not known), at most ten times a second and at the end.
    total : int, optional
        How many items there will be.

    Returns
    -------
    object or None
        `done(n=1)` says that n items more are done, `close()` that the call has ended, whichever way. `with` gives the
        first and ends with the second.

    Raises
    ------
    TypeError
        `progress` is nothing of these.
    """
    if progress is None or progress is False:
        return None
    if callable(progress):
        return Told(progress, total)
    if not isinstance(progress, (bool, str)):
        raise TypeError(f"progress is True, a label or a callable, not {type(progress).__name__}")
    label = "" if progress is True else progress
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    if shell is not None and getattr(shell, "kernel", None) is not None:
        return Notebook(label, total)
    return Line(label, total)


class Told:
    """Counts items, and shows that at most every tenth of a second."""

    def __init__(self, show, total):
        self.show, self.total, self.count = show, total, 0
        self.begun = self.shown = time.monotonic()
        self.closed = False

    def done(self, n=1):
        self.count += n
        now = time.monotonic()
        if now - self.shown >= EVERY:
            self.shown = now
            self.show(self.count, self.total)

    def __enter__(self):
        return self.done

    def __exit__(self, *_):
        self.close()

    def close(self):
        if not self.closed:
            self.closed = True
            self.show(self.count, self.total)


class Line(Told):
    """A line on standard error that is written over itself; where nobody watches, only the last one."""

    def __init__(self, label, total):
        super().__init__(self.write, total)
        self.label, self.file = label, sys.stderr
        self.watched = bool(self.file and self.file.isatty())

    def write(self, count, total):
        if self.file is not None and (self.watched or self.closed):
            end = "\n" if self.closed else ""
            self.file.write(("\r" if self.watched else "") + self.text() + ("\x1b[K" if self.watched else "") + end)
            self.file.flush()

    def text(self):
        return described(self.label, self.count, self.total, time.monotonic() - self.begun)


class Notebook(Told):
    """A bar of HTML under the cell."""

    def __init__(self, label, total):
        super().__init__(self.write, total)
        from IPython.display import HTML, display

        self.label, self.made = label, HTML
        self.handle = display(HTML(self.text()), display_id=True)

    def write(self, count, total):
        self.handle.update(self.made(self.text()))

    def text(self):
        import html

        place = f' value="{self.count}" max="{self.total}"' if self.total else ""
        words = described(self.label, self.count, self.total, time.monotonic() - self.begun, drawn=False)
        return f"<progress{place}></progress> {html.escape(words)}"


def described(label, count, total, seconds, drawn=True):
    """A bar in one line of text.

    Parameters
    ----------
    label : str
    count : int
        Items that are done.
    total : int or None
        All items.
    seconds : float
        Since the beginning.
    drawn : bool
        With the bar itself.
    """
    words = [label] if label else []
    rate = count / seconds if seconds > 0 else 0
    if total:
        if drawn:
            full = min(WIDTH, WIDTH * count // total)
            words.append("[" + "#" * full + "." * (WIDTH - full) + "]")
        words.append(f"{count:,} of {total:,}")
    else:
        words.append(f"{count:,} done")
    words.append(f"{clock(seconds)}")
    if total and count < total and rate:
        words.append(f"{clock((total - count) / rate)} left")
    if rate:
        words.append(f"{rate:,.1f} a second" if rate >= 1 else f"{1 / rate:,.1f} s each")
    return "  ".join(words)


def clock(seconds):
    """Seconds below a minute, else minutes and hours."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d} min"
