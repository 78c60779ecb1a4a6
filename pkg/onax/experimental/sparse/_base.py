"""The base class of sparse arrays."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

from onax import lax
from onax import numpy as jnp
from onax._core.trace import Tracer
from onax._native.array import Array

# The class of an array of values and coordinates, which functions return as they got it.
Coordinates = TypeVar("Coordinates", bound=Any)


class Known(dict[str, Any]):
    """What a tree structure says of a sparse array beside its buffers: a dict that can be hashed."""

    def __hash__(self):  # type: ignore[override]
        return hash((*self.items(),))


class JAXSparse:
    """What sparse arrays have in common: `data`, a shape and what follows from it."""

    data: Any = None
    shape: tuple[int, ...] = ()
    todense: Callable[[], Array]  # each format has it
    __array_priority__ = 100  # NumPy leaves operators to us
    __hash__ = None  # type: ignore[assignment]

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    dtype = property(lambda self: self.data.dtype)
    nse = property(lambda self: self.data.shape[-1], doc="The number of stored elements, padding included.")
    T = property(lambda self: self.transpose())

    def __repr__(self):
        try:
            return self._describe()
        except (AttributeError, IndexError):  # parts that belong to no array, which were set one by one
            return f"{type(self).__name__}(<invalid>)"

    def _describe(self):
        counts = "".join(f", {n}={getattr(self, n, 0)}" for n in ("n_batch", "n_dense") if getattr(self, n, 0))
        text = f"{type(self).__name__}({self.dtype}{list(self.shape)}, nse={self.nse}{counts})"
        return f"{type(self.data).__name__}[{text}]" if isinstance(self.data, Tracer) else text

    def __len__(self):
        return self.shape[0]

    def block_until_ready(self):
        """Itself, once its arrays are computed."""
        for x in self.tree_flatten()[0]:
            x.block_until_ready()
        return self


def vector_or_matrix(x):
    """A dense operand of a product with a matrix."""
    x = jnp.asarray(x)
    if x.ndim not in (1, 2):
        raise NotImplementedError(f"matmul with object of shape {x.shape}")
    return x


def _missing(name):
    def method(self, *args, **kwargs):
        raise NotImplementedError(
            f"{type(self)}.{name}\nThis format has no such operation; use BCOO, or todense() for a dense array."
        )

    method.__name__ = name
    return method


for _name in (
    "sum __neg__ __pos__ __mul__ __rmul__ __add__ __radd__ __sub__ __rsub__ __matmul__ __rmatmul__ __getitem__"
).split():
    setattr(JAXSparse, _name, _missing(_name))


def example_of(cont, _, mat, axis):
    """One example of a batched BCOO or BCSR, for vmap; see `register_vmappable`."""
    name = type(mat).__name__
    if not 0 <= axis < mat.n_batch:
        raise ValueError(
            f"Cannot map in_axis={axis} for {name} array with n_batch={mat.n_batch}. in_axes for batched {name} "
            "operations must correspond to a batch dimension."
        )
    # an axis of length 1 serves all examples
    buffers = [cont(b, axis) if b.shape[axis] == mat.shape[axis] else lax.squeeze(b, (axis,)) for b in mat._bufs]
    return _with_buffers(mat, buffers, (*mat.shape[:axis], *mat.shape[axis + 1 :]))


def examples_of(cont, size, mat, axis):
    """A batched BCOO or BCSR of one example, for vmap; see `register_vmappable`."""
    name = type(mat).__name__
    if axis > mat.n_batch:
        raise ValueError(
            f"{name}: cannot add out_axis={axis} for {name} array with n_batch={mat.n_batch}. {name} batch axes must "
            "be a contiguous block of leading dimensions."
        )
    return _with_buffers(mat, [cont(size, b, axis) for b in mat._bufs], (*mat.shape[:axis], size, *mat.shape[axis:]))


def _with_buffers(mat, buffers, shape):
    known = {"indices_sorted": mat.indices_sorted, "unique_indices": mat.unique_indices}
    return type(mat)(buffers, shape=shape, **known)
