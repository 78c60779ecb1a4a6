"""ragged_all_to_all: slices of different lengths that the examples of a named axis send each other."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._core.derived import DerivedPrimitive
from onax._core.trace import as_array
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._prims.convert import convert_element_type
from onax._prims.creation import full, iota
from onax._prims.elementwise import add, ge, lt, select_n, sub
from onax._prims.elementwise_bits import bitwise_and
from onax._prims.indexing import GatherDimensionNumbers, GatherScatterMode, gather
from onax._prims.shaping import broadcast_in_dim, reshape
from onax.lax._collectives import all_gather, axis_index


def ragged_all_to_all(
    operand: ArrayLike,
    output: ArrayLike,
    input_offsets: ArrayLike,
    send_sizes: ArrayLike,
    output_offsets: ArrayLike,
    recv_sizes: ArrayLike,
    *,
    axis_name: Any,
    axis_index_groups: Sequence[Sequence[int]] | None = None,
) -> Array:
    """Returns `output` with the rows that the examples of a named axis send to this one written over it.

    Example i sends rows `input_offsets[j]` to `input_offsets[j] + send_sizes[j]` of its `operand` to example j, which
    writes them from its row `output_offsets[j]` (of example i) on.

    Args:
      operand: (rows, ...), what is sent.
      output: (rows out, ...), of the dtype and the trailing shape of `operand`.
      input_offsets, send_sizes, output_offsets, recv_sizes: integers, (size of the named axis,). `recv_sizes` are the
        sizes that arrive; the sizes that are sent say the same.
      axis_name: the name of the axis.
      axis_index_groups: lists of equally many indices along the axis; examples exchange rows within their list.

    Returns:
      An array like `output`.

    Raises:
      ValueError: offsets and sizes are no integer vectors of one length, or `output` does not fit `operand`.

    Examples:
      >>> def exchange(x, out, sent, received):
      ...     starts, places = jnp.array([0, 1]), jnp.array([0, 0])
      ...     return lax.ragged_all_to_all(x, out, starts, sent, places, received, axis_name="i")
      >>> x, sent, received = jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 1], [0, 0]]), jnp.array([[1, 0], [1, 0]])
      >>> onax.vmap(exchange, axis_name="i")(x, jnp.zeros((2, 2), int), sent, received)
      Array([[1, 0],
             [2, 0]], dtype=int32)
    """
    operand, output = as_array(operand), as_array(output)
    vectors = [as_array(v) for v in (input_offsets, send_sizes, output_offsets, recv_sizes)]
    _check(operand, output, vectors)
    gather_along = functools.partial(all_gather, axis_name=axis_name, axis_index_groups=axis_index_groups)
    operands = gather_along(operand)
    me = _index_within_group(axis_name, axis_index_groups)
    mine = [_at(gather_along(v), me) for v in vectors[:3]]
    rows = iota("int32", output.shape[0])
    for source in range(vectors[0].shape[0]):
        start, size, target = (convert_element_type(v[source], "int32") for v in mine)
        spread = lambda x: broadcast_in_dim(x, rows.shape, ())
        offset = sub(rows, spread(target))
        is_sent = bitwise_and(ge(offset, full(rows.shape, 0, "int32")), lt(offset, spread(size)))
        received = _take_rows(operands[source], add(offset, spread(start)))
        output = select_n(broadcast_in_dim(is_sent, output.shape, (0,)), output, received)
    return output


def _check(operand, output, vectors):
    named = list(zip(("input_offsets", "send_sizes", "output_offsets", "recv_sizes"), vectors))
    for name, v in named:
        if v.dtype.kind not in "iu":
            raise ValueError(f"ragged_all_to_all {name} must be integer type.")
    for name, v in named:
        if v.ndim != 1 or v.shape[0] < 1:
            raise ValueError(
                f"ragged_all_to_all {name} must be rank 1 with positive dimension size, but got shape {v.shape}"
            )
    for name, v in named:
        if v.shape != vectors[0].shape:
            raise ValueError(f"ragged_all_to_all {name} must have the shape of input_offsets, got shape {v.shape}")
    if output.dtype != operand.dtype or output.shape[1:] != operand.shape[1:]:
        raise ValueError(
            f"ragged_all_to_all: output of type {output.aval.str_short()} does not fit an operand of type "
            f"{operand.aval.str_short()}"
        )


def _index_within_group(axis_name, groups):
    """The position of this example among those that exchange rows."""
    index = axis_index(axis_name)
    if groups is None:
        return index
    positions = [0] * sum(map(len, groups))
    for group in groups:
        for position, i in enumerate(group):
            positions[i] = position
    return as_array(np.array(positions, np.int32))[index]


def _at(gathered, me):
    """The column `me` of what all examples have: (examples, examples) -> (examples,)."""
    return gathered[:, me]


def _take_rows(x, rows):
    """Rows of x, clipped into bounds."""
    numbers = GatherDimensionNumbers(tuple(range(1, x.ndim)), (0,), (0,))
    return gather(x, reshape(rows, (*rows.shape, 1)), numbers, (1, *x.shape[1:]), mode=GatherScatterMode.CLIP)


ragged_all_to_all_p = DerivedPrimitive("ragged_all_to_all", ragged_all_to_all)
