"""Headers of safetensors files, made up: accepted is what a plain reading of the format accepts, and that is all."""

import json
import struct

import pytest
import tutti as tt
from tutti import safetensors as st

hypothesis = pytest.importorskip("hypothesis")
given, strategies = hypothesis.given, hypothesis.strategies

BYTES = {"BOOL": 1, "U8": 1, "I8": 1, "I16": 2, "BF16": 2, "F16": 2, "I32": 4, "F32": 4, "F64": 8, "C64": 8, "U64": 8}
OTHERS = ["F8_E4M3", "F4", "f32", "", "F128"]
NAMES = strategies.sampled_from(["a", "b", "a.b", "", "é", '"', "\\", "\u0001", "__metadata__", "😀"])
LENGTHS = strategies.lists(
    strategies.one_of(strategies.integers(0, 4), strategies.sampled_from([2**31, 2**62])), max_size=3
)


@strategies.composite
def files(draw):
    """A header that is nearly right: entries in a row, of which some are changed."""
    entries, at = [], 0
    for name in draw(strategies.lists(NAMES, max_size=4)):
        dtype = draw(
            strategies.sampled_from([*BYTES, *OTHERS] if draw(strategies.integers(0, 9)) == 0 else list(BYTES))
        )
        shape = draw(LENGTHS)
        size = BYTES.get(dtype, 1)
        for n in shape:
            size *= n
        shift = draw(strategies.sampled_from([0] * 12 + [1, -1, 2**63, -(2**70)]))
        entry = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size + shift]}
        at += size
        if draw(strategies.integers(0, 15)) == 0:
            key = draw(strategies.sampled_from(list(entry)))
            entry[key] = draw(strategies.sampled_from([None, -1, 1.5, "F32", [], [0], [0, 4, 4], [[0]], {}, True]))
        if draw(strategies.integers(0, 15)) == 0:
            entry["more"] = 1
        if draw(strategies.integers(0, 15)) == 0:
            del entry[draw(strategies.sampled_from(list(entry)))]
        items = list(entry.items())
        entries.append((name, draw(strategies.permutations(items))))
    entries = draw(strategies.permutations(entries))
    if draw(strategies.booleans()):
        entries.insert(
            0, ("__metadata__", draw(strategies.sampled_from([[], [("k", "v")], [("k", 1)], [("k", "v")] * 2])))
        )
    return entries, min(max(at, 0), 4096) + draw(strategies.sampled_from([0] * 8 + [1, -1]))


def text_of(entries):
    """JSON with whatever stands twice."""

    def members(items):
        return "{" + ",".join(f"{json.dumps(k)}:{json.dumps(v)}" for k, v in items) + "}"

    return "{" + ",".join(f"{json.dumps(name)}:{members(items)}" for name, items in entries) + "}"


def is_count(n):
    return type(n) is int and 0 <= n < 2**63


def is_right(entries, size):
    """The format, read plainly."""
    names = [name for name, _ in entries]
    if len(set(names)) < len(names) or any(len(dict(items)) < len(items) for _, items in entries):
        return False
    places = []
    for name, items in entries:
        entry = dict(items)
        if name == "__metadata__":
            if not all(isinstance(v, str) for v in entry.values()):
                return False
            continue
        if entry.keys() != {"dtype", "shape", "data_offsets"}:
            return False
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        lists = isinstance(shape, list) and isinstance(offsets, list) and all(map(is_count, [*shape, *offsets]))
        if not lists or len(offsets) != 2 or not isinstance(dtype, str) or dtype not in [*BYTES, "F8_E4M3", "F4"]:
            return False
        count, bits = 1, 4 if dtype == "F4" else 8 * BYTES.get(dtype, 1)
        for n in shape:
            count *= max(n, 1)
        if count * (4 if bits == 4 else bits // 8) >= 2**63:
            return False
        bits *= 0 if 0 in shape else count
        if bits % 8 or offsets[1] - offsets[0] != bits // 8:
            return False
        places.append(tuple(offsets))
    at = 0
    for begin, end in sorted(places):
        if begin != at:
            return False
        at = end
    return at == size


@hypothesis.settings(max_examples=600, deadline=None, derandomize=True, database=None)
@given(files())
def test_headers(made):
    entries, size = made
    text = text_of(entries).encode()
    data = struct.pack("<Q", len(text)) + text + bytes(range(256)) * 17
    data = data[: 8 + len(text) + max(size, 0)]
    right = is_right(entries, max(size, 0))
    try:
        loaded = st.load(data)
    except st.SafetensorError:
        assert not right
        return
    except TypeError:  # a type that arrays have not
        assert right and any(dict(items).get("dtype") in OTHERS for name, items in entries if name != "__metadata__")
        return
    assert right
    for name, items in entries:
        if name != "__metadata__":
            entry = dict(items)
            begin, end = entry["data_offsets"]
            body = data[8 + len(text) :][begin:end]
            assert loaded[name].shape == tuple(entry["shape"])
            assert entry["dtype"] == "BOOL" or loaded[name].tobytes() == body


@hypothesis.settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(strategies.binary(max_size=200))
def test_bytes(data):
    for file in (data, struct.pack("<Q", len(data)) + data, struct.pack("<Q", len(data) + 1) + b"{" + data):
        try:
            st.load(file)
        except st.SafetensorError:
            pass


@hypothesis.settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(strategies.dictionaries(strategies.text(max_size=8), strategies.binary(max_size=20), max_size=6))
def test_round_trips(content):
    """Any text is a name, but for the one of the metadata, NUL and halves of characters."""
    tensors = {
        name: tt.frombuffer(data, dtype="uint8") if data else tt.zeros(0, dtype="uint8")
        for name, data in content.items()
    }
    names_are_right = not any(
        name == "__metadata__" or "\0" in name or any("\ud800" <= c <= "\udfff" for c in name) for name in content
    )
    try:
        back = st.load(st.save(tensors, {name: name for name in content}))
    except ValueError:
        assert not names_are_right
        return
    assert names_are_right and {name: x.tobytes() for name, x in back.items()} == content
