"""What calls on shapes leave behind: KerasTensors, the operations that made them, and how to go from some to others."""

import tutti as _tt
from tutti.nn import Parameter

from . import _state
from ._tree import flatten, map_structure, pack


class MaskedArray(Parameter):
    """An array that says which steps of its sequences count. What is computed of it is a plain array."""

    def __repr__(self):
        return repr(self.view(_tt.ndarray))


def get_mask(x):
    """The mask of an array or KerasTensor, or None."""
    return getattr(x, "_keras_mask", None)


def with_mask(x, mask):
    """The array with a mask: a view, for plain arrays keep nothing beside their elements."""
    if not isinstance(x, KerasTensor) and type(x) is not MaskedArray:
        x = x.view(MaskedArray)
    x._keras_mask = mask
    return x


class KerasTensor:
    """A shape and a type that stand for an array to come; an axis of any length is None."""

    def __init__(self, shape, dtype="float32", sparse=False, record_history=True, name=None, **unused):
        self.shape, self.dtype = tuple(shape), str(dtype)
        self.name = name or _state.auto_name("keras_tensor")
        self._keras_history = self._keras_mask = None

    @property
    def ndim(self):
        """How many axes there are."""
        return len(self.shape)

    def reshape(self, newshape):
        """With other axes."""
        return _ops().reshape(self, newshape)

    def __repr__(self):
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse=False, ragged=False, name={self.name}>"

    def __iter__(self):
        raise NotImplementedError("Iterating over a symbolic KerasTensor is not supported.")

    def __bool__(self):
        raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")

    def __array__(self, *unused, **named):
        raise ValueError(_CONCRETE)

    __int__ = __float__ = __index__ = __array__

    def __getitem__(self, key):
        return _ops().get_item(self, key)


_CONCRETE = (
    "A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any actual numerical value. "
    "You cannot convert it to a NumPy array."
)
_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "mod",
    "pow": "power", "matmul": "matmul", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "ne": "not_equal", "and": "logical_and", "or": "logical_or", "xor": "logical_xor",
}  # fmt: skip
_UNARY = {"neg": "negative", "abs": "absolute", "invert": "logical_not"}


def _ops():
    from . import ops

    return ops


def _add_operators():
    def forward(name):
        return lambda self, other: getattr(_ops(), name)(self, other)

    def backward(name):
        return lambda self, other: getattr(_ops(), name)(other, self)

    for operator, name in _BINARY.items():
        setattr(KerasTensor, f"__{operator}__", forward(name))
        if operator not in ("lt", "le", "gt", "ge", "ne"):
            setattr(KerasTensor, f"__r{operator}__", backward(name))
    for operator, name in _UNARY.items():
        setattr(KerasTensor, f"__{operator}__", (lambda name: lambda self: getattr(_ops(), name)(self))(name))


_add_operators()


def any_symbolic(*structures):
    """Whether a KerasTensor is among them."""
    return any(isinstance(x, KerasTensor) for s in structures for x in flatten(s))


class Node:
    """One call of an operation."""

    def __init__(self, operation, args, kwargs, outputs):
        self.operation, self.args, self.kwargs, self.outputs = operation, args, kwargs, outputs
        self.input_tensors = [x for x in flatten((args, kwargs)) if isinstance(x, KerasTensor)]
        self.output_tensors = [x for x in flatten(outputs) if isinstance(x, KerasTensor)]
        self.index = len(operation._inbound_nodes)
        self.single = len(args) == 1 and isinstance(args[0], KerasTensor) and not kwargs and outputs
        self.single = self.single if isinstance(self.single, KerasTensor) else None  # the output, where all is one
        operation._inbound_nodes.append(self)
        for k, x in enumerate(self.output_tensors):
            x._keras_history = (operation, self.index, k)

    @property
    def parents(self):
        """The nodes that made the inputs."""
        return [node_of(x) for x in self.input_tensors if x._keras_history is not None]

    @property
    def is_input(self):
        """Whether it stands for data."""
        return not self.input_tensors


def node_of(x):
    """The call that made a KerasTensor."""
    operation, index, _ = x._keras_history
    return operation._inbound_nodes[index]


class Operation:
    """What has a name and can be called on KerasTensors."""

    def __init__(self, name=None):
        if name is not None and not isinstance(name, str):
            raise ValueError(
                f"Argument `name` must be a string and cannot contain character `/`. Received: name={name} "
                f"(of type {type(name)})"
            )
        self.name = name or _state.auto_name(_state.snake_case(type(self).__name__))
        self._inbound_nodes = []

    def _at_first_node(self, what):
        if not self._inbound_nodes:
            raise AttributeError(f"The layer {self.name} has never been called and thus has no defined {what}.")
        found = getattr(self._inbound_nodes[0], what + "_tensors")
        return found[0] if len(found) == 1 else found

    @property
    def input(self):
        """What the first call got."""
        return self._at_first_node("input")

    @property
    def output(self):
        """What the first call gave."""
        return self._at_first_node("output")


class FunctionOperation(Operation):
    """A function of keras.ops in a graph."""

    def __init__(self, fn, name, class_name):
        super().__init__(name)
        self.fn, self.class_name = fn, class_name

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)


