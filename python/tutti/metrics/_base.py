"""What metrics have in common: states that updates add to, which stay where they are computed until somebody looks."""

import tutti as tt

from ..training import losses

# Sums of single updates are kept and added up together, which costs less than an addition in each step.
_TOGETHER = 32
_ARRAY = tt.ndarray


class Metric:
    """What metrics are made of: update_state takes what is true and what a model says, result gives the metric so far.

    Parameters
    ----------
    name : str, optional
        The name in logs; None: the class's.
    dtype : dtype, optional
        The type of the result; None: float32.

    Examples
    --------
    >>> class Largest(tt.metrics.Metric):
    ...     def reset_state(self):
    ...         self.largest = tt.array(0.0)
    ...     def update_state(self, y_true, y_pred, sample_weight=None):
    ...         self.largest = tt.maximum(self.largest, abs(y_pred - y_true).max())
    ...     def result(self):
    ...         return self.largest
    >>> Largest()(tt.array([1.0, 2.0]), tt.array([1.5, 2.0])).item()
    0.5
    """

    def __init__(self, name=None, dtype=None):
        self.name = name or losses.snake_case(type(self).__name__)
        self.dtype = tt.dtype(dtype or "float32")
        self.reset_state()

    def reset_state(self):
        """Begin anew.

        Returns
        -------
        None

        Examples
        --------
        >>> mean = tt.metrics.Mean()
        >>> mean.update_state([1.0, 2.0])
        >>> mean.reset_state()
        >>> mean.result().item()
        0.0
        """

    def update_state(self, *args, **kwargs):
        """Take in what is true and what a model says, or values; a weight for each sample counts it more often.

        Parameters
        ----------
        *args, **kwargs
            y_true, y_pred and sample_weight for most metrics; values and sample_weight for `Mean` and `Sum`.

        Returns
        -------
        None

        Examples
        --------
        >>> accuracy = tt.metrics.Accuracy()
        >>> accuracy.update_state([1, 2, 3], [1, 2, 4])
        >>> accuracy.update_state([1], [1])
        >>> accuracy.result().item()
        0.75
        """
        raise NotImplementedError(f"{type(self).__name__} has no update_state")

    def result(self):
        """The metric of all updates so far.

        Returns
        -------
        ndarray
            A number, or some; recorded, as everything is.

        Examples
        --------
        >>> tt.metrics.Sum()([1.0, 2.0]).item()
        3.0
        """
        raise NotImplementedError(f"{type(self).__name__} has no result")

    def __call__(self, *args, **kwargs):
        self.update_state(*args, **kwargs)
        return self.result()

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"

    def _pending(self):
        """The arrays that updates go on from."""
        for value in vars(self).values():
            if isinstance(value, tt.ndarray):
                yield value
            elif isinstance(value, Total):
                yield from value.pending()


class Total:
    """A sum of what updates give: arrays of one element, each so many times, or numbers."""

    def __init__(self):
        self._number, self._sum, self._arrays, self._times = 0, None, [], []

    def add(self, value, times=1):
        if not isinstance(value, _ARRAY):
            self._number += value * times
            return
        arrays = self._arrays
        arrays.append(value)
        self._times.append(times)
        if len(arrays) == _TOGETHER:
            with tt.no_grad():
                self._fold()

    def _fold(self):
        self._sum = self._of_arrays()
        self._arrays, self._times = [], []

    def _of_arrays(self):
        values, times = tt.stack(self._arrays).astype("float64"), self._times
        same = all(n == times[0] for n in times)
        together = values.sum() * times[0] if same else (values * tt.array(times)).sum()
        return together if self._sum is None else self._sum + together

    def value(self):
        with tt.no_grad():
            total = self._of_arrays() if self._arrays else self._sum
            return self._number if total is None else total + self._number

    def pending(self):
        """What the latest update left to be computed."""
        return self._arrays[-1:] if self._arrays or self._sum is None else [self._sum]


class WatchedTotal(Total):
    """A sum that knows the first value that was not finite."""

    def __init__(self):
        super().__init__()
        self._before, self._first = 0, None

    def _fold(self):
        self._first, self._before = self.first_bad(), self._before + len(self._arrays)
        super()._fold()

    def first_bad(self):
        """The number of that value as an array; -1: all are finite."""
        if not self._arrays:
            return self._first
        with tt.no_grad():
            bad = ~tt.isfinite(tt.stack(self._arrays))
            here = tt.where(bad.any(), self._before + bad.argmax(), -1)
            return here if self._first is None else tt.where(self._first >= 0, self._first, here)


