"""reduce_window: any function over windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._control.while_loop import fori_loop
from onax._core.trace import as_array, is_concrete, to_concrete_value, typeof
from onax._ground import dims
from onax._ground.typing import AnyFunction, DimSize
from onax._native.api_boundary import unwrap
from onax._native.tree import tree_flatten, tree_unflatten
from onax._prims import elementwise
from onax._prims.convert import convert
from onax._prims.creation import full
from onax._prims.padding import pad
from onax._prims.reductions import highest, lowest
from onax._prims.shaping import reshape
from onax._prims.slicing import dynamic_slice
from onax._prims.slicing import slice as slice_of
from onax._prims.windows import check_window, reduce_window_bind
from onax._prims.windows_shapes import dilated_shape, padtype_to_pads, slice_bounds, window_offsets
from onax._transforms.vmap import vmap

_MONOIDS = {
    elementwise.add: ("sum", lambda dtype: 0),
    elementwise.max: ("max", lowest),
    elementwise.min: ("min", highest),
}
_ELEMENTWISE = (elementwise.add, elementwise.mul, elementwise.max, elementwise.min)


def _recognize_monoid(computation, inits):
    """Returns "sum", "max" or "min" if the computation and the initial value are that reduction, else None."""
    kind, neutral = _MONOIDS.get(unwrap(computation), (None, None)) if callable(computation) else (None, None)
    if kind is None or len(inits) != 1 or not is_concrete(inits[0]) or inits[0].shape != ():
        return None
    value = np.asarray(to_concrete_value(inits[0]))
    return kind if value == neutral(value.dtype) else None


def _check_inits(operands, inits):
    if any(x.dtype != i.dtype for x, i in zip(operands, inits)):
        raise TypeError(
            "reduce_window got inconsistent dtypes for operands and init_values: got operand dtypes "
            f"{[x.dtype for x in operands]} and init_value dtypes {[i.dtype for i in inits]}."
        )
    if any(i.shape for i in inits):
        raise TypeError(
            f"reduce_window expected init_values to be scalars but init_values have shapes {[i.shape for i in inits]}."
        )


def _fold_windows(operands, inits, step, window):
    """Folds all windows at once: one `step` for each element offset within a window."""
    counts, sizes, strides, padding, base, gaps = window
    result, shape = [full(counts, i) for i in inits], operands[0].shape
    if 0 in counts:
        return result
    config = tuple((low, high, d - 1) for (low, high), d in zip(padding, base))
    if any(any(c) for c in config):
        operands = [pad(x, i, config) for x, i in zip(operands, inits)]
        inside = pad(full(shape, True), np.asarray(False), config)

    def fold(result, take):
        new = step(result, [take(x) for x in operands])
        if any(any(c) for c in config):  # padded elements are ignored, whatever init_value is
            new = [elementwise.select_n(take(inside), old, x) for old, x in zip(result, new)]
        return new

    if not dims.is_constant_shape(sizes):
        spans = [(n - 1) * stride + 1 for n, stride in zip(counts, strides)]

        def fold_at(k, result):
            starts = [elementwise.mul(p, as_array(g)) for p, g in zip(_unravel(k, sizes), gaps)]
            return fold(result, lambda x: slice_of(dynamic_slice(x, starts, spans), (0,) * len(spans), spans, strides))

        return fori_loop(0, dims.prod(sizes), fold_at, result)
    for offset in window_offsets(sizes):
        part = (*slice_bounds(offset, gaps, counts, strides), strides)
        result = fold(result, lambda x, part=part: slice_of(x, *part))
    return result


def _unravel(k, sizes):
    """The position that has the index k in row-major order."""
    position = []
    for size in reversed(sizes):
        size = convert(as_array(size), k.dtype)
        position.append(elementwise.rem(k, size))
        k = elementwise.div(k, size)
    return position[::-1]


def _make_step(computation, tree):
    """Makes the function that applies the computation to all windows at once: lists of arrays to a list."""
    if computation in _ELEMENTWISE:
        return lambda accumulated, elements: [computation(accumulated[0], elements[0])]

    def on_scalars(accumulated, elements):
        out, out_tree = tree_flatten(computation(tree_unflatten(tree, accumulated), tree_unflatten(tree, elements)))
        if out_tree != tree:
            raise ValueError(
                f"reduce_window output must have the same tree structure as the operands {tree} vs. {out_tree}"
            )
        given, wanted = [typeof(x).dtype for x in out], [x.dtype for x in elements]
        if given != wanted:
            raise ValueError(
                f"the computation of reduce_window must return the operands' dtypes {[*map(str, wanted)]}, got "
                f"{[*map(str, given)]}"
            )
        return out

    def on_windows(accumulated, elements):
        shape = accumulated[0].shape
        flat = [[reshape(x, (dims.prod(shape),)) for x in xs] for xs in (accumulated, elements)]
        return [reshape(x, shape) for x in vmap(on_scalars)(*flat)]

    return on_windows


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: AnyFunction,
    window_dimensions: Sequence[DimSize],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Returns the reductions of all windows of an array.

    lax.add from 0, lax.max from the lowest and lax.min from the highest value are primitives of their own; every other
    computation takes as many operations as a window has elements.

    Args:
      operand: array, or tree of arrays of one shape.
      init_value: scalar of the dtype of the operand, or tree of scalars.
      computation: associative function of two scalars (trees of scalars).
      window_dimensions: positive ints, one for each axis.
      window_strides: positive ints, one for each axis; default: 1.
      padding: "VALID", "SAME", "SAME_LOWER" or pairs (low, high); padding counts for nothing.
      base_dilation: positive ints, the dilation of the operand; default: 1.
      window_dilation: positive ints, the dilation of windows; default: 1.

    Returns:
      Array of the dtype of the operand, or tree of arrays.

    Raises:
      TypeError: structures or dtypes do not fit.
      ValueError: shapes or parameters do not fit.

    Examples:
      >>> lax.reduce_window(jnp.array([1.0, 2.0, 3.0, 4.0]), 0.0, lax.add, (2,), (2,))
      Array([3., 7.], dtype=float32)
    """
    operands, tree = tree_flatten(operand)
    inits, init_tree = tree_flatten(init_value)
    if tree != init_tree:
        raise ValueError(f"Operands must have the same tree structure as init_values: {tree} vs. {init_tree}")
    if not operands:
        raise ValueError("reduce_window must have at least one operand.")
    operands, inits = [as_array(x) for x in operands], [as_array(i) for i in inits]
    ones = (1,) * len(window_dimensions)
    strides, base, gaps = (ones if v is None else tuple(v) for v in (window_strides, base_dilation, window_dilation))
    if isinstance(padding, str):
        widths = dilated_shape(window_dimensions, gaps)
        padding = padtype_to_pads(operands[0].shape, widths, strides, padding)
    padding = tuple((low, high) for low, high in padding)
    kind = _recognize_monoid(computation, inits)
    if kind is not None and dims.is_constant_shape(window_dimensions):
        out = reduce_window_bind(kind, operands[0], window_dimensions, strides, padding, base, gaps)
        return tree_unflatten(tree, [out])
    if any(x.shape != operands[0].shape for x in operands):
        raise ValueError(f"reduce_window needs operands of one shape, got {[x.shape for x in operands]}")
    _check_inits(operands, inits)
    sizes = tuple(window_dimensions)
    counts = check_window(operands[0].shape, sizes, strides, padding, base, gaps)
    return tree_unflatten(
        tree,
        _fold_windows(operands, inits, _make_step(computation, tree), (counts, sizes, strides, padding, base, gaps)),
    )
