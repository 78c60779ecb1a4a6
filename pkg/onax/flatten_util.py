"""`ravel_pytree` flattens a tree of arrays to one vector, which optimizers and integrators need."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import dtypes
from onax._ground.typing import PyTree
from onax._native.array import Array
from onax._native.tree import PyTreeDef, tree_flatten, tree_unflatten


def ravel_pytree(pytree: PyTree) -> tuple[Array, Callable[[Array], PyTree]]:
    """Returns the leaves of a tree as one vector, and the function back.

    Args:
      pytree: a tree of arrays and numbers.

    Returns:
      (vector, function): the vector has the dtype to which the leaves promote, float32 if there are none; the function
      takes a vector of that length, otherwise it raises ValueError.  If the leaves have one dtype, the vector may have
      any, which the leaves of the result take.  If they have several, each part is converted back, and a vector of
      another dtype than the first raises TypeError.

    Raises:
      TypeError: a leaf is no array or number.

    Examples:
      >>> vector, unravel = onax.flatten_util.ravel_pytree({"a": 1.0, "b": jnp.arange(2.0)})
      >>> vector
      Array([1., 0., 1.], dtype=float32)
      >>> unravel(2 * vector)["b"]
      Array([0., 2.], dtype=float32)
    """
    leaves, tree = tree_flatten(pytree)
    if not leaves:
        return jnp.zeros(0, "float32"), Unravel(tree, None, None, None)
    leaf_dtypes = tuple(dtypes.dtype(x) for x in leaves)
    dtype = jnp.result_type(*leaf_dtypes)
    same = all(x == dtype for x in leaf_dtypes)
    parts = [lax.reshape(x if same else lax.convert_element_type(x, dtype), (np.size(x),)) for x in leaves]
    shapes = tuple(np.shape(x) for x in leaves)
    return lax.concatenate(parts, 0), Unravel(tree, shapes, *((None, None) if same else (leaf_dtypes, np.dtype(dtype))))


@dataclass(frozen=True, slots=True)
class Unravel:
    """Makes a vector a tree again.  Two of equal trees are equal, so that jit recognizes one as a static argument.

    tree         the structure
    shapes       of the leaves; None if there are none
    leaf_dtypes  of the leaves, if they are several; else None
    dtype        that the vector has then; else None
    """

    tree: PyTreeDef
    shapes: tuple[tuple[int, ...], ...] | None
    leaf_dtypes: tuple[np.dtype, ...] | None
    dtype: np.dtype | None

    def __call__(self, flat):
        if self.shapes is None:
            return tree_unflatten(self.tree, [])
        if self.dtype is not None and dtypes.dtype(flat) != self.dtype:
            raise TypeError(
                f"unravel function given array of dtype {dtypes.dtype(flat)}, but expected dtype {self.dtype}"
            )
        parts = lax.split(flat, [math.prod(shape) for shape in self.shapes])
        parts = [lax.reshape(part, shape) for part, shape in zip(parts, self.shapes)]
        if self.leaf_dtypes is not None:
            parts = [lax.convert_element_type(part, kind) for part, kind in zip(parts, self.leaf_dtypes)]
        return tree_unflatten(self.tree, parts)


__all__ = ["ravel_pytree"]


_wrap_api_functions(globals(), __name__, frozenset(globals()) - {"ravel_pytree"})
