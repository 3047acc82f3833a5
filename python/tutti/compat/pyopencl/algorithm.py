"""pyopencl.algorithm: elements that are chosen, sorted or put into lists, by conditions written as OpenCL C."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import tutti as _tt

from . import _snippets
from .array import Array, _queue_of, empty_like, zeros
from .elementwise import ElementwiseKernel
from .scan import GenericScanKernel
from .tools import ScalarArg, VectorArg, context_dependent_memoize, dtype_to_ctype, parse_arg_list


def _index_type(n):
    return np.dtype(np.int32 if n < 1 << 31 else np.int64)


def _extra(extra_args):
    """(parameters, values) of what a program's condition takes beside the array."""
    parameters, values = [], []
    for name, value in extra_args or ():
        if isinstance(value, Array):
            parameters.append(VectorArg(value.dtype, name))
        elif isinstance(value, np.generic):
            parameters.append(ScalarArg(value.dtype, name))
        else:
            raise RuntimeError(f"argument '{name}' is neither an array nor a number of NumPy")
        values.append(value)
    return tuple(parameters), values


@context_dependent_memoize
def _choosing(context, kind, index, outs, parameters, input_expr, output, preamble):
    """A scan that counts chosen elements and puts them where their numbers say."""
    arguments = [VectorArg(kind, "ary"), *(VectorArg(kind, o) for o in outs), VectorArg(index, "count"), *parameters]
    return GenericScanKernel(
        context, index, arguments, input_expr, "a+b", "0", output, index_dtype=index, name_prefix="choose",
        preamble=preamble,
    )  # fmt: skip


def _chosen(ary, outs, condition, output, extra_args, preamble, queue, wait_for):
    index, queue = _index_type(ary.size), _queue_of(queue, ary)
    if ary.ndim != 1:
        raise ValueError("the array needs one axis")
    made = [empty_like(ary, queue) for _ in outs]
    count = zeros(queue, (), index)
    parameters, values = _extra(extra_args)
    if not ary.size:
        return [*made, count, queue._do("MARKER", lambda: None, wait_for)]
    kernel = _choosing(ary.context, ary.dtype, index, outs, parameters, condition, output, preamble)
    return [*made, count, kernel(ary, *made, count, *values, queue=queue, wait_for=wait_for)]


_COUNT = "if (i == N - 1) *count = item;"
_COPY = f"if (item != prev_item) out[item - 1] = ary[i]; {_COUNT}"


def copy_if(ary, predicate, extra_args=None, preamble="", queue=None, wait_for=None):
    """The elements for which `predicate` is true: (array, how many as an array, event)."""
    condition = f"({predicate}) ? 1 : 0"
    return tuple(_chosen(ary, ("out",), condition, _COPY, extra_args, preamble, queue, wait_for))


def remove_if(ary, predicate, extra_args=None, preamble="", queue=None, wait_for=None):
    """The elements for which `predicate` is false: (array, how many as an array, event)."""
    return copy_if(ary, f"!({predicate})", extra_args, preamble, queue, wait_for)


def partition(ary, predicate, extra_args=None, preamble="", queue=None, wait_for=None):
    """The elements for which `predicate` is true, and the others: (array, array, how many are true, event)."""
    output = f"if (item != prev_item) out_true[item - 1] = ary[i]; else out_false[i - item] = ary[i]; {_COUNT}"
    outs = "out_true", "out_false"
    return tuple(_chosen(ary, outs, f"({predicate}) ? 1 : 0", output, extra_args, preamble, queue, wait_for))


def unique(ary, is_equal_expr="a == b", extra_args=None, preamble="", queue=None, wait_for=None):
    """The first of neighbours that are equal: (array, how many as an array, event)."""
    equal = f"#define TT_IS_EQUAL(a, b) ({' '.join(is_equal_expr.split(chr(10)))})\n"
    condition = "(i == 0) ? 1 : (TT_IS_EQUAL(ary[i - 1], ary[i])) ? 0 : 1"
    return tuple(_chosen(ary, ("out",), condition, _COPY, extra_args, preamble + "\n" + equal, queue, wait_for))


# ---- sorting


