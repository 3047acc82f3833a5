"""What all objects of PyOpenCL have: a number that stands for them, and questions by constants or by attributes."""

import weakref

from ._constants import CLASSES
from ._errors import failure

_known = weakref.WeakValueDictionary()


class Handle:
    """An object with a number. `_info` is the class of the constants that get_info takes."""

    _info = None

    @property
    def int_ptr(self):
        """The number that stands for the object."""
        _known[id(self)] = self
        return id(self)

    @classmethod
    def from_int_ptr(cls, int_ptr_value, retain=True):
        """The object that a number stands for."""
        found = _known.get(int_ptr_value)
        if not isinstance(found, cls):
            raise failure("INVALID_VALUE", cls.__name__ + ".from_int_ptr", "no such object lives")
        return found

    def get_info(self, param):
        """What a constant asks for."""
        return self._answer(CLASSES[self._info], param, "get_info")

    def _answer(self, constants, param, asked):
        for name, value in constants._all().items():
            if value == param:
                found = getattr(self, "_of_" + name.lower(), None)
                if found is not None:
                    return found()
        raise failure("INVALID_VALUE", f"{type(self).__name__}.{asked}")

    def _of_reference_count(self):
        return 1

    def __init_subclass__(cls, **keywords):
        """Attributes for all that get_info answers: device.name."""
        super().__init_subclass__(**keywords)
        for name in CLASSES[cls._info]._all() if cls._info else ():
            if not hasattr(cls, name.lower()) and hasattr(cls, "_of_" + name.lower()):
                setattr(cls, name.lower(), _question(name.lower()))


def _question(name):
    return property(lambda self: getattr(self, "_of_" + name)(), doc=f"{name} of get_info.")
