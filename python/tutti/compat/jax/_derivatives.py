"""Derivatives of functions of trees, in JAX's convention: a cotangent goes through the transposed derivative, which is
not conjugated, so that the gradient of a holomorphic function is its derivative."""

import functools

import tutti as _tt
from tutti import autograd as _autograd

from ._array import array_of
from .tree_util import tree_flatten, tree_leaves, tree_map


def conjugated(x):
    """Ours and JAX's cotangents are each other's conjugates."""
    return _tt.conj(x) if x.dtype.kind == "c" else x


def is_inexact(x):
    """Is it a float or a complex number, or an array of them?"""
    return isinstance(x, (float, complex)) or getattr(getattr(x, "dtype", None), "kind", "i") in "fcV"


def plain(tree):
    """The values without their history, where no derivative around can want it."""
    if getattr(_autograd._depth, "n", 0):
        return tree
    return tree_map(lambda x: array_of(x.detach()) if isinstance(x, _tt.ndarray) else x, tree)


class Flat:
    """A function of the inexact leaves of its arguments that gives the leaves of its value."""

    def __init__(self, fun, args, has_aux=False):
        self.fun, self.has_aux = fun, has_aux
        self.all, self.arguments = tree_flatten(tuple(args))
        self.places = [k for k, x in enumerate(self.all) if is_inexact(x)]
        self.leaves = [self.all[k] for k in self.places]
        self.value = self.aux = None  # structures and what else came, of the last call

    def __call__(self, *leaves):
        values = list(self.all)
        for k, x in zip(self.places, leaves, strict=True):
            values[k] = array_of(x)
        made = self.fun(*self.arguments.unflatten(values))
        if self.has_aux:
            made, self.aux = made
        flat, self.value = tree_flatten(made)
        return [x if isinstance(x, _tt.ndarray) else _tt.asarray(x) for x in flat]

    def tree(self, cotangents):
        """A tree like the arguments; whole numbers have a cotangent of zeros, as floats."""
        values = [array_of(_tt.zeros(_tt.shape(x))) for x in self.all]
        for k, x in zip(self.places, cotangents, strict=True):
            values[k] = array_of(x)
        return self.arguments.unflatten(values)


def vjp(fun, *primals, has_aux=False):
    """The value, and the function from its cotangent to those of the arguments (a tuple)."""
    flat = Flat(fun, primals, has_aux)
    outputs, back = _tt.vjp(flat, *flat.leaves)
    structure, aux = flat.value, flat.aux

    def pulled(cotangent):
        given = [_tt.asarray(g) for g in structure.flatten_up_to(cotangent)]
        for g, o in zip(given, outputs, strict=True):
            if g.shape != o.shape:
                raise ValueError(f"Shape of cotangent input to vjp pullback function {g.shape} must be the same as the "
                                 f"shape of corresponding primal input {o.shape}.")  # fmt: skip
        return flat.tree([conjugated(x) for x in back([conjugated(g) for g in given])])

    value = structure.unflatten(plain(outputs))
    return (value, pulled, plain(aux)) if has_aux else (value, pulled)


def jvp(fun, primals, tangents, has_aux=False):
    """The value and its derivative in a direction."""
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("primal and tangent arguments to jax.jvp must be tuples or lists; found "
                        f"{type(primals).__name__} and {type(tangents).__name__}.")  # fmt: skip
    flat = Flat(fun, primals, has_aux)
    directions, structure = tree_flatten(tuple(tangents))
    if structure != flat.arguments:
        raise TypeError("primal and tangent arguments to jax.jvp must have the same tree structure; primals have tree "
                        f"structure {flat.arguments} whereas tangents have tree structure {structure}.")  # fmt: skip
    mine = [directions[k] for k in flat.places]
    for p, t in zip(flat.leaves, mine, strict=True):
        if _tt.shape(p) != _tt.shape(t):
            raise ValueError("jvp called with different primal and tangent shapes;Got primal shape "
                             f"{_tt.shape(p)} and tangent shape as {_tt.shape(t)}")  # fmt: skip
    outputs, derivative = _tt.jvp(flat, flat.leaves, mine)
    value, slope = flat.value.unflatten(plain(outputs)), flat.value.unflatten(map(array_of, derivative))
    return (value, slope, plain(flat.aux)) if has_aux else (value, slope)


