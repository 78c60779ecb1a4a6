"""approx_top_k: the largest or smallest elements along an axis, found exactly because no approximation is quicker on a
CPU."""

import math
import operator

import numpy as np

from onax._core.rules import InvalidOperands, tangent_zero
from onax._core.trace import Tracer, as_array
from onax._core.zeros import Zero
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import sorting
from onax._prims.creation import full_like
from onax._prims.elementwise import ne, neg, select_n
from onax._prims.shaping import canonical_axis, reshape, shape_of


def _result_size(size, rank, k, recall_target, aggregate_to_topk, override):
    """The number of results: k, or as many as a TPU's partial reduction would keep (the formula of XLA's
    ApproxTopK)."""
    lanes = 1024 if rank == 1 else 128
    if aggregate_to_topk or size <= lanes:
        return k if aggregate_to_topk else size
    if k == 1:
        return lanes
    if recall_target >= 1:
        return size
    num_bins = max(int((1 - k) / math.log(recall_target)), lanes)
    halvings = int(math.log2(max((override if override >= 0 else size) / num_bins, 1)))
    return lanes * math.ceil(math.ceil(size / lanes) / 2**halvings) if halvings else size


def _result_count(x, k, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk):
    size, override = x.shape[reduction_dimension], reduction_input_size_override
    return _result_size(size, x.ndim, k, recall_target, aggregate_to_topk, override)


def _abstract_eval(x, *, k, is_max_k, reduction_dimension, **params):
    if k <= 0:
        raise ValueError(f"k must be positive, got {k}")
    if not x.ndim:
        raise TypeError(f"approx_top_k operand must have >= 1 dimension, got {x.shape}")
    if not dtypes.issubdtype(x.dtype, np.floating):
        raise ValueError("operand must be a floating type")
    shape = list(x.shape)
    size = shape[reduction_dimension]
    if size < k:
        raise ValueError(f"k must be smaller than the size of reduction_dim {size}, got {k}")
    if 0 <= params["reduction_input_size_override"] < size:
        override = params["reduction_input_size_override"]
        raise ValueError(f"reduction_input_size_override: {override} should be greater equals to {size}")
    shape[reduction_dimension] = _result_count(x, k, reduction_dimension, **params)
    return [ShapedArray(tuple(shape), d, x.weak_type) for d in (x.dtype, np.dtype(np.int32))]


def _kernel(x, *, k, is_max_k, reduction_dimension, **params):
    axis = reduction_dimension % x.ndim
    count = _result_count(x, k, axis, **params)
    size, override = x.shape[axis], params["reduction_input_size_override"]
    if not dtypes.issubdtype(x.dtype, np.floating) or not 0 < k <= size or 0 <= override < size:
        raise InvalidOperands
    if is_max_k:
        return sorting._top_k_kernel(x, k=count, axis=axis)
    negated = np.where(np.isnan(x), -np.array(np.inf, x.dtype), -x)
    indices = sorting._top_k_kernel(negated, k=count, axis=axis)[1]
    return [np.take_along_axis(x, indices, axis), indices]


def exact_top_k(x, *, k, is_max_k, reduction_dimension, **params):
    """Computes approx_top_k by top_k.  Among the smallest, NaN is ranked as infinity, i.e. last."""
    axis = reduction_dimension % x.ndim
    count = _result_count(x, k, axis, **params)
    if is_max_k:
        return sorting.top_k(x, count, axis=axis)
    indices = sorting.top_k(select_n(ne(x, x), neg(x), full_like(x, -np.inf)), count, axis=axis)[1]
    return [sorting._take_along(reshape(indices, (*shape_of(indices), 1)), axis, x), indices]


