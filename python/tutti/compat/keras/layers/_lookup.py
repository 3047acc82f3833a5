"""Layers that make numbers of numbers, words and texts: bins, vocabularies, counts of categories."""

import collections
import itertools
import math
import re

import tutti as tt

from .._farmhash import fingerprint
from .._graph import KerasTensor
from .._layer import Layer
from .._tree import flatten
from .._variable import tensor

_MODES = "int", "one_hot", "multi_hot", "count"


def _check_mode(mode, allowed):
    mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(mode, mode)
    if mode not in allowed:
        raise ValueError(f"Invalid value for argument `output_mode`. Expected one of {allowed}. Received: {mode}")
    return mode


def encoded(indices, mode, depth, dtype, weights=None):
    """Whole numbers as they are, or as places of rows: one each, those that are there, or how often they are."""
    if mode == "int":
        return indices.astype(dtype)
    x = indices[None] if indices.ndim == 0 else indices
    if mode == "one_hot" and x.ndim > 1 and x.shape[-1] == 1:
        x = x[..., 0]
    rows = (x[..., None] == tt.arange(depth, dtype=x.dtype)).astype(dtype)
    if mode == "one_hot":
        return rows
    axis = 1 if rows.ndim > 2 else 0
    if mode == "multi_hot":
        return tt.max(rows, axis)
    return tt.sum(rows if weights is None else rows * weights[..., None].astype(dtype), axis)


class _Encoder(Layer):
    """What knows the shape of its outputs without computing any."""

    def __init__(self, sparse, **kwargs):
        super().__init__(**kwargs)
        if sparse:
            raise ValueError("`sparse=True` cannot be used with backend tutti")
        self.sparse = sparse

    def _shape(self, shape, mode, depth):
        if mode == "int":
            return tuple(shape)
        shape = tuple(shape) or (1,)
        if mode == "one_hot":
            return (*(shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape), depth)
        return (shape[0], *shape[2:], depth) if len(shape) > 1 else (depth,)


class CategoryEncoding(_Encoder):
    """Whole numbers as rows of the categories that they are."""

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        super().__init__(sparse, **kwargs)
        if num_tokens is None:
            raise ValueError(
                "num_tokens must be set to use this layer. If the number of tokens is not known beforehand, use the "
                "IntegerLookup layer instead."
            )
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be >= 1. Received: num_tokens={num_tokens}.")
        self.num_tokens, self.output_mode = num_tokens, _check_mode(output_mode, _MODES[1:])

    def call(self, inputs, count_weights=None):
        """The rows."""
        x = inputs if inputs.dtype.kind in "iu" else inputs.astype("int64")
        return encoded(x, self.output_mode, self.num_tokens, self.compute_dtype, count_weights)


def _summary(values, epsilon):
    """Elements in order, each for as many as there are of them in a share."""
    values = tt.sort(values.reshape(-1))
    step = max(math.prod(values.shape) / (1.0 / epsilon), 1)
    borders = values[int(step - 1) :: int(step)]
    return borders, tt.full_like(borders, step)


def _compressed(borders, weights, epsilon):
    """A summary with one element for each share."""
    if len(borders) * epsilon < 1:
        return borders, weights
    shares = epsilon + tt.arange(0.0, 1.0, epsilon)
    sums = tt.cumsum(weights)
    parts = sums / sums[-1]
    new = tt.interp(shares, parts, borders)
    sums = tt.interp(shares, parts, sums)
    return new.astype("float32"), (sums - tt.concatenate([tt.zeros(1), sums[:-1]])).astype("float32")


def _joined(summary, known, epsilon):
    borders, weights = summary if known is None else (tt.concatenate(pair) for pair in zip(known, summary))
    order = tt.argsort(borders)
    return _compressed(borders[order], weights[order], epsilon)


