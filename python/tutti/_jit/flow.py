"""Which assignments the uses of a name can mean.

Assignments that some use may find one or the other of are one variable; others under the same name are variables of
their own, which may have other types. No copies are needed for that, and no type is known here.
"""

import ast


class _Webs:
    """Sets of assignments that belong together."""

    def __init__(self):
        self.root = {}

    def find(self, one):
        while self.root.setdefault(one, one) != one:
            one = self.root[one]
        return one

    def join(self, some):
        first, *rest = [self.find(one) for one in some]
        for other in rest:
            self.root[other] = first


class _Loop:
    """Where a loop's break and continue go on: what names mean there."""

    def __init__(self):
        self.breaks, self.continues = [], []


def _merged(*ways):
    """What names mean where ways meet. A way that is never gone is None."""
    ways = [way for way in ways if way is not None]
    if not ways:
        return None
    return {name: frozenset().union(*(way.get(name, ()) for way in ways)) for name in set().union(*ways)}


class Flow:
    """A walk through a function's body, with what each name may mean at the place."""

    def __init__(self, parameters, body):
        self.webs, self.order, self.of, self.loops = _Webs(), [], {}, []
        self.given = {}  # of a node that stores: the expression that it stores, where that is all
        self.plain, self.reached = (
            set(),
            {},
        )  # nodes that plain assignments store to; of each that loads: (it, its stores)
        self.attempts = []  # of each try around: what its body's assignments so far are, by name
        self.now = {name: frozenset([name]) for name in parameters}
        self.block(body)
        self.numbers = self._numbered(parameters)
        self.own = self._owned(parameters)

    def _owned(self, parameters):
        """Marks of nodes: of one that loads what only some of its variable's assignments give, which those are; of one
        that stores, all of which it is. Where the assignments turn out to have several types, each mark is a variable.
        """
        count, own, marks = {}, {}, {}
        for one in self.webs.root:
            web = self.webs.find(one)
            count[web] = count.get(web, 0) + 1
        for node, stores in self.reached.values():
            one = next(iter(stores))
            if len(stores) == count[self.webs.find(one)]:
                continue
            if stores <= self.plain:
                own[id(node)] = [marks.setdefault(stores, f"only {len(marks)}")]
                for store in stores:
                    known = own.setdefault(id(store), [])
                    known += [mark for mark in own[id(node)] if mark not in known]
            elif isinstance(one, str) and len(stores) == 1:
                own[id(node)] = ["given"]
        return own

    def _numbered(self, parameters):
        """The number of each web among those of its name, by the node that stores or loads it; parameters are first."""
        seen, numbers = {name: {self.webs.find(name): 0} for name in parameters}, {}
        for node, one in self.order:
            known = seen.setdefault(node.id, {})
            numbers[id(node)] = known.setdefault(self.webs.find(one), len(known))
        return numbers

    def value(self, node):
        """The expression that a name stands for: its variable is assigned to once. None: nobody can tell."""
        web = self.webs.find(next((one for other, one in self.order if other is node), node))
        stores = [one for one in self.webs.root if self.webs.find(one) is web]
        return self.given.get(stores[0]) if len(stores) == 1 else None

    def use(self, node):
        """The names that an expression reads."""
        if self.now is None or node is None:
            return
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                self.read(part)

    def read(self, name):
        found = self.now.get(name.id)
        if found:
            self.webs.join(found)
            self.reached[id(name)] = name, found
            if id(name) not in self.of:
                self.of[id(name)] = name
                self.order.append((name, next(iter(found))))

    def store(self, target):
        """The names that an assignment's target gives a value; the others in it are read."""
        if self.now is None:
            return
        if isinstance(target, ast.Name):
            self.webs.find(target)
            if id(target) not in self.of:
                self.of[id(target)] = target
                self.order.append((target, target))
            self.now = {**self.now, target.id: frozenset([target])}
            for stores in self.attempts:
                stores[target.id] = stores.get(target.id, frozenset()) | {target}
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.store(part)
        else:
            self.use(target)

    def block(self, statements):
        for s in statements:
            getattr(self, "do_" + type(s).__name__, self.use)(s)

    def do_Assign(self, s):
        self.use(s.value)
        for target in reversed(s.targets):
            self.store(target)
            self.note(target, s.value)

    def note(self, target, value):
        self.given[target] = value
        if isinstance(target, ast.Name):
            self.plain.add(target)
        if isinstance(target, (ast.Tuple, ast.List)):
            together = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
            for one, its in zip(target.elts, value.elts if together else [None] * len(target.elts)):
                self.note(one, its)

    def do_AnnAssign(self, s):
        self.use(s.value)
        if s.value:
            self.store(s.target)

    def do_AugAssign(self, s):
        """The target is read first; `source` is a node for what it is read as."""
        self.use(s.value)
        if isinstance(s.target, ast.Name):
            s.source = getattr(s, "source", None) or ast.copy_location(ast.Name(s.target.id, ast.Load()), s.target)
            self.use(s.source)
        self.store(s.target)

    def do_If(self, s):
        self.use(s.test)
        before = self.now
        self.block(s.body)
        after, self.now = self.now, before
        self.block(s.orelse)
        self.now = _merged(after, self.now)

    def turns(self, head, s):
        """A loop: gone through until what names mean at its beginning stands still."""
        start = self.now
        while True:
            before = self.now
            loop = _Loop()
            self.loops.append(loop)
            head()
            ended = self.now
            if isinstance(s, ast.For):
                self.store(s.target)
            self.block(s.body)
            self.loops.pop()
            self.now = _merged(start, before, self.now, *loop.continues)
            if self.now == before:
                break
        self.now = ended
        self.block(s.orelse)
        self.now = _merged(self.now, *loop.breaks)

    def do_With(self, s):
        for item in s.items:
            self.use(item.context_expr)
        self.block(s.body)

    def do_While(self, s):
        self.turns(lambda: self.use(s.test), s)

    def do_For(self, s):
        self.use(s.iter)
        self.turns(lambda: None, s)

    def do_Return(self, s):
        self.use(s.value)
        self.now = None

    def do_Try(self, s):
        """What fails may have done any part of the body: a handler finds each of its assignments, or none."""
        before, stores = self.now, {}
        self.attempts.append(stores)
        self.block(s.body)
        tried = dict(stores)
        ended, self.now = self.now, self.now
        self.block(s.orelse)
        ends = [self.now if s.orelse else ended]
        for handler in s.handlers:
            self.now = _merged(before, tried)
            self.use(handler.type)
            self.block(handler.body)
            ends.append(self.now)
        self.attempts.pop()
        for outer in self.attempts:
            for name, some in stores.items():
                outer[name] = outer.get(name, frozenset()) | some
        self.now = _merged(*ends)
        if s.finalbody:
            after = self.now
            self.now = _merged(before, dict(stores), after)
            self.block(s.finalbody)
            self.now = self.now if after is not None else None

    def do_Raise(self, s):
        self.use(s.exc)
        self.now = None

    def do_Break(self, s):
        self.loops[-1].breaks.append(self.now)
        self.now = None

    def do_Continue(self, s):
        self.loops[-1].continues.append(self.now)
        self.now = None
