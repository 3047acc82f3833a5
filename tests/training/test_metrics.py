"""Metrics give Keras' numbers, with weights and over several updates, and nothing where there was nothing."""

import inspect

import metric_numbers
import numpy as np
import pytest
import tutti as tt
from metric_numbers import CASES, NUMBERS_OF_KERAS


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_numbers_are_keras(case):
    for got, want in zip(metric_numbers.results(tt.metrics, *case), NUMBERS_OF_KERAS[case], strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


def test_keras_says_the_same_today():
    keras = pytest.importorskip("keras")
    for case in CASES[::5]:
        for got, want in zip(metric_numbers.results(keras.metrics, *case), NUMBERS_OF_KERAS[case], strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=str(case))


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_reset_forgets(case):
    y_true, y_pred = metric_numbers.DATA[case[1]]
    fresh, used = (eval(f"tt.metrics.{case[0]}", {"tt": tt}) for _ in range(2))
    used.update_state(y_true[:3], y_pred[:3])
    used.reset_state()
    np.testing.assert_array_equal(used.result(), fresh.result())
    np.testing.assert_array_equal(used(y_true, y_pred), fresh(y_true, y_pred))


@pytest.mark.parametrize("case", [c for c in CASES if not c[0].startswith("R2Score")], ids="-".join)
def test_of_nothing_is_nothing(case):
    y_true, y_pred = metric_numbers.DATA[case[1]]
    one = eval(f"tt.metrics.{case[0]}", {"tt": tt})
    with np.errstate(all="ignore"):
        one.update_state(y_true[:0], y_pred[:0])
        nothing = one.result()
        assert np.asarray(nothing == 0).all()
        want = eval(f"tt.metrics.{case[0]}", {"tt": tt})(y_true, y_pred)
        np.testing.assert_array_equal(one(y_true, y_pred), want)


def test_many_updates_are_one():
    together, apart = tt.metrics.Mean(), tt.metrics.Mean()
    values = np.random.default_rng(0).random(200)
    together.update_state(values)
    for k, value in enumerate(values):
        apart.update_state(value)
        if k % 7 == 0:
            assert float(apart.result()) == pytest.approx(values[: k + 1].mean(), rel=1e-6)
    assert float(apart.result()) == pytest.approx(float(together.result()), rel=1e-6)


def test_sums_do_not_stop_growing():
    """A sum in 32 bits stands still at 2**24."""
    total = tt.metrics.Sum()
    total.update_state(tt.array(2.0**24))
    for _ in range(100):
        total.update_state(1.0)
    assert float(total.result()) == 2**24 + 100


def test_an_adjusted_score_counts_samples():
    """Keras 3.15 counts numbers, later ones samples."""
    y_true, y_pred = metric_numbers.DATA["numbers"]
    plain, adjusted = (float(tt.metrics.R2Score(num_regressors=n)(y_true, y_pred)) for n in (0, 2))
    assert adjusted == pytest.approx(1 - (1 - plain) * 49 / 47, rel=1e-6)
    assert float(tt.metrics.R2Score(num_regressors=49)(y_true, y_pred)) == plain


def test_names():
    for name in ("mse", "MSE", "mean_squared_error", "MeanSquaredError"):
        assert isinstance(tt.metrics.get(name), (tt.metrics.MeanSquaredError, tt.metrics.MeanMetricWrapper))
    classes = [v for v in vars(tt.metrics).values() if inspect.isclass(v)]
    without = [c for c in classes if not any("self" != p for p in inspect.signature(c).parameters)]
    assert not without
    with pytest.raises(ValueError, match="Could not interpret metric identifier: nothing"):
        tt.metrics.get("nothing")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m: m.Precision(thresholds=1.5), r"in the range \[0, 1\]"),
        (lambda m: m.AUC(num_thresholds=1), "an integer > 1"),
        (lambda m: m.AUC(curve="roc2"), "Invalid `curve` argument value"),
        (lambda m: m.AUC(num_labels=2), "only when `multi_label` is True"),
        (lambda m: m.FBetaScore(beta=1), "should be a Python float"),
        (lambda m: m.F1Score(average="all"), "Invalid `average`"),
        (lambda m: m.F1Score()([1.0], [1.0]), "expects 2D inputs"),
        (lambda m: m.R2Score()([1.0], [1.0]), "expects 2D inputs"),
        (lambda m: m.IoU(2, [2]), "out of range"),
        (lambda m: m.PrecisionAtRecall(2), "Argument `recall` must be in the range"),
        (lambda m: m.Recall(class_id=1)([1.0], [1.0]), "y_pred must be a 2D array"),
        (lambda m: m.SparseCategoricalCrossentropy()([1, 2], [[0.5, 0.5]]), "same shape up until"),
    ],
)
def test_errors(make, words):
    with pytest.raises(ValueError, match=words):
        make(tt.metrics)
