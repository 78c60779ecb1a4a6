"""Casts inside `shard_map`: what types say of a mesh axis changes, the value on each device stays.

A value may be the same on all devices along an axis, vary over it, be one part of a sum on each (unreduced), or be the
same and have such parts as cotangents (reduced).

    pvary                      the same -> varying
    preduced                   the same -> reduced
    reduced_vary_cast_p        reduced -> varying
    vary_unreduced_cast_p      varying -> unreduced
"""

from onax._core.facts import CASTS_AXES, LINEAR, NAMED_AXIS
from onax._core.rules import deflinear
from onax._core.trace import typeof
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive


def _cast(name):
    """Makes a primitive whose result is its operand; of each axis over which a program is batched nothing is left."""

    def batch(axis_data, operands, dims, *, axes):
        (x,), (dim,) = operands, dims
        rest = tuple(a for a in axes if a != axis_data.name)
        return (primitive.bind(x, axes=rest) if rest else x), dim

    facts = frozenset({LINEAR, NAMED_AXIS, CASTS_AXES})
    primitive = Primitive(name, abstract_eval=lambda x, axes: x, batch=batch, facts=facts)
    return primitive


pvary_p = _cast("pvary")
preduced_p = _cast("preduced")
reduced_vary_cast_p = _cast("reduced_vary_cast_p")
vary_unreduced_cast_p = _cast("vary_unreduced_cast_p")
deflinear(reduced_vary_cast_p, lambda ct, x, axes: vary_unreduced_cast_p.bind(ct, axes=axes))
deflinear(vary_unreduced_cast_p, lambda ct, x, axes: reduced_vary_cast_p.bind(ct, axes=axes))


def vary_over(x, axes):
    """x, as one that varies over all of these mesh axes, which are in the order of the mesh."""
    aval = typeof(x)
    missing = tuple(a for a in axes if a not in aval.varying) if isinstance(aval, ShapedArray) else ()
    if not missing:
        return x
    cast = reduced_vary_cast_p if aval.reduced == frozenset(missing) else pvary_p
    return cast.bind(x, axes=missing)


def vary_as(x, aval):
    """x, by `pvary` where it does not vary over all mesh axes over which values of a type vary."""
    varying = getattr(aval, "varying", None)
    return vary_over(x, sorted(varying, key=str)) if varying else x
