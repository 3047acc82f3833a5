"""A Python function's source as the tree that the library types and compiles.

Names are resolved here, as Python would at the call: locals stay names, everything else becomes a constant, a function
of the language, another compiled function or a hidden array. No type is decided here and nothing is computed.
"""

import ast
import builtins
import dis
import functools
import inspect
import math
import operator
import types

from .flow import Flow
from .inner import Inner, lift
from .operators import written
from .overloads import has_overloads, signature_of
from .sources import source_of

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
_COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_FOLDS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.USub: operator.neg,
    ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
_PYTHON_TYPES = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}
_BUILTINS = {"range", "len", "int", "float", "bool", "complex", "abs", "min", "max", "round", "sum", "pow", "divmod",
             "enumerate", "zip", "print", "list", "sorted", "dict", "set", "str", "ord", "chr",
             "next", "iter", "slice"}  # fmt: skip
_GOES_ON = (enumerate, zip)  # they go over what they are given as loops do; for all others range(n) is a list
_SHAPED = {"cuda.shared.array", "cuda.local.array"}  # their shapes are known before anything runs
# Python's own exceptions that running code fails with.
_FAILURES = (
    "ValueError", "TypeError", "IndexError", "OverflowError", "MemoryError", "ZeroDivisionError", "RuntimeError",
    "NotImplementedError", "KeyError", "AssertionError", "RecursionError", "StopIteration",
)  # fmt: skip
_ARRAY_NAMES = ("__array_interface__", "__dlpack__", "_jit_argument", "__cuda_array_interface__")
_LONGEST = 60  # of a part of the source in a message


def quote(text):
    """A string as trees have it; a character that is zero takes two bytes, for a zero ends C's strings."""
    out = []
    for byte in text.encode(errors="surrogatepass").replace(b"\0", b"\xc0\x80"):
        char = chr(byte)
        out.append("\\" + char if char in '"\\' else char if 32 <= byte < 127 else f"\\x{byte:02x}")
    return '"' + "".join(out) + '"'


def number(value):
    """A Python number as a tree, or None."""
    if isinstance(value, bool):
        return f"(b {int(value)})"
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise OverflowError(f"{value} is beyond 64 bits")
        return f"(i {value})"
    if isinstance(value, float):
        return f"(f {_hex(value)})"
    if isinstance(value, complex):
        return f"(z {_hex(value.real)} {_hex(value.imag)})"
    return None


def _hex(value):
    if value != value:
        return "-nan"
    return value.hex() if abs(value) < math.inf else "0x1p99999" if value > 0 else "-0x1p99999"


class Module:
    """The functions that one compiled function reaches, and the arrays they name."""

    def __init__(self, root, declared=None, bound=None):
        self.begin(root, declared)
        self.bound[0] = bound or {}
        self.translate()
        self.file = inspect.getfile(root.__code__) if hasattr(root, "__code__") else "?"

    def begin(self, root, declared=None):
        """A module of one function that has no text yet."""
        self.functions, self.arrays, self.texts = [root], [], []
        self.inner = {}  # functions within others
        self.overloads, self.resolved = (
            [],
            [],
        )  # functions that are written for each list of types; (number, types, which)
        self.methods = []  # of classes, as they are written
        self.raised, self.handled = [], []  # what is raised: (class, arguments), or an exception; classes of handlers
        self.declared = [declared]  # of each function, what its signatures say of numbers
        self.bound = [{}]  # and what its parameters are that are no values: functions and types

    def translate(self):
        """The functions that have no text yet; translating one may find more."""
        while len(self.texts) < len(self.functions):
            at = len(self.texts)
            self.texts.append(Function(self, self.functions[at], self.declared[at], self.bound[at]).text())

    def function(self, fn, declared=None, bound=None):
        """The number of a function, for these parameters."""
        bound = bound or {}
        for k, one in enumerate(self.functions):
            if one is fn and self.bound[k] == bound:
                return k
        self.functions.append(fn)
        self.declared.append(declared)
        self.bound.append(bound)
        return len(self.functions) - 1

    def array(self, value):
        for k, one in enumerate(self.arrays):
            if one is value:
                return k
        self.arrays.append(value)
        return len(self.arrays) - 1

    def failure(self, what):
        """The number of what a statement raises."""
        self.raised.append(what)
        return len(self.raised) - 1

    def handler(self, cls):
        """The number of a class that a handler names."""
        if cls not in self.handled:
            self.handled.append(cls)
        return self.handled.index(cls)

    def kinds(self, cls):
        """The failures that a handler of a class takes: names of Python's own, numbers of those that are raised."""
        own = [quote(name) for name in _FAILURES if issubclass(getattr(builtins, name), cls)]
        classes = [one[0] if isinstance(one, tuple) else type(one) for one in self.raised]
        return " ".join(own + [str(k) for k, one in enumerate(classes) if issubclass(one, cls)])

    def overload(self, fn, written):
        """The number of a function that is written for each list of argument types, and of how a call writes these."""
        if (fn, written) not in self.overloads:
            self.overloads.append((fn, written))
        return self.overloads.index((fn, written))

    def resolve(self, asked, in_kernel):
        """The function for the types that a call has: what one of the makers gives."""
        from . import overloads

        line, _, place = asked.partition("\n")
        if line.startswith("class "):
            self.resolve_method(*line.split(" ", 2)[1:])
            return
        number, _, kinds = line.partition(" ")
        fn, written = self.overloads[int(number)]
        made = overloads.made(fn, kinds, place, written, in_kernel)
        number = self.function(made._jit_function() if hasattr(made, "_jit_function") else made), int(number)
        self.resolved.append((number[1], kinds, number[0]))
        self.translate()

    def resolve_method(self, number, name):
        """A method of a class that calls want."""
        from .classes import method

        found = method(int(number), name)
        if found is None:
            self.methods.append(f"(method {number} {quote(name)} -1 0 ())")
            return
        fn, static, defaults = found
        at = self.function(fn)
        self.translate()
        values = " ".join(Function(self, fn).constant(value, None) for value in defaults)
        self.methods.append(f"(method {number} {quote(name)} {at} {int(static)} ({values}))")

    def head(self, before=0):
        """What stands before the functions; `before`: how many others stand before these."""
        resolved = " ".join(f"(resolved {k} {quote(kinds)} {fn + before})" for k, kinds, fn in self.resolved)
        errors = " ".join(f"({self.kinds(cls)})" for cls in self.handled)
        return f"(file {quote(self.file)}) (errors {errors}) {resolved} {' '.join(self.methods)}"

    def bytes(self):
        return f"(module {self.head()} {' '.join(self.texts)})".encode()


