"""Kernel.capture_call: a launch as a script of its own, with the text and the values that it was given."""

import base64
import zlib

import numpy as np

from ._memory import LocalMemory, MemoryObjectHolder, SVMPointer

_SCRIPT = """import base64
import zlib

import numpy as np
import pyopencl as cl

SOURCE = {source!r}
OPTIONS = {options!r}


def unpacked(text):
    return np.frombuffer(bytearray(zlib.decompress(base64.b64decode(text))), np.uint8)


def main():
    context = cl.create_some_context()
    queue = cl.CommandQueue(context)
    kernel = getattr(cl.Program(context, SOURCE).build(OPTIONS), {name!r})

    def buffer(text):
        return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=unpacked(text))

    arguments = [
{arguments}
    ]
    kernel(queue, {total!r}, {group!r}, *arguments, {words})
    queue.finish()


if __name__ == "__main__":
    main()
"""


def _packed(memory):
    return repr(base64.b64encode(zlib.compress(bytes(memory))).decode())


def _written(value):
    """A Python expression that makes an argument again."""
    if isinstance(value, LocalMemory):
        return f"cl.LocalMemory({value.size})"
    if isinstance(value, (MemoryObjectHolder, SVMPointer)):
        return f"buffer({_packed(value._seen() if isinstance(value, MemoryObjectHolder) else value._bytes)})"
    if value is None:
        return "None"
    array = np.asarray(value)
    kind = array.dtype.descr if array.dtype.names else array.dtype.str
    return f"unpacked({_packed(array.tobytes())}).view(np.dtype({kind!r}))[0]"


def capture(kernel, file, global_size, local_size, args, words):
    """Write the script to a file or to the file of a name."""
    text = _SCRIPT.format(
        source=kernel.program.source, options=kernel.program._options, name=kernel.function_name,
        arguments="\n".join(f"        {_written(a)}," for a in args), total=tuple(map(int, global_size)),
        group=None if local_size is None else tuple(map(int, local_size)),
        words=", ".join(f"{k}={v!r}" for k, v in words.items()),
    )  # fmt: skip
    if hasattr(file, "write"):
        file.write(text)
    else:
        with open(file, "w") as out:
            out.write(text)
