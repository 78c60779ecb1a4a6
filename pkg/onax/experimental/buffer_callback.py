"""Callbacks that write their results into buffers, under the names of jax.experimental.buffer_callback."""

import enum
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._control.callbacks import io_callback, pure_callback
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import typeof
from onax._ground.errors import JaxRuntimeError
from onax._ground.typing import AnyFunction, PyTree
from onax._native.tree import tree_flatten, tree_map, tree_unflatten


class ExecutionStage(enum.Enum):
    """When a callback is called; here always EXECUTE."""

    INSTANTIATE = 0
    PREPARE = 1
    INITIALIZE = 2
    EXECUTE = 3


class ExecutionContext:
    """What a callback gets beside its buffers: the stage.  There is no stream of a GPU."""

    stage = ExecutionStage.EXECUTE

    @property
    def stream(self):
        """Raises JaxRuntimeError: buffers are in the memory of the CPU."""
        raise JaxRuntimeError("UNIMPLEMENTED: XLA FFI GPU context is not available")


@dataclass(eq=False)
class Buffer:
    """An argument or a result of a callback: ``np.asarray(buffer)`` is its memory.

    Args:
      writeable: whether it may be written to, as results may.

    Examples:
      >>> from onax.experimental import buffer_callback
      >>> buffer_callback.Buffer(np.zeros(2), True).shape
      (2,)
    """

    _array: np.ndarray
    writeable: bool

    shape = property(lambda self: self._array.shape)
    dtype = property(lambda self: self._array.dtype)
    ndim = property(lambda self: self._array.ndim)

    def __array__(self, dtype=None, copy=None):
        return self._array if dtype is None else np.asarray(self._array, dtype)

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def buffer_callback(
    callback: AnyFunction,
    result_shape_dtypes: PyTree,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    command_buffer_compatible: bool = False,
) -> Callable[..., Any]:
    """Returns a function that calls a Python function, which writes its results into buffers.

    Args:
      callback: a function ``callback(context, out, *args, **kwargs)`` that returns None; `out` is a tree of Buffers
        like `result_shape_dtypes`, the arguments are trees of Buffers like those of the call.
      result_shape_dtypes: a tree of objects with shape and dtype.
      has_side_effect: True: it is called each time, also if its results are not used; default False.
      vmap_method: as for `pure_callback`.
      input_output_aliases: a dict from indices of arguments to those of results that begin with their values.
      command_buffer_compatible: accepted, without effect.

    Returns:
      A function of trees of arrays.

    Raises:
      ValueError: an alias is out of range or joins different types.

    Examples:
      >>> from onax.experimental import buffer_callback
      >>> def double(context, out, x):
      ...     np.asarray(out)[...] = 2 * np.asarray(x)
      >>> result = onax.ShapeDtypeStruct((2,), jnp.float32)
      >>> buffer_callback.buffer_callback(double, result)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    leaves, tree = tree_flatten(result_shape_dtypes)
    aliases = dict(input_output_aliases or {})

    def call(*args, **kwargs):
        given, _ = tree_flatten((args, kwargs))
        _check_aliases(aliases, given, leaves)
        run_here = functools.partial(run, [np.ndim(x) for x in given])
        if has_side_effect:
            return io_callback(run_here, result_shape_dtypes, *args, **kwargs)
        return pure_callback(run_here, result_shape_dtypes, *args, vmap_method=vmap_method, **kwargs)

    def run(ranks, *args, **kwargs):
        given, _ = tree_flatten((args, kwargs))
        batch = np.broadcast_shapes(*(x.shape[: x.ndim - rank] for x, rank in zip(given, ranks)))
        arrays = [np.empty((*batch, *x.shape), x.dtype) for x in leaves]
        for i, o in aliases.items():
            arrays[o][...] = np.asarray(given[i])
        args, kwargs = tree_map(lambda x: Buffer(np.asarray(x), False), (args, kwargs))
        callback(ExecutionContext(), tree_unflatten(tree, [Buffer(x, True) for x in arrays]), *args, **kwargs)
        return tree_unflatten(tree, arrays)

    return call


def _check_aliases(aliases, given, results):
    for i, o in aliases.items():
        mapping = f"input_output_aliases contains the mapping '{i}:{o}' "
        for what, index, count in (("input", i, len(given)), ("output", o, len(results))):
            if not 0 <= index < count:
                raise ValueError(f"{mapping}with {what} index {index} outside the range [0, {count}).")
        x, y = typeof(given[i]), results[o]
        if (x.shape, x.dtype) != (tuple(y.shape), np.dtype(y.dtype)):
            raise ValueError(
                f"{mapping}referring to an input with abstract value {x} and an output with a different abstract value "
                f"{y}."
            )


__all__ = ["Buffer", "ExecutionContext", "ExecutionStage", "buffer_callback"]

_wrap_api_functions(globals(), __name__)
