"""Optimisers: what changes parameters by their gradients. A step over all of them is one evaluation.

import tutti as tt
w = tt.zeros(3).requires_grad_()
optimizer = tt.optim.Adam([w], lr=0.1)
for _ in range(100):
    optimizer.zero_grad()
    ((w - 1) ** 2).sum().backward()
    optimizer.step()
"""

from . import _core

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]


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

    _STATES = ()  # what is kept for each parameter

    def __init__(self, params, defaults):
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.defaults, self.param_groups, self.state = dict(defaults), [], {}
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
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in own) or len({id(p) for p in own}) < len(own):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": own})

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
        loss = closure() if closure is not None else None
        for number, group in enumerate(self.param_groups):
            count = len(group["params"]) * len(self._STATES)
            kept = self.state.setdefault(number, {"step": 0, "values": [None] * count})
            kept["step"] += 1
            self._step(group, kept)
        return loss

    def _step(self, group, kept):
        raise NotImplementedError

    def state_dict(self):
        """Numbers and states, to be kept: arrays are copies.

        Returns
        -------
        dict
            "state" and "param_groups"; parameters are numbers in it.

        Examples
        --------
        >>> sorted(tt.optim.Adam([tt.ones(2).requires_grad_()]).state_dict())
        ['param_groups', 'state']
        """
        first, groups = 0, []
        for group in self.param_groups:
            n = len(group["params"])
            groups.append({**group, "params": list(range(first, first + n))})
            first += n
        state = {
            number: {"step": kept["step"], "values": [None if a is None else a.copy() for a in kept["values"]]}
            for number, kept in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Go on from what state_dict gave.

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
        if [len(g["params"]) for g in groups] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        for own, given in zip(self.param_groups, groups, strict=True):
            own.update({key: value for key, value in given.items() if key != "params"})
        self.state = {
            number: {"step": kept["step"], "values": [None if a is None else a.copy() for a in kept["values"]]}
            for number, kept in state_dict["state"].items()
        }


def _at_least(least, **values):
    for name, value in values.items():
        if not value >= least:
            raise ValueError(f"Invalid {name}: {value}")


class SGD(Optimizer):
    """Gradient descent, with momentum.

    Parameters
    ----------
    params : iterable of ndarray, or of dict
        The parameters, or groups of them with numbers of their own.
    lr : float
        The learning rate.
    momentum : float
        The share of the last step that stays.
    dampening : float
        The share of the gradient that does not enter the momentum.
    weight_decay : float
        The share of the parameter that is added to its gradient.
    nesterov : bool
        Whether the momentum looks ahead.
    maximize : bool
        Whether the parameters climb.

    Examples
    --------
    >>> w = tt.array([1.0, 2.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> tt.optim.SGD([w], lr=0.25).step()
    >>> w
    array([0.5, 1. ])
    """

    _STATES = ("velocity",)

    def __init__(
        self, params, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, *, maximize=False
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
            },
        )

    def _step(self, g, kept):
        numbers = (g["lr"], g["momentum"], g["dampening"], g["weight_decay"], g["nesterov"], g["maximize"])
        _core.sgd_step(g["params"], kept["values"], *numbers)


class Adam(Optimizer):
    """Adam: steps in units of the gradient's usual size.

    Parameters
    ----------
    params : iterable of ndarray, or of dict
        The parameters, or groups of them with numbers of their own.
    lr : float
        The learning rate.
    betas : (float, float)
        How slowly the running means of gradients and of their squares forget.
    eps : float
        What is added to the size, so that it is not 0.
    weight_decay : float
        The share of the parameter that is added to its gradient.
    amsgrad : bool
        Whether the size is the largest so far.
    maximize : bool
        Whether the parameters climb.

    Examples
    --------
    >>> w = tt.array([1.0, 2.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> tt.optim.Adam([w], lr=0.5).step()
    >>> tt.round(w, 6)
    array([0.5, 1.5])
    """

    _STATES = ("mean", "squares", "largest")
    _DECOUPLED = False

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, *, maximize=False
    ):
        _at_least(0, **{"learning rate": lr, "epsilon value": eps, "weight_decay value": weight_decay})
        for k, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {k}: {beta}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": tuple(betas),
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
            },
        )

    def _step(self, g, kept):
        numbers = (g["lr"], *g["betas"], g["eps"], g["weight_decay"], g["amsgrad"], g["maximize"], self._DECOUPLED)
        _core.adam_step(g["params"], kept["values"], kept["step"], *numbers)


class AdamW(Adam):
    """Adam whose weights decay by themselves, not through the gradient.

    Parameters
    ----------
    params : iterable of ndarray, or of dict
        The parameters, or groups of them with numbers of their own.
    lr : float
        The learning rate.
    betas : (float, float)
        How slowly the running means of gradients and of their squares forget.
    eps : float
        What is added to the size, so that it is not 0.
    weight_decay : float
        The share of the parameter that goes at each step, times the learning rate.
    amsgrad : bool
        Whether the size is the largest so far.
    maximize : bool
        Whether the parameters climb.

    Examples
    --------
    >>> w = tt.array([1.0, 2.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> tt.optim.AdamW([w], lr=0.5, weight_decay=0.0).step()
    >>> tt.round(w, 6)
    array([0.5, 1.5])
    """

    _DECOUPLED = True

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
