"""Python's operators by name, as the operator module has them: in compiled functions they are the operators."""

import ast
import operator

_TWO = {
    operator.add: ast.Add, operator.sub: ast.Sub, operator.mul: ast.Mult, operator.truediv: ast.Div,
    operator.floordiv: ast.FloorDiv, operator.mod: ast.Mod, operator.pow: ast.Pow, operator.and_: ast.BitAnd,
    operator.or_: ast.BitOr, operator.xor: ast.BitXor, operator.lshift: ast.LShift, operator.rshift: ast.RShift,
    operator.matmul: ast.MatMult,
}  # fmt: skip
_COMPARED = {
    operator.eq: ast.Eq, operator.ne: ast.NotEq, operator.lt: ast.Lt, operator.le: ast.LtE, operator.gt: ast.Gt,
    operator.ge: ast.GtE, operator.is_: ast.Is, operator.is_not: ast.IsNot,
}  # fmt: skip
_ONE = {
    operator.neg: ast.USub, operator.pos: ast.UAdd, operator.invert: ast.Invert, operator.not_: ast.Not,
}  # fmt: skip


def written(fn, e):
    """A call `e` of one of the module's functions as the expression with that operator; None: it is no such call."""
    args = e.args
    if getattr(fn, "__module__", None) != "_operator" or e.keywords or any(isinstance(a, ast.Starred) for a in args):
        return None
    if fn in _TWO and len(args) == 2:
        made = ast.BinOp(args[0], _TWO[fn](), args[1])
    elif fn in _COMPARED and len(args) == 2:
        made = ast.Compare(args[0], [_COMPARED[fn]()], [args[1]])
    elif fn is operator.contains and len(args) == 2:
        made = ast.Compare(args[1], [ast.In()], [args[0]])
    elif fn is operator.getitem and len(args) == 2:
        made = ast.Subscript(args[0], args[1], ast.Load())
    elif fn in _ONE and len(args) == 1:
        made = ast.UnaryOp(_ONE[fn](), args[0])
    else:
        return None
    return ast.copy_location(made, e)
