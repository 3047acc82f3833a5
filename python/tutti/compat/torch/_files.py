"""torch.save and torch.load without executing a pickle.

A file of torch.save is an archive of a pickle, which says how containers and tensors are put together, and of the bytes
of their storages. The pickle is read here by an interpreter of its instructions that knows a fixed list of names:
nothing is imported, and no code is called but what stands in this module.
"""

import io
import math
import os
import pickle
import struct
import tarfile
import zipfile
from collections import Counter, OrderedDict

import tutti as tt

from ... import _core
from ..._files._io import _is_path, _replacing

UnpicklingError = pickle.UnpicklingError
_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
_STORAGE_OF = {dtype: name for name, dtype in _STORAGES.items()}
_DTYPES = {name: name for name in [*_STORAGE_OF, "uint16", "uint32", "uint64"]}
_DTYPES |= {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32"}
_DEEPEST = 64  # axes that an array has


class Kinds:
    """What is made of the parts of a file, for a module that has classes of its own.

    Each attribute is a function: of an array and whether it requires gradients (tensor, parameter), or of what
    PyTorch's constructor gets (size, device), or of the name of a type (dtype).
    """

    tensor = staticmethod(lambda array, requires_grad: array.requires_grad_() if requires_grad else array)
    parameter = staticmethod(lambda array, requires_grad: tt.nn.Parameter(array, requires_grad=requires_grad))
    size = staticmethod(tuple)
    device = staticmethod(lambda kind, index=None: kind if index is None else f"{kind}:{index}")
    dtype = staticmethod(tt.dtype)


# ---- reading: storages


class _Storage:
    """The elements of one storage, and the array of them, which views share."""

    def __init__(self, dtype, count, location):
        self.dtype, self.count, self.location, self.array = dtype, count, location, None

    def typed(self, dtype):
        """Of a storage of plain bytes: the array in the type that a tensor has."""
        return self.array if dtype is None or dtype == self.array.dtype.name else self.array.view(dtype)


def _moved(array, location, map_location):
    """Where a storage of `location` is to live."""
    if callable(map_location):
        moved = map_location(array, location)
        return array if moved is None else moved
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif map_location is not None:
        location = str(map_location)
    kind = location.partition(":")[0]
    if kind in ("cpu", "meta"):
        return array
    if kind == "cuda" and not tt.cuda.is_available():
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are "
            "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU."
        )
    return array.to(location)


def _elements(data, dtype, count):
    """The elements in `data` as an array of its own."""
    size = tt.dtype(dtype).itemsize
    if len(data) < count * size:
        raise UnpicklingError(f"a storage has {len(data)} bytes, not those of {count} elements of {dtype}")
    array = tt.array(tt.frombuffer(data, dtype="uint8" if dtype == "bool" else dtype, count=count))
    return array != 0 if dtype == "bool" else array


def _view(storage, dtype, offset, size, stride):
    """A tensor's view of its storage; every element it can reach is there, or it is an error."""
    flat = storage.typed(dtype)
    numbers = [offset, *size, *stride]
    if len(size) != len(stride) or len(size) > _DEEPEST or not all(type(n) is int and n >= 0 for n in numbers):
        raise UnpicklingError("a tensor has an impossible shape, stride or offset")
    empty = 0 in size
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if not empty and last >= flat.size:
        raise UnpicklingError(f"a tensor reaches element {last} of a storage that has {flat.size}")
    if empty:
        return tt.empty(tuple(size), dtype=flat.dtype)
    bytes_of = flat.dtype.itemsize
    return tt.lib.stride_tricks.as_strided(flat[offset:], tuple(size), tuple(step * bytes_of for step in stride))


# ---- reading: the names that a file may use


def _rebuilt(storage, offset, size, stride, dtype=None):
    if not isinstance(storage, _Storage):
        raise UnpicklingError("a tensor has no storage")
    return lambda: _view(storage, dtype, offset, size, stride)


class _Later:
    """A tensor that is made when all storages are there (older files have them behind the pickle)."""

    def __init__(self, make, requires_grad, parameter=False):
        self.make, self.requires_grad, self.parameter = make, bool(requires_grad), parameter
        self.made = None

    def value(self, kinds):
        if self.made is None:
            self.made = (kinds.parameter if self.parameter else kinds.tensor)(self.make(), self.requires_grad)
        return self.made