class Function:
    """One function's translation."""

    def __init__(self, module, fn, declared=None, bound=None):
        self.module, self.fn = module, fn
        self.result, self.kinds = declared or (None, ())
        self.bound = bound or {}
        self.inner = module.inner.get(fn)
        self.node, self.before = (self.inner.node, self.inner.before) if self.inner else source_of(fn)
        code = fn.__code__
        self.locals = set(code.co_varnames) | set(code.co_cellvars)
        self.line = self.node.lineno + self.before
        if self.inner:
            self.locals |= set(self.inner.captures)
            self.outer = {name: value for name, value in self.inner.outer.items() if name not in self.locals}
        else:
            self.outer = dict(inspect.getclosurevars(fn).nonlocals) if code.co_freevars else {}
        self.node = _Named(self).visit(self.node)
        lift(self)
        if any(
            isinstance(part, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp))
            for part in ast.walk(self.node)
        ):
            apart = _Apart()
            self.node = apart.visit(self.node)
            self.locals |= apart.made
        self.flow, self.numbers = None, {}  # of the nodes that store and load names: which variable under that name
        self.words = set()  # names of words
        self.typed = set()  # parameters that a signature gives a type
        self.finals, self.caught = [], []  # finally blocks around with their depth of loops; names of exceptions
        self.unbroken = []  # of the loops around: the variable that their else looks at, or None

    # ---- names and failures

    def fail(self, what, node=None, error=NotImplementedError):
        line = getattr(node, "lineno", None)
        line = line + self.before if line else self.line
        raise error(f"{what}\nin {self.fn.__name__}, {inspect.getfile(self.fn)} line {line}")

    def snippet(self, node):
        text = ast.unparse(node).split("\n")[0]
        return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."

    def name(self, node):
        k = self.numbers.get(id(node), 0)
        name = f"{node.id}.{k}" if k or node.id in self.typed else node.id
        marks = self.flow.own.get(id(node), ()) if self.flow else ()
        return f"(n {' '.join(map(quote, [name, *marks]))})"

    def static(self, node):
        """(True, object) of an expression that is no local's."""
        if isinstance(node, ast.Name):
            word = node.id
            if word in self.bound:
                return True, self.bound[word]
            if word in self.locals:
                return self.stand_in(node)
            for space in (self.outer, self.fn.__globals__, vars(builtins)):
                if word in space:
                    return True, space[word]
            raise NameError(
                f"name '{word}' is not defined\nin {self.fn.__name__}, {inspect.getfile(self.fn)} line "
                f"{node.lineno + self.before}"
            )
        if isinstance(node, ast.Attribute):
            found, owner = self.static(node.value)
            if found and (isinstance(owner, (types.ModuleType, type)) or hasattr(owner, "_jit_name")):
                return True, getattr(owner, node.attr)
        if isinstance(node, (ast.Subscript, ast.Call)):
            return self.type_of(node)
        return False, None

    def stand_in(self, node):
        """(True, function) of a local that is another name for one: f = np.negative."""
        meant = self.flow.value(node) if getattr(self, "flow", None) else None
        if not isinstance(meant, (ast.Name, ast.Attribute)):
            return False, None
        found, value = self.static(meant)
        good = found and callable(value) and not any(hasattr(value, name) for name in _ARRAY_NAMES)
        return (True, value) if good and not isinstance(value, Inner) else (False, None)

    def type_of(self, node):
        """(True, type) of an expression that makes one of numba.types, float64[:] or ListType(int64)."""
        found, made = self.static(node.value if isinstance(node, ast.Subscript) else node.func)
        if isinstance(node, ast.Subscript) and found and hasattr(made, "_jit_dtype"):
            axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if all(isinstance(axis, ast.Slice) and not axis.lower and not axis.upper for axis in axes):
                return True, made[(slice(None),) * len(axes)]
        if isinstance(node, ast.Call) and found and hasattr(made, "_jit_types"):
            parts = [self.fixed(part) for part in node.args]
            if all(known for known, _ in parts):
                return True, made(*(part for _, part in parts))
        return False, None

    def written(self, node):
        """How a value is written, through names that stand for it: ("value", 1), ("list", parts), ("dict", pairs)."""
        found, value = self.static(node) if isinstance(node, (ast.Name, ast.Attribute)) else (False, None)
        if found:
            return ("value", value) if type(value) in (int, str, bool) else None
        if isinstance(node, ast.Name):
            meant = self.flow.value(node) if self.flow else None
            return None if meant is None else self.written(meant)
        if isinstance(node, ast.List):
            return "list", tuple(map(self.written, node.elts))
        if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
            pairs = {key.value: self.written(value) for key, value in zip(node.keys, node.values)}
            return "dict", tuple(pairs.items())
        if isinstance(node, ast.Constant):
            return ("value", node.value) if type(node.value) in (int, str, bool) else None
        value = folded(node)
        return None if value is None else ("value", value)

    def fixed(self, node):
        """(True, object) of an argument that is known before the call: no local's, or written out."""
        if isinstance(node, ast.Constant):
            return True, node.value
        if isinstance(node, ast.Tuple):
            parts = [self.fixed(part) for part in node.elts]
            return all(known for known, _ in parts), tuple(value for _, value in parts)
        return self.static(node)

    # ---- the function

    def text(self):
        a = self.node.args
        if a.kwarg:
            self.fail("a compiled function with **kwargs", self.node)
        params = [p.arg for p in a.posonlyargs + a.args + ([a.vararg] if a.vararg else []) + a.kwonlyargs]
        casts = [self.declared(p, k) for p, k in zip(params, self.kinds) if k and p not in self.bound]
        params = [p for p in params if p not in self.bound] + (self.inner.captures if self.inner else [])
        for p, one in self.bound.items():
            params += [f"{p} {word}" for word in one.captures] if isinstance(one, Inner) else []
        if isinstance(self.node, ast.Lambda):
            body = f"(ret {self.line} {self.given(self.node.body)})"
        else:
            self.flow = Flow(params, self.node.body)
            self.numbers = self.flow.numbers
            body = self.block(self.node.body)
        if self.fn.__code__.co_flags & inspect.CO_GENERATOR and "(yield " not in body:
            self.fail("a generator that does not yield any value", self.node, TypeError)
        body = " ".join([*casts, body])
        return f"(fn {quote(self.fn.__name__)} {self.line} ({' '.join(map(quote, params))}) ({body}))"

    def declared(self, word, kind):
        """A number gets the type that a signature gives it, from here on the name means that; an array must have it."""
        text = f'(call "given:{kind}" (n {quote(word)}))'
        if ":" in kind:
            return f"(expr {self.line} {text})"
        self.typed.add(word)
        return f"(set {self.line} (n {quote(word + '.0')}) {text})"

    def given(self, value):
        """What the function gives back, in the type that a signature says."""
        text = self.expr(value)
        return f'(call "cast:{self.result}" {text})' if self.result else text

    def block(self, statements):
        return " ".join(filter(None, map(self.statement, statements)))

    def statement(self, s):
        self.line = s.lineno + self.before
        handler = getattr(self, "do_" + type(s).__name__, None)
        if handler is None:
            self.fail(f"'{self.snippet(s)}' in a compiled function", s)
        return handler(s)

    # ---- statements

    def do_With(self, s):
        """with parallel_chunksize(n): the setting is another for the block."""
        item = s.items[0]
        call = item.context_expr
        found, manager = self.static(call.func) if isinstance(call, ast.Call) else (False, None)
        if not found or not hasattr(manager, "_jit_with") or item.optional_vars or len(s.items) > 1:
            self.fail(f"'{self.snippet(s)}' in a compiled function", s)
        if any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for x in s.body for part in ast.walk(x)):
            self.fail("a way out of a with block in a compiled function", s)
        fn, before = manager._jit_with, f"with {s.lineno}"
        number = self.module.function(fn._jit_function())
        first = f"(set {self.line} (n {quote(before)}) (call {number} {self.expr(call.args[0])}))"
        return f"{first} {self.block(s.body)} (expr {self.line} (call {number} (n {quote(before)})))"

    def names_words(self, s):
        """Does an assignment, the only one of its variable, name words? Then they stand where the name does."""
        target, words = s.targets[0], self.known(s.value)
        if isinstance(s.value, ast.List):
            return False  # an object of its own, which may change
        words = words if isinstance(words, tuple) else (words,)
        only = len(s.targets) == 1 and isinstance(target, ast.Name) and self.flow.value(target) is s.value
        return only and any(isinstance(word, str) for word in words)

    def do_Assign(self, s):
        if self.names_words(s):
            self.words.add(s.targets[0].id)
            return ""
        target = s.targets[0]
        if len(s.targets) == 1 and isinstance(target, ast.Name) and self.flow.value(target) is s.value:
            if self.stand_in(target)[0]:
                return ""  # it stands where the name does
        line, value = self.line, self.expr(s.value)
        if len(s.targets) > 1:
            head = f"(set {line} {self.target(s.targets[-1])} {value})"
            rest = [f"(set {line} {self.target(t)} {self.expr(s.targets[-1])})" for t in s.targets[:-1]]
            return " ".join([head, *rest])
        return f"(set {line} {self.target(s.targets[0])} {value})"

    def do_AnnAssign(self, s):
        return f"(set {self.line} {self.target(s.target)} {self.expr(s.value)})" if s.value else ""

    def do_AugAssign(self, s):
        op, target, value = _BINARY.get(type(s.op)), self.target(s.target), self.expr(s.value)
        apart = isinstance(s.target, ast.Name) and self.numbers.get(id(s.target)) != self.numbers.get(id(s.source))
        return f"(aug {self.line} {op} {target} {value}{' ' + self.target(s.source) if apart else ''})"

    def decided(self, test):
        """Is a condition true, where that is known before anything runs: of arguments and names that are True, False
        or None; None: it is not known. What is not taken needs no types.
        """
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            truth = self.decided(test.operand)
            return None if truth is None else not truth
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)) and len(test.ops) == 1:
            (found, value), other = self.fixed(test.left), test.comparators[0]
            if not found or not isinstance(other, ast.Constant) or other.value is not None:
                return None
            return (value is None) == isinstance(test.ops[0], ast.Is)
        found, value = self.static(test) if isinstance(test, ast.Name) else (False, None)
        return bool(value) if found and (value is None or type(value) is bool) else None

    def do_If(self, s):
        truth = self.decided(s.test)
        if truth is not None:
            return self.block(s.body if truth else s.orelse)
        line, test = self.line, self.expr(s.test)
        return f"(if {line} {test} ({self.block(s.body)}) ({self.block(s.orelse)}))"

    def do_While(self, s):
        line, test = self.line, self.expr(s.test)
        return self.loop(s, f"(while {line} {test}")

    def do_For(self, s):
        over = s.iter.args[0] if isinstance(s.iter, ast.Call) and len(s.iter.args) == 1 else s.iter
        same = over is s.iter or getattr(self.static(s.iter.func)[1], "_jit_same", False)
        words = self.known(over) if same and isinstance(s.target, ast.Name) else None
        if isinstance(words, tuple) and any(isinstance(word, str) for word in words):
            return self.written_out(s, words)
        line, iterator = self.line, self.expr(s.iter)
        return self.loop(s, f"(for {line} {self.target(s.target)} {iterator}")

    def written_out(self, s, words):
        """A loop over known words: its body once for each."""
        if s.orelse or any(isinstance(part, (ast.Break, ast.Continue)) for x in s.body for part in ast.walk(x)):
            self.fail("break, continue or else in a loop over words", s)
        turns = []
        for word in words:
            put = _Instead(s.target.id, word)
            turns.append(self.block([put.visit(statement) for statement in s.body]))
        return " ".join(turns)

    def loop(self, s, head):
        """A loop, and its else, which runs unless the loop's own break left it."""
        name = f"else {s.lineno}" if s.orelse else None
        self.unbroken.append(name)
        text = f"{head} ({self.block(s.body)}))"
        self.unbroken.pop()
        if not name:
            return text
        rest = f"(if {self.line} (n {quote(name)}) ({self.block(s.orelse)}) ())"
        return f"{self.unbroken_is(name, True)} {text} {rest}"

    def unbroken_is(self, name, value):
        return f"(set {self.line} (n {quote(name)}) {self.expr(ast.Constant(value))})"

    def do_Return(self, s):
        line = self.line
        if not self.finals:
            return f"(ret {line} {self.given(s.value)})" if s.value else f"(ret {line})"
        if s.value is None:
            return f"{self.leaving(0)} (ret {line})"
        name = f"(n {quote(f'back {s.lineno}:{s.col_offset}')})"
        return f"(set {line} {name} {self.given(s.value)}) {self.leaving(0)} (ret {line} {name})"

    def do_Break(self, s):
        name, line = self.unbroken[-1], self.line
        first = self.unbroken_is(name, False) + " " if name else ""
        return f"{first}{self.leaving(len(self.unbroken))} (break {line})"

    def do_Continue(self, s):
        line = self.line
        return f"{self.leaving(len(self.unbroken))} (cont {line})"

    # ---- try

    def leaving(self, depth):
        """The finally blocks that the flow goes through where it leaves for a place in so many loops."""
        around, parts = self.finals, []
        for k in range(len(around) - 1, -1, -1):
            name, body, loops = around[k]
            if loops < depth:
                break
            self.finals = around[:k]
            parts += [self.truth_is(name, True), self.block(body)]
        self.finals = around
        return " ".join(parts)

    def do_Try(self, s):
        if not s.finalbody:
            return self.attempt(s)
        line, name = self.line, f"left {s.lineno}"
        self.finals.append((name, s.finalbody, len(self.unbroken)))
        body = self.attempt(s) if s.handlers else self.block(s.body)
        self.finals.pop()
        final = self.block(s.finalbody)
        failed = f"(if {line} (un not (n {quote(name)})) ({final}) ()) (again {line})"
        return f"{self.truth_is(name, False)} (try {line} ({body}) (handler -1 ({failed}))) {final}"

    def attempt(self, s):
        """A try without its finally. What its else does is not under it: a variable tells whether it is to be done."""
        line, name = self.line, f"tried {s.lineno}"
        body = self.block(s.body)
        if s.orelse:
            body += f" {self.truth_is(name, True)}"
        text = f"(try {line} ({body}) {' '.join(map(self.handler, s.handlers))})"
        if not s.orelse:
            return text
        return f"{self.truth_is(name, False)} {text} (if {line} (n {quote(name)}) ({self.block(s.orelse)}) ())"

    def handler(self, h):
        self.line = h.lineno + self.before
        classes = []
        if h.type is not None:
            parts = h.type.elts if isinstance(h.type, ast.Tuple) else [h.type]
            for part in parts:
                found, cls = self.static(part)
                classes += cls if found and isinstance(cls, tuple) else [cls]
        if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in classes):
            self.fail(f"except {self.snippet(h.type)}, which is no class of exceptions that is known beforehand", h)
        every = not classes or Exception in classes or BaseException in classes
        numbers = [-1] if every else sorted({self.module.handler(cls) for cls in classes})
        self.caught.append(h.name)
        body = self.block(h.body)
        self.caught.pop()
        return " ".join(f"(handler {k} ({body}))" for k in numbers)

    def truth_is(self, name, value):
        return f"(set {self.line} (n {quote(name)}) (b {int(value)}))"

    def do_Pass(self, s):
        return ""

    def do_Expr(self, s):
        v = s.value
        if isinstance(v, ast.Constant):
            return ""
        if isinstance(v, ast.Yield):
            return self.yielded(self.expr(v.value or ast.Constant(None)))
        if isinstance(v, ast.YieldFrom):
            name = f"from {v.lineno}:{v.col_offset}"
            item = f"(n {quote(name)})"
            return f"(for {self.line} {item} {self.expr(v.value)} ({self.yielded(item)}))"
        if isinstance(v, ast.Call):
            found, callee = self.static(v.func)
            if found and callee is print:
                if v.keywords:
                    self.fail("print with keyword arguments", s)
                return f"(print {self.line} {' '.join(map(self.expr, v.args))})"
        return f"(expr {self.line} {self.expr(v)})"

    def yielded(self, value):
        if self.finals or self.caught:
            self.fail("yield inside try")
        return f"(yield {self.line} {value})"

    def of_Yield(self, e):
        self.fail(f"'{self.snippet(e)}' as a value: a compiled generator is sent none,", e)

    of_YieldFrom = of_Yield

    def do_Delete(self, s):
        if any(not isinstance(t, ast.Subscript) for t in s.targets):
            self.fail(f"'{self.snippet(s)}' in a compiled function", s)
        return " ".join(f"(del {self.line} {self.expr(t)})" for t in s.targets)

    def do_Assert(self, s):
        if s.msg:
            failure = self.failure(AssertionError, [s.msg])
        else:  # kernels tell which it was, elsewhere the line does
            failure = f"{quote(self.snippet(s.test))} {self.module.failure((AssertionError, ()))}"
        return f"(assert {self.line} {self.expr(s.test)} {failure})"

    def do_Raise(self, s):
        kind, given = s.exc, ()
        if kind is None or (isinstance(kind, ast.Name) and kind.id in self.caught):
            return f"(again {self.line})"
        if s.cause is not None and not (isinstance(s.cause, ast.Constant) and s.cause.value is None):
            self.fail(f"'{self.snippet(s)}' in a compiled function", s)
        if isinstance(kind, ast.Call):
            if kind.keywords:
                self.fail(f"'{self.snippet(s)}', an exception with keywords, in a compiled function", s)
            kind, given = kind.func, kind.args
        found, cls = self.static(kind)
        if found and isinstance(cls, BaseException) and kind is s.exc:
            return f'(raise {self.line} {quote(type(cls).__name__)} "" {self.module.failure(cls)})'
        if isinstance(kind, ast.Constant) and isinstance(kind.value, str):
            self.fail(f"'{self.snippet(s)}': Directly raising a string constant as an exception is not supported", s)
        if found and not (isinstance(cls, type) and issubclass(cls, BaseException)):
            self.fail(f"'{self.snippet(s)}': Encountered unsupported constant type used for exception", s)
        if not found:
            self.fail(f"'{self.snippet(s)}', which is no exception that is known beforehand,", s)
        return f"(raise {self.line} {quote(cls.__name__)} {self.failure(cls, given)})"

    def failure(self, cls, given):
        """An exception of these arguments: its message in kernels, its number, and the values that are known when it
        is raised."""
        parts = [(True, folded(part)) if folded(part) is not None else self.fixed(part) for part in given]
        message = quote(str(parts[0][1])) if parts and parts[0][0] else '""'
        if all(known for known, _ in parts):
            return f"{message} {self.module.failure((cls, tuple(value for _, value in parts)))}"
        return f"{message} {self.module.failure((cls, None))} {' '.join(map(self.expr, given))}"

    def target(self, t):
        if isinstance(t, ast.Name):
            return self.name(t)
        if isinstance(t, (ast.Tuple, ast.List)):
            return f"(tup {' '.join(map(self.target, t.elts))})"
        if isinstance(t, (ast.Subscript, ast.Attribute)):
            return self.expr(t)
        self.fail(f"an assignment to '{self.snippet(t)}'", t)

    # ---- expressions

    def expr(self, e):
        handler = getattr(self, "of_" + type(e).__name__, None)
        if handler is None:
            self.fail(f"'{self.snippet(e)}' in a compiled function", e)
        return handler(e)

    def shape(self, e):
        """An argument of what declares memory: whole numbers through names that stand for one."""
        meant = self.flow.value(e) if self.flow and isinstance(e, ast.Name) else e
        if isinstance(meant, ast.Tuple):
            return f"(tup {' '.join(map(self.shape, meant.elts))})"
        value = folded(e, self.stands_for)
        return self.expr(e) if value is None else self.constant(value, e)

    def stands_for(self, e):
        known, value = self.static(e)
        if known:
            return value if type(value) is int else None
        value = self.flow.value(e) if self.flow and isinstance(e, ast.Name) else None
        return None if value is None else folded(value, self.stands_for)

    def constant(self, value, node):
        if value is None:
            return "(none)"
        if isinstance(value, str):
            return f"(s {quote(value)})"
        try:
            text = number(value)
        except OverflowError as beyond:
            self.fail(str(beyond), node, OverflowError)
        if text is not None:
            return text
        if isinstance(value, slice):
            return f'(call "slice" {" ".join(self.constant(v, node) for v in (value.start, value.stop, value.step))})'
        if isinstance(value, (tuple, list)):
            return f"(tup {' '.join(self.constant(v, node) for v in value)})"
        name = dtype_name(value)
        if name:
            return f"(type {quote(name)})"
        if getattr(value, "_jit_dtype", value) is None:
            from .containers import kind_of_type

            return f"(kind {quote(kind_of_type(value))})"
        if hasattr(value, "_jit_name"):
            return f"(call {quote(value._jit_name)})"
        if any(hasattr(value, name) for name in _ARRAY_NAMES):
            if getattr(value, "shape", None) == () and hasattr(value, "item"):
                return self.constant(value.item(), node)
            return f"(g {self.module.array(value)})"
        self.fail(f"'{self.snippet(node)}', a {type(value).__name__}, in a compiled function", node)

    def of_Constant(self, e):
        return "(el)" if e.value is Ellipsis else self.constant(e.value, e)

    def of_JoinedStr(self, e):
        """f"...": its parts as strings, one behind the other."""
        parts = []
        for part in e.values:
            if isinstance(part, ast.FormattedValue):
                if part.format_spec or part.conversion not in (-1, ord("s")):
                    self.fail(f"{self.snippet(e)}, a format with a specification, in a compiled function", e)
                parts.append(f'(call "str" {self.expr(part.value)})')
            else:
                parts.append(self.expr(part))
        return functools.reduce(lambda a, b: f"(bin + {a} {b})", parts) if parts else '(s "")'

    def of_Name(self, e):
        found, value = self.static(e)
        if not found and e.id in self.words:
            found, value = True, self.known(e)
        return self.constant(value, e) if found else self.name(e)

    def of_Attribute(self, e):
        found, value = self.static(e)
        if found:
            return self.constant(value, e)
        return f"(attr {self.expr(e.value)} {quote(e.attr)})"

    def of_BinOp(self, e):
        if isinstance(e.op, ast.Sub) and _word_of(e.right, "begin") is not None:
            return self.expr(e.left)  # found by an algorithm over ranges: it counts from there
        value = folded(e)
        if value is not None:
            return self.constant(value, e)
        if isinstance(e.op, ast.MatMult):
            return f'(call "np.dot" {self.expr(e.left)} {self.expr(e.right)})'
        return f"(bin {_BINARY[type(e.op)]} {self.expr(e.left)} {self.expr(e.right)})"

    def of_UnaryOp(self, e):
        if isinstance(e.op, ast.USub) and isinstance(e.operand, ast.Constant) and type(e.operand.value) in (int, float):
            return self.constant(-e.operand.value, e)
        return f"(un {_UNARY[type(e.op)]} {self.expr(e.operand)})"

    def of_BoolOp(self, e):
        return f"({'and' if isinstance(e.op, ast.And) else 'or'} {' '.join(map(self.expr, e.values))})"

    def of_Compare(self, e):
        sides, parts = [e.left, *e.comparators], []
        for k, op in enumerate(e.ops):
            word = _COMPARE.get(type(op))
            if word is None:
                self.fail(f"'{self.snippet(e)}' in a compiled function", e)
            parts.append(f"(cmp {quote(word)} {self.expr(sides[k])} {self.expr(sides[k + 1])})")
        return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"

    def of_IfExp(self, e):
        return f"(sel {self.expr(e.test)} {self.expr(e.body)} {self.expr(e.orelse)})"

    def of_Tuple(self, e):
        return f"(tup {' '.join(map(self.expr, e.elts))})"

    def of_List(self, e):
        return f"(list {' '.join(map(self.expr, e.elts))})"

    def of_Dict(self, e):
        if None in e.keys:
            self.fail("a dictionary with **", e)
        if all(isinstance(part, ast.Constant) for part in (*e.keys, *e.values)):
            last = {key.value: value for key, value in zip(e.keys, e.values)}  # of equal keys the last value stays
            first = {key.value: key for key in reversed(e.keys)}
            e = ast.copy_location(ast.Dict([first[key] for key in last], list(last.values())), e)
        return f"(dict {' '.join(self.expr(part) for pair in zip(e.keys, e.values) for part in pair)})"

    def of_Set(self, e):
        return f"(setof {' '.join(map(self.expr, e.elts))})"

    def of_ListComp(self, e):
        """A loop that fills a list."""
        name = f"list {e.lineno}:{e.col_offset}"
        self.locals.add(name)
        made, kind = ast.copy_location(ast.Name(name, ast.Load()), e), "list"
        if isinstance(e, ast.DictComp):
            text, kind = f"(set {self.line} (idx {self.name(made)} {self.expr(e.key)}) {self.expr(e.value)})", "dict"
        elif isinstance(e, ast.SetComp):
            text, kind = f'(expr {self.line} (meth {self.name(made)} "add" {self.expr(e.elt)}))', "set"
        else:
            text = f'(expr {self.line} (meth {self.name(made)} "append" {self.expr(e.elt)}))'
        for g in reversed(e.generators):
            for test in reversed(g.ifs):
                text = f"(if {self.line} {self.expr(test)} ({text}) ())"
            text = f"(for {self.line} {self.target(g.target)} {self.expr(g.iter)} ({text}))"
        return f'(comp {quote(name)} ((set {self.line} {self.name(made)} (call "{kind}")) {text}))'

    of_GeneratorExp = of_SetComp = of_DictComp = of_ListComp

    def of_Slice(self, e):
        return f"(sl {' '.join(self.expr(p) if p else '(none)' for p in (e.lower, e.upper, e.step))})"

    def of_Subscript(self, e):
        found, value = self.type_of(e)
        if found:
            return self.constant(value, e)
        found, value = self.static(e.value)
        base = self.constant(value, e.value) if found else self.expr(e.value)
        items = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
        word = self.known(e.slice) if len(items) == 1 else None
        if isinstance(word, str):
            return f"(idx {base} (s {quote(word)}))"
        return f"(idx {base} {' '.join(map(self.expr, items))})"

    def only_read(self, word):
        """Are the items of what a name stands for only read, where that can be seen?"""
        if not hasattr(self, "reads"):
            self.reads = {}  # of each name: the nodes that read an item of it, go over it or ask for its length
            for part in ast.walk(self.node):
                over = part.value if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load) else None
                over = part.iter if isinstance(part, ast.For) else over
                if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.args:
                    same = part.func.id == "len" or getattr(self.static(part.func)[1], "_jit_same", False)
                    over = part.args[0] if same else over
                if isinstance(over, ast.Name):
                    self.reads.setdefault(over.id, set()).add(id(over))
        uses = [n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == word]
        loads = {id(n) for n in uses if isinstance(n.ctx, ast.Load)}
        return loads <= self.reads.get(word, set())

    def known(self, e):
        """The value of an expression that is the same at every call, through names that stand for one; or None."""
        if isinstance(e, ast.Constant):
            return e.value
        if isinstance(e, (ast.Tuple, ast.List)):
            parts = [self.known(part) for part in e.elts]
            return None if None in parts else tuple(parts)
        if isinstance(e, ast.Subscript):
            items, at = self.known(e.value), self.known(e.slice)
            inside = isinstance(items, tuple) and type(at) is int and -len(items) <= at < len(items)
            return items[at] if inside else None
        if isinstance(e, (ast.Name, ast.Attribute)):
            found, value = self.static(e)
            meant = self.flow.value(e) if not found and self.flow and isinstance(e, ast.Name) else None
            if isinstance(meant, ast.List) and not self.only_read(e.id):
                return None
            return self.known(meant) if meant is not None else value if isinstance(value, (str, int, tuple)) else None
        return None

    def of_Call(self, e):
        found, value = self.type_of(e)
        if found:
            return self.constant(value, e)
        if any(k.arg is None for k in e.keywords):
            self.fail("a call with **", e)
        found, callee = self.static(e.func)
        operation = written(callee, e) if found else None
        if operation is not None:
            return self.expr(operation)
        read = {k.arg: k.value for k in e.keywords if " " in k.arg}
        if read:
            plain = [k for k in e.keywords if " " not in k.arg]
            e = ast.copy_location(ast.Call(e.func, list(e.args), plain), e)  # this one may be translated again
        if found and hasattr(callee, "_jit_function"):
            fn = callee._jit_function()
            if any(isinstance(a, ast.Starred) for a in e.args):
                return self.starred(fn, callee, e)
            given = bind(fn, e)
            bound = {}
            for name, node in given.items():
                known, value = self.fixed(node)
                if known and no_value(fn, name, value):
                    bound[name] = value
            args = [self.expr(node) for name, node in given.items() if name not in bound]
            args += self.captured(e.func, callee, read)
            for name, value in bound.items():
                args += self.captured(given[name], value, read)
            return f"(call {self.module.function(fn, callee._declared, bound)} {' '.join(args)})"
        if found and has_overloads(callee) and not any(isinstance(a, ast.Starred) for a in e.args):
            parameters = signature_of(callee)
            nodes = list(bind(parameters, e).values() if parameters else e.args)
            number = self.module.overload(callee, tuple(map(self.written, nodes)))
            return f'(call "overload:{number}" {" ".join(map(self.expr, nodes))})'
        if found and hasattr(callee, "_jit_methods"):
            if e.keywords:
                self.fail(f"a call of {callee.__name__}() with keywords", e)
            return f"(new {quote(callee._jit_kind)} {' '.join(map(self.expr, e.args))})"
        if found and getattr(callee, "_jit_name", None) == "typed.Dict.empty":
            parts = [self.fixed(node) for node in (*e.args, *(k.value for k in e.keywords))]
            if len(parts) == 2 and all(known for known, _ in parts):
                try:
                    callee(*(kind for _, kind in parts))
                except TypeError as problem:
                    self.fail(str(problem), e, TypeError)
        if found and hasattr(callee, "_jit_forms"):
            return self.over_ranges(callee, e)
        if found and callee is functools.reduce and 2 <= len(e.args) <= 3 and not e.keywords:
            return self.reduced(e, read)
        if found and getattr(callee, "_jit_same", False) and len(e.args) == 1:
            return self.expr(e.args[0])
        if found and isinstance(callee, type) and issubclass(callee, tuple) and hasattr(callee, "_fields"):
            return self.named_tuple(callee, e)
        if found and type(callee).__name__ == "Generalised":
            return self.generalised(callee, e)
        if found and type(callee).__name__ == "Stencil":
            self.fail(f"a call of {callee.__name__}(), which works on whole arrays, in a compiled function", e)
        if not found or not any(callee is f for f in _GOES_ON):
            e.args[:] = [self.gathered(a) if isinstance(a, ast.Call) else a for a in e.args]
        one = self.shape if getattr(callee, "_jit_name", None) in _SHAPED else self.expr
        args = list(map(one, e.args))
        if getattr(callee, "_jit_backwards", False):
            args.reverse()
        args += [f"(kw {quote(k.arg)} {one(k.value)})" for k in e.keywords]
        if not found:
            if not isinstance(e.func, ast.Attribute):
                self.fail(f"a call of '{self.snippet(e.func)}'", e)
            return f"(meth {self.expr(e.func.value)} {quote(e.func.attr)} {' '.join(args)})"
        return f"(call {quote(self.callee(callee, e))} {' '.join(args)})"

    def captured(self, node, callee, read):
        """What an inner function that a call names is given of the variables around it."""
        if not isinstance(callee, Inner):
            return []
        if node.id in self.bound:
            return [f"(n {quote(f'{node.id} {word}')})" for word in callee.captures]
        return [self.expr(read[f"{node.id} {word}"]) for word in callee.captures]

    def over_ranges(self, callee, e):
        """A call of one of Thrust's algorithms: ranges are arrays, what it gives back counts elements."""
        form, args = "", []
        for node in e.args[1:]:  # the first says who does it
            last = args[-1] if args else None
            begins = _word_of(node, "begin")
            if begins is not None or isinstance(node, ast.Name):
                form, args = form + ("b" if begins is not None else "v"), [*args, begins or node]
            elif last is not None and _word_of(node, "end") is not None and _same(_word_of(node, "end"), last):
                form = form[:-1] + "r"
            elif last is not None and isinstance(node, ast.BinOp) and _same(node.left, last) and form[-1] == "v":
                part = ast.Subscript(last, ast.Slice(None, node.right), ast.Load())
                form, args[-1] = form[:-1] + "r", ast.copy_location(part, node)
            else:
                form, args = form + "v", [*args, node]
        forms = callee._jit_forms
        if form not in forms or e.keywords:
            words = {"r": "a range", "b": "x.begin()", "v": "a value"}
            ways = " or ".join(", ".join(words[c] for c in one) for one in forms)
            self.fail(f"{callee.__name__}() takes a policy, then {ways}: a range is x.begin(), x.end()", e, TypeError)
        fn = forms[form]._jit_function()
        return f"(call {self.module.function(fn)} {' '.join(map(self.expr, args))})"

    def reduced(self, e, read):
        """functools.reduce(f, items, first): a loop; without a first value it starts with the first item."""
        total, item, over = (f"{word} {e.lineno}:{e.col_offset}" for word in ("total", "item", "over"))
        self.locals |= {total, item, over}

        def name(word, kind=ast.Load):
            return ast.copy_location(ast.Name(word, kind()), e)

        call = ast.copy_location(
            ast.Call(e.args[0], [name(total), name(item)], [ast.keyword(*r) for r in read.items()]), e
        )
        rest = name(over) if len(e.args) > 2 else ast.Subscript(name(over), ast.Slice(ast.Constant(1), None, None))
        first = e.args[2] if len(e.args) > 2 else ast.Subscript(name(over), ast.Constant(0))
        parts = [
            f"(set {self.line} {self.name(name(over, ast.Store))} {self.expr(e.args[1])})",
            f"(set {self.line} {self.name(name(total, ast.Store))} {self.expr(ast.copy_location(first, e))})",
            f"(for {self.line} {self.name(name(item, ast.Store))} {self.expr(ast.copy_location(rest, e))} "
            f"((set {self.line} {self.name(name(total, ast.Store))} {self.expr(call)})))",
        ]
        return f"(comp {quote(total)} ({' '.join(parts)}))"

    def named_tuple(self, cls, e):
        """A call of a class of named tuples."""
        from .named import meta_of

        given = {**dict(zip(cls._fields, e.args)), **{k.arg: k.value for k in e.keywords}}
        if (
            len(e.args) > len(cls._fields)
            or len(given) < len(e.args) + len(e.keywords)
            or set(given) - set(cls._fields)
        ):
            self.fail(f"{cls.__name__}() takes {', '.join(cls._fields)}", e, TypeError)
        items = []
        for name in cls._fields:
            if name not in given and name not in cls._field_defaults:
                self.fail(f"{cls.__name__}() needs a value for '{name}'", e, TypeError)
            items.append(self.expr(given[name]) if name in given else self.constant(cls._field_defaults[name], e))
        return f"(named {quote(meta_of(cls))} {' '.join(items)})"

    def generalised(self, callee, e):
        """A call with arrays for the results, over the axes in front that the arguments' types say."""
        if e.keywords or len(e.args) != len(callee.cores) or callee.signatures:
            what = "with signatures" if callee.signatures else f"without all {len(callee.cores)} arrays"
            self.fail(f"a call of {callee.__name__}() {what} in a compiled function", e)
        cores = " ".join(f"({' '.join(map(quote, core))})" for core in callee.cores)
        fn = self.module.function(callee.py_func)
        return f"(gu {fn} {callee.nin} ({cores}) {' '.join(map(self.expr, e.args))})"

    def gathered(self, e):
        """A call that gives something to go over, range(n), as the list of that."""
        found, callee = self.static(e.func)
        if not found or callee not in (range, enumerate, zip):
            return e
        n = 1 if callee is range else 2 if callee is enumerate else len(e.args)
        names = [f"item {k}" for k in range(n)]
        self.locals.update(names)

        def item(kind):
            parts = [ast.Name(name, kind) for name in names]
            return parts[0] if callee is range else ast.Tuple(parts, kind)

        over = ast.comprehension(item(ast.Store()), e, [], 0)
        return ast.fix_missing_locations(ast.copy_location(ast.ListComp(item(ast.Load()), [over]), e))

    def starred(self, fn, callee, e):
        """A call of a compiled function with a tuple's items, whose number its type says."""
        code = fn.__code__
        if e.keywords:
            self.fail(f"a call of {fn.__name__}() with * and keywords", e)
        args = list(map(self.expr, e.args))
        if code.co_flags & inspect.CO_VARARGS:
            args.append(f"(rest {code.co_argcount})")
        for name in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]:
            if name not in (fn.__kwdefaults__ or {}):
                self.fail(f"{fn.__name__}() needs a value for '{name}'", e, TypeError)
            args.append(self.constant(fn.__kwdefaults__[name], e))
        return f"(call {self.module.function(fn, callee._declared)} {' '.join(args)})"

    def of_Starred(self, e):
        return f"(star {self.expr(e.value)})"

    def callee(self, fn, e):
        """What the language calls a Python callable."""
        word = getattr(fn, "_jit_name", None)
        if word:
            return word
        if fn in _PYTHON_TYPES and fn is not type(None):
            return fn.__name__
        name = dtype_name(fn)
        if name:
            return "cast:" + name
        word, home = getattr(fn, "__name__", ""), getattr(fn, "__module__", None) or ""
        owner = getattr(fn, "__self__", None)
        if home == "builtins" and word in _BUILTINS and getattr(builtins, word) is fn:
            return word
        if home in ("math", "cmath"):
            return f"{home}.{word}"
        if (
            "random" in home
            and "numpy" in home
            or "numpy" in type(owner).__module__
            and "random" in type(owner).__module__
        ):
            return f"np.random.{word}"
        if home == "random" or type(owner).__module__ == "random":
            return f"random.{word}"
        if type(fn).__name__ == "ufunc" or home.split(".")[0] in ("numpy", "tutti") or "numpy" in home:
            return f"np.{word}"
        if isinstance(fn, types.FunctionType):
            self.fail(f"a call of {word}(), which is not compiled: decorate it too", e)
        self.fail(f"a call of '{self.snippet(e.func)}' in a compiled function", e)


