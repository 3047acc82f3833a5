"""Functions within a compiled function: each becomes one of its own that is given what it names of the outer one.

Python reads such variables when the inner function runs. So their values go along with each call, as arguments behind
its own; a name can then mean what it means at the place of the call. No type is known here.
"""

import ast
import types

_OWN = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef, ast.ClassDef)


class Inner:
    """A function within another, as compiled functions call it."""

    _declared = None

    def __init__(self, node, fn, before, outer):
        self.node, self.fn, self.before, self.outer = node, fn, before, outer
        self.captures = []  # the outer function's variables that it reads, or that those do that it calls

    def _jit_function(self):
        return self.fn


def _walk(node):
    """What is in a function's body, but not in functions within it; these are there themselves."""
    rest = list(ast.iter_child_nodes(node))
    while rest:
        part = rest.pop(0)
        yield part
        if not isinstance(part, _OWN):
            rest[:0] = ast.iter_child_nodes(part)


def _definitions(node):
    """(name, node, statement) of each function that is defined in the body."""
    for part in _walk(node):
        if isinstance(part, ast.FunctionDef):
            yield part.name, part, part
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Lambda):
            target = part.targets[0]
            if len(part.targets) == 1 and isinstance(target, ast.Name):
                yield target.id, part.value, part


def _made(function, name, node):
    """The function by itself: its code, in which the outer one's variables are global names."""
    if isinstance(node, ast.Lambda):
        whole = ast.Expression(node)
    else:
        plain = ast.copy_location(ast.FunctionDef(node.name, node.args, node.body, [], None), node)
        whole = ast.Module([plain], [])
    try:
        code = compile(ast.fix_missing_locations(whole), function.fn.__code__.co_filename, whole_mode(whole))
    except SyntaxError as problem:
        function.fail(f"{problem.msg}: an inner function that assigns to the outer one's variable", node)
    code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    defaults = [function.fixed(part) for part in node.args.defaults]
    if not all(known for known, _ in defaults) or node.args.kw_defaults:
        function.fail(
            f"{name}(), an inner function with keyword-only parameters or defaults that are no constants,", node
        )
    return types.FunctionType(code, function.fn.__globals__, name, tuple(value for _, value in defaults))


def whole_mode(whole):
    return "eval" if isinstance(whole, ast.Expression) else "exec"


def _global_names(code):
    """What code names that is not its own, attributes as well."""
    names = set(code.co_names)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            names |= _global_names(part)
    return names


class _Lifted(ast.NodeTransformer):
    """The outer function without the definitions, whose calls name what the inner functions read."""

    def __init__(self, statements, known):
        self.statements, self.known = statements, known

    def visit(self, node):
        if any(node is s for s in self.statements):
            return ast.copy_location(ast.Pass(), node)
        return super().visit(node)

    def visit_Call(self, node):  # noqa: N802 (ast's)
        self.generic_visit(node)
        for part in [node.func, *node.args, *(k.value for k in node.keywords)]:
            inner = self.known.get(part.id) if isinstance(part, ast.Name) else None
            for word in inner.captures if inner else ():
                value = ast.copy_location(ast.Name(word, ast.Load()), node)
                node.keywords.append(ast.keyword(f"{part.id} {word}", value))
        return node


def lift(function):
    """Take the inner functions of a function apart; `function`: front.Function, whose node and names change."""
    defined = list(_definitions(function.node))
    known = {name: one for name, one in function.outer.items() if isinstance(one, Inner)}
    stores = [p.id for p in _walk(function.node) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)]
    stores += [p.name for p in _walk(function.node) if isinstance(p, ast.FunctionDef)]
    made = {}
    for name, node, _ in defined:
        if stores.count(name) > 1:
            function.fail(f"'{name}', which is a function here and something else there,", node)
        made[name] = Inner(node, _made(function, name, node), function.before, dict(function.outer))
    known |= made
    words = function.locals - set(made)
    reads = {
        name: _global_names(one.fn.__code__) & {p.id for p in ast.walk(one.node) if isinstance(p, ast.Name)}
        for name, one in made.items()
    }
    for one in made.values():
        one.outer.update({**function.bound, **known})
    changed = True
    while changed:  # what they call reads variables, too
        changed = False
        for name, one in made.items():
            wanted = {word for word in reads[name] & words if word not in function.bound}
            for other in reads[name] & set(known):
                wanted |= set(known[other].captures)
            changed |= len(wanted) > len(one.captures)
            one.captures = sorted(wanted)
    if known:
        function.node = _Lifted([s for _, _, s in defined], known).visit(function.node)
    function.locals -= set(made)
    function.outer.update(made)
    for one in made.values():
        function.module.inner[one.fn] = one