def _tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    return _Later(_rebuilt(storage, offset, size, stride), requires_grad)


def _tensor_of_type(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
    return _Later(_rebuilt(storage, offset, size, stride, dtype.name), requires_grad)


def _parameter(data, requires_grad=True, hooks=None, state=None):
    if not isinstance(data, _Later):
        raise UnpicklingError("a parameter has no tensor")
    return _Later(data.make, requires_grad, parameter=True)


def _encoded(text, encoding):
    if encoding != "latin1":
        raise UnpicklingError("bytes are written as text in latin1")
    return text.encode("latin1")


class _Name:
    """A name that is no function: a type of storages or of elements."""

    def __init__(self, name):
        self.name = name


def _known(kinds):
    """{"module name": what it stands for}: all that a file can name."""
    known = {
        "collections OrderedDict": OrderedDict,
        "collections Counter": Counter,
        "torch Size": kinds.size,
        "torch device": kinds.device,
        "torch._utils _rebuild_tensor": _tensor,
        "torch._utils _rebuild_tensor_v2": _tensor,
        "torch._utils _rebuild_tensor_v3": _tensor_of_type,
        "torch._utils _rebuild_parameter": _parameter,
        "torch._utils _rebuild_parameter_with_state": _parameter,
        "torch.nn.parameter Parameter": _parameter,
        "_codecs encode": _encoded,
        "torch.storage UntypedStorage": _Name("uint8"),
        "torch UntypedStorage": _Name("uint8"),
    }
    for module in ("builtins", "__builtin__"):
        known |= {f"{module} set": set, f"{module} complex": complex, f"{module} bytearray": bytearray}
    known |= {f"torch {name}": _Name(dtype) for name, dtype in _STORAGES.items()}
    return known | {f"torch {name}": _Name(dtype) for name, dtype in _DTYPES.items()}


# ---- reading: the pickle


class _Reader:
    """An interpreter of the instructions of a pickle."""

    def __init__(self, file, kinds, storage):
        self.file, self.kinds, self.storage, self.known = file, kinds, storage, _known(kinds)

    def take(self, n):
        data = self.file.read(n)
        if len(data) < n:
            raise UnpicklingError("pickle data was truncated")
        return data

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def counted(self, form):
        """As many bytes as are there: a length is no reason to ask for memory."""
        size, parts = self.number(form), []
        while size:
            part = self.take(min(size, 1 << 20))
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def load(self):
        self.stack, self.marks, self.memo = [], [], {}
        while True:
            code = self.take(1)
            if code == b".":
                return self.stack.pop()
            step = _STEPS.get(code)
            if step is None:
                raise UnpicklingError(f"Weights only load failed. Unsupported operand {code[0]}")
            step(self)

    def push(self, value):
        self.stack.append(value)

    def since_mark(self):
        at = self.marks.pop()
        items = self.stack[at:]
        del self.stack[at:]
        return items

    def line(self):
        line = self.file.readline(1000)
        if not line.endswith(b"\n"):
            raise UnpicklingError("pickle data was truncated")
        return line[:-1].decode()

    def name(self, module, name):
        found = self.known.get(f"{module} {name}")
        if found is None:
            raise UnpicklingError(
                f"Weights only load failed. Unsupported global: GLOBAL {module}.{name} was not an allowed global: "
                "files are read without executing them, and nothing that they name is imported"
            )
        self.push(found)

    def named(self):
        name, module = self.stack.pop(), self.stack.pop()
        self.name(module, name)

    def call(self):
        arguments, f = self.stack.pop(), self.stack.pop()
        if isinstance(f, _Name) or not callable(f) or not isinstance(arguments, tuple):
            raise UnpicklingError("Weights only load failed. The file calls what is no function")
        self.push(f(*arguments))

    def build(self):
        """PyTorch's state dicts carry the versions of their modules in an attribute."""
        state, value = self.stack.pop(), self.stack[-1]
        if type(value) is OrderedDict and isinstance(state, dict) and state.keys() <= {"_metadata"}:
            value.__dict__.update(state)
        elif not isinstance(value, _Later):
            raise UnpicklingError(f"Weights only load failed. The file sets attributes of a {type(value).__name__}")

    def persistent(self):
        pid = self.stack.pop()
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] not in ("storage", b"storage"):
            raise UnpicklingError("Weights only load failed. Unknown persistent id")
        _, kind, key, location, count, *view = pid
        if not isinstance(kind, _Name) or type(count) is not int or count < 0:
            raise UnpicklingError("Weights only load failed. Unknown type of a storage")
        self.push(self.storage(kind.name, str(key), str(location), count, view[0] if view else None))

    def add(self, kind, method):
        items = self.since_mark()
        if type(self.stack[-1]) is not kind:
            raise UnpicklingError(f"Weights only load failed. The file adds to a {type(self.stack[-1]).__name__}")
        if kind is set:
            self.check_keys(items)
        getattr(self.stack[-1], method)(items)

    def check_keys(self, items):
        if any(isinstance(item, _Later | _Storage | _Name) for item in items):
            raise UnpicklingError("Weights only load failed. A tensor or a type is a key")

    def append(self):
        self.marks.append(len(self.stack) - 1)
        self.add(list, "extend")

    def set_items(self, items):
        if type(self.stack[-1]) not in (dict, OrderedDict, Counter) or len(items) % 2:
            raise UnpicklingError(f"Weights only load failed. The file sets items of a {type(self.stack[-1]).__name__}")
        self.check_keys(items[::2])
        for key, value in zip(items[::2], items[1::2], strict=True):
            self.stack[-1][key] = value

    def set_item(self):
        value, key = self.stack.pop(), self.stack.pop()
        self.set_items([key, value])

    def tuple_of(self, n):
        if len(self.stack) < n:
            raise UnpicklingError("pickle data is damaged")
        self.stack[-n:] = [tuple(self.stack[-n:])]

    def remember(self, key):
        self.memo[key] = self.stack[-1]

    def new_object(self):
        arguments, kind = self.stack.pop(), self.stack.pop()
        if kind not in (OrderedDict, Counter, set) or arguments != ():
            raise UnpicklingError("Weights only load failed. The file makes an object of an unknown class")
        self.push(kind())