def _jvp(primals, tangents, *, reduction_dimension, **params):
    out = approx_top_k_p.bind(*primals, reduction_dimension=reduction_dimension, **params)
    (g,) = tangents
    zeros = tangent_zero(out)
    if type(g) is Zero:
        return out, zeros
    axis = reduction_dimension % len(shape_of(primals[0]))
    return out, [sorting._take_along(reshape(out[1], (*shape_of(out[1]), 1)), axis, g), zeros[1]]


def _batch(axis_data, operands, mapped, *, reduction_dimension, **params):
    """Batches; as in JAX, without aggregation the number of results is that for the array with its mapped axis."""
    (x,), (d,) = operands, mapped
    axis = reduction_dimension % (x.ndim - 1)
    return approx_top_k_p.bind(x, reduction_dimension=axis + (d <= axis), **params), [d, d]


approx_top_k_p = Primitive(
    "approx_top_k",
    multiple_results=True,
    kernel=_kernel,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    batch=_batch,
)


def _as_integer(k, name):
    """Converts k, an integer or an integral float, to an int.  Raises TypeError for other values, including arrays."""
    if isinstance(k, float) and k.is_integer():
        return int(k)
    if isinstance(k, Array | Tracer | np.ndarray) or not hasattr(type(k), "__index__"):
        raise TypeError(f"{name}: k must be an integer, got {k!r} of type {type(k).__name__}")
    return operator.index(k)


def _approx_top_k(
    operand, k, is_max_k, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk
):
    operand, k = as_array(operand), _as_integer(k, "approx_max_k" if is_max_k else "approx_min_k")
    if not 0 < recall_target <= 1:
        raise ValueError(f"recall_target must be in (0, 1], got {recall_target}")
    if k <= 0:
        raise ValueError(f"k must be positive, got {k}")
    if operand.ndim:
        canonical_axis(reduction_dimension, operand.ndim)
    return approx_top_k_p.bind(
        operand,
        k=k,
        reduction_dimension=reduction_dimension,
        recall_target=recall_target,
        is_max_k=is_max_k,
        reduction_input_size_override=reduction_input_size_override,
        aggregate_to_topk=aggregate_to_topk,
    )


def approx_max_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """Returns the k largest elements along an axis in descending order, and their indices.

    They are found exactly, whatever recall_target.

    Args:
      operand: array of floats; NaN counts as largest.
      k: positive int, at most the length of the axis.
      reduction_dimension: int, the axis.
      recall_target: float; with the next parameter it decides how many elements are returned where aggregate_to_topk is
        False.
      reduction_input_size_override: int, the length of the axis to assume; -1: its own.
      aggregate_to_topk: whether k elements are returned, instead of as many as JAX's search gives.

    Returns:
      List of two arrays, values and int32 indices.

    Raises:
      ValueError: the operand is of an integer dtype, or k or the axis is out of range.

    Examples:
      >>> lax.approx_max_k(jnp.array([3.0, 1.0, 2.0]), 2)
      [Array([3., 2.], dtype=float32), Array([0, 2], dtype=int32)]
    """
    return _approx_top_k(
        operand, k, True, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk
    )


def approx_min_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """Returns the k smallest elements along an axis in ascending order, and their indices.

    They are found exactly, whatever recall_target.

    Args:
      operand: array of floats; NaN comes last.
      k: positive int, at most the length of the axis.
      reduction_dimension: int, the axis.
      recall_target: float; with the next parameter it decides how many elements are returned where aggregate_to_topk is
        False.
      reduction_input_size_override: int, the length of the axis to assume; -1: its own.
      aggregate_to_topk: whether k elements are returned, instead of as many as JAX's search gives.

    Returns:
      List of two arrays, values and int32 indices.

    Raises:
      ValueError: the operand is of an integer dtype, or k or the axis is out of range.

    Examples:
      >>> lax.approx_min_k(jnp.array([3.0, 1.0, 2.0]), 2)
      [Array([1., 2.], dtype=float32), Array([1, 2], dtype=int32)]
    """
    return _approx_top_k(
        operand, k, False, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk
    )
