"""Axes that are names: `jnp.sum(x, axis="i")` under `vmap(axis_name="i")` or in `shard_map` is a `lax.psum`."""

import math

from onax import lax


def has_names(axis):
    """Whether an `axis` argument names an axis."""
    return type(axis) is str or (type(axis) is tuple and any(type(a) is str for a in axis))


def split_axes(name, axis, parallel, are_distinct=True):
    """(axes by position, names) of the `axis` argument of a reduction; a string is, as in JAX, a tuple of letters.

    `parallel` is the reduction over names; NotImplementedError if there are names and it is None.  ValueError if a name
    occurs twice, unless `are_distinct` is False.
    """
    if not has_names(axis):
        return axis, ()
    axes = tuple(axis)
    if are_distinct and len(set(axes)) < len(axes):
        raise ValueError(f"duplicate value in 'axis': {axes}")
    if parallel is None:
        raise NotImplementedError(f"Named reductions not implemented for jnp.{name}()")
    return tuple(a for a in axes if type(a) is not str), tuple(a for a in axes if type(a) is str)


def size_of_names(names):
    """The number of elements along named axes."""
    return math.prod(lax.axis_size(name) for name in names)
