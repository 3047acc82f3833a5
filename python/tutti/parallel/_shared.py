"""Arrays that lie in shared memory once, however many messages speak of them."""

from . import _message


class Places:
    """Where memory that was shared lies. (Each piece is copied beside its message for now.)"""

    def __init__(self, engine):
        self.engine = engine

    def find(self, view):
        """The place of a view's bytes, or None."""
        return None


_ = _message
