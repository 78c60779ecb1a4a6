"""Batching rules, under the names of jax.interpreters.batching.

    fancy_primitive_batchers[p]  = rule(axis_data, operands, dims, **params) -> (results, dims of them)
    primitive_batchers[p]        = rule(operands, dims, **params)
    axis_primitive_batchers[p]   = rule(axis_size, axis_name, None, operands, dims, **params)

A position of a mapped axis is None where nothing is mapped; a rule is asked only when something is.
"""

from onax._prims import _batch_rules
from onax._prims.shaping import broadcast_bdim, moveaxis
from onax.interpreters._views import RuleView, check_primitive

fancy_primitive_batchers = RuleView("batch")


class _WithoutAxis:
    """Takes rules that do not ask about the axis."""

    def __setitem__(self, primitive, rule):
        fancy_primitive_batchers[primitive] = lambda axis_data, operands, dims, **params: rule(operands, dims, **params)

    def __delitem__(self, primitive):
        del fancy_primitive_batchers[primitive]


class _WithAxis:
    """Takes rules that ask for the size and name of the axis."""

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
    """x with its mapped axis in front; repeated along a new one where nothing is mapped."""
    if bdim is not None:
        return moveaxis(x, bdim, 0)
    return broadcast(x, size, 0, mesh_axis)


def _no_mesh_axis(mesh_axis):
    if mesh_axis is not None:
        raise NotImplementedError(f"explicit sharding in types is not there, so mesh_axis must be None: {mesh_axis!r}")


def defvectorized(prim):
    """Gives an elementwise primitive its batching rule."""
    _define(prim, _batch_rules.defvectorized)


def defbroadcasting(prim):
    """The same, for a primitive that broadcasts its operands as NumPy does."""
    _define(prim, _batch_rules.defvectorized)


def defreducer(prim):
    """Gives a primitive that removes the axes in its parameter `axes` its batching rule."""
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
]