def linearize(fun, *primals, has_aux=False):
    """The value, and the derivative as a function of the direction."""
    value = plain(fun(*primals)[0] if has_aux else fun(*primals))

    def of_direction(*tangents):
        return jvp(fun, primals, tangents, has_aux)[1]

    return (value, of_direction, plain(fun(*primals)[1])) if has_aux else (value, of_direction)


def linear_transpose(fun, *primals):
    """The transposed function of a linear one."""
    zeros = tree_map(lambda p: _tt.zeros(p.shape, p.dtype), primals)
    return vjp(fun, *zeros)[1]


def _numbers(argnums, count):
    nums = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    for k in nums:
        if not -count <= k < count:
            raise ValueError(f"differentiating with respect to argnums={argnums} requires at least "
                             f"{max(nums) + 1} positional arguments to be passed by the caller, but got only "
                             f"{count} positional arguments.")  # fmt: skip
    return tuple(k % count for k in nums)


def _demand(leaves, holomorphic, allow_int, name):
    for x in leaves:
        kind = _tt.asarray(x).dtype.kind
        if holomorphic and kind != "c":
            raise TypeError(f"{name} with holomorphic=True requires inputs with complex dtype, but got "
                            f"{_tt.asarray(x).dtype.name}.")  # fmt: skip
        if kind in "iub" and not allow_int:
            raise TypeError(f"{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype of "
                            f"np.inexact), but got {_tt.asarray(x).dtype.name}. If you want to use Boolean- or "
                            "integer-valued inputs, use vjp or set allow_int to True.")  # fmt: skip


def _of_some(fun, nums, args, kwargs):
    """The function of the arguments that it is differentiated by."""

    def some(*chosen):
        given = list(args)
        for k, x in zip(nums, chosen, strict=True):
            given[k] = x
        return fun(*given, **kwargs)

    return some


def _demand_number(value, holomorphic):
    a = tree_leaves(value)
    if len(a) != 1 or a[0] is not value:
        raise TypeError(f"Gradient only defined for scalar-output functions. Output was {value}.")
    if value.shape != ():
        raise TypeError(f"Gradient only defined for scalar-output functions. Output had shape: {value.shape}.")
    if holomorphic and value.dtype.kind != "c":
        raise TypeError("grad with holomorphic=True requires outputs with a complex dtype, but got "
                        f"{value.dtype.name}.")  # fmt: skip
    if not holomorphic and value.dtype.kind != "f" and value.dtype.name != "bfloat16":
        raise TypeError("grad requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got "
                        f"{value.dtype.name}. For holomorphic differentiation, pass holomorphic=True. For "
                        "differentiation of non-holomorphic functions involving complex outputs, use jax.vjp "
                        "directly.")  # fmt: skip


def value_and_grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    """A function that gives fun's value and its gradients by some of its arguments."""

    @functools.wraps(fun)
    def both(*args, **kwargs):
        nums = _numbers(argnums, len(args))
        chosen = [args[k] for k in nums]
        _demand(tree_leaves(chosen), holomorphic, allow_int, "grad")
        value, pulled, *aux = vjp(_of_some(fun, nums, args, kwargs), *chosen, has_aux=has_aux)
        _demand_number(value, holomorphic)
        found = pulled(_tt.ones((), value.dtype))
        found = found if isinstance(argnums, (tuple, list)) else found[0]
        return ((value, *aux) if has_aux else value), found

    return both


def grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    """A function that gives fun's gradients by some of its arguments."""
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun)
    def gradient(*args, **kwargs):
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def _jacobian(rows_of, name):
    """jacfwd and jacrev: trees of arrays of the shape of a result and of an argument behind it."""

    def jacobian(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
        @functools.wraps(fun)
        def matrix(*args, **kwargs):
            nums = _numbers(argnums, len(args))
            chosen = [args[k] for k in nums]
            _demand(tree_leaves(chosen), holomorphic, allow_int, name)
            one = not isinstance(argnums, (tuple, list))
            f = _of_some(fun, nums, args, kwargs)
            found, aux = rows_of(f, chosen, has_aux, one)
            return (found, aux) if has_aux else found

        return matrix

    jacobian.__name__ = name
    jacobian.__doc__ = "A function that gives the derivative of each element of fun's value by each of the argument's."
    return jacobian


def units(x):
    """The arrays like x with one element that is 1."""
    for k in range(x.size):
        unit = _tt.zeros(x.size, x.dtype)
        unit[k] = 1
        yield unit.reshape(x.shape)


def _by_rows(f, chosen, has_aux, one):
    value, pulled, *aux = vjp(f, *chosen, has_aux=has_aux)
    outputs, structure = tree_flatten(value)
    made = []
    for k, o in enumerate(outputs):
        rows = []
        for unit in units(o):
            seed = [unit if j == k else _tt.zeros(p.shape, p.dtype) for j, p in enumerate(outputs)]
            rows.append(pulled(structure.unflatten(seed)))
        whole = tree_map(
            lambda x, *r, o=o: array_of(_tt.stack(r).reshape((*o.shape, *_tt.shape(x)))), tuple(chosen), *rows
        )
        made.append(whole[0] if one else whole)
    return structure.unflatten(made), (aux[0] if aux else None)


def _by_columns(f, chosen, has_aux, one):
    leaves, structure = tree_flatten(tuple(chosen))
    leaves = [_tt.asarray(x) for x in leaves]
    by_leaf, aux, value = [], [None], None
    for k, x in enumerate(leaves):
        columns = []
        for unit in units(x):
            seed = [unit if j == k else _tt.zeros(p.shape, p.dtype) for j, p in enumerate(leaves)]
            value, slope, *aux = jvp(f, tuple(chosen), structure.unflatten(seed), has_aux=has_aux)
            columns.append(slope)
        by_leaf.append((x, columns))
    outputs, of_value = tree_flatten(value)
    made = []
    for j, o in enumerate(outputs):
        whole = [
            array_of(_tt.stack([tree_leaves(c)[j] for c in columns], -1).reshape((*o.shape, *x.shape)))
            for x, columns in by_leaf
        ]
        tree = structure.unflatten(whole)
        made.append(tree[0] if one else tree)
    return of_value.unflatten(made), (aux[0] if aux else None)


jacrev = jacobian = _jacobian(_by_rows, "jacrev")
jacfwd = _jacobian(_by_columns, "jacfwd")


def hessian(fun, argnums=0, has_aux=False, holomorphic=False):
    """A function that gives the second derivatives of fun's value."""
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


# ---- functions with a derivative of their own


class _Own(_tt.Function):
    """rule(args, cotangents) gives a tree like args; it is asked with the arguments and their history."""

    @staticmethod
    def forward(ctx, call, *leaves):
        ctx.call = call
        ctx.save_for_backward(*leaves)
        outputs = call.forward(leaves)
        return tuple(outputs)

    @staticmethod
    def backward(ctx, *gradients):
        return None, *ctx.call.backward(ctx.saved_tensors, gradients)


def _called(fun, args, rule):
    """The value of a function whose cotangents a rule has: rule(args, cotangent) gives a tree for each argument."""
    flat = Flat(fun, args)
    arrays = [_tt.asarray(x) for x in flat.leaves]
    if not _tt.is_grad_enabled() or not any(x.requires_grad for x in arrays):
        return fun(*args)

    class Call:
        forward = staticmethod(lambda leaves: flat(*leaves))

        @staticmethod
        def backward(leaves, gradients):
            values = list(flat.all)
            for k, x in zip(flat.places, leaves, strict=True):
                values[k] = array_of(x)
            cotangent = flat.value.unflatten([array_of(conjugated(g)) for g in gradients])
            found = rule(flat.arguments.unflatten(values), cotangent)
            parts = flat.arguments.flatten_up_to(tuple(found))
            return [None if parts[k] is None else conjugated(_tt.asarray(parts[k])) for k in flat.places]

    made = _Own.apply(Call, *arrays)
    return flat.value.unflatten(map(array_of, made))


class _WithRule:
    """What custom_vjp and custom_jvp share: arguments that are not differentiated."""

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        functools.update_wrapper(self, fun)
        self.fun, self.nondiff = fun, tuple(nondiff_argnums)

    def _split(self, args, kwargs):
        if kwargs:  # arguments by name go to their places
            import inspect

            bound = inspect.signature(self.fun).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        kept = [args[k] for k in self.nondiff]
        rest = [a for k, a in enumerate(args) if k not in self.nondiff]

        def of_rest(*values):
            values, given = iter(values), list(args)
            for k in range(len(args)):
                if k not in self.nondiff:
                    given[k] = next(values)
            return given

        return kept, rest, of_rest

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


class custom_vjp(_WithRule):
    """A function whose cotangents another one has; see defvjp."""

    forward = backward = None

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """fwd gives the value and what bwd needs; bwd takes that and the cotangent, and gives one for each argument."""
        self.forward, self.backward = fwd, bwd

    def __call__(self, *args, **kwargs):
        if self.forward is None:
            raise AttributeError(f"No VJP defined for custom_vjp function {self.__name__} using defvjp.")
        kept, rest, of_rest = self._split(args, kwargs)

        def rule(primals, cotangent):
            # With the history of the arguments, so that what bwd is given can be differentiated in turn.
            residuals = self.forward(*of_rest(*primals))[1]
            found = self.backward(*kept, residuals, cotangent)
            if not isinstance(found, tuple) or len(found) != len(rest):
                raise TypeError(f"Custom VJP bwd rule {self.backward.__name__} must produce a tuple of the same length "
                                f"as the primal inputs, {len(rest)}, but got {found}.")  # fmt: skip
            return tuple(zeros_of(p) if g is None else g for g, p in zip(found, primals, strict=True))

        return _called(lambda *values: self.fun(*of_rest(*values)), rest, rule)


def zeros_of(tree):
    """Zeros in place of the leaves."""
    return tree_map(lambda x: array_of(_tt.zeros(_tt.shape(x), _tt.asarray(x).dtype)), tree)


class custom_jvp(_WithRule):
    """A function whose derivative in a direction another one has; see defjvp."""

    rule = None

    def defjvp(self, jvp, symbolic_zeros=False):
        """jvp takes the arguments and the direction, and gives the value and its derivative."""
        self.rule = jvp
        return jvp

    def defjvps(self, *jvps):
        """For each argument a function of its direction, the value and the arguments; None: no derivative."""

        def summed(primals, tangents):
            value = self(*primals)
            parts = [f(t, value, *primals) for f, t in zip(jvps, tangents, strict=True) if f is not None]
            return value, functools.reduce(
                lambda a, b: tree_map(_tt.add, a, b), parts, *([] if parts else [zeros_of(value)])
            )

        self.rule = summed

    def __call__(self, *args, **kwargs):
        if self.rule is None:
            raise AttributeError(f"No JVP defined for custom_jvp function {self.__name__} using defjvp.")
        kept, rest, of_rest = self._split(args, kwargs)

        def rule(primals, cotangent):
            """The rule is linear in the direction: a cotangent goes through its transpose."""

            def of_direction(*tangents):
                return self.rule(*kept, tuple(primals), tuple(tangents))[1]

            return vjp(of_direction, *zeros_of(tuple(primals)))[1](cotangent)

        return _called(lambda *values: self.fun(*of_rest(*values)), rest, rule)


def closure_convert(fun, *example_args):
    """The function, and what it closes over: nothing has to be taken out of it here."""
    return (lambda *args: fun(*args[: len(example_args)])), []