class RadixSort:
    """`RadixSort(context, "int *ary", key_expr="ary[i]", sort_arg_names=["ary"])`: sorted by whole numbers as keys."""

    def __init__(
        self, context, arguments, key_expr, sort_arg_names, bits_at_a_time=2, index_dtype=np.int32,
        key_dtype=np.uint32, scan_kernel=None, options=None,
    ):  # fmt: skip
        self._arguments, self._names = parse_arg_list(arguments), list(sort_arg_names)
        self._key = np.dtype(key_dtype)
        names = [a.name for a in self._arguments]
        self._sorted = [names.index(name) for name in self._names]
        self._keys = ElementwiseKernel(
            context, [VectorArg(self._key, "tt_keys"), *self._arguments],
            f"tt_keys[i] = ({dtype_to_ctype(self._key)})({key_expr})", name="sort_keys", options=options,
        )  # fmt: skip

    def __call__(self, *args, key_bits=None, allocator=None, queue=None, wait_for=None):
        """(the arrays that are sorted, event); `key_bits`: so many of a key's bits are looked at."""
        first = args[self._sorted[0]]
        queue = _queue_of(queue, first)
        keys = Array(queue, first.size, self._key, allocator=allocator)
        self._keys(keys, *args, queue=queue, wait_for=wait_for)
        numbers = keys._value()
        if key_bits is not None and key_bits < 8 * self._key.itemsize:
            numbers = numbers & ((1 << key_bits) - 1)
        order = _tt.argsort(numbers, kind="stable")
        outs = [_taken(args[k], order, queue) for k in self._sorted]
        return outs, queue._do("MARKER", lambda: None)


def _taken(array, order, queue):
    if array.dtype.kind == "V":
        made = empty_like(array, queue)
        made._host()[...] = array._read()[order.numpy()]
        return made
    return Array._of(_tt.take(array._value(), order), array, queue=queue)


class KeyValueSorter:
    """Values by their keys: `starts[k]` is where the values of key k begin in `lists`."""

    def __init__(self, context):
        self.context = context

    def __call__(self, queue, keys, values, nkeys, starts_dtype, allocator=None, wait_for=None):
        """(starts, lists, event)."""
        numbers = keys._value()
        order = _tt.argsort(numbers, kind="stable")
        starts = _tt.searchsorted(_tt.take(numbers, order), _tt.arange(nkeys + 1, device=keys._at()))
        starts = Array._of(starts.astype(np.dtype(starts_dtype).name), keys, queue=queue)
        return starts, _taken(values, order, queue), queue._do("MARKER", lambda: None, wait_for)


# ---- lists


@dataclass
class BuiltList:
    """A list for each number: those of number i lie from starts[i] on, up to starts[i + 1]."""

    count: Any
    starts: Any
    lists: Any = None
    num_nonempty_lists: Any = None
    nonempty_indices: Any = None
    compressed_indices: Any = None


_LISTS = """{preamble}
typedef {index} index_type;
{macros}
#define USER_ARG_DECL {declared}
#define USER_ARGS {named}
{generate}
__kernel void {name}({parameters}) {{
  {piece}
  for (long tt_k = tt_first; tt_k < tt_end; tt_k++) {{
    {before}
    generate(LIST_ARGS USER_ARGS (index_type)tt_k);
    {after}
  }}
}}
"""


def _comma(words):
    """A list in C, with a comma behind each part."""
    return " ".join(f"{word}," for word in words)


