"""Importing this makes a context: of the device that this thread works on."""

from . import driver

context = driver.Context()
device = context.get_device()