class Discretization(_Encoder):
    """The number of the bin that each element falls into; the borders are given, or quantiles of data."""

    def __init__(
        self, bin_boundaries=None, num_bins=None, epsilon=0.01, output_mode="int", sparse=False, dtype=None, name=None,
        **kwargs,
    ):  # fmt: skip
        super().__init__(sparse, dtype=dtype, name=name, **kwargs)
        if num_bins is not None and bin_boundaries is not None:
            raise ValueError(
                f"Both `num_bins` and `bin_boundaries` should not be set. Received: `num_bins={num_bins}` and "
                f"`bin_boundaries={bin_boundaries}`"
            )
        if num_bins is None and bin_boundaries is None:
            raise ValueError("You need to set either `num_bins` or `bin_boundaries`.")
        if num_bins is not None and num_bins < 0:
            raise ValueError(f"`num_bins` must be greater than or equal to 0. Received: `num_bins={num_bins}`")
        self.bin_boundaries = bin_boundaries if bin_boundaries is None else [float(b) for b in bin_boundaries]
        self.num_bins, self.epsilon, self.output_mode = num_bins, epsilon, _check_mode(output_mode, _MODES)

    def adapt(self, data, steps=None):
        """Take the quantiles of data: an array, or batches."""
        if self.num_bins is None:
            raise ValueError(
                "Cannot adapt a Discretization layer that has been initialized with `bin_boundaries`, use `num_bins` "
                "instead."
            )
        batches = (
            [data] if hasattr(data, "__array__") or isinstance(data, tt.ndarray) else itertools.islice(data, steps)
        )
        known = None
        for batch in batches:
            known = _joined(_summary(tensor(batch, "float32"), self.epsilon), known, self.epsilon)
        self.bin_boundaries = _compressed(*known, 1.0 / self.num_bins)[0][:-1].tolist()

    def get_config(self):
        """Its borders, those that adapt() found too."""
        made = super().get_config()
        found = self.bin_boundaries is not None
        return {**made, "bin_boundaries": self.bin_boundaries, "num_bins": None if found else self.num_bins}

    def call(self, inputs):
        """The numbers of the bins, or rows of them."""
        if self.bin_boundaries is None:
            raise ValueError(
                "You need to either pass the `bin_boundaries` argument at construction time or call `adapt(dataset)` "
                "before you can start using the `Discretization` layer."
            )
        found = tt.searchsorted(tt.array(self.bin_boundaries, dtype="float32"), inputs.astype("float32"), side="right")
        dtype = "int32" if self.output_mode == "int" else self.compute_dtype
        return encoded(found, self.output_mode, len(self.bin_boundaries) + 1, dtype)


# ---- words: lists of Python's, which no array can be


def _listed(data):
    """Nested lists of what arrays, tuples and texts have in them."""
    if hasattr(data, "tolist"):
        data = data.tolist()
    if isinstance(data, (list, tuple)):
        return [_listed(part) for part in data]
    return data.decode() if isinstance(data, bytes) else data


def _each(data, function):
    return [_each(part, function) for part in data] if isinstance(data, list) else function(data)


def _shape_of(data):
    return (len(data), *(_shape_of(data[0]) if data else ())) if isinstance(data, list) else ()


class _OfWords(_Encoder):
    """What takes words: they are looked at one by one, before anything is computed."""

    def __call__(self, inputs, *args, **kwargs):
        if any(isinstance(x, KerasTensor) for x in flatten(inputs)):
            return super().__call__(inputs, *args, **kwargs)
        return self.call(inputs, *args, **kwargs)

    def compute_output_spec(self, inputs, *args, **kwargs):
        """The shape and the type of the outputs."""
        dtype = "int64" if self.output_mode == "int" else self.compute_dtype
        return KerasTensor(self._shape(inputs.shape, self.output_mode, self._depth()), dtype)


def _text_of(value):
    return str(int(value)) if isinstance(value, (int, float)) else str(value)


class Hashing(_OfWords):
    """The bin that a word or a number falls into by its hash."""

    def __init__(self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs):
        if kwargs.get("dtype") in ("int32", "int64"):
            kwargs.pop("dtype")
        super().__init__(sparse, **kwargs)
        if num_bins is None or num_bins <= 0:
            raise ValueError(
                f"The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: num_bins={num_bins}."
            )
        if salt is not None:
            raise NotImplementedError("tutti.compat.keras does not cover the salt of Hashing")
        self.num_bins, self.mask_value, self.salt = num_bins, mask_value, salt
        self.output_mode = _check_mode(output_mode, _MODES)

    def _depth(self):
        return self.num_bins

    def _bin(self, value):
        masks = self.mask_value is not None and self.num_bins > 1
        if masks and value == self.mask_value:
            return 0
        return fingerprint(_text_of(value).encode()) % (self.num_bins - masks) + masks

    def call(self, inputs):
        """The numbers of the bins, or rows of them."""
        found = tt.array(_each(_listed(inputs), self._bin), dtype="int64")
        dtype = "int64" if self.output_mode == "int" else self.compute_dtype
        return encoded(found, self.output_mode, self.num_bins, dtype)


