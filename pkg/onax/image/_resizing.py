"""Implementation of onax.image: resampling by products with matrices of weights, one for each axis."""

from __future__ import annotations

import enum
import operator
from collections.abc import Sequence

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._ground import dtypes
from onax._ground.dims import SymbolicDim, as_dim
from onax._ground.typing import ArrayLike, DimSize, PrecisionLike
from onax._native.array import Array
from onax.numpy._promotion import canonical_axis, ensure_arraylike, promote_dtypes_inexact


class ResizeMethod(enum.Enum):
    """The interpolation method."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s):
        """The method of a name.  Raises ValueError for another."""
        result = _NAMES.get(s)
        if result is None:
            raise ValueError(f'Unknown resize method "{s}"')
        return result


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}


def _triangle_kernel(x):
    return jnp.maximum(0, 1 - jnp.abs(x))


def _lanczos_kernel(radius):
    def kernel(x):
        product = radius * jnp.sin(np.pi * x) * jnp.sin(np.pi * x / radius)
        inside = jnp.where(x > 1e-3, product / jnp.where(x != 0, np.pi**2 * x**2, 1), 1)
        return jnp.where(x > radius, 0.0, inside)

    return kernel


def _keys_cubic_kernel(a):
    """Keys, "Cubic convolution interpolation for digital image processing" (1981), with its free slope."""

    def kernel(x):
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return jnp.where(x >= 2, 0, jnp.where(x >= 1, far, near))

    return kernel


_KERNELS = {
    ResizeMethod.LINEAR: _triangle_kernel,
    ResizeMethod.LANCZOS3: _lanczos_kernel(3.0),
    ResizeMethod.LANCZOS5: _lanczos_kernel(5.0),
    ResizeMethod.CUBIC: _keys_cubic_kernel(-0.5),
    ResizeMethod.CUBIC_PYTORCH: _keys_cubic_kernel(-0.75),
}


_EDGE = 2  # samples that the cubic kernel reaches beyond an edge


def _weight_matrix(in_size, out_size, scale, translation, kernel, antialias, repeat_edges):
    """The weight of each of the `in_size` input samples in each of the `out_size` output samples.

    repeat_edges: samples beyond an edge equal the edge; otherwise there are none, and positions outside get 0.
    """
    dtype = np.result_type(scale.dtype, translation.dtype)
    inverse = 1.0 / scale
    width = jnp.maximum(inverse, 1.0) if antialias else 1.0
    position = (jnp.arange(out_size, dtype=dtype) + 0.5) * inverse - translation * inverse - 0.5
    beyond = _EDGE if repeat_edges else 0
    samples = jnp.arange(-beyond, in_size + beyond, dtype=dtype)
    weights = kernel(jnp.abs(position[None, :] - samples[:, None]) / width)
    if repeat_edges:
        before, weights, after = jnp.split(weights, (beyond, beyond + in_size))
        weights = weights.at[0].add(before.sum(0)).at[-1].add(after.sum(0))
    total = jnp.sum(weights, axis=0, keepdims=True)
    smallest_total = 1000.0 * float(np.finfo(np.float32).eps)
    weights = jnp.where(jnp.abs(total) > smallest_total, weights / jnp.where(total != 0, total, 1), 0)
    if repeat_edges:
        return weights
    inside = (position >= -0.5) & (position <= in_size - 0.5)
    return jnp.where(inside[None, :], weights, 0)


def _resolve_method(method):
    if isinstance(method, str):
        return ResizeMethod.from_string(method)
    if not isinstance(method, ResizeMethod):
        raise TypeError(f"resize: method is a name or a ResizeMethod, got {method!r}")
    return method


def _resample(x, shape, dims, scale, translation, method, antialias, precision):
    repeat_edges = method == ResizeMethod.CUBIC_PYTORCH and not antialias
    if method == ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC  # PyTorch has another slope only without antialias
    kernel = _KERNELS[method]
    for i, d in enumerate(dims):
        weights = _weight_matrix(x.shape[d], shape[d], scale[i], translation[i], kernel, antialias, repeat_edges)
        weights = weights.astype(x.dtype)
        numbers = (((d,), (0,)), ((), ()))
        x = jnp.moveaxis(lax.dot_general(x, weights, numbers, precision=precision), -1, d)
    return x


def _resize_area(x, shape):
    """Averages the part of the image that each output element covers."""
    for d, (in_size, out_size) in enumerate(zip(x.shape, shape)):
        if in_size == out_size or not out_size:
            continue
        edges = np.arange(out_size + 1) * (in_size / out_size)
        i = np.arange(in_size)[:, None]
        overlap = np.clip(np.minimum(edges[1:], i + 1) - np.maximum(edges[:-1], i), 0, None) * (out_size / in_size)
        numbers = (((d,), (0,)), ((), ()))
        x = jnp.moveaxis(lax.dot_general(x, overlap.astype(x.dtype), numbers, precision=lax.Precision.HIGHEST), -1, d)
    return x


def _resize_nearest(x, shape):
    for d, (in_size, out_size) in enumerate(zip(x.shape, shape)):
        if in_size != out_size:
            symbolic = isinstance(in_size, SymbolicDim) or isinstance(out_size, SymbolicDim)
            module, as_float = (jnp, lambda n: jnp.asarray(n, np.float32)) if symbolic else (np, np.float32)
            offsets = module.arange(out_size, dtype=np.float32) + as_float(0.5)
            indices = module.floor(offsets * as_float(in_size) / as_float(out_size))
            x = jnp.take(x, jnp.asarray(indices.astype(np.int32)), axis=d)
    return x


def scale_and_translate(
    image: ArrayLike,
    shape: Sequence[DimSize],
    spatial_dims: Sequence[int],
    scale: ArrayLike,
    translation: ArrayLike,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: PrecisionLike = lax.Precision.HIGHEST,
) -> Array:
    """Returns an image resampled so that sample p comes from position (p - translation) / scale.

    Positions outside of the image give 0.

    Args:
      image: an array.
      shape: the shape of the result, of the same rank.
      spatial_dims: the axes that are resampled, k ints.
      scale: (k,).
      translation: (k,).
      method: as in `resize`, except for "nearest".
      antialias: True (the default): a shrinking image is averaged.
      precision: of the products, as in `lax.dot_general`; default highest.

    Returns:
      Float array of shape `shape`.

    Raises:
      ValueError: "nearest", shapes of another rank, or an axis out of bounds.
      NotImplementedError: the method is "area".
      AssertionError: not one scale and one translation for each axis.

    Examples:
      >>> one = jnp.array([1.0])
      >>> onax.image.scale_and_translate(jnp.array([1.0, 2.0]), (2,), (0,), one, one, "linear")
      Array([0., 1.], dtype=float32)
    """
    image = ensure_arraylike("scale_and_translate", image)
    if len(shape) != image.ndim:
        raise ValueError(f"shape must have length equal to the number of dimensions of x;  {shape} vs {image.shape}")
    method = _resolve_method(method)
    if method == ResizeMethod.NEAREST:
        raise ValueError("Nearest neighbor resampling is not currently supported for scale_and_translate.")
    if method == ResizeMethod.AREA:
        raise NotImplementedError("scale_and_translate: AREA is there for resize only; use LINEAR, which averages")
    dims = [canonical_axis(operator.index(d), image.ndim) for d in spatial_dims]
    (image,) = promote_dtypes_inexact(image)
    scale, translation = promote_dtypes_inexact(jnp.asarray(scale), jnp.asarray(translation))
    if not len(scale) == len(translation) == len(dims):
        raise AssertionError(
            f"scale_and_translate takes a scale and a translation for each of {len(dims)} axes; "
            f"got {len(scale)} and {len(translation)}"
        )
    return _resample(image, shape, dims, scale, translation, method, antialias, precision)


def resize(
    image: ArrayLike,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: PrecisionLike = lax.Precision.HIGHEST,
) -> Array:
    """Returns an image resampled to a shape.

    Args:
      image: an array.
      shape: the shape of the result, of the same rank.
      method: "nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area", a name of one of these for
        one rank (such as "bilinear"), or a ResizeMethod.
      antialias: True (the default): a shrinking image is averaged.
      precision: of the products, as in `lax.dot_general`; default highest.

    Returns:
      Array of shape `shape`; floating except for "nearest".

    Raises:
      ValueError: another name or rank.

    Examples:
      >>> onax.image.resize(jnp.array([0.0, 4.0]), (4,), "linear")
      Array([0., 1., 3., 4.], dtype=float32)
    """
    image = ensure_arraylike("resize", image)
    shape = tuple(map(as_dim, shape))
    if len(shape) != image.ndim:
        raise ValueError(f"shape must have length equal to the number of dimensions of x;  {shape} vs {image.shape}")
    method = _resolve_method(method)
    if method == ResizeMethod.NEAREST:
        return _resize_nearest(image, shape)
    (image,) = promote_dtypes_inexact(image)
    if method == ResizeMethod.AREA:
        return _resize_area(image, shape)
    dims = [i for i, (m, n) in enumerate(zip(image.shape, shape)) if m != n]
    dtype = dtypes.scalar_dtype(float)
    scale = [jnp.asarray(1.0 if shape[d] == 0 else shape[d] / image.shape[d], dtype) for d in dims]
    translation = [jnp.zeros((), dtype)] * len(dims)
    return _resample(image, shape, dims, scale, translation, method, antialias, precision)
