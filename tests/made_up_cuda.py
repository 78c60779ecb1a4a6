"""CUDA devices that are none: their sessions run on the CPU and their memory is the host's, but copies are counted."""

import contextlib
import functools
from types import SimpleNamespace

import numpy as np

from onax._compile import sessions
from onax._ground import devices
from onax._ground.onnx_runtime import attach_runtime
from onax._native import ort
from onax._native.device_buffers import DeviceMemory
from onax.export.graph import proto
from onax.export.graph.value import Graph


@functools.cache
def host_memory(device_id):
    """Memory of the host that stands in for that of a CUDA device; it counts copies in the same way."""
    attach_runtime()
    graph = Graph(21)
    graph.output("y", graph.node("Identity", graph.input("x", ((1,), np.float32))))
    model, inputs, outputs, _ = proto.to_session(graph)
    return DeviceMemory("cpu", device_id, ort.Session(model, inputs, outputs))


@contextlib.contextmanager
def made_up_cuda(count, usable=True):
    """Context in which there are CUDA devices that are none: their sessions run on the CPU, their memory is the host's.

    Unless `usable`, their sessions are opened as those of CUDA devices, which fails.
    """
    found = [devices.Device("gpu", i, "made up") for i in range(count)]
    previous = devices._backends, sessions.ort, sessions.memory_of

    def open_session(model, inputs, outputs, *, options, **rest):
        options = {name: value for name, value in options.items() if not name.startswith("provider")}
        return ort.Session(model, inputs, outputs, options=options, **rest)

    devices._backends = {**devices.backends(), "gpu": devices.Backend("gpu", found)}
    if usable:
        sessions.ort = SimpleNamespace(Session=open_session, Fault=ort.Fault)
        sessions.memory_of = host_memory
    try:
        yield found
    finally:
        devices._backends, sessions.ort, sessions.memory_of = previous


class Copies:
    """Counts the copies of a `with` block from and to a made-up device: `counted` is (to it, to the host, on it)."""

    def __init__(self, device_id=0):
        self.memory = host_memory(device_id)
        self.counted = None

    def __enter__(self):
        self._before = self._counts()
        return self

    def __exit__(self, *_):
        self.counted = tuple(a - b for a, b in zip(self._counts(), self._before))

    def _counts(self):
        return self.memory.to_device, self.memory.to_host, self.memory.on_device