class _Named(ast.NodeTransformer):
    """A function whose lambdas that are arguments have names, given before the statement; whose sorts by a key are
    sorts by a list of keys; and which calls what map() would."""

    def __init__(self, function):
        self.function, self.made, self.deep = function, [], 0

    def visit_block(self, statements):
        out = []
        for s in statements:
            before, self.made = self.made, []
            s = self.visit(s)
            out += [*self.made, s]
            self.made = before
        return out

    def generic_visit(self, node):
        for field in ("body", "orelse", "finalbody"):
            part = getattr(node, field, None)
            if isinstance(part, list) and not isinstance(node, ast.Lambda):
                setattr(node, field, self.visit_block(part))
        for field, part in ast.iter_fields(node):
            if isinstance(part, list) and field not in ("body", "orelse", "finalbody"):
                setattr(node, field, [self.visit(p) if isinstance(p, ast.AST) else p for p in part])
            elif isinstance(part, ast.AST) and not isinstance(node, ast.Lambda):
                setattr(node, field, self.visit(part))
        return node

    def visit_inside(self, node):
        node = self.spread(node)
        self.deep += 1
        node = self.generic_visit(node)
        self.deep -= 1
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_inside  # noqa: N815 (ast's)

    def mapped(self, node):
        """(target, what to go over, the call) of map(f, items, ...), else None."""
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "map"
        if not named or node.keywords or len(node.args) < 2 or self.function.static(node.func)[1] is not map:
            return None
        if isinstance(node.args[0], ast.Lambda) and not self.deep:
            self.name(node.args[0], node)
        names = [f"map {node.lineno}:{node.col_offset}:{k}" for k in range(len(node.args) - 1)]
        self.function.locals.update(names)

        def items(kind):
            return [ast.copy_location(ast.Name(name, kind()), node) for name in names]

        call = ast.Call(node.args[0], items(ast.Load), [])
        single = len(names) == 1
        target = items(ast.Store)[0] if single else ast.Tuple(items(ast.Store), ast.Store())
        over = node.args[1] if single else ast.Call(ast.Name("zip", ast.Load()), node.args[1:], [])
        return [ast.fix_missing_locations(ast.copy_location(part, node)) for part in (target, over, call)]

    def visit_For(self, node):  # noqa: N802 (ast's)
        """for x in map(f, items): x is f of each item."""
        parts = self.mapped(node.iter)
        if parts:
            first = ast.copy_location(ast.Assign([node.target], parts[2]), node.iter)
            node.target, node.iter, node.body = parts[0], parts[1], [first, *node.body]
        return self.generic_visit(node)

    def spread(self, node):
        """A comprehension over map(f, items): over the items, then over what f gives of one."""
        rows = []
        for row in node.generators:
            parts = self.mapped(row.iter)
            if parts:
                rows.append(ast.comprehension(parts[0], parts[1], [], 0))
                row.iter = ast.copy_location(ast.Tuple([parts[2]], ast.Load()), row.iter)
            rows.append(row)
        node.generators = rows
        return node

    def visit_Call(self, node):  # noqa: N802 (ast's)
        if isinstance(node.func, ast.Name) and node.func.id == "list" and len(node.args) == 1:
            parts = self.mapped(node.args[0])
            if parts:
                made = ast.ListComp(parts[2], [ast.comprehension(parts[0], parts[1], [], 0)])
                return self.visit(ast.copy_location(made, node))
        node = self.generic_visit(node)
        parts = [*node.args, *(k.value for k in node.keywords)]
        if not self.deep:
            for part in parts:
                if isinstance(part, ast.Lambda):
                    self.name(part, node)
        sorts = isinstance(node.func, ast.Attribute) and node.func.attr == "sort"
        if not sorts and not (isinstance(node.func, ast.Name) and node.func.id == "sorted" and node.args):
            return node
        over = node.func.value if sorts else node.args[0]
        for k in node.keywords:
            if k.arg == "key" and not (isinstance(k.value, ast.Constant) and k.value.value is None):
                k.value = self.keys(k.value, over, node)
        return node

    def name(self, part, call):
        name = f"lambda {part.lineno}:{part.col_offset}"
        self.function.locals.add(name)
        self.made.append(
            ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), part)], part), part)
        )
        put = ast.copy_location(ast.Name(name, ast.Load()), part)
        call.args = [put if a is part else a for a in call.args]
        for k in call.keywords:
            k.value = put if k.value is part else k.value

    def keys(self, key, over, call):
        """[key(item) for item in over]"""
        if any(isinstance(part, ast.Call) for part in ast.walk(over)):
            self.function.fail(f"'{self.function.snippet(call)}': give what is sorted a name first", call)
        item = f"key {call.lineno}:{call.col_offset}"
        self.function.locals.add(item)
        made = ast.ListComp(
            ast.Call(key, [ast.Name(item, ast.Load())], []),
            [ast.comprehension(ast.Name(item, ast.Store()), over, [], 0)],
        )
        return ast.fix_missing_locations(ast.copy_location(made, call))


