"""Layers of tutti.compat.keras that make numbers of categories, words and texts: what Keras' own pages show."""

import numpy as np
import pytest
import tutti.compat.keras as keras
from tutti.compat.keras._farmhash import fingerprint

L = keras.layers
WORDS = [["a", "c", "d", "d"], ["d", "z", "b", "z"]]


def close(made, want):
    np.testing.assert_allclose(made.numpy(), want, rtol=1e-6)


def test_hashes():
    assert L.Hashing(3)([["A"], ["B"], ["C"], ["D"], ["E"]]).tolist() == [[1], [0], [1], [1], [2]]
    assert L.Hashing(3, mask_value="")([["A"], ["B"], [""], ["C"], ["D"]]).tolist() == [[1], [1], [0], [2], [2]]
    rows = L.Hashing(4, output_mode="one_hot")(np.array([5, 6, 5]))
    assert rows.shape == (3, 4) and rows.numpy().sum() == 3 and (rows[0] == rows[2]).all()
    assert L.Hashing(7)(np.array([12])).tolist() == L.Hashing(7)(["12"]).tolist()
    with pytest.raises(NotImplementedError, match="salt"):
        L.Hashing(3, salt=7)


def test_fingerprints_of_any_length():
    """Each length has its way; different texts have different ones, in 64 bits."""
    found = {fingerprint(bytes(range(n))) for n in range(200)}
    assert len(found) == 200 and max(found) < 2**64 and max(found) > 2**60


def test_vocabularies_of_words():
    made = L.StringLookup(vocabulary=["a", "b", "c", "d"])
    assert made([["a", "c", "d"], ["d", "z", "b"]]).tolist() == [[1, 3, 4], [4, 0, 2]]
    assert made(np.array(["b", "y"])).tolist() == [2, 0] and made("c").item() == 3
    found = L.StringLookup()
    found.adapt([["a", "c", "d"], ["d", "z", "b"]])
    assert found.get_vocabulary() == ["[UNK]", "d", "z", "c", "b", "a"] and found.vocabulary_size() == 6
    two = L.StringLookup(vocabulary=["a", "b", "c", "d"], num_oov_indices=2)
    assert two([["a", "c", "d"], ["m", "z", "b"]]).tolist() == [[2, 4, 5], [0, 1, 3]]
    back = L.StringLookup(vocabulary=["a", "b", "c", "d"], invert=True)
    assert back([[1, 3, 4], [4, 0, 2]]) == [["a", "c", "d"], ["d", "[UNK]", "b"]]
    again = L.StringLookup.from_config(found.get_config())
    assert again.get_vocabulary() == found.get_vocabulary()


@pytest.mark.parametrize("mode, want", [
    ("multi_hot", [[0, 1, 0, 1, 1], [1, 0, 1, 0, 1]]), ("count", [[0, 1, 0, 1, 2], [2, 0, 1, 0, 1]]),
])  # fmt: skip
def test_rows_of_words(mode, want):
    close(L.StringLookup(vocabulary=["a", "b", "c", "d"], output_mode=mode)(WORDS), want)
    wide = L.StringLookup(vocabulary=["a", "b", "c", "d"], output_mode=mode, max_tokens=7, pad_to_max_tokens=True)
    close(wide(WORDS), np.pad(want, ((0, 0), (0, 2))))


def test_weighed_words():
    made = L.StringLookup(output_mode="tf_idf")
    made.set_vocabulary(["a", "b", "c", "d"], idf_weights=[0.25, 0.75, 0.6, 0.4])
    close(made(WORDS), [[0, 0.25, 0, 0.6, 0.8], [1.0, 0, 0.75, 0, 0.4]])
    found = L.TextVectorization(output_mode="tf_idf")
    found.adapt(["a b", "b c", "b"])
    assert found.get_vocabulary() == ["[UNK]", "b", "c", "a"]
    weights = np.log(1 + 3 / (1 + np.array([3, 1, 1])))
    close(found(["b a b", "x"]), [[0, 2 * weights[0], 0, weights[2]], [weights.mean(), 0, 0, 0]])


def test_vocabularies_of_numbers():
    made = L.IntegerLookup()
    made.adapt([[12, 1138, 42], [42, 1000, 36]])
    assert made.get_vocabulary() == [-1, 42, 1138, 1000, 36, 12]
    assert made(np.array([[12, 1138, 42], [42, 1000, 36]])).tolist() == [[5, 2, 1], [1, 3, 4]]
    two = L.IntegerLookup(vocabulary=[12, 36, 1138, 42], num_oov_indices=2)
    assert two([[12, 1138, 42], [37, 1000, 36]]).tolist() == [[2, 4, 5], [1, 0, 3]]
    assert L.IntegerLookup(vocabulary=[5, 6], mask_token=0)([[0, 5], [6, 7]]).tolist() == [[0, 2], [3, 1]]
    assert L.IntegerLookup(vocabulary=[5, 6], invert=True)([2, 0, 1]).tolist() == [6, -1, 5]


