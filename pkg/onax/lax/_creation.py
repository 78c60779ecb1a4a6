"""Creation with placement: lax.full and lax.full_like."""

from onax._prims import shaping
from onax._prims.misc import REUSE_INPUT, device_put_p


def _placed(x, sharding):
    """x on the devices of a sharding (or on a Device), committed; x itself for None."""
    if sharding is None:
        return x
    return device_put_p.bind(x, devices=(sharding,), srcs=(None,), copy_semantics=(REUSE_INPUT,))[0]


def full(shape, fill_value, dtype=None, *, sharding=None):
    """An array of the given shape whose every element is fill_value, placed by `sharding` if given.

    dtype defaults to that of fill_value (weakly typed for a Python scalar).  Raises TypeError when fill_value is not a
    scalar.
    """
    return _placed(shaping.full(shape, fill_value, dtype), sharding)


def full_like(x, fill_value, dtype=None, shape=None, sharding=None):
    """An array like x (its shape, dtype and weak type unless given) whose every element is fill_value.

    x may be anything with a shape and a dtype; `sharding` places the result.
    """
    return _placed(shaping.full_like(x, fill_value, dtype, shape), sharding)


def empty(shape, dtype, *, out_sharding=None):
    """An array of the given shape and dtype, for values that do not matter; here they are zeros."""
    return _placed(shaping.full(shape, 0, dtype), out_sharding)


def broadcast_like(arr, like_arr):
    """arr repeated to the shape of like_arr, aligned at the last axes as NumPy does; arr keeps its dtype.

    Raises ValueError when the shapes do not fit.
    """
    have, shape = shaping.shape_of(arr), shaping.shape_of(like_arr)
    if len(have) > len(shape) or shaping.broadcast_shapes(have, shape) != shape:
        raise ValueError(f"Incompatible shapes for broadcasting: {have} and requested shape {shape}")
    return shaping.broadcast_in_dim(arr, shape, tuple(range(len(shape) - len(have), len(shape))))