class _Instead(ast.NodeTransformer):
    """Statements with a value in place of a name; the nodes of other names stay, by which their variables are known."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def generic_visit(self, node):
        if isinstance(node, (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)):
            return node

        def visited(part):
            return self.visit(part) if isinstance(part, ast.AST) else part

        fields = {
            key: list(map(visited, part)) if isinstance(part, list) else visited(part)
            for key, part in ast.iter_fields(node)
        }
        made = ast.copy_location(type(node)(**fields), node)
        if hasattr(node, "source"):  # what an augmented assignment reads
            made.source = node.source
        return made

    def visit_Name(self, node):  # noqa: N802 (ast's)
        here = node.id == self.name and isinstance(node.ctx, ast.Load)
        return ast.copy_location(ast.Constant(self.value), node) if here else node


class _Apart(ast.NodeTransformer):
    """A function whose comprehensions have variables of their own, as in Python, under names that nothing else has."""

    def __init__(self):
        self.names, self.made = {}, set()

    def visit_Name(self, node):  # noqa: N802 (ast's)
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)

    def visit_ListComp(self, e):  # noqa: N802 (ast's)
        before, first = self.names, self.visit(e.generators[0].iter)
        bound = {t.id for g in e.generators for t in ast.walk(g.target) if isinstance(t, ast.Name)}
        self.names = {**before, **{word: f"{word} {e.lineno}:{e.col_offset}" for word in bound}}
        self.made |= set(self.names.values())
        rows = [
            ast.comprehension(self.visit(g.target), self.visit(g.iter) if k else first, list(map(self.visit, g.ifs)), 0)
            for k, g in enumerate(e.generators)
        ]
        parts = [self.visit(e.key), self.visit(e.value)] if isinstance(e, ast.DictComp) else [self.visit(e.elt)]
        out = ast.copy_location(type(e)(*parts, rows), e)
        self.names = before
        return out

    visit_GeneratorExp = visit_SetComp = visit_DictComp = visit_ListComp  # noqa: N815 (ast's)


def folded(e, look=lambda e: None):
    """The whole number that an expression of written numbers is, as Python computes it beforehand; or None.

    look: gives what stands for a name, if anything does.
    """
    if isinstance(e, ast.Constant):
        return e.value if type(e.value) is int else None
    if isinstance(e, (ast.Name, ast.Attribute)):
        return look(e)
    if isinstance(e, ast.UnaryOp) and type(e.op) in _FOLDS:
        value = folded(e.operand, look)
        return None if value is None else _FOLDS[type(e.op)](value)
    if not isinstance(e, ast.BinOp) or type(e.op) not in _FOLDS:
        return None
    a, b = folded(e.left, look), folded(e.right, look)
    if a is None or b is None or (isinstance(e.op, (ast.LShift, ast.RShift, ast.Pow)) and not 0 <= b <= 128):
        return None
    return None if b == 0 and isinstance(e.op, (ast.FloorDiv, ast.Mod)) else _FOLDS[type(e.op)](a, b)


def _word_of(node, word):
    """The array x of x.begin() or x.end(); None of anything else."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords
    return node.func.value if called and node.func.attr == word else None


