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
