"""Eight virtual CPU devices for tests of programs over several, in a process that has one."""

import contextlib

from onax._ground import devices

_eight = []


@contextlib.contextmanager
def eight_devices():
    """Context in which the CPU counts as eight devices; the first is the one it always is."""
    if not _eight:
        _eight.append(devices.devices("cpu")[0])
        _eight.extend(devices.Device("cpu", i) for i in range(1, 8))
    previous = devices._backends
    devices._backends = {**previous, "cpu": devices.Backend("cpu", _eight)}
    try:
        yield
    finally:
        devices._backends = previous