def _integer(data):
    return int.from_bytes(data, "little", signed=True)


def _steps():
    """{instruction: function of the reader}."""
    steps = {
        b"\x80": lambda r: r.take(1),  # the protocol
        b"\x95": lambda r: r.take(8),  # a frame
        b"}": lambda r: r.push({}),
        b"]": lambda r: r.push([]),
        b")": lambda r: r.push(()),
        b"\x8f": lambda r: r.push(set()),
        b"(": lambda r: r.marks.append(len(r.stack)),
        b"N": lambda r: r.push(None),
        b"\x88": lambda r: r.push(True),
        b"\x89": lambda r: r.push(False),
        b"J": lambda r: r.push(r.number("<i")),
        b"K": lambda r: r.push(r.number("<B")),
        b"M": lambda r: r.push(r.number("<H")),
        b"\x8a": lambda r: r.push(_integer(r.counted("<B"))),
        b"\x8b": lambda r: r.push(_integer(r.counted("<I"))),
        b"G": lambda r: r.push(r.number(">d")),
        b"X": lambda r: r.push(r.counted("<I").decode("utf-8", "surrogatepass")),
        b"\x8c": lambda r: r.push(r.counted("<B").decode("utf-8", "surrogatepass")),
        b"\x8d": lambda r: r.push(r.counted("<Q").decode("utf-8", "surrogatepass")),
        b"T": lambda r: r.push(r.counted("<I").decode("latin1")),  # text of Python 2
        b"U": lambda r: r.push(r.counted("<B").decode("latin1")),
        b"B": lambda r: r.push(r.counted("<I")),
        b"C": lambda r: r.push(r.counted("<B")),
        b"\x8e": lambda r: r.push(r.counted("<Q")),
        b"t": lambda r: r.push(tuple(r.since_mark())),
        b"\x85": lambda r: r.tuple_of(1),
        b"\x86": lambda r: r.tuple_of(2),
        b"\x87": lambda r: r.tuple_of(3),
        b"a": _Reader.append,
        b"e": lambda r: r.add(list, "extend"),
        b"\x90": lambda r: r.add(set, "update"),
        b"s": _Reader.set_item,
        b"u": lambda r: r.set_items(r.since_mark()),
        b"q": lambda r: r.remember(r.number("<B")),
        b"r": lambda r: r.remember(r.number("<I")),
        b"\x94": lambda r: r.remember(len(r.memo)),
        b"h": lambda r: r.push(r.memo[r.number("<B")]),
        b"j": lambda r: r.push(r.memo[r.number("<I")]),
        b"c": lambda r: r.name(r.line(), r.line()),
        b"\x93": _Reader.named,
        b"R": _Reader.call,
        b"\x81": _Reader.new_object,
        b"b": _Reader.build,
        b"Q": _Reader.persistent,
    }
    return steps


