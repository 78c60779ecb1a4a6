"""pvary: a value inside `shard_map` that is the same on all devices, as one that varies over axes of the mesh."""

from onax._core.facts import LINEAR, NAMED_AXIS
from onax._core.trace import typeof
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive

pvary_p = Primitive("pvary", abstract_eval=lambda x, axes: x, facts=frozenset({LINEAR, NAMED_AXIS}))


def vary_over(x, axes):
    """x, by `pvary` where it does not vary over all of these mesh axes yet; they are in the order of the mesh."""
    aval = typeof(x)
    missing = tuple(a for a in axes if a not in aval.varying) if isinstance(aval, ShapedArray) else ()
    return pvary_p.bind(x, axes=missing) if missing else x


def vary_as(x, aval):
    """x, by `pvary` where it does not vary over all mesh axes over which values of a type vary."""
    varying = getattr(aval, "varying", None)
    return vary_over(x, sorted(varying, key=str)) if varying else x