def _by_sample(values, sample_weight):
    """Values times their weights with one number for each sample, and the weights in the same form."""
    values = tt.asarray(values)
    if values.dtype in (tt.float16, tt.bfloat16):  # their sums would stand still
        values = values.astype("float32")
    if sample_weight is not None:
        weight = tt.asarray(sample_weight).astype("float32")
        values, weight = losses.same_rank(values, weight)
        if values.ndim > weight.ndim:
            values = values.mean(axis=tuple(range(weight.ndim, values.ndim)))
        weight = tt.broadcast_to(weight, values.shape)
        values = values * weight
        sample_weight = weight.mean(axis=tuple(range(1, weight.ndim))) if weight.ndim > 1 else weight
    if values.ndim > 1:
        values = values.mean(axis=tuple(range(1, values.ndim)))
    return values, sample_weight


def ratio(a, b):
    """A quotient that is 0 where there is nothing to divide by."""
    a, b = tt.asarray(a).astype("float64"), tt.asarray(b).astype("float64")
    return tt.where(b == 0, 0.0, a / tt.where(b == 0, 1.0, b))


class Sum(Metric):
    """The sum of values.

    Parameters
    ----------
    name : str
        The name in logs.
    dtype : dtype, optional
        The type of the result; None: float32.

    Examples
    --------
    >>> tt.metrics.Sum()([1.0, 2.0], sample_weight=[1, 0]).item()
    1.0
    """

    def __init__(self, name="sum", dtype=None):
        super().__init__(name, dtype)

    def reset_state(self):
        self._total = Total()

    def update_state(self, values, sample_weight=None):
        values = _by_sample(values, sample_weight)[0]
        self._total.add(values.sum())

    def result(self):
        return tt.asarray(self._total.value()).astype(self.dtype)


class Mean(Metric):
    """The mean of values.

    Parameters
    ----------
    name : str
        The name in logs.
    dtype : dtype, optional
        The type of the result; None: float32.

    Examples
    --------
    >>> tt.metrics.Mean()([1.0, 3.0, 5.0], sample_weight=[1, 1, 0]).item()
    2.0
    """

    def __init__(self, name="mean", dtype=None):
        super().__init__(name, dtype)

    def reset_state(self):
        self._total, self._count = Total(), Total()

    def update_state(self, values, sample_weight=None):
        if sample_weight is None and isinstance(values, tt.ndarray) and values.ndim == 1:
            self._total.add(values.sum())
            self._count.add(len(values))
            return
        values, weight = _by_sample(values, sample_weight)
        self._total.add(values.sum() if values.ndim else values)
        self._count.add((len(values) if values.ndim else 1) if weight is None else weight.sum())

    def add(self, mean, count):
        """Take in the mean of some values.

        Parameters
        ----------
        mean : ndarray
            Their mean.
        count : int
            How many they are.

        Returns
        -------
        None

        Examples
        --------
        >>> mean = tt.metrics.Mean()
        >>> mean.add(tt.array(2.0), 3)
        >>> mean.result().item()
        2.0
        """
        self._total.add(mean, count)
        if type(count) is int:
            self._count._number += count
        else:
            self._count.add(count)

    def result(self):
        return ratio(self._total.value(), self._count.value()).astype(self.dtype)


class MeanMetricWrapper(Mean):
    """The mean of a function of what is true and what a model says.

    Parameters
    ----------
    fn : callable
        Takes y_true and y_pred and gives a value for each sample.
    name : str, optional
        The name in logs; None: the function's.
    dtype : dtype, optional
        The type of the result; None: float32.
    **kwargs
        What else the function is given.

    Examples
    --------
    >>> wrong = tt.metrics.MeanMetricWrapper(lambda y_true, y_pred: y_true != y_pred, name="wrong")
    >>> wrong(tt.array([1, 2]), tt.array([1, 3])).item()
    0.5
    """

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        self._fn, self._kwargs = fn, kwargs
        super().__init__(name or fn.__name__, dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        super().update_state(self._fn(y_true, y_pred, **self._kwargs), sample_weight)
