"""Batching rules, under the names of jax.interpreters.batching.

    fancy_primitive_batchers[p]  = rule(axis_data, operands, dims, **params) -> (results, dims of them)
    primitive_batchers[p]        = rule(operands, dims, **params)
    axis_primitive_batchers[p]   = rule(axis_size, axis_name, None, operands, dims, **params)

`dims` holds the position of the mapped axis, or None for an operand that is not mapped.  Rules are called only if some
operand is mapped.
"""

from onax._prims import _batch_rules
from onax._prims.shaping import broadcast_bdim, moveaxis
from onax._transforms.vmappable import register_vmappable, unregister_vmappable
from onax.interpreters._views import RuleView, check_primitive

fancy_primitive_batchers = RuleView("batch")


class _WithoutAxis:
    """Accepts rules without information about the axis."""

    def __setitem__(self, primitive, rule):
        fancy_primitive_batchers[primitive] = lambda axis_data, operands, dims, **params: rule(operands, dims, **params)

    def __delitem__(self, primitive):
        del fancy_primitive_batchers[primitive]


class _WithAxis:
    """Accepts rules that take the size and name of the axis."""

    def __setitem__(self, primitive, rule):
        def batch(axis_data, operands, dims, **params):
            return rule(axis_data.size, axis_data.name, None, operands, dims, **params)

        fancy_primitive_batchers[primitive] = batch


primitive_batchers = _WithoutAxis()
axis_primitive_batchers = _WithAxis()


def broadcast(x, sz, axis, mesh_axis=None):
    """x repeated `sz` times along a new axis.  Arrays here have no explicit sharding: `mesh_axis` must be None."""
    _no_mesh_axis(mesh_axis)
    return broadcast_bdim(x, sz, axis)


def bdim_at_front(x, bdim, size, mesh_axis=None):
    """x with its mapped axis in front; an x that is not mapped is repeated along a new axis."""
    if bdim is not None:
        return moveaxis(x, bdim, 0)
    return broadcast(x, size, 0, mesh_axis)


def _no_mesh_axis(mesh_axis):
    if mesh_axis is not None:
        raise NotImplementedError(f"explicit sharding in types is not there, so mesh_axis must be None: {mesh_axis!r}")


def defvectorized(prim):
    """Sets the batching rule of an elementwise primitive."""
    _define(prim, _batch_rules.defvectorized)


def defbroadcasting(prim):
    """Sets the batching rule of a primitive that broadcasts its operands as NumPy does."""
    _define(prim, _batch_rules.defvectorized)


def defreducer(prim):
    """Sets the batching rule of a primitive that removes the axes in its parameter `axes`."""
    _define(prim, _batch_rules.defreducer)


def _define(prim, maker):
    check_primitive(prim)
    maker(prim)
    fancy_primitive_batchers[prim] = prim.batch


__all__ = [
    "axis_primitive_batchers",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defreducer",
    "defvectorized",
    "fancy_primitive_batchers",
    "primitive_batchers",
    "register_vmappable",
    "unregister_vmappable",
]
