"""The table of a model's layers: what they give and how many parameters they have."""

import tutti as tt

from . import _tree

_NAMES = ("Layer (type)", "Output Shape", "Param #")


def text(model, inputs):
    """The table; shapes come from a forward with inputs of ones' shapes, which computes nothing."""
    layers = _layers(model)
    shapes = _shapes(model, [module for _, module in layers], inputs) if inputs is not None else {}
    rows = [
        (f"{name} ({type(module).__name__})", shapes.get(id(module), "?"), f"{_count(module.parameters()):,}")
        for name, module in layers
    ]
    return "\n".join([f'Model: "{type(model).__name__}"', *_table([_NAMES, *rows]), *_totals(model)])


def _layers(model):
    """Modules without modules in them, but for parameters that a module has beside its modules."""
    found = []
    for name, module in model.named_modules():
        own = list(module.parameters(recurse=False))
        if name and (own or not list(module.children())):
            found.append((name, module))
    return found or [("model", model)]


def _shapes(model, modules, inputs):
    shapes = {}

    def keep(module, args, result):
        shapes[id(module)] = ", ".join(_shape(a) for a in _tree.leaves(result) if isinstance(a, tt.ndarray))

    handles = [module.register_forward_hook(keep) for module in modules]
    was = model.training
    model.train(False)
    try:
        with tt.no_grad():
            model._outputs(inputs)
    finally:
        model.train(was)
        for handle in handles:
            handle.remove()
    return shapes


def _shape(a):
    """A shape whose first length is that of a batch, which may be any."""
    return f"({', '.join(['None', *map(str, a.shape[1:])])})" if a.ndim else "()"


def _count(parameters):
    return sum(p.size for p in parameters)


def _table(rows):
    widths = [max(len(row[k]) for row in rows) for k in range(3)]

    def line(left, middle, right, dash):
        return left + middle.join(dash * (width + 2) for width in widths) + right

    def cells(row, bar):
        one, two, three = row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2].rjust(widths[2])
        return f"{bar} {one} {bar} {two} {bar} {three} {bar}"

    body = [cells(row, "│") for row in rows[1:]]
    return [
        line("┏", "┳", "┓", "━"),
        cells(rows[0], "┃"),
        line("┡", "╇", "┩", "━"),
        *body,
        line("└", "┴", "┘", "─"),
    ]


def _totals(model):
    trained = [p for p in model.parameters() if p.requires_grad]
    others = [a for a in [*model.parameters(), *model.buffers()] if not a.requires_grad]
    named = {"Total": [*trained, *others], "Trainable": trained, "Non-trainable": others}
    return [f" {name} params: {_count(own):,} ({_bytes(own)})" for name, own in named.items()]


def _bytes(arrays):
    size, units = float(sum(a.nbytes for a in arrays)), ["B", "KB", "MB", "GB"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.2f} {units[0]}"
