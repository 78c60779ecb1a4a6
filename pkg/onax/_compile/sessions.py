"""Sessions of ONNX Runtime: their options, opening one for a graph, and the messages of their errors."""

import functools
import sys
from functools import partial
from math import prod

import numpy as np

from onax._ground import lazy
from onax._ground.config import config
from onax._ground.cuda_libraries import load_cuda_libraries
from onax._ground.errors import BackendError, JaxRuntimeError, compose
from onax._ground.onnx_runtime import attach_runtime
from onax._native import ort
from onax._native.device_buffers import DeviceMemory
from onax._native.io_binding import BoundSession
from onax.export.graph import proto
from onax.export.graph.value import Graph

# The newest opset that the runtime supports.
OPSET = 26

_NO_CUDA = (
    "If CUDA cannot be used here: it needs onnxruntime-gpu, the CUDA and cuDNN libraries that it was built for, and "
    "NVIDIA's driver (pip install 'onax[cuda]' brings the first two). To run elsewhere, place the arguments there, for "
    "instance with jax.device_put(x, jax.devices('cpu')[0])."
)


_OPTIONS = {
    "optimization",
    "memory_pattern",
    "arena",
    "config",
    "provider",
    "provider_options",
    "io_binding",
    "cuda_graph",
}

# Options of JAX that say how much work XLA's compiler takes on.
_XLA_EFFORT = {
    "exec_time_optimization_effort",
    "fdo_profile",
    "memory_fitting_effort",
    "memory_fitting_level",
    "optimization_level",
}


def session_options(compiler_options=None):
    """The runtime's session options for `compiler_options` of `Lowered.compile` and of jit, as a new dictionary.

    Known: "optimization" (0, 1, 2, 99), "memory_pattern", "arena" (bool) and "config" (a dictionary of the runtime's
    own session entries), "provider" ("cpu" or "cuda"), "provider_options" (a dictionary of that provider's own options,
    such as device_id) and "io_binding" (bool: whether values stay on the device between calls; they do if the device is
    that of the arguments, but not if "provider" names it) and "cuda_graph" (bool: whether a program on a CUDA device is
    recorded once and replayed; off by default).  Options of XLA (xla_..., optimization_level and others of its
    effort) say nothing to the runtime.  Others raise JaxRuntimeError.
    """
    given = {k: v for k, v in (compiler_options or {}).items() if not k.startswith("xla_") and k not in _XLA_EFFORT}
    unknown = set(given) - _OPTIONS
    if unknown:
        raise JaxRuntimeError(f"INVALID_ARGUMENT: No such compile option: {', '.join(sorted(map(repr, unknown)))}")
    return given


def options_for_device(compiler_options, device):
    """The options with the provider of a device, unless they name one already; `device` may be None."""
    given = compiler_options or {}
    if device is None or device.platform != "gpu" or "provider" in given:
        return compiler_options
    chosen = {"device_id": device.local_hardware_id, **given.get("provider_options", {})}
    return {"io_binding": True, **given, "provider": "cuda", "provider_options": chosen}


def device_named(settings):
    """The device that session options name, as text; empty for the CPU."""
    if settings.get("provider", "cpu") != "cuda":
        return ""
    return f"cuda:{settings.get('provider_options', {}).get('device_id', 0)}"


# What jax_default_matmul_precision may be for products of float32 numbers to be computed in TF32 on a GPU.
_TF32 = ("default", "tensorfloat32", "bfloat16", "TF32_TF32_F32", "TF32_TF32_F32_X3", "BF16_BF16_F32", "BF16_BF16_BF16")


def _allows_tf32():
    """Whether the user allows CUDA's TF32, which has 10 bits of fraction; the provider would take it unasked."""
    return config.jax_default_matmul_precision in _TF32


def _left_to_the_run(graph, name, element, shape):
    """A port of an output, of unknown shape if the run must allocate it: if a node or a body may read it on the CPU.

    The runtime hands memory that was bound to an output to kernels of the CPU, too, which then touch the device's
    memory (seen with 1.31.1 on a Loop, and on a Cast whose result a node on the CPU reads).
    """
    read = any(v is not None and v.name == name for node in graph.nodes for v in node.inputs)
    if read or any(node.op_type in _CONTROL_FLOW for node in graph.nodes):
        return name, element, ("?",) * len(shape)
    return name, element, shape


