"""Importing this makes a context: there is nothing to make."""

from . import driver

device = driver.Device(0)
context = driver.Context(device)
