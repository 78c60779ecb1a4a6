"""Grids and joins written with index brackets: mgrid, ogrid, r_, c_, s_, index_exp."""

import numpy as np

from onax import lax
from onax.numpy._creation import array
from onax.numpy._joining import concatenate
from onax.numpy._promotion import is_arraylike, promote_dtypes
from onax.numpy._ranges import (
    arange,
    linspace,
    meshgrid,
)

index_exp, s_ = np.index_exp, np.s_


def _expand_slice(part):
    """The numbers that a slice denotes; an imaginary step gives their count and includes the stop."""
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    if isinstance(step, complex):
        return linspace(start, part.stop, int(abs(step)))
    return arange(start, part.stop, step)


class _Mgrid:
    """`jnp.mgrid[0:2, 0:3]`: the coordinates of a grid, stacked."""

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _expand_slice(key)
        parts = [_expand_slice(k) for k in key]
        if not parts:
            return lax.full((0,), 0, np.int32)
        return lax.stack(_promote_all(meshgrid(*parts, indexing="ij")), 0)


class _Ogrid:
    """`jnp.ogrid[0:2, 0:3]`: the coordinates of a grid as arrays that broadcast."""

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _expand_slice(key)
        return meshgrid(*_promote_all([_expand_slice(k) for k in key]), indexing="ij", sparse=True)


def _promote_all(parts):
    return promote_dtypes(*parts) if parts else []


class _AxisConcat:
    """Joins slices, numbers and arrays written in brackets; a leading string 'axis,ndmin,trans1d' says how."""

    axis = 0
    ndmin = 1
    trans1d = -1

    def __getitem__(self, key):
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans = self.axis, self.ndmin, self.trans1d
        if parts and isinstance(parts[0], str):
            axis, ndmin, trans = self._parse_directive(parts.pop(0), axis, ndmin, trans)
        return concatenate([self._lift(part, ndmin, trans) for part in parts], axis=axis)

    def _parse_directive(self, text, axis, ndmin, trans):
        if text in ("r", "c"):
            raise NotImplementedError("Matrix directives 'r' and 'c' are not supported: there is no matrix type.")
        try:
            numbers = [int(item) for item in text.split(",")]
        except ValueError as e:
            raise ValueError(f"could not understand directive {text!r}") from e
        return (*numbers, *(axis, ndmin, trans)[len(numbers) :])[:3]

    def _lift(self, part, ndmin, trans):
        """Expands one entry to at least ndmin axes; the axes of an array of lower rank begin at axis `trans`."""
        if isinstance(part, slice):
            part = _expand_slice(part)
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

    axis = -1
    ndmin = 2
    trans1d = 0


mgrid, ogrid, r_, c_ = _Mgrid(), _Ogrid(), RClass(), CClass()
