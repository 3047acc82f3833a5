"""Optimisers: what changes parameters by their gradients. A step over all of them is one evaluation.

import tutti as tt
w = tt.zeros(3).requires_grad_()
optimizer = tt.optim.Adam([w], lr=0.1)
for _ in range(100):
    optimizer.zero_grad()
    ((w - 1) ** 2).sum().backward()
    optimizer.step()
"""

from .. import _core, autograd

__all__ = [
    "ASGD",
    "SGD",
    "Adafactor",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
]


class Optimizer:
    """What optimisers have in common: groups of parameters with their numbers, and states.

    Parameters
    ----------
    params : iterable of ndarray, or of dict
        The parameters, leaves that require gradients; or groups of them, each a dict with "params" and numbers of its
        own.
    defaults : dict
        The numbers of groups that say nothing else.

    Examples
    --------
    >>> tt.optim.SGD([tt.ones(2).requires_grad_()], lr=0.1).param_groups[0]["lr"]
    0.1
    """

    _STATES = ()  # what is kept for each parameter, by PyTorch's names
    _PLACES = 0  # how many places the library has for them
    _counts = True  # are there steps to be counted?

    def __init__(self, params, defaults):
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.defaults, self.param_groups, self._kept = dict(defaults), [], []
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """Add parameters with numbers of their own.

        Parameters
        ----------
        param_group : dict
            "params", and numbers.

        Returns
        -------
        None

        Examples
        --------
        >>> optimizer = tt.optim.SGD([tt.ones(2).requires_grad_()], lr=0.1)
        >>> optimizer.add_param_group({"params": [tt.ones(1).requires_grad_()], "lr": 0.01})
        >>> len(optimizer.param_groups)
        2
        """
        own = param_group["params"]
        own = [own] if isinstance(own, _core.ndarray) else list(own)
        for p in own:
            if not isinstance(p, _core.ndarray):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if type(p).__name__ == "UninitializedParameter":
                raise ValueError("can't optimize a parameter of a lazy layer that has seen no input")
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in own) or len({id(p) for p in own}) < len(own):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": own})
        self._kept.append(_Kept(len(own), self._PLACES))

    def zero_grad(self, set_to_none=True):
        """Forget the gradients.

        Parameters
        ----------
        set_to_none : bool
            Whether there are none afterwards, or zeros.

        Returns
        -------
        None

        Examples
        --------
        >>> w = tt.ones(2).requires_grad_()
        >>> (w * w).sum().backward()
        >>> tt.optim.SGD([w], lr=0.1).zero_grad()
        >>> w.grad is None
        True
        """
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none or p.grad is None:
                    p.grad = None
                else:
                    p.grad.zero_()

    def step(self, closure=None):
        """Change the parameters by their gradients.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss and its gradients first.

        Returns
        -------
        ndarray or None
            What closure gave.

        Examples
        --------
        >>> w = tt.ones(2).requires_grad_()
        >>> (w * w).sum().backward()
        >>> tt.optim.SGD([w], lr=0.25).step()
        >>> w
        array([0.5, 0.5])
        """
        loss = None
        if closure is not None:
            with autograd.enable_grad():
                loss = closure()
        before = [(kept.step, kept.missed.copy(), kept.values.copy()) for kept in self._kept]
        _core.steps_begin()
        try:
            for k, group in enumerate(self.param_groups):
                self._step_group(group, self._kept[k])
            _core.steps_end()
        except BaseException:
            if _core.steps_undo():
                for kept, was in zip(self._kept, before, strict=True):
                    kept.step, kept.missed, kept.values = was
            raise
        return loss

    def _counts_now(self):
        """A function that makes the next step one that was not done: it is not counted, and what it makes is none."""
        was = [(kept, kept.step, dict(kept.missed), [a is None for a in kept.values]) for kept in self._kept]

        def restore():
            for kept, kept.step, kept.missed, none in was:
                kept.values = [None if not_there else a for not_there, a in zip(none, kept.values, strict=True)]

        return restore

    def _step_group(self, group, kept):
        for step, numbers in kept.begin(group["params"]) if self._counts else [(0, None)]:
            if numbers is None:
                self._step(group, group["params"], kept.values, step, kept)
                continue
            values = kept.of(numbers)
            self._step(group, [group["params"][k] for k in numbers], values, step, kept)
            kept.put(numbers, values)

    def _step(self, group, params, values, step, kept):
        raise NotImplementedError

    def state_dict(self):
        """Numbers and states in PyTorch's form, to be kept: arrays are copies.

        Returns
        -------
        dict
            "state" and "param_groups"; parameters are numbers in it.

        Examples
        --------
        >>> sorted(tt.optim.Adam([tt.ones(2).requires_grad_()]).state_dict())
        ['param_groups', 'state']
        """
        first, groups, state = 0, [], {}
        for group, kept in zip(self.param_groups, self._kept, strict=True):
            n = len(group["params"])
            groups.append({**group, "params": list(range(first, first + n))})
            for k in range(n):
                own = self._state_of(kept, k)
                if own:
                    state[first + k] = own
            first += n
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Go on from what state_dict gave, here or in PyTorch.

        Parameters
        ----------
        state_dict : dict
            Of an optimiser with as many parameters, in the same groups.

        Returns
        -------
        None

        Examples
        --------
        >>> a, b = (tt.optim.SGD([tt.ones(2).requires_grad_()], lr=lr) for lr in (0.1, 0.2))
        >>> a.load_state_dict(b.state_dict())
        >>> a.param_groups[0]["lr"]
        0.2
        """
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if [len(g["params"]) for g in groups] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        for k, (own, given) in enumerate(zip(self.param_groups, groups, strict=True)):
            own.update({key: value for key, value in given.items() if key != "params"})
            states = [state_dict["state"].get(number, {}) for number in given["params"]]
            self._kept[k] = self._loaded(states, own)

    def _state_of(self, kept, k):
        """A parameter's state under PyTorch's names."""
        own = {name: a.copy() for name, a in zip(self._STATES, kept.of([k])) if a is not None}
        if not self._counts or not kept.count(k):
            return own
        return {"step": _core.array(float(kept.count(k)), dtype=_core.float32), **own}

    def _loaded(self, states, group):
        kept = _Kept(len(states), self._PLACES)
        steps = [int(float(own.get("step", 0))) for own in states]
        kept.step = max(steps, default=0)
        kept.missed = {k: kept.step - step for k, step in enumerate(steps) if step < kept.step}
        for k, (own, p) in enumerate(zip(states, group["params"], strict=True)):
            for place, name in enumerate(self._STATES):
                if own.get(name) is not None:
                    kept.values[k * self._PLACES + place] = _core.array(own[name]).astype(p.dtype)
        return kept

    def __repr__(self):
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {k}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


class _Kept:
    """What is kept for a group: its states in one list, and the steps, less those that a parameter missed."""

    def __init__(self, n, per):
        self.per, self.step, self.missed, self.values = per, 0, {}, [None] * (n * per)
        self.products = [1.0]  # NAdam's momenta, multiplied

    def begin(self, params):
        """Count a step: pairs of its number and of whose it is (None: all of them)."""
        self.step += 1
        without = _core.without_gradients(params)
        for k in without:
            self.missed[k] = self.missed.get(k, 0) + 1
        if not self.missed or len(without) == len(params):
            return [(self.step, None)] if len(without) < len(params) else []
        steps = {}
        for k in set(range(len(params))).difference(without):
            steps.setdefault(self.count(k), []).append(k)
        return steps.items()

    def count(self, k):
        return self.step - self.missed.get(k, 0)

    def of(self, numbers):
        return [a for k in numbers for a in self.values[k * self.per : (k + 1) * self.per]]

    def put(self, numbers, values):
        for place, k in enumerate(numbers):
            self.values[k * self.per : (k + 1) * self.per] = values[place * self.per : (place + 1) * self.per]


def _at_least(least, **values):
    for name, value in values.items():
        if not value >= least:
            raise ValueError(f"Invalid {name}: {value}")


def _check_betas(betas):
    for k, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {k}: {beta}")


_WORDS = {
    "params": "iterable of ndarray, or of dict : The parameters, or groups of them with numbers of their own.",
    "lr": "float : The learning rate.",
    "momentum": "float : The share of the last step that stays.",
    "dampening": "float : The share of the gradient that does not enter the momentum.",
    "weight_decay": "float : The share of the parameter that is added to its gradient.",
    "nesterov": "bool : Whether the momentum looks ahead.",
    "maximize": "bool : Whether the parameters climb.",
    "betas": "(float, float) : How slowly the running means of gradients and of their squares forget.",
    "eps": "float : What is added to the size, so that it is not 0.",
    "amsgrad": "bool : Whether the size is the largest so far.",
    "alpha": "float : How slowly the running mean of squares forgets.",
    "rho": "float : How slowly the running means of squares forget.",
    "centered": "bool : Whether the size is that of gradients less their mean.",
    "lr_decay": "float : How much the learning rate falls with each step.",
    "initial_accumulator_value": "float : What the sums of squares begin with.",
    "momentum_decay": "float : How quickly the momentum grows.",
    "lambd": "float : How quickly weights decay, and the learning rate falls.",
    "t0": "float : From which step on the mean is taken.",
    "etas": "(float, float) : What steps are multiplied by where the gradient's sign changes, and where it stays.",
    "step_sizes": "(float, float) : The least and the largest step.",
    "beta2_decay": "float : The power of the step's number that is the share of new squares.",
    "d": "float : The largest update, in units of its usual size.",
    "decoupled_weight_decay": "bool : Whether weights decay by themselves, not through the gradient.",
    "foreach": "bool : Has no effect: a step is one evaluation.",
    "fused": "bool : Has no effect.",
    "capturable": "bool : Has no effect.",
    "differentiable": "bool : Has no effect.",
}
_EXAMPLE = """
Examples
--------
>>> w = tt.array([1.0, 2.0]).requires_grad_()
>>> (w * w).sum().backward()
>>> tt.optim.{name}([w], lr=0.25).step()
>>> tt.round(w, 3)
{result}"""


def _told(result, *names, **other):
    """Documents a class: its parameters, and a step of it."""

    def fill(cls):
        lines = [cls.__doc__, "", "Parameters", "----------"]
        for name in names:
            kind, _, words = {**_WORDS, **other}[name].partition(" : ")
            lines += [f"{name} : {kind}", f"    {words}"]
        cls.__doc__ = "\n".join([*lines, _EXAMPLE.format(name=cls.__name__, result=result)])
        return cls

    return fill


@_told(
    "array([0.5, 1. ])",
    *"params lr momentum dampening weight_decay nesterov maximize foreach differentiable fused".split(),
)
class SGD(Optimizer):
    """Gradient descent, with momentum."""

    _STATES, _PLACES = ("momentum_buffer",), 1
    _counts = False

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        _at_least(0, **{"learning rate": lr, "momentum value": momentum, "weight_decay value": weight_decay})
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def _step(self, g, params, values, step, kept):
        numbers = (g["lr"], g["momentum"], g["dampening"], g["weight_decay"], g["nesterov"], g["maximize"])
        _core.sgd_step(params, values, *numbers)


_ADAM = "params lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused".split()


@_told("array([0.75, 1.75])", *_ADAM, "decoupled_weight_decay")
class Adam(Optimizer):
    """Adam: steps in units of the gradient's usual size."""

    _STATES, _PLACES = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"), 3

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        _at_least(0, **{"learning rate": lr, "epsilon value": eps, "weight_decay value": weight_decay})
        _check_betas(betas)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": tuple(betas),
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def _step(self, g, params, values, step, kept):
        numbers = (g["lr"], *g["betas"], g["eps"], g["weight_decay"], g["amsgrad"], g["maximize"])
        _core.adam_step(params, values, step, *numbers, g["decoupled_weight_decay"])