def _same(a, b):
    return ast.dump(a) == ast.dump(b)


def bind(fn, e):
    """The arguments of a call of a compiled function by parameter, in its order, defaults filled in."""
    code = fn.__code__
    exact = not e.keywords and len(e.args) == code.co_argcount
    if exact and not code.co_kwonlyargcount and not code.co_flags & inspect.CO_VARARGS:
        return dict(zip(code.co_varnames, e.args))
    signature = inspect.signature(fn)
    try:
        bound = signature.bind(*e.args, **{k.arg: k.value for k in e.keywords})
    except TypeError as problem:
        raise TypeError(f"{fn.__name__}(): {problem}") from None
    out = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            out[name] = ast.copy_location(ast.Tuple(list(bound.arguments.get(name, ())), ast.Load()), e)
        elif name in bound.arguments:
            out[name] = bound.arguments[name]
        else:
            out[name] = ast.copy_location(ast.Constant(parameter.default), e)
    return out


def no_value(fn, name, value):
    """Is an argument one that the function is translated for anew: a function, a type, True, False, None, or the
    constant shape of an array that it makes? Not where its own code gives the name a value."""
    functions = hasattr(value, "_jit_function") or isinstance(value, (types.BuiltinFunctionType, type))
    if functions or type(value).__name__ == "ufunc":
        good = True
    elif hasattr(value, "_jit_name"):
        good = not hasattr(value, "__index__")
    elif value is None or type(value) is bool:
        good = True  # conditions of it are decided while translating
    elif isinstance(value, int) or (isinstance(value, tuple) and value and all(type(v) is int for v in value)):
        good = "array" in fn.__code__.co_names
    else:
        good = dtype_name(value) is not None
    return good and name not in _stored(fn.__code__)


