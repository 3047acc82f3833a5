"""pyopencl.version: whose programs are served."""

VERSION = (2026, 1, 4)
VERSION_STATUS = ""
VERSION_TEXT = "2026.1.4"