@_told(
    "array([0.748, 1.745])",
    *_ADAM,
    weight_decay="float : The share of the parameter that goes at each step, times the learning rate.",
)
class AdamW(Adam):
    """Adam whose weights decay by themselves, not through the gradient."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        without_effect = {"foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            fused=fused,
            decoupled_weight_decay=True,
            **without_effect,
        )


# The numbers of _core.optimizer_step behind the states and the step, with what they are where a kind has none.
_NUMBERS = {
    "lr": 0.0,
    "eps": 0.0,
    "weight_decay": 0.0,
    "beta1": 0.0,
    "beta2": 0.0,
    "momentum": 0.0,
    "lr_decay": 0.0,
    "initial_accumulator_value": 0.0,
    "product": 1.0,
    "low": 0.0,
    "high": 0.0,
    "a": 0.0,
    "b": 0.0,
    "c": 0.0,
    "maximize": False,
    "centered": False,
    "decoupled_weight_decay": False,
    "inside": False,  # eps below the root, for tutti.compat.keras
    "nesterov": False,
    "turns": 0,
    "rate": 0,
}


class _Other(Optimizer):
    """Optimisers that the library has by number."""

    _KIND, _PLACES = 0, 3

    def __init__(self, params, numbers):
        checks = {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value"}
        checks |= {"momentum": "momentum value", "alpha": "alpha value", "lr_decay": "lr_decay value"}
        checks |= {"initial_accumulator_value": "initial_accumulator_value value"}
        checks |= {"momentum_decay": "momentum_decay value"}
        _at_least(0, **{words: numbers[name] for name, words in checks.items() if name in numbers})
        _check_betas(numbers.get("betas", ()))
        if not 0 <= numbers.get("rho", 0) <= 1:
            raise ValueError(f"Invalid rho value: {numbers['rho']}")
        super().__init__(params, numbers)

    def _numbers(self, g, step, kept):
        return {}

    def _step(self, g, params, values, step, kept):
        own = {**_NUMBERS, **{name: g[name] for name in _NUMBERS if name in g}}
        own |= self._numbers(g, step, kept)
        if "betas" in g:
            own["beta1"], own["beta2"] = g["betas"]
        _core.optimizer_step(self._KIND, params, values, step, *own.values())


@_told(
    "array([-1.5, -0.5])",
    *"params lr alpha eps weight_decay momentum centered capturable foreach maximize differentiable".split(),
)
class RMSprop(_Other):
    """Steps in units of the root of the running mean of squares."""

    _KIND, _STATES = 0, ("square_avg", "momentum_buffer", "grad_avg")

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        super().__init__(params, _given(locals()))

    def _numbers(self, g, step, kept):
        return {"beta2": g["alpha"]}


@_told(
    "array([0.75, 1.75])",
    *"params lr lr_decay weight_decay initial_accumulator_value eps foreach maximize differentiable fused".split(),
)
class Adagrad(_Other):
    """Steps in units of the root of the sum of all squares so far."""

    _KIND, _STATES = 1, ("sum",)

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(params, _given(locals()))


@_told(
    "array([0.999, 1.999])",
    *"params lr rho eps weight_decay foreach capturable maximize differentiable".split(),
    lr="float : What steps are multiplied by.",
)
class Adadelta(_Other):
    """Steps in units of the gradient's usual size, times their own usual size."""

    _KIND, _STATES = 2, ("square_avg", "acc_delta")

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        super().__init__(params, _given(locals()))

    def _numbers(self, g, step, kept):
        return {"beta2": g["rho"]}