def stands_for_code(fn, name, value):
    """Is an argument of a call a function or a type?"""
    plain = isinstance(value, (type, types.BuiltinFunctionType)) or type(value).__name__ == "ufunc"
    named = hasattr(value, "_jit_function") or hasattr(value, "_jit_dtype") or dtype_name(value) is not None
    return (plain or (named and not hasattr(value, "__array_interface__"))) and name not in _stored(fn.__code__)


@functools.cache
def _stored(code):
    """The names that a function's own code gives values."""
    return {i.argval for i in dis.get_instructions(code) if i.opname.startswith(("STORE_", "DELETE_"))}


def dtype_name(value):
    """The name of a data type in any spelling, or None."""
    try:
        if value in _PYTHON_TYPES:
            return _PYTHON_TYPES[value]
    except TypeError:  # not hashable
        return None
    if isinstance(value, type):
        if value.__module__ == "numpy" and hasattr(value, "dtype"):
            return {"bool_": "bool", "longlong": "int64", "ulonglong": "uint64"}.get(value.__name__, value.__name__)
        return None
    kind = type(value)
    if kind.__name__ == "dtype" and kind.__module__ == "tutti":
        return str(value)
    if kind.__module__.split(".")[0] == "numpy" and hasattr(value, "itemsize") and hasattr(value, "fields"):
        return value.name
    return getattr(value, "_jit_dtype", None)
