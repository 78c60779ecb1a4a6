"""What stands in the place of objects of XLA's runtime that libraries name: most are only looked at, or caught."""

import numpy as np

from onax._core.trace import typeof
from onax._ground import processes
from onax._ground.dtypes import ALL_DTYPES, canonicalize_dtype, issubdtype, to_complex_dtype
from onax._native.dispatch import Primitive
from onax.numpy._promotion import promote_dtypes_inexact

# A primitive that JAX declares and does not use.
stop_gradient_p = Primitive("stop_gradient")

# Backends that were started before their number of devices was set: onax's devices do not depend on such a start.
no_backends: dict = {}

# What makes Arrays of XLA's buffers, by type: onax has no buffers of XLA.
result_handlers: dict = {}

# How JAX finds the type of a value, and makes it canonical, by class.  Libraries enter classes of theirs; onax takes
# objects that have `__jax_array__` instead, and refuses others by their class.
types_of_classes: dict = {np.ndarray: typeof}
conversions_of_classes: dict = {np.ndarray: lambda x: x.astype(canonicalize_dtype(x.dtype))}


class GlobalState:
    """The state of jax.distributed: which process this is, of how many, and the client that they share keys by."""

    client = property(lambda self: processes.coordination_client())
    coordinator_address = None
    service = None
    num_processes = property(lambda self: processes.process_count())
    process_id = property(lambda self: processes.process_index())


global_state = GlobalState()


class LoweringRuleContext:
    """The class of the first argument of lowerings to MLIR, which onax never calls."""


def backend_compile_and_load(backend, *args, **kwargs):
    """XLA's compiler, which onax does not call."""
    raise NotImplementedError("onax compiles with ONNX Runtime, not with XLA")


def emit_python_callback(ctx, *args, **kwargs):
    """A callback in a lowering to MLIR, which onax never calls."""
    raise NotImplementedError("onax lowers to ONNX: a rule for MLIR cannot be run")


def full_lower(value):
    """The value: no tracer of onax stands for a simpler one."""
    return value


def physical_aval(aval):
    """The type: JAX's types of user-defined dtypes have another one in memory."""
    return aval


def supports_inf(dtype):
    """Whether a dtype has infinities."""
    dtype = np.dtype(dtype)
    return bool(dtype in ALL_DTYPES and issubdtype(dtype, np.inexact) and np.isinf(np.array(np.inf).astype(dtype)))


def promote_dtypes_complex(*args):
    """The arrays in their common dtype, made complex."""
    args = promote_dtypes_inexact(*args)
    return [x.astype(to_complex_dtype(x.dtype)) for x in args]


def safe_map(f, *args):
    """The list of the results of a function on the elements of sequences; ValueError for different lengths."""
    return [f(*elements) for elements in safe_zip(*args)]


def safe_zip(*args):
    """The list of tuples of the elements of sequences; ValueError for different lengths."""
    return list(zip(*args, strict=True))
