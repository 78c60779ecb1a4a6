"""scatter_apply: a function applied to the elements at indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onax._core.trace import Tracer, as_array
from onax._ground.typing import AnyFunction, ArrayLike, DimSize
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._prims.creation import full
from onax._prims.indexing import GatherScatterMode, scatter_p
from onax._transforms.staging import trace_to_jaxpr


def scatter_apply(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    func: AnyFunction,
    dimension_numbers: Any,
    *,
    update_shape: Sequence[DimSize] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """operand with `func` applied to the elements of the window at each index vector, again where windows overlap.

    Args:
      operand: array of any shape and dtype.
      scatter_indices: integers of shape (..., k), whose last axis holds the index vectors.
      func: function of a scalar that gives a scalar of the same dtype.  It cannot close over traced values.
      dimension_numbers: ScatterDimensionNumbers, which say which axis is what.
      update_shape: the shape of the windows together with the axes of the indices, as `updates` has it in `scatter`.
      indices_are_sorted: a promise: index vectors ascend.
      unique_indices: a promise: no two windows overlap.
      mode: what becomes of windows that leave the operand: "fill" or "drop" leaves them out, "clip" moves them inside.

    Returns:
      An array of the operand's shape and dtype.  It has no derivative, as in JAX.

    Raises:
      TypeError: `func` gives another shape or dtype, or shapes and dimension numbers do not fit.
      NotImplementedError: `func` closes over traced values.

    Examples:
      >>> import onax.numpy as jnp
      >>> from onax import lax
      >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
      >>> indices = jnp.array([[1], [1], [3]])
      >>> print(lax.scatter_apply(jnp.arange(4.0), indices, lambda x: 2 * x + 1, numbers, update_shape=(3,)))
      [0. 7. 2. 7.]
    """
    operand = as_array(operand)
    program = _element_program(func, ShapedArray((), operand.dtype))
    return scatter_p.bind(
        operand,
        as_array(scatter_indices),
        full(update_shape, 0, operand.dtype),  # only its shape matters
        dimension_numbers=dimension_numbers,
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
        update_jaxpr=program.jaxpr,
        update_consts=tuple(program.consts),
    )


def _element_program(func, aval):
    """The program of (old element, unused) that a scatter with this function holds."""

    def combine(old, _):
        out = as_array(func(old))
        if out.shape or out.dtype != old.dtype:
            raise TypeError(
                "scatter_apply and x.at[].apply need a function from a scalar to a scalar of the same dtype; got "
                f"{out.aval.str_short()} for {aval.str_short()}."
            )
        return [out]

    program = trace_to_jaxpr(combine, [aval, aval])
    if any(isinstance(c, Tracer) for c in program.consts):
        raise NotImplementedError(
            "scatter_apply and x.at[].apply with a function that closes over traced values are not supported; use "
            "x.at[index].set(func(x[index])) instead."
        )
    return program
