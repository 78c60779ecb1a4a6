"""Grids and joins written with index brackets: mgrid, ogrid, r_, c_, s_, index_exp."""

import numpy as np

from onax import lax
from onax._core.trace import concrete_or_error
from onax._ground.config import numpy_dtype_promotion
from onax.numpy._creation import array
from onax.numpy._joining import concatenate
from onax.numpy._promotion import is_arraylike, promote_dtypes
from onax.numpy._ranges import (
    arange,
    linspace,
    meshgrid,
)

index_exp, s_ = np.index_exp, np.s_


def _expand_slice(part, name):
    """The numbers that a slice denotes; an imaginary step gives their count and includes the stop."""
    start, stop, step = (
        concrete_or_error(None, end, f"slice {what} of jnp.{name}")
        for what, end in (("start", part.start), ("stop", part.stop), ("step", part.step))
    )
    start = 0 if start is None else start
    step = 1 if step is None else step
    if isinstance(step, complex):
        return linspace(start, stop, int(abs(step)))
    return arange(start, stop, step)


class _Mgrid:
    """`jnp.mgrid[0:2, 0:3]`: the coordinates of a grid, stacked."""

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _expand_slice(key, "mgrid")
        parts = [_expand_slice(k, "mgrid") for k in key]
        if not parts:
            return lax.full((0,), 0, np.int32)
        return lax.stack(_promote_all(meshgrid(*parts, indexing="ij")), 0)


class _Ogrid:
    """`jnp.ogrid[0:2, 0:3]`: the coordinates of a grid as arrays that broadcast."""

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _expand_slice(key, "ogrid")
        return meshgrid(*_promote_all([_expand_slice(k, "ogrid") for k in key]), indexing="ij", sparse=True)


def _promote_all(parts):
    with numpy_dtype_promotion("standard"):  # also where the user's operands must have one dtype, as in JAX
        return promote_dtypes(*parts) if parts else []


_MATRIX_AXES = {"r": 0, "c": 1}  # a vector becomes a matrix of one row, or of one column


class _AxisConcat:
    """Joins slices, numbers and arrays written in brackets; a leading string 'axis,ndmin,trans1d' says how, or whether
    a vector becomes a row ('r') or a column ('c')."""

    name = "r_"
    axis = 0
    ndmin = 1
    trans1d = -1

    def __getitem__(self, key):
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans = self.axis, self.ndmin, self.trans1d
        directive = parts.pop(0) if parts and isinstance(parts[0], str) else None
        if directive is not None and directive not in _MATRIX_AXES:
            axis, ndmin, trans = self._parse_directive(directive, axis, ndmin, trans)
        out = concatenate([self._lift(part, ndmin, trans) for part in parts], axis=axis)
        if directive in _MATRIX_AXES and out.ndim == 1:
            return lax.expand_dims(out, (_MATRIX_AXES[directive],))
        return out

    def _parse_directive(self, text, axis, ndmin, trans):
        try:
            numbers = [int(item) for item in text.split(",")]
        except ValueError as e:
            raise ValueError(f"could not understand directive {text!r}") from e
        return (*numbers, *(axis, ndmin, trans)[len(numbers) :])[:3]

    def _lift(self, part, ndmin, trans):
        """Expands one entry to at least ndmin axes; the axes of an array of lower rank begin at axis `trans`."""
        if isinstance(part, slice):
            part = _expand_slice(part, self.name)
        elif isinstance(part, str):
            raise ValueError("string directive must be placed at the beginning")
        x = array(part, copy=False) if not is_arraylike(part) or np.ndim(part) == 0 else array(part)
        missing = ndmin - x.ndim
        if missing <= 0:
            return x
        first = trans if trans >= 0 else trans + missing + 1
        indices = (*range(first), *range(first + x.ndim, ndmin))
        return lax.expand_dims(x, indices)


class RClass(_AxisConcat):
    """`jnp.r_[1:4, 0, x]`: joined along the first axis."""


class CClass(_AxisConcat):
    """`jnp.c_[x, y]`: joined along the last axis, vectors as columns."""

    name = "c_"
    axis = -1
    ndmin = 2
    trans1d = 0


mgrid, ogrid, r_, c_ = _Mgrid(), _Ogrid(), RClass(), CClass()
for _object in (mgrid, ogrid, r_, c_):
    _object.__module__ = "onax.numpy"
