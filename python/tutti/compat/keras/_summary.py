"""The table of a model's layers."""

import math
import shutil

from ._layer import Layer


def _count(weights):
    return sum(math.prod(v.shape) for v in weights)


def _bytes(weights):
    size = sum(v.nbytes for v in {id(v): v for v in weights}.values())
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} PB"


def _shape(operation):
    if not operation._inbound_nodes:
        return "?"
    outputs = operation._inbound_nodes[-1].output_tensors
    shapes = [f"({', '.join(map(str, x.shape))}{',' if len(x.shape) == 1 else ''})" for x in outputs]
    return shapes[0] if len(shapes) == 1 else f"[{', '.join(shapes)}]"


def _parameters(operation):
    if not isinstance(operation, Layer):
        return "0"
    if not operation.built:
        return "0 (unbuilt)"
    return f"{_count(operation.weights):,}"


def _connected(operation, nodes):
    calls = [node for node in nodes if node.operation is operation]
    histories = [x._keras_history for node in calls for x in node.input_tensors]
    return ", ".join(f"{maker.name}[{index}][{place}]" for maker, index, place in histories) or "-"


def _rows(operations, graph, show_trainable, depth, expand):
    for operation in operations:
        kind = getattr(operation, "class_name", type(operation).__name__)
        row = [f"{'    ' * depth}{operation.name} ({kind})", _shape(operation), _parameters(operation)]
        if graph:
            row.append(_connected(operation, graph))
        if show_trainable:
            row.append("Y" if getattr(operation, "trainable", False) else "N")
        yield row
        below = getattr(operation, "layers", None)
        if expand and below:
            yield from _rows(below, graph, show_trainable, depth + 1, expand)


def _line(cells, widths, left, middle, right):
    return left + middle.join(f" {cell[: w - 2]:<{w - 2}} " for cell, w in zip(cells, widths)) + right


def _rule(widths, left, middle, right, stroke):
    return left + middle.join(stroke * w for w in widths) + right


def _is_chain(nodes):
    """Is each layer called once, on one array, and no output used twice?"""
    inputs = [id(x) for node in nodes for x in node.input_tensors]
    calls = [id(node.operation) for node in nodes]
    single = all(len(node.input_tensors) <= 1 for node in nodes)
    return single and len(set(inputs)) == len(inputs) and len(set(calls)) == len(calls)


def print_summary(model, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False):
    """The layers, their outputs and parameters, in lines."""
    operations = model._listed_operations()
    nodes = model._nodes if model._is_functional and operations is model._operations else []
    graph = [] if _is_chain(nodes) else nodes
    titles = ["Layer (type)", "Output Shape", "Param #", *(["Connected to"] if graph else [])]
    titles += ["Trainable"] if show_trainable else []
    rows = list(_rows(operations, graph, show_trainable, 0, expand_nested))
    most = line_length or min(shutil.get_terminal_size().columns, 98)
    widths = [max(len(row[k]) for row in [titles, *rows]) + 2 for k in range(len(titles))]
    while sum(widths) + len(widths) + 1 > most and max(widths) > 14:
        widths[widths.index(max(widths))] -= 1
    lines = [f'Model: "{model.name}"', _rule(widths, "┏", "┳", "┓", "━"), _line(titles, widths, "┃", "┃", "┃")]
    lines.append(_rule(widths, "┡", "╇", "┩", "━"))
    for k, row in enumerate(rows):
        lines.append(_line(row, widths, "│", "│", "│"))
        lines.append(_rule(widths, *("├┼┤" if k + 1 < len(rows) else "└┴┘"), "─"))
    trained, others = model.trainable_weights, model.non_trainable_weights
    for words, weights in ((" Total", trained + others), (" Trainable", trained), (" Non-trainable", others)):
        lines.append(f"{words} params: {_count(weights):,} ({_bytes(weights)})")
    text = "\n".join(lines)
    if print_fn is None:
        print(text)
    else:
        print_fn(text)
