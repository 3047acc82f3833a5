"""In which orders the elements of an array lie without gaps, for libraries whose arrays are memory with steps."""


def steps(shape, size, order="C"):
    """The steps in bytes of an array without gaps."""
    found, total = [], size
    for n in shape if order == "F" else reversed(shape):
        found.append(total)
        total *= n
    return tuple(found if order == "F" else reversed(found))


def runs(array, order):
    """Do its elements lie in this order without gaps?"""
    pairs = zip(array.shape, array.strides, steps(array.shape, array.dtype.itemsize, order), strict=True)
    return not array.size or all(n == 1 or step == whole for n, step, whole in pairs)


class ArrayFlags:
    """In which orders elements lie without gaps."""

    def __init__(self, array):
        self.c_contiguous, self.f_contiguous = (runs(array, order) for order in "CF")
        self.forc = self.c_contiguous or self.f_contiguous