class ListOfListsBuilder:
    """Lists that `generate(LIST_ARG_DECL USER_ARG_DECL index_type i)` fills by APPEND_name(value), once for each i.

    The text runs twice: to count, and to write.
    """

    def __init__(
        self, context, list_names_and_dtypes, generate_template, arg_decls, count_sharing=None, devices=None,
        name_prefix="plb_build_list", options=None, preamble="", debug=False, complex_kernel=False,
        eliminate_empty_output_lists=False,
    ):  # fmt: skip
        self.context, self._lists = context, [(name, np.dtype(kind)) for name, kind in list_names_and_dtypes]
        names = [name for name, _ in self._lists]
        if eliminate_empty_output_lists is True:
            eliminate_empty_output_lists = names
        self._without_empty = list(eliminate_empty_output_lists or ())
        if any(name not in names for name in self._without_empty):
            raise ValueError("names of eliminate_empty_output_lists are not all names of lists")
        self._shared = dict(count_sharing or {})
        for name, of in self._shared.items():
            if name not in names or of not in names or names.index(of) > names.index(name):
                raise ValueError(f"count_sharing: '{name}' cannot share the counts of '{of}'")
        self._parameters = _snippets.Parameters(arg_decls)
        self._generate, self._name = generate_template, name_prefix
        self._options, self._preamble, self._kernels = options, preamble, {}

    def _counted(self):
        return [name for name, _ in self._lists if name not in self._shared]

    def _text(self, index, name, macros, work, before, after):
        decls = [_snippets._declarator(a) for a in self._parameters.all]
        return _LISTS.format(
            preamble=_snippets.preamble(self._parameters.dtypes(), self._preamble), index=dtype_to_ctype(index),
            macros="\n".join(macros), declared=_comma(decls), named=_comma(a.name for a in self._parameters.all),
            generate=self._generate, name=name, piece=_snippets.PIECE, before="\n    ".join(before),
            after="\n    ".join(after),
            parameters=self._parameters.declared(*work, "long tt_n", "long tt_piece"),
        )  # fmt: skip

    def _counting(self, index):
        names = self._counted()
        macros = [f"#define APPEND_{n}(value) {{ ++*tt_count_{n}; }}" for n in names]
        macros += [f"#define APPEND_{n}(value)" for n in self._shared]
        # LIST_ARGS is also what generate() hands to functions of its own: there the parameters have these names.
        macros += [
            f"#define LIST_ARG_DECL {_comma(f'index_type *tt_count_{n}' for n in names)}",
            f"#define LIST_ARGS {_comma(f'tt_count_{n}' for n in names)}",
        ]
        before = [f"index_type tt_value_{n} = 0; index_type *tt_count_{n} = &tt_value_{n};" for n in names]
        after = [f"tt_counts_{n}[tt_k] = tt_value_{n};" for n in names]
        work = [f"__global index_type *tt_counts_{n}" for n in names]
        return self._text(index, self._name + "_count", macros, work, before, after)

    def _writing(self, index):
        names = [name for name, _ in self._lists]
        kinds = {name: dtype_to_ctype(kind) for name, kind in self._lists}
        macros = [
            f"#define APPEND_{n}(value) {{ if (tt_list_{n}) tt_list_{n}[(*tt_at_{n})++] = (value); }}" for n in names
        ]
        decls = [f"__global {kinds[n]} *tt_list_{n}, index_type *tt_at_{n}" for n in names]
        macros += [
            f"#define LIST_ARG_DECL {_comma(decls)}",
            f"#define LIST_ARGS {_comma(f'tt_list_{n}, tt_at_{n}' for n in names)}",
        ]
        before = [
            f"index_type tt_value_{n} = tt_starts_{self._shared.get(n, n)}[tt_k], *tt_at_{n} = &tt_value_{n};"
            for n in names
        ]
        work = [f"__global index_type *tt_starts_{n}" for n in self._counted()]
        work += [f"__global {kinds[n]} *tt_list_{n}" for n in names]
        return self._text(index, self._name + "_write", macros, work, before, ())

    def _kernel(self, what, index):
        if (what, index) not in self._kernels:
            text = (self._counting if what == "count" else self._writing)(index)
            self._kernels[what, index] = _snippets.build(self.context, text, f"{self._name}_{what}", self._options)
        return self._kernels[what, index]

    def __call__(self, queue, n_objects, *args, allocator=None, omit_lists=(), wait_for=None, **others):
        """({name: BuiltList}, event)."""
        unknown = set(omit_lists) - {name for name, _ in self._lists}
        if unknown or others:
            raise TypeError(f"unexpected: {', '.join(sorted(unknown) + sorted(others))}")
        index = np.dtype(np.int32)
        given = self._parameters.given(args)
        count, piece = _snippets.pieces(n_objects, queue)
        ends = [np.int64(n_objects), np.int64(piece)]
        waits = _snippets.ready(wait_for, args)
        counts = {name: Array(queue, n_objects, index, allocator=allocator) for name in self._counted()}
        if n_objects:
            work = [c.data for c in counts.values()]
            _snippets.launch(self._kernel("count", index), queue, count, [*given, *work, *ends], waits)
        starts = {name: _starts(queue, c) for name, c in counts.items()}
        totals = {name: int(s._read()[-1]) for name, s in starts.items()}
        result, lists = {}, []
        for name, kind in self._lists:
            of = self._shared.get(name, name)
            made = None if name in omit_lists else Array(queue, totals[of], kind, allocator=allocator)
            lists.append(None if made is None else made.data)
            result[name] = BuiltList(totals[of], starts[of], made)
        event = None
        if n_objects and any(one is not None for one in lists):
            work = [*(starts[n].data for n in counts), *lists]
            event = _snippets.launch(self._kernel("write", index), queue, count, [*given, *work, *ends])
        for name in self._without_empty:
            _drop_empty(queue, result[name])
        return result, event or queue._do("MARKER", lambda: None, waits)


def _starts(queue, counts):
    """Where the lists begin, and behind the last one: one number more than there are lists."""
    sums = _tt.cumsum(counts._value(), dtype=counts.dtype.name)
    first = _tt.zeros(1, dtype=counts.dtype.name, device=counts._at())
    return Array._of(_tt.concatenate([first, sums]), counts, queue=queue)


def _drop_empty(queue, built):
    """Keep where lists begin that are not empty, their numbers, and where each number went."""
    starts = built.starts._value()
    full = starts[1:] != starts[:-1]
    where = _tt.nonzero(full)[0].astype(built.starts.dtype.name)
    like = built.starts
    built.compressed_indices = _starts(queue, Array._of(full.astype(like.dtype.name), like))
    built.num_nonempty_lists = int(where.shape[0])
    built.nonempty_indices = Array._of(where, like, queue=queue)
    built.starts = Array._of(_tt.concatenate([_tt.take(starts, where), starts[-1:]]), like, queue=queue)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.algorithm.{name}")
