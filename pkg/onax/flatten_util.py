"""`ravel_pytree` flattens a tree of arrays to one vector, which optimizers and integrators need."""

import functools
from collections.abc import Callable

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import PyTree
from onax._native.array import Array
from onax._native.tree import tree_flatten, tree_unflatten


def ravel_pytree(pytree: PyTree) -> tuple[Array, Callable[[Array], PyTree]]:
    """Returns the leaves of a tree as one vector, and the function back.

    Args:
      pytree: a tree of arrays and numbers.

    Returns:
      (vector, function): the vector has the dtype to which the leaves promote; the function converts each part back.
      It raises TypeError for a vector of another dtype, ValueError for one of another length.

    Examples:
      >>> vector, unravel = onax.flatten_util.ravel_pytree({"a": 1.0, "b": jnp.arange(2.0)})
      >>> vector
      Array([1., 0., 1.], dtype=float32)
      >>> unravel(2 * vector)["b"]
      Array([0., 2.], dtype=float32)
    """
    leaves, tree = tree_flatten(pytree)
    arrays = [jnp.asarray(x) for x in leaves]
    dtype = jnp.result_type(*arrays) if arrays else jnp.result_type(float)
    flat = jnp.concatenate([jnp.ravel(lax.convert_element_type(x, dtype)) for x in arrays]) if arrays else jnp.zeros(0)
    kinds = tuple((x.shape, x.dtype) for x in arrays)
    return flat, functools.partial(_unravel, tree, kinds, np.dtype(dtype))


def _unravel(tree, kinds, dtype, flat):
    """The tree of a vector.  A partial of this function hashes by its arguments, so that jit recognizes it."""
    flat_dtype = jnp.result_type(flat)
    if kinds and flat_dtype != dtype:
        raise TypeError(f"unravel function given array of dtype {flat_dtype}, but expected dtype {dtype}")
    sizes = [int(np.prod(shape)) for shape, _ in kinds]
    if np.shape(flat) != (sum(sizes),):
        raise ValueError(f"unravel function given array of shape {np.shape(flat)}, but expected ({sum(sizes)},)")
    ends = np.cumsum([0, *sizes])
    parts = [
        lax.convert_element_type(jnp.reshape(flat[a:b], shape), kind)
        for a, b, (shape, kind) in zip(ends[:-1], ends[1:], kinds)
    ]
    return tree_unflatten(tree, parts)


__all__ = ["ravel_pytree"]


_wrap_api_functions(globals(), __name__, frozenset(globals()) - {"ravel_pytree"})