_STEPS = _steps()


def _settle(value, kinds, done):
    """Tensors in place of those that were to be made; what a file has once is there once."""
    if isinstance(value, _Later):
        return value.value(kinds)
    if isinstance(value, _Storage):
        return value.array
    if isinstance(value, _Name):
        return kinds.dtype(value.name)
    if id(value) in done:
        return done[id(value)][1]
    if type(value) is tuple:
        made = tuple(_settle(v, kinds, done) for v in value)
        done[id(value)] = value, made  # the value is kept: no other one gets its id
        return made
    if type(value) is list:
        done[id(value)] = value, value
        value[:] = [_settle(v, kinds, done) for v in value]
    elif isinstance(value, dict):
        done[id(value)] = value, value
        for key in value:
            value[key] = _settle(value[key], kinds, done)
    return value


def _guarded(read, *args):
    """Whatever a damaged file makes the reader stumble over is one kind of error."""
    try:
        return read(*args)
    except (UnpicklingError, MemoryError, RuntimeError, OSError):
        raise
    except (struct.error, IndexError, KeyError, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise UnpicklingError(f"the file is damaged: {error}") from None


# ---- reading: the file


def _read_archive(archive, map_location, kinds):
    names = archive.namelist()
    main = next((n for n in names if n.count("/") == 1 and n.endswith("/data.pkl")), None)
    if main is None:
        raise RuntimeError("PytorchStreamReader failed reading file data.pkl: file not found")
    head = main[: -len("data.pkl")]
    if head + "constants.pkl" in names:
        raise RuntimeError("the file is a TorchScript archive, which torch.jit.load reads: it is not covered")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
        raise UnpicklingError("the archive is compressed, which torch.save does not do")
    if head + "byteorder" in names and archive.read(head + "byteorder").strip() != b"little":
        raise UnpicklingError("the file was written on a machine of the other byte order")
    storages = {}

    def storage(dtype, key, location, count, view):
        if key not in storages:
            found = storages[key] = _Storage(dtype, count, location)
            found.array = _moved(_elements(archive.read(f"{head}data/{key}"), dtype, count), location, map_location)
        return storages[key]

    value = _Reader(io.BytesIO(archive.read(main)), kinds, storage).load()
    return _settle(value, kinds, {})


_LEGACY = 0x1950A86A20F9469CFC6C


def _read_legacy(file, map_location, kinds):
    """The form before the archive: pickles one after the other, then the storages."""
    storages, at = {}, file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(at)

    def storage(dtype, key, location, count, view):
        if view is not None:
            raise UnpicklingError("the file has views of storages, which PyTorch wrote before 0.4")
        if key not in storages:
            if count > end:
                raise UnpicklingError("a storage is larger than the file")
            storages[key] = _Storage(dtype, count, location)
        return storages[key]

    parts = [_Reader(file, kinds, storage).load() for _ in range(5)]
    if parts[0] != _LEGACY or parts[1] != 1001:
        raise UnpicklingError("Invalid magic number; corrupt file?")
    if parts[2].get("little_endian") is not True:
        raise UnpicklingError("the file was written on a machine of the other byte order")
    for key in parts[4]:
        found, count = storages[key], struct.unpack("<q", file.read(8))[0]
        size = max(count, 0) * tt.dtype(found.dtype).itemsize
        found.array = _moved(_elements(file.read(size), found.dtype, found.count), found.location, map_location)
    return _settle(parts[3], kinds, {})


def _read(file, map_location, kinds):
    head = file.read(4)
    file.seek(0)
    if head == b"PK\x03\x04":
        try:
            with zipfile.ZipFile(file) as archive:
                return _read_archive(archive, map_location, kinds)
        except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from None
    if head[:1] == b"\x80":
        return _read_legacy(file, map_location, kinds)
    if not head:
        raise EOFError("Ran out of input")
    if _is_tar(file):
        raise RuntimeError("the file is of the tar format of PyTorch before 0.1.10: load and save it with PyTorch")
    raise UnpicklingError(f"Weights only load failed. Invalid load key, {chr(head[0])!r}.")


def _is_tar(file):
    try:
        tarfile.open(fileobj=file, mode="r:").close()
    except tarfile.TarError:
        return False
    finally:
        file.seek(0)
    return True


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, kinds=Kinds, **unused):
    """What torch.save wrote: containers of tensors, numbers and texts. Nothing of the file is executed, so
    weights_only=False and pickle_module change nothing: what they would allow is an error."""
    if not _is_path(f):
        if not hasattr(f, "read") or not hasattr(f, "seek"):
            raise AttributeError(f"'{type(f).__name__}' object has no attribute 'seek': a path or a file is needed")
        return _guarded(_read, io.BytesIO(f.read()), map_location, kinds)
    with open(f, "rb") as file:
        return _guarded(_read, file, map_location, kinds)