def test_texts():
    made = L.TextVectorization(output_sequence_length=4, vocabulary=["earth", "wind", "and", "fire"])
    assert made.get_vocabulary() == ["", "[UNK]", "earth", "wind", "and", "fire"]
    assert made([["Earth, wind & FIRE!"], ["and more of water and fire"]]).tolist() == [[2, 3, 5, 0], [4, 1, 1, 1]]
    assert made("wind").tolist() == [3, 0, 0, 0]
    found = L.TextVectorization(max_tokens=4)
    found.adapt(np.array(["foo bar", "bar baz", "baz bada boom"]))
    assert found.get_vocabulary() == ["", "[UNK]", "baz", "bar"] and found(["boom bar baz"]).tolist() == [[1, 3, 2]]
    pairs = L.TextVectorization(ngrams=2)
    pairs.adapt(["a b c"])
    assert sorted(pairs.get_vocabulary()[2:]) == ["a", "a b", "b", "b c", "c"]
    letters = L.TextVectorization(standardize=None, split="character")
    letters.adapt(["aba"])
    assert letters(["ab"]).tolist() == [[2, 3]]
    own = L.TextVectorization(standardize=lambda text: text.replace("-", " "), split=lambda text: text.split(" "))
    own.adapt(["x-y"])
    assert sorted(own.get_vocabulary()) == ["", "[UNK]", "x", "y"]
    again = L.TextVectorization.from_config(found.get_config())
    assert again(["boom bar baz"]).tolist() == [[1, 3, 2]]


def test_bins():
    x = np.array([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]])
    assert L.Discretization([0.0, 1.0, 2.0])(x).tolist() == [[0, 2, 3, 1], [1, 3, 2, 1]]
    found = L.Discretization(num_bins=4, epsilon=0.01)
    found.adapt(x)
    assert found(x).tolist() == [[0, 2, 3, 2], [1, 3, 3, 1]]
    r = np.random.default_rng(0)
    many = L.Discretization(num_bins=7)
    many.adapt(r.standard_normal((500, 3)).astype("float32"))
    np.testing.assert_allclose(many.bin_boundaries, BORDERS[0], atol=1e-4)
    many = L.Discretization(num_bins=3, epsilon=0.1)
    many.adapt([r.standard_normal(50).astype("float32") for _ in range(4)])
    np.testing.assert_allclose(many.bin_boundaries, BORDERS[1], atol=1e-4)
    assert L.Discretization.from_config(many.get_config()).bin_boundaries == many.bin_boundaries


# As Keras 3.16 finds them.
BORDERS = ([-1.0657, -0.5852, -0.1993, 0.1711, 0.5515, 1.0587], [-0.3366, 0.4868])


def test_categories():
    close(L.CategoryEncoding(4, "one_hot")(np.array([3, 2, 0, 1])), np.eye(4)[[3, 2, 0, 1]])
    x = np.array([[0, 1], [0, 0], [1, 2], [3, 1]])
    close(L.CategoryEncoding(4)(x), [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]])
    weights = np.array([[0.1, 0.2], [0.1, 0.1], [0.2, 0.3], [0.4, 0.2]])
    want = [[0.1, 0.2, 0, 0], [0.2, 0, 0, 0], [0, 0.2, 0.3, 0], [0, 0.2, 0, 0.4]]
    close(L.CategoryEncoding(4, "count")(x, count_weights=weights), want)


def test_lookups_in_models():
    model = keras.Sequential([
        keras.Input((3,), dtype="int32"), L.IntegerLookup(vocabulary=[5, 6, 7], output_mode="multi_hot"), L.Dense(2),
    ])  # fmt: skip
    assert model.output_shape == (None, 2) and model(np.array([[5, 6, 9]])).shape == (1, 2)
    texts = L.TextVectorization(vocabulary=["a"], output_sequence_length=5)
    assert texts(keras.Input((1,), dtype="string")).shape == (None, 5)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: L.CategoryEncoding(), ValueError, "num_tokens must be set"),
    (lambda: L.Discretization(), ValueError, "either `num_bins` or `bin_boundaries`"),
    (lambda: L.Discretization(num_bins=3)(np.ones(2)), ValueError, "call `adapt"),
    (lambda: L.StringLookup()(["a"]), RuntimeError, "adapt"),
    (lambda: L.StringLookup(vocabulary=["a", "a"]), ValueError, "repeated term"),
    (lambda: L.StringLookup(vocabulary=["a"], num_oov_indices=0)(["b"]), ValueError, "found OOV values"),
    (lambda: L.StringLookup(vocabulary=["a", "b"], max_tokens=2), ValueError, "larger than the maximum vocab size"),
    (lambda: L.TextVectorization(split="lines"), ValueError, "`split`"),
    (lambda: L.TextVectorization(vocabulary=["a"])([["a", "b"]]), ValueError, "the input rank must be 1"),
    (lambda: L.Hashing(0), ValueError, "num_bins"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