_CONTROL_FLOW = ("Loop", "Scan", "If")


def open_session(graph, name, settings):
    """(session for a graph, function that rewords its errors); raises BackendError if the runtime rejects the graph."""
    provider_options, captured = settings.get("provider_options", {}), settings.get("cuda_graph", False)
    if "enable_cuda_graph" in provider_options:
        raise ValueError(
            "enable_cuda_graph ties a session to the memory of one call; the option cuda_graph copies to it"
        )
    if captured:
        settings = {**settings, "provider_options": {"enable_cuda_graph": 1, **provider_options}}
    session = _open(graph, name, settings)
    if settings.get("io_binding"):
        session = BoundSession(session, memory_of(provider_options["device_id"]), captured)
    elif captured:
        raise ValueError("cuda_graph is for programs on a CUDA device whose values stay there")
    return session, partial(_backend_error, "failed while running", name, graph, settings)


def _open(graph, name, settings):
    settings = {"optimization": proto.optimization_level(graph), **settings, "operators": bool(graph.model.domains)}
    if settings.get("provider") == "cuda":
        load_cuda_libraries()
        settings["provider_options"] = {"use_tf32": int(_allows_tf32()), **settings.get("provider_options", {})}
    model, inputs, outputs, shared = proto.to_session(graph)
    if settings.get("io_binding") and not settings.get("cuda_graph"):
        outputs = [_left_to_the_run(graph, *port) for port in outputs]
    try:
        return ort.Session(model, inputs, outputs, initializers=shared, options=settings)
    except RuntimeError as error:
        raise _backend_error("refused", name, graph, settings, error) from None


@functools.cache
def memory_of(device_id):
    """The DeviceMemory of a CUDA device, with an arena of its own; raises BackendError if CUDA cannot be used."""
    attach_runtime()
    graph = Graph(OPSET)
    graph.output("y", graph.node("Identity", graph.input("x", ((1,), np.float32))))
    settings = {"provider": "cuda", "provider_options": {"device_id": device_id}}
    return DeviceMemory("cuda", device_id, _open(graph, "the memory of arrays", settings))


_NO_MEMORY = "bad_alloc"  # in messages of the runtime when an allocation failed


def size_of_value(value):
    """Bytes of a value of a graph; none where its shape is known only at run time."""
    if not all(isinstance(d, int) for d in value.shape):
        return 0
    return prod(value.shape) * value.dtype.itemsize


def _backend_error(what, name, graph, settings, error):
    """The error of the runtime with the device, unless it is the CPU, and the user's line of the node that it names.

    An error raised by Python code that a node runs is returned as it is.
    """
    if not isinstance(error, ort.Fault):
        return error
    line = proto.locate(graph, str(error))
    if _NO_MEMORY in str(error):
        node = proto.named_node(graph, str(error))
        size = sum(map(size_of_value, node.outputs)) if node is not None else 0
        fault = f"The {size:,} bytes of a value of {name}, or memory for computing it, cannot be allocated."
        return MemoryError(compose(fault, line and f"In the operation from {line}."))
    device = device_named(settings)
    fault = f"ONNX Runtime {what} {name}{device and f' on {device}'}: {error}"
    remedy = f"{_NO_CUDA} {_cuda_packages()}" if device and what == "refused" and not line else ""
    return BackendError(compose(fault, line and f"In the operation from {line}.", remedy))


def _cuda_packages():
    """The sentence that says which packages with libraries of CUDA are installed."""
    version_of = {d.metadata["Name"]: d.version for d in lazy.metadata.distributions(path=sys.path)}
    prefixes = ("onnxruntime", "nvidia-cu")  # the runtime itself; nvidia-cublas, nvidia-cuda-runtime, nvidia-cudnn, ...
    names = [name for name in sorted(filter(None, version_of)) if name.startswith(prefixes)]
    versions = ", ".join(f"{name} {version_of[name]}" for name in names)
    refused = "".join(f" {text}." for text in load_cuda_libraries())
    return f"Installed here: {versions or 'none of these packages'}.{refused}"
