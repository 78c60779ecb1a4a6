"""rng_uniform, and JAX's primitives that onax expresses with others."""

import functools
from collections.abc import Sequence

import numpy as np

from onax._control.callbacks import io_callback
from onax._core.derived import DerivedPrimitive
from onax._core.evaluate import eval_jaxpr
from onax._core.trace import as_array
from onax._ground.typing import ArrayLike, DimSize
from onax._native.array import Array
from onax._prims.shaping import canonical_shape
from onax._prims.sinks import after_all, create_token, stage
from onax._transforms.abstract import ShapeDtypeStruct
from onax.lax._generators import rng_bit_generator
from onax.lax._ragged import ragged_all_to_all_p
from onax.lax._windows import reduce_window


@functools.cache
def _generator():
    """The process's source of random numbers; NumPy loads its generators when they are first used."""
    return np.random.default_rng()


def rng_uniform(a: ArrayLike, b: ArrayLike, shape: Sequence[DimSize]) -> Array:
    """Returns random numbers of [a, b), other ones at each call: prefer `onax.random`, whose numbers follow from a key.

    Args:
      a, b: scalars of one dtype, floating or integer.
      shape: the shape of the result, a tuple of ints.

    Returns:
      An array of the dtype of a.

    Raises:
      ValueError: dtypes differ, or a or b is no scalar.

    Examples:
      >>> x = onax.lax.rng_uniform(0.0, 1.0, (3,))
      >>> x.shape, bool((x >= 0).all() and (x < 1).all())
      ((3,), True)
    """
    a, b = as_array(a), as_array(b)
    if a.dtype != b.dtype:
        raise ValueError(f"Arguments to rng_uniform must have identical dtypes, got {a.dtype} and {b.dtype}.")
    if a.shape or b.shape:
        raise ValueError(f"Arguments to rng_uniform must be scalars; got shapes {a.shape} and {b.shape}.")
    return io_callback(_draw, ShapeDtypeStruct(canonical_shape(shape), a.dtype), a, b, shape=tuple(shape))


def _draw(low, high, *, shape):
    dtype = low.dtype
    if dtype.kind in "iu":
        return _generator().integers(int(low), int(high), shape, dtype)
    wide = np.float64 if dtype.itemsize == 8 else np.float32
    low, high = low.astype(wide), high.astype(wide)
    drawn = (low + (high - low) * _generator().random(shape, wide)).astype(dtype)
    return np.where(drawn < high.astype(dtype), drawn, low.astype(dtype))


def _reduce_window(*args, jaxpr, consts, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    n = len(args) // 2

    def computation(xs, ys):
        return tuple(eval_jaxpr(jaxpr, consts, *xs, *ys))

    window = (window_dimensions, window_strides, padding, base_dilation, window_dilation)
    return list(reduce_window(tuple(args[:n]), tuple(args[n:]), computation, *window))


def _select_and_scatter(operand, source, init_value, **params):
    raise NotImplementedError(
        "select_and_scatter_p of any two programs: the gradient of a maximum over windows is select_and_scatter_add_p, "
        "and lax.reduce_window takes any program"
    )


reduce_window_p = DerivedPrimitive("reduce_window", _reduce_window, multiple_results=True)
rng_bit_generator_p = DerivedPrimitive(
    "rng_bit_generator", lambda key, **params: list(rng_bit_generator(key, **params)), multiple_results=True
)
select_and_scatter_p = DerivedPrimitive("select_and_scatter", _select_and_scatter)
create_token_p = DerivedPrimitive("create_token", create_token)
after_all_p = DerivedPrimitive("after_all", after_all)
stage_p = DerivedPrimitive("stage", stage)
rng_uniform_p = DerivedPrimitive("rng_uniform", rng_uniform)

__all__ = [
    "after_all_p",
    "create_token_p",
    "ragged_all_to_all_p",
    "reduce_window_p",
    "rng_bit_generator_p",
    "rng_uniform",
    "rng_uniform_p",
    "select_and_scatter_p",
    "stage_p",
]