@_told(
    "array([0.75, 1.75])",
    *"params lr betas eps weight_decay foreach maximize differentiable capturable".split(),
)
class Adamax(_Other):
    """Adam in units of the gradient's largest size, which is forgotten slowly."""

    _KIND, _STATES = 3, ("exp_avg", "exp_inf")

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        super().__init__(params, _given(locals()))


_MOMENTS = "params lr betas eps weight_decay"
_NO_EFFECT = "foreach maximize capturable differentiable"


@_told("array([0.736, 1.736])", *f"{_MOMENTS} momentum_decay decoupled_weight_decay {_NO_EFFECT}".split())
class NAdam(_Other):
    """Adam whose momentum looks ahead."""

    _KIND, _STATES = 4, ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        super().__init__(params, _given(locals()))

    def _product(self, kept, g, step):
        """The momenta of the steps up to one, multiplied."""
        while len(kept.products) <= step:
            mu = _core.nadam_momentum(len(kept.products), g["betas"][0], g["momentum_decay"])
            kept.products.append(kept.products[-1] * mu)
        return kept.products[step]

    def _state_of(self, kept, k):
        own = super()._state_of(kept, k)
        if own:
            group = self.param_groups[self._kept.index(kept)]
            product = self._product(kept, group, kept.count(k))
            own = {"step": own.pop("step"), "mu_product": _core.array(product, dtype=_core.float32), **own}
        return own

    def _numbers(self, g, step, kept):
        return {"momentum": g["momentum_decay"], "product": self._product(kept, g, step - 1)}


