"""NVIDIA's run-time compiler for tests, which needs no GPU: found in a toolkit or a wheel, by pattern."""

import ctypes
import functools
import glob
import os
import sys


@functools.cache
def library():
    """The compiler, or None where it is not installed."""
    places = [f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/**/libnvrtc.so*"]
    places += [f"{p}/nvidia/**/libnvrtc.so*" for p in sys.path if p]
    places += ["/usr/lib/libnvrtc.so*", "/usr/lib/*/libnvrtc.so*"]  # no deeper: links lead far from there
    for place in places:
        for path in sorted(glob.glob(place, recursive=True)):
            if "builtins" not in path and "alt" not in path:
                return ctypes.CDLL(path)
    return None


def version():
    major, minor = ctypes.c_int(), ctypes.c_int()
    library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def chips():
    """What this compiler makes code for: 80 is sm_80."""
    count = ctypes.c_int()
    library().nvrtcGetNumSupportedArchs(ctypes.byref(count))
    known = (ctypes.c_int * count.value)()
    library().nvrtcGetSupportedArchs(known)
    return list(known)


def compile_text(text, options, names=()):
    """None, or what the compiler says against it."""
    nvrtc = library()
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [o.encode() for o in options]
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None):
        return "the compiler does not take the text"
    for name in names:
        nvrtc.nvrtcAddNameExpression(program, name.encode())
    code = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(max(size.value, 1))
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() or f"result {code}" if code else None
