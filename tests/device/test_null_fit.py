"""fit on the simulated device: the host's numbers, and no wait for the device between steps."""

from null_program import run_program

PROGRAM = """
import warnings
import numpy as np, tutti as tt
from tutti import nn

draws = np.random.default_rng(0)
x = draws.normal(size=(600, 20)).astype("float32")
y = (x[:, :3].sum(axis=1) > 0).astype(int)

def model(device, last, loss):
    tt.manual_seed(0)
    made = tt.Model(nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 2), *last)).to(device)
    made.compile("adam", loss, metrics=["accuracy"], weighted_metrics=["accuracy"])
    return made

def logits(y_true, y_pred):
    return tt.training.losses.sparse_categorical_crossentropy(y_true, y_pred, from_logits=True)
"""


def test_numbers_are_the_hosts():
    run_program(
        PROGRAM,
        """
        import tutti.training.losses

        for last, loss in (([nn.Softmax(-1)], "sparse_categorical_crossentropy"), ([], logits)):
            found = []
            for device in ("cpu", "null"):
                made = model(device, last, loss)
                data = (tt.array(x).to(device), tt.array(y).to(device))
                history = made.fit(*data, epochs=2, validation_split=0.2, class_weight={0: 1.0, 1: 2.0}, verbose=0)
                found.append([*history.history.values(), made.predict(x, verbose=0).tolist()])
            for a, b in zip(*found, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        """,
    )


def test_steps_do_not_wait():
    run_program(
        PROGRAM,
        """
        made = model("null", [nn.Softmax(-1)], "sparse_categorical_crossentropy")
        data = tuple(tt.array(a).to("null") for a in (x[:32], y[:32])) + (None,)
        tt.eval(*data[:2])
        for _ in range(3):
            made.train_step(data)
        before = tt.ledger()["evaluations"]
        for _ in range(5):
            made.train_step(data)
        assert tt.ledger()["evaluations"] - before == 5
        """,
    )


def test_labels_out_of_range():
    run_program(
        PROGRAM,
        """
        wrong = y.copy()
        wrong[40] = 2
        made = model("null", [nn.Softmax(-1)], "sparse_categorical_crossentropy")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made.fit(tt.array(x).to("null"), tt.array(wrong).to("null"), shuffle=False, verbose=0)
        assert "loss of step 2 of epoch 1" in str(caught[0].message), caught
        made = model("cpu", [nn.Softmax(-1)], "sparse_categorical_crossentropy")
        try:
            made.fit(x, wrong, shuffle=False, verbose=0)
        except IndexError:
            pass
        else:
            raise AssertionError
        """,
    )


def test_batches_and_their_losses_do_not_wait():
    """Shuffled batches of arrays on the device, and labels there: one evaluation a step, nothing is looked at."""
    run_program(
        PROGRAM,
        """
        tt.set_eager(0)
        count = []

        class Counting(tt.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                count.append(tt.ledger()["evaluations"])

        made = model("null", [], nn.CrossEntropyLoss())
        made.fit(tt.array(x).to("null"), tt.array(y).to("null"), batch_size=50, callbacks=[Counting()], verbose=0)
        assert set(np.diff(count)) == {1}, np.diff(count)
        """,
    )


def test_places_that_were_moved_are_judged_on_the_host():
    run_program(
        PROGRAM,
        """
        tt.set_eager(0)
        table, at = tt.ones((6, 3)).to("null"), tt.array([[0, 5, 1], [2, 2, -6]])
        tt.synchronize()
        before = tt.ledger()["evaluations"]
        there = at.to("null")
        found = [table[there], tt.take(table, there, axis=0), table[there[1]]]
        assert tt.ledger()["evaluations"] == before
        found.append(nn.functional.cross_entropy(tt.array(x[:3, :6]).to("null"), at[:1].reshape(3).to("null")))
        assert tt.ledger()["evaluations"] == before
        assert all((a == 1).all() for a in found[:3])
        for wrong in (at + 1, at * 2):
            wrong = wrong.to("null")
            part = wrong[:, ::2]
            try:
                table[wrong]
            except IndexError:
                pass
            else:
                raise AssertionError
            if part.max() < 6 and part.min() >= -6:
                assert (table[part] == 1).all()
        """,
    )
