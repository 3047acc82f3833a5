"""Limited-memory BFGS: steps along directions that earlier gradients say, with several evaluations each."""

from collections import namedtuple

from .. import _core, autograd
from ..nn.utils import parameters_to_vector, vector_to_parameters
from . import Optimizer

_dot, _abs, _max = _core.functions["vdot"], _core.ops["absolute"], _core.functions["max"]
_toward = _core.functions["optim.lbfgs_direction"]


# A place along a direction, how far away: the loss, its gradient, and the slope along the direction.
_Point = namedtuple("_Point", ["t", "loss", "gradient", "slope"])
_ENOUGH, _FLAT, _CLOSE = 1e-4, 0.9, 1e-9  # of the slope's fall, of the slope's size, between two places


def _cubic(a, b, bounds=None):
    """Where the cubic through two places with their slopes is least, within bounds."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = square**0.5
    width = b.slope - a.slope + 2 * d2
    least = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / width) if width else (low + high) / 2
    return min(max(least, low), high)


def _bracket(along, t, start, most):
    """Two places between which there is one that is good enough, or that one alone; and how many were looked at."""
    before, now, count = start, along(t), 1
    for turn in range(most):
        if now.loss > start.loss + _ENOUGH * now.t * start.slope or (turn > 1 and now.loss >= before.loss):
            return [before, now], count, turn
        if abs(now.slope) <= -_FLAT * start.slope:
            return [now], count, turn
        if now.slope >= 0:
            return [before, now], count, turn
        t = _cubic(before, now, (now.t + 0.01 * (now.t - before.t), now.t * 10))
        before, now = now, along(t)
        count += 1
    return [start, now], count, most


def _inside(ends, stuck):
    """A place between two, and whether it was near one of them: a second time it is moved away from there."""
    t = _cubic(*ends)
    low, high = min(e.t for e in ends), max(e.t for e in ends)
    away = 0.1 * (high - low)
    if min(high - t, t - low) >= away:
        return t, False
    if stuck or t >= high or t <= low:
        return (high - away if abs(t - high) < abs(t - low) else low + away), False
    return t, True


def strong_wolfe(along, t, start, size, most):
    """A place along a direction where loss and slope have fallen enough (the strong Wolfe conditions).

    `along(t)` evaluates a place, `start` is that at 0, `size` the direction's largest element, `most` how many turns
    there may be. Gives the place and how many were evaluated.
    """
    ends, count, turn = _bracket(along, t, start, most)
    if len(ends) == 1:
        return ends[0], count
    stuck, low = False, int(ends[1].loss < ends[0].loss)
    while turn < most and abs(ends[1].t - ends[0].t) * size >= _CLOSE:
        t, stuck = _inside(ends, stuck)
        now = along(t)
        count, turn, high = count + 1, turn + 1, 1 - low
        if now.loss > start.loss + _ENOUGH * t * start.slope or now.loss >= ends[low].loss:
            ends[high] = now
            low = int(ends[1].loss < ends[0].loss)
            continue
        done = abs(now.slope) <= -_FLAT * start.slope
        if not done and now.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = now
        if done:
            break
    return ends[low], count


class LBFGS(Optimizer):
    """Limited-memory BFGS; step() needs a closure that computes the loss and its gradients again.

    Parameters
    ----------
    params : iterable of ndarray
        The parameters, one group.
    lr : float
        The learning rate.
    max_iter : int
        How many iterations a step has at most.
    max_eval : int
        How many evaluations a step has at most; None: a quarter more than iterations.
    tolerance_grad : float
        Gradients whose elements are all smaller are the end.
    tolerance_change : float
        Changes of parameters or losses that are smaller are the end.
    history_size : int
        How many changes are remembered.
    line_search_fn : {'strong_wolfe'}
        How far to go along a direction: until loss and slope have fallen enough; None: lr times the direction.

    Examples
    --------
    >>> w = tt.array([1.0, 2.0]).requires_grad_()
    >>> optimizer = tt.optim.LBFGS([w], lr=0.5)
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (w * w).sum()
    ...     loss.backward()
    ...     return loss
    >>> float(optimizer.step(closure))
    5.0
    >>> float(closure()) < 1e-6
    True
    """

    def __init__(
        self,
        params,
        lr=1,
        max_iter=20,
        max_eval=None,
        tolerance_grad=1e-7,
        tolerance_change=1e-9,
        history_size=100,
        line_search_fn=None,
    ):
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError("only 'strong_wolfe' is supported")
        if not lr >= 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._past = {"n_iter": 0, "func_evals": 0, "d": None, "prev_flat_grad": None, "old_dirs": [], "old_stps": []}

    def _gradient(self):
        params = self.param_groups[0]["params"]
        zeros = _core.functions["zeros_like"]
        return parameters_to_vector([zeros(p.detach()) if p.grad is None else p.grad for p in params])

    def _direction(self, gradient):
        """Where to go, by the changes that are remembered; the last one joins them if the slope grew along it."""
        past, group = self._past, self.param_groups[0]
        if past["d"] is not None:
            y, s = gradient - past["prev_flat_grad"], past["d"] * past["t"]
            if float(_dot(y, s)) > 1e-10:
                past["old_dirs"].append(y), past["old_stps"].append(s)
                if len(past["old_dirs"]) > group["history_size"]:
                    past["old_dirs"].pop(0), past["old_stps"].pop(0)
        return _toward(gradient, past["old_dirs"], past["old_stps"])

    def step(self, closure):
        """Change the parameters.

        Parameters
        ----------
        closure : callable
            Computes the loss and its gradients.

        Returns
        -------
        ndarray
            What closure gave first.

        Examples
        --------
        >>> w = tt.ones(2).requires_grad_()
        >>> optimizer = tt.optim.LBFGS([w])
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     (w * w).sum().backward()
        ...     return (w * w).sum()
        >>> float(optimizer.step(closure))
        2.0
        """
        group, past = self.param_groups[0], self._past

        def evaluate():
            past["func_evals"] += 1
            with autograd.enable_grad():
                return closure()

        first = evaluate()
        with autograd.no_grad():
            self._iterate(evaluate, float(first), group)
        return first

    def _iterate(self, evaluate, loss, group):
        past, params, evaluations = self._past, group["params"], 1
        gradient = self._gradient()
        for iteration in range(1, group["max_iter"] + 1):
            if iteration == 1 and float(_max(_abs(gradient))) <= group["tolerance_grad"]:
                return
            past["n_iter"] += 1
            d = self._direction(gradient)
            past["d"], past["prev_flat_grad"] = d, gradient
            size = float(_abs(gradient).sum())
            t = past["t"] = min(1.0, 1.0 / size) * group["lr"] if past["n_iter"] == 1 else group["lr"]
            slope = float(_dot(gradient, d))
            if slope > -group["tolerance_change"]:
                return
            before, start = loss, parameters_to_vector(params)
            if group["line_search_fn"]:

                def along(t, start=start, d=d):
                    vector_to_parameters(start + d * t, params)
                    loss, gradient = float(evaluate()), self._gradient()
                    return _Point(t, loss, gradient, float(_dot(gradient, d)))

                size, most = float(_max(_abs(d))), group["max_eval"] - evaluations
                best, more = strong_wolfe(along, t, _Point(0.0, loss, gradient, slope), size, most)
                t, loss, gradient, _ = best
                past["t"] = t
                evaluations += more
            vector_to_parameters(start + d * t, params)
            if iteration == group["max_iter"]:
                return
            if not group["line_search_fn"]:
                loss = float(evaluate())
                gradient, evaluations = self._gradient(), evaluations + 1
            change = float(_max(_abs(d * t)))
            if (
                evaluations >= group["max_eval"]
                or float(_max(_abs(gradient))) <= group["tolerance_grad"]
                or change <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                return

    def state_dict(self):
        """Numbers and what is remembered.

        Returns
        -------
        dict
            "state" and "param_groups".

        Examples
        --------
        >>> tt.optim.LBFGS([tt.ones(2).requires_grad_()]).state_dict()["state"][0]["n_iter"]
        0
        """
        past = {**self._past, "old_dirs": list(self._past["old_dirs"]), "old_stps": list(self._past["old_stps"])}
        return {**super().state_dict(), "state": {0: past}}

    def load_state_dict(self, state_dict):
        """Go on from what state_dict gave.

        Parameters
        ----------
        state_dict : dict
            Of an optimiser with as many parameters.

        Returns
        -------
        None

        Examples
        --------
        >>> a, b = (tt.optim.LBFGS([tt.ones(2).requires_grad_()], lr=lr) for lr in (0.1, 0.2))
        >>> a.load_state_dict(b.state_dict())
        >>> a.param_groups[0]["lr"]
        0.2
        """
        super().load_state_dict({"state": {}, "param_groups": state_dict["param_groups"]})
        past = state_dict["state"][0]
        self._past = {**past, "old_dirs": list(past["old_dirs"]), "old_stps": list(past["old_stps"])}