# ---- writing


class _Writer:
    """A pickle of containers and tensors in protocol 2, which torch.load reads, and the storages that it names."""

    def __init__(self, is_parameter):
        self.out, self.memo, self.kept, self.storages, self.is_parameter = io.BytesIO(), {}, [], {}, is_parameter

    def write(self, value):
        self.out.write(b"\x80\x02")
        self.put(value)
        self.out.write(b".")
        return self.out.getvalue()

    def put(self, value):
        if self.put_plain(value):
            return
        if id(value) in self.memo:
            self.out.write(b"j" + struct.pack("<I", self.memo[id(value)]))
            return
        self.kept.append(value)  # its id stays its own
        for kind, put in self.ROWS:
            if type(value).__name__ == kind if isinstance(kind, str) else isinstance(value, kind):
                put(self, value)
                return
        raise TypeError(
            f"cannot save a {type(value).__module__}.{type(value).__qualname__}: files have containers, tensors, "
            "numbers and texts (save its state_dict)"
        )

    def put_plain(self, value):
        """What is written where it stands, and never referred to again."""
        if value is None or value is True or value is False:
            self.out.write({None: b"N", True: b"\x88", False: b"\x89"}[value])
        elif type(value) is int:
            size = value.bit_length() // 8 + 1
            small = -(2**31) <= value < 2**31
            form = b"\x8a" + bytes([size]) if size < 256 else b"\x8b" + struct.pack("<I", size)
            self.out.write(
                b"J" + struct.pack("<i", value) if small else form + value.to_bytes(size, "little", signed=True)
            )
        elif type(value) is float:
            self.out.write(b"G" + struct.pack(">d", value))
        elif type(value) is str:
            data = value.encode("utf-8", "surrogatepass")
            self.out.write(b"X" + struct.pack("<I", len(data)) + data)
        elif type(value) is tuple and not value:
            self.out.write(b")")
        else:
            return False
        return True

    def remember(self, value):
        self.memo[id(value)] = len(self.memo)
        self.out.write(b"r" + struct.pack("<I", self.memo[id(value)]))

    def name(self, module, name):
        self.out.write(f"c{module}\n{name}\n".encode())

    def called(self, module, name, *arguments):
        self.name(module, name)
        self.put_items(arguments)
        self.out.write(b"R")

    def put_items(self, items):
        self.out.write(b"(")
        for item in items:
            self.put(item)
        self.out.write(b"t")

    def put_tuple(self, value):
        self.put_items(value)
        self.remember(value)

    def put_size(self, value):
        self.called("torch", "Size", tuple(value))
        self.remember(value)

    def put_list(self, value):
        self.out.write(b"]")
        self.remember(value)
        self.out.write(b"(")
        for item in value:
            self.put(item)
        self.out.write(b"e")

    def put_dict(self, value):
        if isinstance(value, Counter | OrderedDict):
            self.called("collections", "Counter" if isinstance(value, Counter) else "OrderedDict")
        else:
            self.out.write(b"}")
        self.remember(value)
        self.out.write(b"(")
        for key, item in value.items():
            self.put(key)
            self.put(item)
        self.out.write(b"u")
        if getattr(value, "_metadata", None) is not None:
            self.put({"_metadata": value._metadata})
            self.out.write(b"b")

    def put_bytes(self, value):
        self.called("_codecs", "encode", bytes(value).decode("latin1"), "latin1")
        self.remember(value)

    def put_set(self, value):
        self.called("__builtin__", "set", list(value))
        self.remember(value)

    def put_complex(self, value):
        self.called("__builtin__", "complex", value.real, value.imag)
        self.remember(value)

    def put_dtype(self, value):
        self.name("torch", value.name)
        self.remember(value)

    def put_device(self, value):
        self.called("torch", "device", *([value.type] if value.type == "cpu" else [value.type, value.index]))
        self.remember(value)

    def put_array(self, value):
        if self.is_parameter(value):
            self.name("torch._utils", "_rebuild_parameter")
            self.out.write(b"(")
            self.put_data(value, False)
            self.put(bool(value.requires_grad))
            self.called("collections", "OrderedDict")
            self.out.write(b"tR")
        else:
            self.put_data(value, value.requires_grad and value.is_leaf)
        self.remember(value)

    def put_data(self, value, requires_grad):
        root, offset, strides = _placed(value)
        storage = root.dtype.name
        self.name("torch._utils", "_rebuild_tensor_v2" if storage in _STORAGE_OF else "_rebuild_tensor_v3")
        self.out.write(b"(")
        self.put_storage(root, value)
        for part in (offset, tuple(int(n) for n in value.shape), strides, bool(requires_grad)):
            self.put(part)
        self.called("collections", "OrderedDict")
        if storage not in _STORAGE_OF:
            self.name("torch", storage)
        self.out.write(b"tR")

    def put_storage(self, root, value):
        key, _ = self.storages.setdefault(id(root), (str(len(self.storages)), root))
        dtype = root.dtype.name
        self.out.write(b"(")
        self.put("storage")
        self.name(*(("torch", _STORAGE_OF[dtype]) if dtype in _STORAGE_OF else ("torch.storage", "UntypedStorage")))
        self.put(key)
        kind, _, index = str(value.device).partition(":")
        self.put("cpu" if kind == "cpu" else f"{kind}:{index}")
        self.put(math.prod(root.shape) * (1 if dtype in _STORAGE_OF else root.dtype.itemsize))
        self.out.write(b"tQ")

    # Classes, or names of classes that a module like PyTorch has for itself.
    ROWS = (
        ("device", put_device),
        ("Size", put_size),
        (tt.ndarray, put_array),
        (dict, put_dict),
        (tuple, put_tuple),
        (list, put_list),
        ((bytes, bytearray), put_bytes),
        (set, put_set),
        (complex, put_complex),
        (tt.dtype, put_dtype),
        (tt.Device, put_device),
    )


