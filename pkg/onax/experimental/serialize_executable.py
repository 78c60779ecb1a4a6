"""Compiled functions as bytes, under the names of jax.experimental.serialize_executable.

The bytes are an exported model (`onax.export`), so that reading them runs no code; loading compiles it.
"""

from collections.abc import Iterable

from onax._compile.jit import jit
from onax._compile.stages import Compiled
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.evaluate import jaxpr_as_fun
from onax._core.refs import AbstractRef
from onax._ground import devices as _devices
from onax._ground.devices import Backend, Device
from onax._native.tree import PyTreeDef, tree_leaves, tree_unflatten
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export.api import deserialize, export


def _structs(avals):
    return [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]


def serialize(compiled: Compiled) -> tuple[bytes, PyTreeDef, PyTreeDef]:
    """Returns a compiled function as bytes.

    Args:
      compiled: what ``jit(f).lower(...).compile()`` returns.

    Returns:
      (bytes, tree of the arguments, tree of the result), for `deserialize_and_load`.

    Raises:
      LoweringError: the program has no ONNX form, as with callbacks.
      ValueError: it takes mutable array references, or closes over some.

    Examples:
      >>> from onax.experimental import serialize_executable
      >>> parts = serialize_executable.serialize(onax.jit(lambda x: 2 * x).lower(jnp.ones(2)).compile())
      >>> serialize_executable.deserialize_and_load(*parts)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    s = compiled._signature
    if s.hoisted:
        raise ValueError("can't serialize with a closed-over mutable array ref")
    if any(type(a) is AbstractRef for a in s.in_avals_flat):
        raise ValueError("can't serialize a function of mutable array references")
    function = jaxpr_as_fun(compiled._computation.jaxpr)
    exported = export(function)(*_structs(s.in_avals_flat))
    return bytes(exported.serialize()), s.in_tree, s.out_tree


def deserialize_and_load(
    serialized: bytes,
    in_tree: PyTreeDef,
    out_tree: PyTreeDef,
    backend: str | Backend | None = None,
    execution_devices: Iterable[Device] | None = None,
) -> Compiled:
    """Returns the compiled function in what `serialize` returned.

    Args:
      serialized: bytes.
      in_tree: the tree of the arguments.
      out_tree: the tree of the result.
      backend: None, or that of the CPU, where it runs.
      execution_devices: None, or CPU devices.

    Returns:
      A compiled function.

    Raises:
      ValueError: devices of another kind.
      ArtifactError: other bytes.

    Examples:
      >>> from onax.experimental import serialize_executable
      >>> parts = serialize_executable.serialize(onax.jit(lambda x: 2 * x).lower(jnp.ones(2)).compile())
      >>> serialize_executable.deserialize_and_load(*parts)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    if backend is not None:
        _devices.get_backend(backend)
    others = [d for d in execution_devices or () if d.platform != "cpu"]
    if others:
        raise ValueError(f"the executable runs on the CPU; got execution devices {others}")
    exported = deserialize(serialized)

    def call(*args, **kwargs):
        return tree_unflatten(out_tree, exported.call(*tree_leaves((args, kwargs))))

    call.__name__ = exported.fun_name
    args, kwargs = tree_unflatten(in_tree, _structs(exported.in_avals))
    return jit(call).lower(*args, **kwargs).compile()


__all__ = ["deserialize_and_load", "serialize"]

_wrap_api_functions(globals(), __name__)
