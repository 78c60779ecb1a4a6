"""Eight virtual CPU devices for tests of programs over several, in a process that has one.

Devices that count as machines of their own get a program each, as CUDA devices do.
"""

import contextlib

import onax as jax
from onax._ground import devices
from onax.sharding import AxisType

MODES = {"one program": False, "a program each": True}  # whether the devices count as machines of their own
_eight = {}


@contextlib.contextmanager
def eight_devices(separate=False):
    """Context in which the CPU counts as eight devices; the first is the one it always is.

    `separate`: the other seven count as machines of their own.
    """
    if separate not in _eight:
        others = [devices.Device("cpu", i, separate=separate) for i in range(1, 8)]
        _eight[separate] = [devices.devices("cpu")[0], *others]
    previous = devices._backends
    devices._backends = {**previous, "cpu": devices.Backend("cpu", _eight[separate])}
    try:
        yield
    finally:
        devices._backends = previous


def mesh(**sizes):
    """A mesh with axes of these names and sizes."""
    return jax.make_mesh(tuple(sizes.values()), tuple(sizes), (AxisType.Auto,) * len(sizes))