@_told("array([0.5, 1. ])", *f"{_MOMENTS} decoupled_weight_decay {_NO_EFFECT}".split())
class RAdam(_Other):
    """Adam that goes by squares only when it has seen enough of them."""

    _KIND, _STATES = 5, ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        super().__init__(params, _given(locals()))


@_told("array([0.75, 1.75])", *"params lr etas step_sizes capturable foreach maximize differentiable".split())
class Rprop(_Other):
    """Steps of each element, which grow while its gradient keeps its sign."""

    _KIND, _STATES = 6, ("prev", "step_size")

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, _given(locals()))

    def _numbers(self, g, step, kept):
        return dict(zip(("beta1", "beta2", "low", "high"), (*g["etas"], *g["step_sizes"]), strict=True))


@_told(
    "array([0.5, 1. ])", *"params lr lambd alpha t0 weight_decay foreach maximize differentiable capturable".split(),
    alpha="float : The power by which the learning rate falls.",
)  # fmt: skip
class ASGD(_Other):
    """Gradient descent whose mean is kept beside it."""

    _KIND, _STATES = 7, ("ax",)

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        _at_least(0, **{"lambd value": lambd})
        super().__init__(params, _given(locals()))

    def _after(self, g, step):
        """The learning rate, and the share of the mean, that a step leaves to the next one."""
        eta = g["lr"] / (1 + g["lambd"] * g["lr"] * step) ** g["alpha"]
        return eta, 1 / max(1, step - g["t0"])

    def _numbers(self, g, step, kept):
        eta, mu = self._after(g, step - 1)
        return {"lr": eta, "lr_decay": g["lambd"], "product": mu}

    def _state_of(self, kept, k):
        own = super()._state_of(kept, k)
        if own:
            eta, mu = self._after(self.param_groups[self._kept.index(kept)], kept.count(k))
            numbers = {name: _core.array(v, dtype=_core.float32) for name, v in (("eta", eta), ("mu", mu))}
            own = {"step": own.pop("step"), **numbers, **own}
        return own