def _placed(value):
    """(array whose elements are the storage, offset, strides) of a tensor: views of one array share their storage."""
    root, strides = value, [step // value.dtype.itemsize for step in value.strides]
    while root.base is not None:
        root = root.base
    whole = root is not value and root.dtype == value.dtype and root.flags["C_CONTIGUOUS"]
    if whole and all(step >= 0 for step in strides):
        return root, _core._offset(value) - _core._offset(root), tuple(strides)
    steps, n = [], 1
    for length in reversed(value.shape):
        steps.append(n)
        n *= max(int(length), 1)
    return value, 0, tuple(reversed(steps))


def _is_parameter(value):
    return isinstance(value, tt.nn.Parameter)


def save(
    obj,
    f,
    pickle_module=None,
    pickle_protocol=2,
    _use_new_zipfile_serialization=True,
    *,
    is_parameter=_is_parameter,
    **unused,
):
    """Write containers of tensors, numbers and texts so that torch.load reads them. A file at a path is replaced as a
    whole."""
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("files are written in PyTorch's form since 1.6")
    writer = _Writer(is_parameter)
    data = writer.write(obj)
    if not _is_path(f):
        _write_archive(f, "archive", data, writer.storages)
        return
    name = os.path.basename(os.fsdecode(f)).partition(".")[0] or "archive"
    with _replacing(f) as file:
        _write_archive(file, name, data, writer.storages)


def _write_archive(file, name, data, storages):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{name}/data.pkl", data)
        archive.writestr(f"{name}/byteorder", b"little")
        for key, root in storages.values():
            archive.writestr(f"{name}/data/{key}", root.tobytes())
        archive.writestr(f"{name}/version", b"3\n")
