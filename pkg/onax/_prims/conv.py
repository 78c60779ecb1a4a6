"""conv_general_dilated, which sums products of windows with a kernel, and the public functions that call it.

Dimension numbers (`conv_dimensions.py`) say which axes are batch, features and space.  Window i of a spatial
axis starts at i * stride in the dilated and padded operand; the kernel is not flipped.  Narrow floats are multiplied
and summed in float32 and rounded once; integers wrap.

Both adjoints are convolutions.  The one with respect to lhs reverses the kernel, exchanges its features and dilates by
the strides; the one with respect to rhs exchanges batch and features, and feature groups become batch groups.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._core.facts import MAKES_NAN
from onax._core.rules import defbilinear
from onax._core.trace import as_array
from onax._core.zeros import Zero
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DimSize, DTypeLike, PrecisionLike, Shape, ShardingLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.conv_dimensions import (
    ConvDimensionNumbers,
    conv_dimension_numbers,
    conv_general_permutations,
    permute_shape,
)
from onax._prims.conv_kernels import convolve
from onax._prims.convert import convert
from onax._prims.creation import full
from onax._prims.dot import Precision, _work_dtype, canonical_precision
from onax._prims.placement import sharding_of_cotangent, with_out_sharding
from onax._prims.shaping import broadcast_in_dim, reshape, rev, shape_of, transpose
from onax._prims.windows_shapes import adjoint_padding, dilated_shape, padtype_to_pads

# ---- shape and dtype ----


def _check_groups(lhs_shape, rhs_shape, numbers, features, batches):
    """Raises ValueError unless the group counts divide the sizes that they split."""
    inputs, outputs = lhs_shape[numbers.lhs_spec[1]], rhs_shape[numbers.rhs_spec[0]]
    if not features > 0:
        raise ValueError(f"conv_general_dilated feature_group_count must be a positive integer, got {features}.")
    if not dims.equal(inputs % features, 0):
        raise ValueError(
            "conv_general_dilated feature_group_count must divide lhs feature dimension size, but "
            f"{features} does not divide {inputs}."
        )
    width = rhs_shape[numbers.rhs_spec[1]]
    if not dims.equal(dims.floor_div(inputs, features), width):
        raise ValueError(
            "conv_general_dilated lhs feature dimension size divided by feature_group_count must equal the rhs input "
            f"feature dimension size, but {inputs} // {features} != {width}."
        )
    if not dims.equal(outputs % features, 0):
        raise ValueError(
            "conv_general_dilated rhs output feature dimension size must be a multiple of feature_group_count, but "
            f"{outputs} is not a multiple of {features}."
        )
    if not batches > 0:
        raise ValueError(f"conv_general_dilated batch_group_count must be a positive integer, got {batches}.")
    batch = lhs_shape[numbers.lhs_spec[0]]
    if batches > 1 and not dims.equal(batch % batches, 0):
        raise ValueError(
            "conv_general_dilated batch_group_count must divide lhs batch dimension size, but "
            f"{batches} does not divide {batch}."
        )
    if not dims.equal(outputs % batches, 0):
        raise ValueError(
            "conv_general_dilated rhs output feature dimension size must be a multiple of batch_group_count, but "
            f"{outputs} is not a multiple of {batches}."
        )
    if batches > 1 and features > 1:
        raise ValueError(
            "At most one of batch_group_count and feature_group_count may be > 1, got "
            f"batch_group_count={batches} and feature_group_count={features}"
        )


def _shape(lhs_shape, rhs_shape, params):
    """(batch, feature, space...) of the result; ValueError or TypeError where operands or parameters do not fit."""
    numbers, strides, padding = params["dimension_numbers"], params["window_strides"], params["padding"]
    if len(lhs_shape) != len(rhs_shape):
        raise ValueError(
            "conv_general_dilated lhs and rhs must have the same number of dimensions, but got "
            f"{lhs_shape} and {rhs_shape}."
        )
    batches = params["batch_group_count"]
    _check_groups(lhs_shape, rhs_shape, numbers, params["feature_group_count"], batches)
    rank = len(numbers.rhs_spec) - 2
    if len(strides) != rank:
        raise ValueError(
            "conv_general_dilated window and window_strides must have the same number of dimensions, but got "
            f"{rank} and {len(strides)}"
        )
    if not all(s > 0 for s in strides):
        raise ValueError(f"conv_general_dilated window_strides must be positive, got {strides}.")
    for what in ("lhs_dilation", "rhs_dilation"):
        if len(params[what]) != rank and all(d > 0 for d in params[what]):
            raise ValueError(
                f"conv_general_dilated {what} must have one element for each of the {rank} spatial dimensions, got "
                f"{params[what]}."
            )
    lhs = dilated_shape(permute_shape(lhs_shape, numbers.lhs_spec), params["lhs_dilation"])
    rhs = dilated_shape(permute_shape(rhs_shape, numbers.rhs_spec), params["rhs_dilation"])
    return conv_shape_tuple(lhs, rhs, strides, padding, batches)


def conv_shape_tuple(
    lhs_shape: Sequence[DimSize],
    rhs_shape: Sequence[DimSize],
    strides: Sequence[int],
    pads: Sequence[tuple[int, int]],
    batch_group_count: int = 1,
) -> Shape:
    """Returns the shape of the result of a convolution with axes in the order batch, features, space.

    Args:
      lhs_shape: (batch, features, *space).
      rhs_shape: (output features, input features, *window).
      strides: for each spatial axis the distance of windows, a positive int.
      pads: "SAME", "SAME_LOWER", "VALID", or for each spatial axis a pair (low, high).
      batch_group_count: into how many groups the batch is divided.

    Returns:
      Tuple of ints.

    Raises:
      TypeError: shapes or parameters do not fit.
      ValueError: negative padding removes more than there is.

    Examples:
      >>> lax.conv_shape_tuple((1, 3, 8, 8), (4, 3, 3, 3), (1, 1), "VALID")
      (1, 4, 6, 6)
    """
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    if len(pads) != len(lhs_shape) - 2:
        raise TypeError(
            f"Wrong number of explicit pads for convolution: expected {len(lhs_shape) - 2}, got {len(pads)}."
        )
    padded = [d + low + high for d, (low, high) in zip(lhs_shape[2:], pads)]
    if any(dims.is_constant(d) and d < 0 for d in padded):
        raise ValueError(
            "Negative padding is larger than the size of the corresponding dimension: got "
            f"padding={pads} for lhs_shape[2:]={tuple(lhs_shape[2:])}"
        )
    space = map(dims.stride_dim, padded, rhs_shape[2:], strides)
    return (dims.floor_div(lhs_shape[0], batch_group_count), rhs_shape[0], *space)


def conv_general_shape_tuple(
    lhs_shape: Sequence[DimSize],
    rhs_shape: Sequence[DimSize],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: Any,
) -> Shape:
    """Returns the shape of the result of a convolution with the axes that three strings name.

    Args:
      lhs_shape: the shape of the left operand.
      rhs_shape: the shape of the kernel.
      window_strides: for each spatial axis the distance of windows, a positive int.
      padding: "SAME", "SAME_LOWER", "VALID", or for each spatial axis a pair (low, high).
      dimension_numbers: three strings such as ("NHWC", "HWIO", "NHWC").

    Returns:
      Tuple of ints.

    Raises:
      TypeError: shapes or parameters do not fit.

    Examples:
      >>> lax.conv_general_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2, 2), "SAME", ("NHWC", "HWIO", "NHWC"))
      (1, 4, 4, 4)
    """
    lhs_spec, rhs_spec, out_spec = conv_general_permutations(dimension_numbers)
    out = conv_shape_tuple(
        permute_shape(lhs_shape, lhs_spec), permute_shape(rhs_shape, rhs_spec), window_strides, padding
    )
    return _shape_in_layout(out, out_spec)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[DimSize],
    rhs_shape: Sequence[DimSize],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: Any,
) -> Shape:
    """Returns the shape of the result of `conv_transpose` with the axes that three strings name.

    Args:
      lhs_shape: the shape of the left operand.
      rhs_shape: the shape of the kernel.
      window_strides: for each spatial axis the stride of the convolution that is undone, a positive int.
      padding: "SAME", "VALID", or for each spatial axis a pair (low, high).
      dimension_numbers: three strings such as ("NHWC", "HWIO", "NHWC").

    Returns:
      Tuple of ints.

    Raises:
      TypeError: shapes or parameters do not fit.

    Examples:
      >>> numbers = ("NHWC", "HWIO", "NHWC")
      >>> lax.conv_transpose_shape_tuple((1, 4, 4, 3), (3, 3, 3, 2), (2, 2), "SAME", numbers)
      (1, 8, 8, 2)
    """
    lhs_spec, rhs_spec, out_spec = conv_general_permutations(dimension_numbers)
    lhs, rhs = permute_shape(lhs_shape, lhs_spec), permute_shape(rhs_shape, rhs_spec)
    space = []
    for i, (n, k, stride) in enumerate(zip(lhs[2:], rhs[2:], window_strides)):
        if isinstance(padding, str):
            space.append(n * stride + (max(k - stride, 0) if padding.upper() == "VALID" else 0))
        else:
            low, high = padding[i]
            space.append((n - 1) * stride + 1 + low + high - k + 1)
    return _shape_in_layout((lhs[0], rhs[0], *space), out_spec)


def _shape_in_layout(shape, spec):
    """Orders (batch, feature, space...) as the layout `spec` says."""
    out = [None] * len(spec)
    for i, d in zip(spec, shape):
        out[i] = d
    return tuple(out)


def _result_dtype(lhs, rhs, preferred):
    if lhs != rhs:
        raise TypeError(f"lax.conv_general_dilated requires arguments to have the same dtypes, got {lhs}, {rhs}.")
    if preferred is None:
        return lhs
    is_a = dtypes.issubdtype
    if not (is_a(lhs, np.integer) and is_a(preferred, np.floating)):
        if any(is_a(lhs, t) and not is_a(preferred, t) for t in (np.integer, np.floating, np.complexfloating)):
            raise TypeError(
                "Input type is incompatible with `preferred_element_type`. The compatible combinations of (input_type, "
                "preferred_element_type) are (integral, integral), (integral, floating), (floating, floating), "
                "(complex, complex."
            )
        if is_a(lhs, np.signedinteger) and not is_a(preferred, np.signedinteger):
            raise TypeError("`preferred_element_type` must have the same signedness as the original type.")
    if preferred.itemsize < lhs.itemsize:
        raise TypeError("`preferred_element_type` must not be narrower than the original type.")
    return preferred


def _kernel(lhs, rhs, *, precision=None, preferred_element_type=None, out_sharding=None, **params):
    shape = _shape(lhs.shape, rhs.shape, params)
    out = _result_dtype(lhs.dtype, rhs.dtype, preferred_element_type)
    return convolve(lhs, rhs, out, _work_dtype(lhs.dtype, rhs.dtype, out), params, shape)


def _abstract_eval(lhs, rhs, *, precision=None, preferred_element_type=None, out_sharding=None, **params):
    shape = _shape_in_layout(_shape(lhs.shape, rhs.shape, params), params["dimension_numbers"].out_spec)
    for i, x in enumerate((lhs, rhs)):
        if dtypes.is_extended(x.dtype):
            raise TypeError(f"conv_general_dilated does not accept dtype {x.dtype} at position {i}.")
    dtype = _result_dtype(lhs.dtype, rhs.dtype, preferred_element_type)
    return ShapedArray(shape, dtype, lhs.weak_type and rhs.weak_type)


# ---- adjoints ----


def _merge_axis(source, target, x):
    """Merges the axis `source` into `target` (counted without `source`) as its slower-varying part."""
    shape = list(shape_of(x))
    order = [i for i in range(len(shape)) if i != source]
    order.insert(target, source)
    size = shape.pop(source)
    shape[target] = size * shape[target]
    return reshape(x, tuple(shape), tuple(order))


def _split_axis(source, size, x):
    """Splits the axis `source` in two; the first has the given size."""
    shape = list(shape_of(x))
    shape[source : source + 1] = [size, dims.divide_sizes((shape[source],), (size,))]
    return reshape(x, tuple(shape))


def _exchange_features(spec):
    return (spec[1], spec[0], *spec[2:])


def _convert_if_needed(x, dtype):
    return x if x.dtype == dtype else convert(x, dtype)


def _lhs_cotangent(ct, lhs, rhs, *, dimension_numbers, padding, lhs_dilation, rhs_dilation, window_strides,
                   feature_group_count, batch_group_count, precision, preferred_element_type, **_):  # fmt: skip
    """Convolves the cotangent with the reversed kernel, whose input and output features are exchanged."""
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    pads = adjoint_padding(
        permute_shape(lhs.aval.shape, lhs_spec[2:]),
        permute_shape(shape_of(rhs), rhs_spec[2:]),
        window_strides,
        permute_shape(shape_of(ct), out_spec[2:]),
        padding,
        lhs_dilation,
        rhs_dilation,
    )
    groups = feature_group_count if feature_group_count > 1 else batch_group_count
    if groups > 1:
        rhs = _merge_axis(rhs_spec[0], rhs_spec[1], _split_axis(rhs_spec[0], groups, rhs))
    out = conv_general_dilated(
        ct,
        _convert_if_needed(rev(rhs, rhs_spec[2:]), ct.dtype),
        lhs_dilation,
        pads,
        window_strides,
        rhs_dilation,
        ConvDimensionNumbers(out_spec, _exchange_features(rhs_spec), lhs_spec),
        feature_group_count=groups,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=sharding_of_cotangent(lhs.aval, ct, rhs) if groups == 1 else None,
    )
    out = convert(out, lhs.aval.dtype, lhs.aval.weak_type)
    if batch_group_count > 1:
        out = _merge_axis(lhs_spec[1], lhs_spec[0], _split_axis(lhs_spec[1], batch_group_count, out))
    return out


def _rhs_cotangent(ct, lhs, rhs, *, dimension_numbers, padding, lhs_dilation, rhs_dilation, window_strides,
                   feature_group_count, batch_group_count, precision, preferred_element_type, **_):  # fmt: skip
    """Convolves the left operand with the cotangent, with batch and features exchanged."""
    if dims.definitely_empty(shape_of(ct)):
        return Zero(rhs.aval)
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    in_shape, window = permute_shape(shape_of(lhs), lhs_spec[2:]), permute_shape(rhs.aval.shape, rhs_spec[2:])
    count = permute_shape(shape_of(ct), out_spec[2:])
    pads = []
    for n, w, m, (low, _), base, gap, stride in zip(
        in_shape, window, count, padding, lhs_dilation, rhs_dilation, window_strides
    ):
        reach = dims.dilate_dim(m, stride) + dims.dilate_dim(w, gap) - 1
        pads.append((low, reach - dims.dilate_dim(n, base) - low))
    out = conv_general_dilated(
        _convert_if_needed(lhs, ct.dtype),
        ct,
        rhs_dilation,
        pads,
        lhs_dilation,
        window_strides,
        ConvDimensionNumbers(*map(_exchange_features, (lhs_spec, out_spec, rhs_spec))),
        feature_group_count=batch_group_count,
        batch_group_count=feature_group_count,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=sharding_of_cotangent(rhs.aval, ct, lhs),
    )
    return convert(out, rhs.aval.dtype, rhs.aval.weak_type)


# ---- batching ----


def _batch(axis_data, operands, mapped, **params):
    """Merges the mapped axis of lhs into the batch, that of rhs into the output features; if both are mapped, into
    groups."""
    (lhs, rhs), (dl, dr) = operands, mapped
    numbers = params["dimension_numbers"]
    for d, x in ((dl, lhs), (dr, rhs)):
        if d is not None and dims.equal(shape_of(x)[d], 0):
            return _batch_empty(lhs, rhs, dl, dr, params)
    if dl is not None and dr is not None:
        return _batch_both(lhs, rhs, dl, dr, numbers, params)
    groups = params["feature_group_count"] * params["batch_group_count"]
    if dr is None:
        size, axis = shape_of(lhs)[dl], numbers.lhs_spec[0]
        grouped = params["batch_group_count"] > 1
        lhs = (
            _merge_within_groups(dl, axis, params["batch_group_count"], lhs) if grouped else _merge_axis(dl, axis, lhs)
        )
        out = conv_general_dilated_p.bind(lhs, rhs, **params)
        return _split_axis(numbers.out_spec[0], size, out), numbers.out_spec[0]
    size, axis, at = shape_of(rhs)[dr], numbers.rhs_spec[0], numbers.out_spec[1]
    if groups == 1:
        out = conv_general_dilated_p.bind(lhs, _merge_axis(dr, axis, rhs), **params)
        return _split_axis(at, size, out), at
    out = conv_general_dilated_p.bind(lhs, _merge_within_groups(dr, axis, groups, rhs), **params)
    out = _split_axis(at + 1, size, _split_axis(at, groups, out))
    return _merge_axis(at, at + 1, out), at


def _merge_within_groups(d, axis, groups, x):
    """Merges the mapped axis d into an axis that consists of groups, inside each group."""
    x = _split_axis(axis + (d <= axis), groups, x)
    x = _merge_axis(d + (axis < d), axis + 1, x)
    return _merge_axis(axis, axis, x)


def _batch_both(lhs, rhs, dl, dr, numbers, params):
    size = shape_of(lhs)[dl]
    if not dims.is_constant(size):
        raise NotImplementedError(
            f"conv_general_dilated mapped over both operands needs an axis of known size, got {size}: a symbolic "
            "number of groups has no form. Map over one operand, or give the axis a size."
        )
    if params["batch_group_count"] > 1:
        lhs = _merge_axis(dl, numbers.lhs_spec[0], lhs)
        params["batch_group_count"] *= size
    else:
        lhs = _merge_axis(dl, numbers.lhs_spec[1], lhs)
        params["feature_group_count"] *= size
    out = conv_general_dilated_p.bind(lhs, _merge_axis(dr, numbers.rhs_spec[0], rhs), **params)
    return _split_axis(numbers.out_spec[1], size, out), numbers.out_spec[1]


def _batch_empty(lhs, rhs, dl, dr, params):
    """The empty result of mapping over an axis of size 0."""
    avals = []
    for x, d in ((lhs, dl), (rhs, dr)):
        shape = shape_of(x)
        avals.append(ShapedArray(shape if d is None else (*shape[:d], *shape[d + 1 :]), x.dtype))
    out = _abstract_eval(*avals, **params)
    return full((0, *out.shape), 0, out.dtype), 0


conv_general_dilated_p = Primitive(
    "conv_general_dilated", kernel=_kernel, abstract_eval=_abstract_eval, batch=_batch, facts={MAKES_NAN}
)
defbilinear(conv_general_dilated_p, _lhs_cotangent, _rhs_cotangent)


# ---- public functions ----


def _operand(x):
    return x if isinstance(x, Array) else as_array(x)


def _explicit_padding(padding):
    try:
        return tuple((dims.as_dim(low), dims.as_dim(high)) for low, high in padding)
    except (ValueError, TypeError) as error:
        raise ValueError(
            "padding argument to conv_general_dilated should be a string or a sequence of (low, high) pairs, got "
            f"{padding}"
        ) from error


def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: ShardingLike = None,
) -> Array:
    """Returns the convolution of an array with a kernel, over n spatial axes; the kernel is not flipped.

    Args:
      lhs: array of rank n + 2, of floating, complex or integer dtype.
      rhs: the kernel, of rank n + 2 and the same dtype.
      window_strides: for each spatial axis the distance of windows, a positive int.
      padding: "SAME", "SAME_LOWER", "VALID", or for each spatial axis a pair (low, high); negative numbers remove
        elements.
      lhs_dilation: for each spatial axis the distance at which elements of lhs are put, a positive int; default: 1.
      rhs_dilation: the same of the kernel's elements.
      dimension_numbers: three strings such as ("NHWC", "HWIO", "NHWC") for lhs, rhs and result, a
        ConvDimensionNumbers, or None for batch, features, space (kernel: output features, input features, window).
      feature_group_count: into how many groups the input features are divided; each is convolved with its own part of
        the output features only.
      batch_group_count: into how many groups the batch is divided, in the same way.
      precision: a `lax.Precision`, its name, or a pair of them; it makes no difference on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the operands.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array with axes in the order of `dimension_numbers`.

    Raises:
      TypeError: shapes, dtypes or parameters do not fit.
      ValueError: numbers of groups do not divide features or batch, or the padding is unknown.

    Examples:
      >>> x, w = jnp.ones((1, 8, 8, 3)), jnp.ones((3, 3, 3, 4))
      >>> lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).shape
      (1, 4, 4, 4)
    """
    if out_sharding is not None:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        return with_out_sharding(
            *(out_sharding, conv_general_dilated, lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation),
            *(dimension_numbers, feature_group_count, batch_group_count),
            **options,
        )
    lhs, rhs = _operand(lhs), _operand(rhs)
    numbers = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    if lhs_dilation is None:
        lhs_dilation = (1,) * (lhs.ndim - 2)
    elif isinstance(padding, str) and any(d != 1 for d in lhs_dilation):
        raise ValueError(
            "String padding is not implemented for transposed convolution using this op. Please either exactly specify "
            "the required padding or use conv_transpose."
        )
    if rhs_dilation is None:
        rhs_dilation = (1,) * (rhs.ndim - 2)
    if isinstance(padding, str):
        window = map(dims.dilate_dim, permute_shape(rhs.shape, numbers.rhs_spec[2:]), rhs_dilation)
        padding = padtype_to_pads(permute_shape(lhs.shape, numbers.lhs_spec[2:]), list(window), window_strides, padding)
    else:
        padding = _explicit_padding(padding)
    if preferred_element_type is not None:
        preferred_element_type = dtypes.check_user_dtype(preferred_element_type, "conv_general_dilated")
    return conv_general_dilated_p.bind(
        lhs,
        rhs,
        window_strides=tuple(window_strides),
        padding=tuple(padding),
        lhs_dilation=tuple(lhs_dilation),
        rhs_dilation=tuple(rhs_dilation),
        dimension_numbers=numbers,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
        precision=canonical_precision(precision),
        preferred_element_type=preferred_element_type,
        out_sharding=None,
    )


def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Returns a convolution with axes in the order batch, features, space, without dilation.

    Args:
      lhs: array of shape (batch, features, *space), of floating, complex or integer dtype.
      rhs: the kernel, an array of shape (output features, input features, *window) and the same dtype.
      window_strides: for each spatial axis the distance of windows, a positive int.
      padding: "SAME", "SAME_LOWER", "VALID", or for each spatial axis a pair (low, high); negative numbers remove
        elements.
      precision: a `lax.Precision`, its name, or a pair of them; it makes no difference on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the operands.

    Returns:
      Array of shape (batch, output features, *space).

    Raises:
      TypeError: shapes, dtypes or parameters do not fit.
      ValueError: the shapes do not fit a convolution.

    Examples:
      >>> lax.conv(jnp.ones((1, 1, 4, 4)), jnp.ones((2, 1, 3, 3)), (1, 1), "VALID").shape
      (1, 2, 2, 2)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Returns a convolution with axes in the order batch, features, space.

    Args:
      lhs: array of shape (batch, features, *space), of floating, complex or integer dtype.
      rhs: the kernel, an array of shape (output features, input features, *window) and the same dtype.
      window_strides: for each spatial axis the distance of windows, a positive int.
      padding: "SAME", "SAME_LOWER", "VALID", or for each spatial axis a pair (low, high); negative numbers remove
        elements.
      lhs_dilation: for each spatial axis the distance at which elements of lhs are put; None means 1.
      rhs_dilation: the same of the kernel's elements.
      precision: a `lax.Precision`, its name, or a pair of them; it makes no difference on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the operands.

    Returns:
      Array of shape (batch, output features, *space).

    Raises:
      TypeError: shapes, dtypes or parameters do not fit.

    Examples:
      >>> x, w = jnp.ones((1, 1, 5)), jnp.ones((1, 1, 2))
      >>> lax.conv_with_general_padding(x, w, (1,), [(1, 0)], None, (3,)).shape
      (1, 1, 3)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _conv_transpose_padding(window, stride, padding):
    """The (low, high) padding with which a convolution of the dilated input undoes the sizes of one with this
    padding."""
    if padding == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
    elif padding == "VALID":
        total = window + stride - 2 + max(window - stride, 0)
        low = window - 1
    elif isinstance(padding, tuple):
        low, high = (window - p - 1 for p in padding)
        return low, high
    else:
        raise ValueError(f"Invalid padding mode: {padding}")
    return low, total - low


_TRANSPOSE_LAYOUTS = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    use_consistent_padding: bool = False,
) -> Array:
    """Returns a transposed convolution: the strides put zeros between elements, which undoes the change of sizes.

    Args:
      lhs: array of rank n + 2, of floating, complex or integer dtype.
      rhs: the kernel, of rank n + 2 and the same dtype.
      strides: for each spatial axis the stride of the convolution that is undone, a positive int.
      padding: "SAME" or "VALID", the padding of the convolution that is undone, or for each spatial axis a pair (low,
        high), which pads lhs after zeros are put into it.
      rhs_dilation: for each spatial axis the distance at which elements of the kernel are put; default: 1.
      dimension_numbers: as of `conv_general_dilated`; default: features last, ("NHWC", "HWIO", "NHWC") in two
        dimensions.
      transpose_kernel: whether the kernel is reversed and its features exchanged, so that the result is the gradient
        of a convolution with that kernel.
      precision: a `lax.Precision`, its name, or a pair of them; it makes no difference on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the operands.
      use_consistent_padding: whether pairs, too, are the padding of the convolution that is undone.

    Returns:
      Array with axes in the order of `dimension_numbers`.

    Raises:
      ValueError: there are more than three spatial axes without `dimension_numbers`, or the padding is another one.

    Examples:
      >>> lax.conv_transpose(jnp.ones((1, 4, 4, 3)), jnp.ones((3, 3, 3, 2)), (2, 2), "SAME").shape
      (1, 8, 8, 2)
    """
    lhs, rhs = _operand(lhs), _operand(rhs)
    rank = lhs.ndim
    if rank != rhs.ndim or rank < 2:
        raise ValueError(f"conv_transpose needs two operands of equal rank, at least 2, got {rank} and {rhs.ndim}.")
    if dimension_numbers is None:
        if rank not in _TRANSPOSE_LAYOUTS:
            raise ValueError("No 4+ dimensional dimension_number defaults.")
        dimension_numbers = _TRANSPOSE_LAYOUTS[rank]
    numbers = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    if rhs_dilation is None:
        rhs_dilation = (1,) * (rank - 2)
    pads = padding
    if use_consistent_padding or padding in ("SAME", "VALID"):
        widths = map(dims.dilate_dim, permute_shape(rhs.shape, numbers.rhs_spec[2:]), rhs_dilation)
        each = [padding] * len(strides) if isinstance(padding, str) else padding
        pads = tuple(map(_conv_transpose_padding, widths, strides, each))
    if transpose_kernel:
        rhs = rev(rhs, numbers.rhs_spec[2:])
        order = list(range(rank))
        out, into = numbers.rhs_spec[:2]
        order[out], order[into] = into, out
        rhs = transpose(rhs, tuple(order))
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * (rank - 2),
        pads,
        strides,
        rhs_dilation,
        numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_patches(
    lhs: ArrayLike,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Returns the windows that a convolution would read, each flattened into the feature axis.

    Args:
      lhs: array of rank n + 2, of floating, complex or integer dtype.
      filter_shape: the shape of the window, n positive ints.
      window_strides: for each spatial axis the distance of windows, a positive int.
      padding: "SAME", "SAME_LOWER", "VALID", or for each spatial axis a pair (low, high).
      lhs_dilation: for each spatial axis the distance at which elements of lhs are put, a positive int; default: 1.
      rhs_dilation: the same of the window's elements.
      dimension_numbers: as of `conv_general_dilated`; its second entry fixes the order of positions within a window.
      precision: a `lax.Precision` or its name; it makes no difference on a CPU.
      preferred_element_type: the dtype of the result; default: that of lhs.

    Returns:
      Array like the result of a convolution; its features are the input features, for each the positions in the window.

    Raises:
      TypeError, ValueError: parameters do not fit.

    Examples:
      >>> lax.conv_general_dilated_patches(jnp.arange(4.0).reshape(1, 1, 4), (2,), (1,), "VALID")[0]
      Array([[0., 1., 2.],
             [1., 2., 3.]], dtype=float32)
    """
    lhs, window = _operand(lhs), tuple(map(operator.index, filter_shape))
    numbers = conv_dimension_numbers(lhs.shape, (1, 1, *window), dimension_numbers)
    size, features = math.prod(window), lhs.shape[numbers.lhs_spec[1]]
    rhs = broadcast_in_dim(as_array(np.eye(size, dtype=lhs.dtype)), (features, size, size), (1, 2))
    rhs = reshape(rhs, (features * size, 1, *window))
    order = [None] * len(numbers.rhs_spec)
    order[numbers.rhs_spec[0]], order[numbers.rhs_spec[1]] = 0, 1
    rest = iter(range(2, len(order)))
    rhs = transpose(rhs, tuple(next(rest) if i is None else i for i in order))
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        numbers,
        precision=None if precision is None else (precision, Precision.DEFAULT),
        feature_group_count=features,
        preferred_element_type=preferred_element_type,
    )