@_told(
    "array([0.605, 1.605])", *"params lr beta2_decay eps d weight_decay foreach maximize".split(),
    eps="(float, float) : The least size of squares (None: of the type), and of a parameter.",
    lr="float : The largest learning rate.",
    weight_decay="float : The share of the parameter that goes at each step, times the learning rate.",
)  # fmt: skip
class Adafactor(_Other):
    """Steps in units of the gradient's usual size, of which matrices keep rows and columns alone."""

    _KIND, _STATES = 8, ("row_var", "col_var", "variance")

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        _at_least(0, **{"learning rate": lr, "epsilon1": 0 if eps[0] is None else eps[0], "epsilon2": eps[1]})
        _at_least(0, **{"weight_decay": weight_decay, "beta2_decay": -beta2_decay})
        _at_least(1, **{"clipping threshold d": d})
        numbers = _given(locals())
        Optimizer.__init__(self, params, numbers)

    def _numbers(self, g, step, kept):
        first, second = g["eps"]
        numbers = {"eps": -1.0 if first is None else first, "low": second, "high": g["d"], "beta2": g["beta2_decay"]}
        return {**numbers, "decoupled_weight_decay": True}


_CURVE = (3.4445, -4.7750, 2.0315)
_RATES = ("original", "match_rms_adamw", "spectral_unclamped")


class Muon(_Other):
    """Steps along the momentum with its singular values brought to 1, of matrices.

    Parameters
    ----------
    params : iterable of ndarray, or of dict
        The parameters, matrices, or groups of them with numbers of their own.
    lr : float
        The learning rate.
    weight_decay : float
        The share of the parameter that goes at each step, times the learning rate.
    momentum : float
        The share of the last step that stays.
    nesterov : bool
        Whether the momentum looks ahead.
    ns_coefficients : (float, float, float)
        The polynomial that brings singular values to 1.
    eps : float
        The least length of what is divided by it.
    ns_steps : int
        How often the polynomial is applied.
    adjust_lr_fn : {'original', 'match_rms_adamw', 'spectral_unclamped'}
        What the learning rate is multiplied by, of the matrix' lengths; None: 'original'.

    Examples
    --------
    >>> w = tt.eye(2).requires_grad_()
    >>> (w * w).sum().backward()
    >>> tt.optim.Muon([w], lr=0.25, weight_decay=0).step()
    >>> bool((w.diagonal() < 1).all())
    True
    """

    _KIND, _STATES, _counts = 9, ("momentum_buffer",), False

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=_CURVE,
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        if adjust_lr_fn is not None and adjust_lr_fn not in _RATES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if not 0 <= ns_steps < 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        super().__init__(params, _given(locals()))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.shape}"
                    )

    def _numbers(self, g, step, kept):
        rate = _RATES.index(g["adjust_lr_fn"] or "original")
        curve = dict(zip("abc", g["ns_coefficients"], strict=True))
        return {**curve, "turns": g["ns_steps"], "rate": rate, "decoupled_weight_decay": True}


def _given(numbers):
    """A constructor's arguments but its object and the parameters."""
    made = {name: value for name, value in numbers.items() if name not in ("self", "params", "numbers", "__class__")}
    if "betas" in made:
        made["betas"] = tuple(made["betas"])
    return made


def __getattr__(name):
    from importlib import import_module

    if name == "LBFGS":
        return import_module("._lbfgs", __name__).LBFGS
    if name == "lr_scheduler":
        return import_module(".lr_scheduler", __name__)
    raise AttributeError(f"module 'tutti.optim' has no attribute {name!r}")
