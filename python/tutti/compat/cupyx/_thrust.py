"""cupyx.jit.thrust: Thrust's algorithms inside a kernel, each done by the thread that calls it.

A range is written x.begin(), x.end() or, of shared memory, x, x + n; a place to write to or to read along is x.begin().
Arrays have one axis. What Thrust gives back as an iterator counts elements: `found - x.begin()` is that number. There
are no functions as arguments. sort() is a heap sort; the other sorts insert, which takes the square of the length.
"""

from ..._jit import cuda_kernels as _kernels

_FORMS = {}  # of each algorithm, by what its arguments are: r a range, b a beginning, v a value


def _algorithm(form):
    """A decorator: the function is what the algorithm of its name does with arguments of this form."""

    def keep(fn):
        name, _, rest = fn.__name__.strip("_").partition("__")
        _FORMS.setdefault(name, {})[form] = _kernels.DeviceFunction(fn, 0)
        return fn

    return keep


class Algorithm:
    """A word of kernels that takes ranges."""

    def __init__(self, name):
        self.__name__, self._jit_forms = name, _FORMS[name]

    def __call__(self, *args):
        raise RuntimeError(f"jit.thrust.{self.__name__}() means something inside a kernel only")


# ---- going along


@_algorithm("rb")
def adjacent_difference(a, out):
    before = a[0]
    out[0] = before
    for k in range(1, a.size):
        here = a[k]
        out[k] = here - before
        before = here
    return a.size


@_algorithm("rb")
def copy(a, out):
    for k in range(a.size):
        out[k] = a[k]
    return a.size


@_algorithm("rv")
def fill(a, value):
    for k in range(a.size):
        a[k] = value


@_algorithm("rbb")
def gather(places, a, out):
    for k in range(places.size):
        out[k] = a[places[k]]
    return places.size


@_algorithm("rbb")
def scatter(a, places, out):
    for k in range(a.size):
        out[places[k]] = a[k]


@_algorithm("r")
def sequence(a):
    for k in range(a.size):
        a[k] = k


@_algorithm("rv")
def sequence__from(a, first):
    for k in range(a.size):
        a[k] = first + k


@_algorithm("rvv")
def sequence__by(a, first, step):
    for k in range(a.size):
        a[k] = first + k * step


@_algorithm("rvv")
def replace(a, old, new):
    for k in range(a.size):
        if a[k] == old:
            a[k] = new


@_algorithm("rbvv")
def replace_copy(a, out, old, new):
    for k in range(a.size):
        if a[k] == old:
            out[k] = new
        else:
            out[k] = a[k]
    return a.size