class _Lookup(_OfWords):
    """A vocabulary: numbers of words, the mask's first, then those of words that are not in it."""

    def __init__(
        self, max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert, output_mode,
        pad_to_max_tokens, sparse, **kwargs,
    ):  # fmt: skip
        super().__init__(sparse, **kwargs)
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(f"If set, `max_tokens` must be greater than 1. Received: max_tokens={max_tokens}")
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError("If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens=None")
        if num_oov_indices < 0:
            raise ValueError(
                "`num_oov_indices` must be greater than or equal to 0. " f"Received: num_oov_indices={num_oov_indices}"
            )
        self.output_mode = _check_mode(output_mode, (*_MODES, "tf_idf"))
        if invert and self.output_mode != "int":
            raise ValueError(
                f"`output_mode` must be `'int'` when `invert` is true. Received: output_mode={output_mode}"
            )
        self.max_tokens, self.num_oov_indices, self.invert = max_tokens, num_oov_indices, invert
        self.mask_token, self.oov_token, self.pad_to_max_tokens = mask_token, oov_token, pad_to_max_tokens
        self._words, self._weights = None, None
        self.reset_state()
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    # ---- the vocabulary

    def _special(self):
        """The words that are before all others."""
        masked = self.mask_token is not None and self.output_mode == "int"
        return [self.mask_token] * masked + [self.oov_token] * self.num_oov_indices

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Take these words, a list or a file with one a line; with the special ones in front, or without."""
        if isinstance(vocabulary, str):
            with open(vocabulary, encoding="utf-8") as f:
                vocabulary = [self._read(line.rstrip("\n")) for line in f]
        words, special = list(_listed(vocabulary)), self._special()
        idf = None if idf_weights is None else [float(w) for w in _listed(idf_weights)]
        if special and words[: len(special)] == special:
            words = words[len(special) :]
            idf = idf and idf[len(special) :]
        repeated = [word for word, n in collections.Counter(words).items() if n > 1]
        if repeated:
            raise ValueError(
                "The passed vocabulary has at least one repeated term. Please uniquify your dataset. The repeated "
                f"terms are: {repeated}"
            )
        for what, word in ("mask token", self.mask_token), ("OOV token", self.oov_token):
            if word is not None and word in words and not (what == "OOV token" and self.invert):
                raise ValueError(f"Found reserved {what} at unexpected location in `vocabulary`: {word!r}.")
        if self.max_tokens is not None and len(words) + len(special) > self.max_tokens:
            raise ValueError(
                "Attempted to set a vocabulary larger than the maximum vocab size. Received vocabulary size is "
                f"{len(words) + len(special)}; `max_tokens` is {self.max_tokens}."
            )
        if self.output_mode == "tf_idf" and idf is None:
            raise ValueError("`idf_weights` must be set if output_mode is 'tf_idf'.")
        self._take(words, idf)

    def _take(self, words, idf):
        self._words, first = words, len(self._special())
        self._number = {word: first + k for k, word in enumerate(words)}
        if idf is not None:
            usual = sum(idf) / max(len(idf), 1)
            self._weights = [usual] * first + list(idf)

    def get_vocabulary(self, include_special_tokens=True):
        """The words by their numbers."""
        return [*(self._special() if include_special_tokens else ()), *(self._words or ())]

    def vocabulary_size(self):
        """How many words there are, the special ones too."""
        return len(self._special()) + len(self._words or ())

    def _depth(self):
        return self.max_tokens if self.pad_to_max_tokens else self.vocabulary_size()

    # ---- words of data

    def reset_state(self):
        """Forget the words of data."""
        self._counts, self._documents, self._many = collections.Counter(), collections.Counter(), 0

    def update_state(self, data):
        """Count the words of data."""
        rows = _listed(data)
        rows = [rows] if not isinstance(rows, list) else rows
        for row in rows:
            words = [self._read(word) for word in (flatten(row) if isinstance(row, list) else [row])]
            self._counts.update(words)
            self._documents.update(set(words))
            self._many += 1

    def finalize_state(self):
        """The words become the vocabulary: those that are there most often first."""
        words = sorted(self._counts, key=lambda word: (self._counts[word], word), reverse=True)
        words = [word for word in words if word not in (self.mask_token, self.oov_token)]
        if self.max_tokens is not None:
            words = words[: self.max_tokens - len(self._special())]
        many = self._many
        weights = [math.log(1 + many / (1 + self._documents[word])) for word in words]
        self._take(words, weights if self.output_mode == "tf_idf" else None)

    def adapt(self, data, steps=None):
        """The vocabulary of data: an array, a list of words, or batches."""
        self.reset_state()
        if hasattr(data, "tolist") or isinstance(data, (list, tuple, str)):
            self.update_state(data)
        else:
            for batch in itertools.islice(data, steps):
                self.update_state(batch)
        self.finalize_state()

    def get_config(self):
        """Its words too."""
        made = {**super().get_config(), "vocabulary": None if self._words is None else list(self._words)}
        if self._weights is not None:
            made["idf_weights"] = self._weights[len(self._special()) :]
        return made

    # ---- calls

    def _find(self, word):
        """The number of a word; -1: it does not count."""
        word = self._read(word)
        if self.mask_token is not None and word == self.mask_token:
            return 0 if self.output_mode == "int" else -1
        found = self._number.get(word)
        if found is not None:
            return found
        if self.num_oov_indices == 0:
            raise ValueError(
                f"When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values {[word]}, consider "
                "setting `num_oov_indices=1`."
            )
        first = len(self._special()) - self.num_oov_indices
        return first + (self._bin(word) if self.num_oov_indices > 1 else 0)

    def _word(self, number):
        words = self.get_vocabulary()
        return words[number] if 0 <= number < len(words) else self.oov_token

    def call(self, inputs):
        """The numbers of the words, rows of them, or the words of numbers."""
        if self._words is None:
            raise RuntimeError(
                f"You must call `adapt()` or set a vocabulary before using the layer {type(self).__name__}."
            )
        given = _listed(inputs)
        if self.invert:
            return self._of_numbers(_each(given, self._word))
        found = tt.array(_each(given, self._find), dtype="int64")
        if self.output_mode != "tf_idf":
            dtype = "int64" if self.output_mode == "int" else self.compute_dtype
            return encoded(found, self.output_mode, self._depth(), dtype)
        counts = encoded(found, "count", self._depth(), self.compute_dtype)
        weights = self._weights + [0.0] * (self._depth() - len(self._weights))
        return counts * tt.array(weights, dtype=counts.dtype)


class StringLookup(_Lookup):
    """Numbers of words by a vocabulary, or words of numbers."""

    def __init__(
        self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", vocabulary=None,
        idf_weights=None, invert=False, output_mode="int", pad_to_max_tokens=False, sparse=False, encoding="utf-8",
        name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert, output_mode,
            pad_to_max_tokens, sparse, name=name, **kwargs,
        )  # fmt: skip

    def _read(self, word):
        return str(word)

    def _bin(self, word):
        return fingerprint(word.encode()) % self.num_oov_indices

    def _of_numbers(self, words):
        """Words are lists: arrays of ours have none."""
        return words


class IntegerLookup(_Lookup):
    """Numbers of whole numbers by a vocabulary, or the other way."""

    def __init__(
        self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token=-1, vocabulary=None,
        vocabulary_dtype="int64", idf_weights=None, invert=False, output_mode="int", sparse=False,
        pad_to_max_tokens=False, name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(
            max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert, output_mode,
            pad_to_max_tokens, sparse, name=name, **kwargs,
        )  # fmt: skip
        self.vocabulary_dtype = vocabulary_dtype

    def _read(self, word):
        return int(word)

    def _bin(self, word):
        return word % self.num_oov_indices

    def _of_numbers(self, words):
        return tt.array(words, dtype="int64")


# ---- texts

_MARKS = re.compile(r"[!\"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~']")
_STANDARDS = {
    None: lambda text: text,
    "lower": str.lower,
    "strip_punctuation": lambda text: _MARKS.sub("", text),
    "lower_and_strip_punctuation": lambda text: _MARKS.sub("", text.lower()),
}
_SPLITS = {None: lambda text: [text], "whitespace": str.split, "character": list}


class TextVectorization(_OfWords):
    """Numbers of the words of texts by a vocabulary; rows as long as the longest, or rows of counts."""

    def __init__(
        self, max_tokens=None, standardize="lower_and_strip_punctuation", split="whitespace", ngrams=None,
        output_mode="int", output_sequence_length=None, pad_to_max_tokens=False, vocabulary=None, idf_weights=None,
        sparse=False, ragged=False, encoding="utf-8", name=None, **kwargs,
    ):  # fmt: skip
        super().__init__(sparse, name=name, **kwargs)
        if ragged:
            raise ValueError("`ragged=True` cannot be used with backend tutti")
        for what, given, known in ("standardize", standardize, _STANDARDS), ("split", split, _SPLITS):
            if not callable(given) and given not in known:
                raise ValueError(
                    f"Invalid value for argument `{what}`. Expected one of {list(known)}. Received: {given}"
                )
        if output_sequence_length is not None and output_mode != "int":
            raise ValueError("`output_sequence_length` must not be set if `output_mode` is not 'int'.")
        self.max_tokens, self.standardize, self.split, self.ngrams = max_tokens, standardize, split, ngrams
        self.output_sequence_length, self.pad_to_max_tokens = output_sequence_length, pad_to_max_tokens
        self.output_mode = _check_mode(output_mode, ("int", "multi_hot", "count", "tf_idf"))
        self._table = StringLookup(
            max_tokens, mask_token="", vocabulary=vocabulary, idf_weights=idf_weights, output_mode=self.output_mode,
            pad_to_max_tokens=pad_to_max_tokens,
        )  # fmt: skip

    def _words_of(self, text):
        given = self.standardize, self.split
        standard, split = (f if callable(f) else known[f] for f, known in zip(given, (_STANDARDS, _SPLITS)))
        words = split(standard(str(text)))
        if self.ngrams is None:
            return list(words)
        sizes = range(1, self.ngrams + 1) if isinstance(self.ngrams, int) else self.ngrams
        return [" ".join(words[k : k + n]) for n in sizes for k in range(len(words) - n + 1)]

    def _rows_of(self, data):
        data = _listed(data)
        texts = data if isinstance(data, list) else [data]
        if any(isinstance(text, list) and len(text) != 1 for text in texts):
            raise ValueError(
                "When using `TextVectorization` to tokenize strings, the input rank must be 1 or the last shape "
                f"dimension must be 1. Received: inputs.shape={_shape_of(data)}"
            )
        return [self._words_of(text[0] if isinstance(text, list) else text) for text in texts]

    def adapt(self, data, batch_size=None, steps=None):
        """The vocabulary of texts: an array, a list, or batches."""
        table = self._table
        table.reset_state()
        whole = hasattr(data, "tolist") or isinstance(data, (list, tuple, str))
        for batch in [data] if whole else itertools.islice(data, steps):
            for words in self._rows_of(batch):
                table.update_state([words])
        table.finalize_state()

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Take these words."""
        self._table.set_vocabulary(vocabulary, idf_weights)

    def get_vocabulary(self, include_special_tokens=True):
        """The words by their numbers."""
        return self._table.get_vocabulary(include_special_tokens)

    def vocabulary_size(self):
        """How many words there are."""
        return self._table.vocabulary_size()

    def _depth(self):
        return self._table._depth()

    def compute_output_spec(self, inputs):
        """The shape and the type of the outputs."""
        if self.output_mode == "int":
            return KerasTensor((inputs.shape[0], self.output_sequence_length), "int64")
        return KerasTensor((inputs.shape[0], self._depth()), self.compute_dtype)

    def get_config(self):
        """Its words too."""
        table = self._table.get_config()
        made = {**super().get_config(), "vocabulary": table["vocabulary"]}
        return {**made, "idf_weights": table["idf_weights"]} if "idf_weights" in table else made

    def call(self, inputs):
        """The numbers of the words, or rows of them."""
        given, rows = _listed(inputs), self._rows_of(inputs)
        length = self.output_sequence_length
        if self.output_mode != "int":
            length = None
        if length is None:
            length = max(map(len, rows), default=0)
        found = self._table([[*row[:length], *[""] * (length - len(row))] for row in rows])
        return found if isinstance(given, list) else found[0]


NAMES = [
    "CategoryEncoding", "Discretization", "Hashing", "IntegerLookup", "StringLookup", "TextVectorization",
]  # fmt: skip