def symbolic_call(fn, op_name, args, kwargs):
    """A call of a function of keras.ops on KerasTensors."""
    class_name = "".join(part.title() for part in op_name.split("_"))
    operation = FunctionOperation(fn, _state.auto_name(op_name), class_name)
    outputs = infer(fn, args, kwargs)
    Node(operation, args, kwargs, outputs)
    return outputs


FILLS = 83, 89  # two lengths of axes that may have any: long enough for windows


def infer(fn, args, kwargs):
    """KerasTensors of what a function gives: it is recorded over zeros. Where axes may have any length, that is done
    twice, and what differs may have any length, too."""
    some = any(None in x.shape for x in flatten((args, kwargs)) if isinstance(x, KerasTensor))
    first, *others = (_probe(fn, args, kwargs, fill) for fill in (FILLS if some else FILLS[:1]))
    flat = [_spec(*same) for same in zip(flatten(first), *(flatten(o) for o in others))]
    return pack(first, flat)


def _spec(first, other=None):
    if first is None:
        return None
    other = first if other is None else other
    same = (n if n == m else None for n, m in zip(first.shape, other.shape))
    return KerasTensor(tuple(same), first.dtype)


def zeros_of(x, fill):
    """An array of zeros that has a KerasTensor's place, with its mask."""
    if not isinstance(x, KerasTensor):
        return x
    made = _tt.zeros([fill if n is None else n for n in x.shape], dtype=x.dtype)
    return made if x._keras_mask is None else with_mask(made, zeros_of(x._keras_mask, fill))


def _probe(fn, args, kwargs, fill):
    with _state.settings(symbolic=True), _tt.no_grad():
        args, kwargs = map_structure(lambda x: zeros_of(x, fill), (args, kwargs))
        return map_structure(lambda x: None if x is None else _tt.asarray(x), fn(*args, **kwargs))


# ---- from some tensors to others


def sorted_nodes(inputs, outputs):
    """The nodes between, each after those that it needs, and operations' numbers in the order of first visits."""
    order, indices, done, ends = [], {}, set(), {id(node_of(x)) for x in inputs}

    def visit(node):
        stack = [(node, iter(() if id(node) in ends else node.parents))]
        while stack:
            top, parents = stack[-1]
            indices.setdefault(top.operation, len(indices))
            following = next((p for p in parents if id(p) not in done), None)
            if following is None:
                stack.pop()
                if id(top) not in done:
                    done.add(id(top))
                    order.append(top)
            else:
                stack.append((following, iter(() if id(following) in ends else following.parents)))

    for x in outputs:
        if id(node_of(x)) not in done:
            visit(node_of(x))
    return order, indices


def map_graph(inputs, outputs):
    """Nodes in the order in which they can be called, and operations by their distance from the outputs, farthest
    first."""
    for x in [*inputs, *outputs]:
        if not isinstance(x, KerasTensor) or x._keras_history is None:
            raise ValueError(
                f"All `inputs` and `outputs` values must be KerasTensors. Received: {x!r} of type {type(x)}"
            )
    nodes, indices = sorted_nodes(inputs, outputs)
    known, depths, of = {id(n) for n in nodes}, {}, {}
    for node in reversed(nodes):
        depth = of[node.operation] = max(depths.get(id(node), 0), of.get(node.operation, 0))
        for parent in node.parents:
            if id(parent) in known:
                depths[id(parent)] = max(depth + 1, depths.get(id(parent), 0))
    for x in inputs:
        if node_of(x).operation not in of:
            of[node_of(x).operation], indices[node_of(x).operation] = 0, -1
    _check_connected(inputs, nodes)
    operations = sorted(of, key=lambda op: (-of[op], indices[op]))
    names = [op.name for op in operations]
    for name in names:
        if names.count(name) != 1:
            raise ValueError(
                f'The name "{name}" is used {names.count(name)} times in the model. All operation names should be '
                "unique."
            )
    return nodes, operations


def _check_connected(inputs, nodes):
    known, seen = {id(x) for x in inputs}, []
    for node in nodes:
        for x in node.input_tensors:
            if id(x) not in known and not all(id(y) in known for y in node.output_tensors):
                raise ValueError(
                    f"Graph disconnected: cannot find parent for tensor {x} at operation '{node.operation}'. "
                    f"The following previous operations were accessed without issue: {seen}"
                )
        if node.is_input and not all(id(x) in known for x in node.output_tensors):
            raise ValueError(
                f"Graph disconnected: cannot find parent for tensor {node.output_tensors[0]} at operation "
                f"'{node.operation}'. The following previous operations were accessed without issue: {seen}"
            )
        seen.append(node.operation.name)
        known.update(id(x) for x in node.output_tensors)


def run_graph(nodes, inputs, values, call):
    """The value of each KerasTensor: `call` calls an operation on arguments."""
    known = {id(x): value for x, value in zip(inputs, values)}
    for node in nodes:
        if node.single is not None and id(node.single) not in known:
            known[id(node.single)] = call(node.operation, (known[id(node.args[0])],), {})
        if all(id(x) in known for x in node.output_tensors):
            continue
        args, kwargs = map_structure(
            lambda x: known[id(x)] if isinstance(x, KerasTensor) else x, (node.args, node.kwargs)
        )
        made = call(node.operation, args, kwargs)
        known.update((id(x), value) for x, value in zip(node.output_tensors, flatten(made)))
    return known