@_algorithm("r")
def reverse(a):
    n = a.size
    for k in range(n // 2):
        here = a[k]
        a[k] = a[n - 1 - k]
        a[n - 1 - k] = here


@_algorithm("rb")
def reverse_copy(a, out):
    n = a.size
    for k in range(n):
        out[k] = a[n - 1 - k]
    return n


@_algorithm("rb")
def swap_ranges(a, b):
    for k in range(a.size):
        here = a[k]
        a[k] = b[k]
        b[k] = here
    return a.size


@_algorithm("rbv")
def remove_copy(a, out, value):
    n = 0
    for k in range(a.size):
        here = a[k]
        if here != value:
            out[n] = here
            n += 1
    return n


@_algorithm("rv")
def remove(a, value):
    return remove_copy_one(a, a, value)


@_algorithm("r")
def unique(a):
    n = 0
    for k in range(a.size):
        here = a[k]
        if k == 0 or here != a[n - 1]:
            a[n] = here
            n += 1
    return n


@_algorithm("rb")
def unique_by_key(keys, values):
    n = 0
    for k in range(keys.size):
        here = keys[k]
        if k == 0 or here != keys[n - 1]:
            keys[n] = here
            values[n] = values[k]
            n += 1
    return n, n


# ---- looking and counting


@_algorithm("rv")
def count(a, value):
    n = 0
    for k in range(a.size):
        if a[k] == value:
            n += 1
    return n


@_algorithm("rv")
def find(a, value):
    for k in range(a.size):
        if a[k] == value:
            return k
    return a.size


@_algorithm("rb")
def mismatch(a, b):
    for k in range(a.size):
        if a[k] != b[k]:
            return k, k
    return a.size, a.size


@_algorithm("rb")
def equal(a, b):
    for k in range(a.size):
        if a[k] != b[k]:
            return False
    return True


@_algorithm("r")
def is_sorted_until(a):
    for k in range(1, a.size):
        if a[k] < a[k - 1]:
            return k
    return a.size


@_algorithm("r")
def is_sorted(a):
    return sorted_until_one(a) == a.size


@_algorithm("rv")
def lower_bound(a, value):
    low, high = 0, a.size
    while low < high:
        middle = (low + high) // 2
        if a[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@_algorithm("rv")
def upper_bound(a, value):
    low, high = 0, a.size
    while low < high:
        middle = (low + high) // 2
        if value < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@_algorithm("rrb")
def lower_bound__each(a, values, out):
    for k in range(values.size):
        out[k] = lower_bound_one(a, values[k])
    return values.size


@_algorithm("rrb")
def upper_bound__each(a, values, out):
    for k in range(values.size):
        out[k] = upper_bound_one(a, values[k])
    return values.size


@_algorithm("rv")
def equal_range(a, value):
    return lower_bound_one(a, value), upper_bound_one(a, value)


@_algorithm("rv")
def binary_search(a, value):
    at = lower_bound_one(a, value)
    return at < a.size and not value < a[min(at, a.size - 1)]


@_algorithm("rrb")
def binary_search__each(a, values, out):
    for k in range(values.size):
        out[k] = binary_search_one(a, values[k])
    return values.size


# ---- sums


@_algorithm("rv")
def reduce__from(a, first):
    total = first
    for k in range(a.size):
        total += a[k]
    return total


@_algorithm("r")
def reduce(a):
    return reduce_one(a, 0)


@_algorithm("rbv")
def inner_product(a, b, first):
    total = first
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@_algorithm("rbbb")
def reduce_by_key(keys, values, keys_out, values_out):
    n = 0
    for k in range(keys.size):
        if k == 0 or keys[k] != keys[k - 1]:
            keys_out[n] = keys[k]
            values_out[n] = values[k]
            n += 1
        else:
            values_out[n - 1] += values[k]
    return n, n


@_algorithm("rb")
def inclusive_scan(a, out):
    total = a[0] - a[0]
    for k in range(a.size):
        total += a[k]
        out[k] = total
    return a.size


@_algorithm("rbv")
def exclusive_scan__from(a, out, first):
    total = first
    for k in range(a.size):
        here = a[k]
        out[k] = total
        total += here
    return a.size


@_algorithm("rb")
def exclusive_scan(a, out):
    return exclusive_scan_one(a, out, 0)


@_algorithm("rbb")
def inclusive_scan_by_key(keys, a, out):
    total = a[0] - a[0]
    for k in range(keys.size):
        if k > 0 and keys[k] != keys[k - 1]:
            total = a[0] - a[0]
        total += a[k]
        out[k] = total
    return keys.size


@_algorithm("rbbv")
def exclusive_scan_by_key__from(keys, a, out, first):
    total = first
    for k in range(keys.size):
        if k > 0 and keys[k] != keys[k - 1]:
            total = first
        here = a[k]
        out[k] = total
        total += here
    return keys.size


@_algorithm("rbb")
def exclusive_scan_by_key(keys, a, out):
    return exclusive_scan_by_key_one(keys, a, out, 0)


# ---- order


@_algorithm("r")
def sort(a):
    n = a.size
    start, end = n // 2, n
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            last = a[end]
            a[end] = a[0]
            a[0] = last
        root = start
        child = 2 * root + 1
        while child < end:
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            here = a[root]
            if here < a[child]:
                a[root] = a[child]
                a[child] = here
                root = child
                child = 2 * root + 1
            else:
                child = end


@_algorithm("r")
def stable_sort(a):
    for k in range(1, a.size):
        here = a[k]
        at = k
        while at > 0 and here < a[max(at - 1, 0)]:
            a[at] = a[at - 1]
            at -= 1
        a[at] = here


@_algorithm("rb")
def stable_sort_by_key(keys, values):
    for k in range(1, keys.size):
        key, value = keys[k], values[k]
        at = k
        while at > 0 and key < keys[max(at - 1, 0)]:
            keys[at] = keys[at - 1]
            values[at] = values[at - 1]
            at -= 1
        keys[at] = key
        values[at] = value


@_algorithm("rb")
def sort_by_key(keys, values):
    stable_by_key_one(keys, values)


# ---- sets: sorted ranges


def merge(a, b, va, vb, out, vout, only_a, both, only_b, valued):
    """Elements of one, of both, of the other, as each is wanted, with the values beside them where there are some."""
    i, j, n = 0, 0, 0
    while i < a.size or j < b.size:
        left = j >= b.size or (i < a.size and a[min(i, a.size - 1)] < b[min(j, b.size - 1)])
        right = not left and (i >= a.size or b[min(j, b.size - 1)] < a[min(i, a.size - 1)])
        if (left and only_a) or (right and only_b) or (not left and not right and both):
            if right:
                out[n] = b[j]
                if valued:
                    vout[n] = vb[j]
            else:
                out[n] = a[i]
                if valued:
                    vout[n] = va[i]
            n += 1
        if not right:
            i += 1
        if not left:
            j += 1
    return n


@_algorithm("rrb")
def set_union(a, b, out):
    return merge_one(a, b, a, b, out, out, True, True, True, False)


@_algorithm("rrb")
def set_intersection(a, b, out):
    return merge_one(a, b, a, b, out, out, False, True, False, False)


@_algorithm("rrb")
def set_difference(a, b, out):
    return merge_one(a, b, a, b, out, out, True, False, False, False)


@_algorithm("rrb")
def set_symmetric_difference(a, b, out):
    return merge_one(a, b, a, b, out, out, True, False, True, False)


@_algorithm("rrbbbb")
def set_union_by_key(a, b, va, vb, out, vout):
    n = merge_one(a, b, va, vb, out, vout, True, True, True, True)
    return n, n


@_algorithm("rrbbb")
def set_intersection_by_key(a, b, va, out, vout):
    n = merge_one(a, b, va, va, out, vout, False, True, False, True)
    return n, n


@_algorithm("rrbbbb")
def set_difference_by_key(a, b, va, vb, out, vout):
    n = merge_one(a, b, va, vb, out, vout, True, False, False, True)
    return n, n


@_algorithm("rrbbbb")
def set_symmetric_difference_by_key(a, b, va, vb, out, vout):
    n = merge_one(a, b, va, vb, out, vout, True, False, True, True)
    return n, n


# What algorithms call of one another.
lower_bound_one, upper_bound_one = _FORMS["lower_bound"]["rv"], _FORMS["upper_bound"]["rv"]
binary_search_one, remove_copy_one = _FORMS["binary_search"]["rv"], _FORMS["remove_copy"]["rbv"]
sorted_until_one, reduce_one = _FORMS["is_sorted_until"]["r"], _FORMS["reduce"]["rv"]
exclusive_scan_one = _FORMS["exclusive_scan"]["rbv"]
exclusive_scan_by_key_one = _FORMS["exclusive_scan_by_key"]["rbbv"]
stable_by_key_one = _FORMS["stable_sort_by_key"]["rb"]
merge_one = _kernels.DeviceFunction(merge, 0)


class _Thrust:
    """jit.thrust: the algorithms, and the two policies, which mean the same here."""

    _jit_name = "jit.thrust"
    device = seq = "a thread by itself"

    def __getattr__(self, name):
        if name not in _FORMS:
            raise AttributeError(f"tutti.compat.cupyx does not cover cupyx.jit.thrust.{name}")
        made = Algorithm(name)
        setattr(self, name, made)
        return made

    def __dir__(self):
        return ["device", "seq", *_FORMS]


thrust = _Thrust()
