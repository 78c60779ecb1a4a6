"""Batching rules, under the names of jax.interpreters.batching.

    fancy_primitive_batchers[p]  = rule(axis_data, operands, dims, **params) -> (results, dims of them)
    primitive_batchers[p]        = rule(operands, dims, **params)
    axis_primitive_batchers[p]   = rule(axis_size, axis_name, None, operands, dims, **params)

`dims` holds the position of the mapped axis, or None for an operand that is not mapped.  Rules are called only if some
operand is mapped.
"""

from collections.abc import Sequence
from typing import Any

from onax._core.axes import AxisData
from onax._core.jaxpr import ClosedJaxpr
from onax._ground.typing import ArrayLike, DimSize
from onax._native.array import Array
from onax._native.dispatch import Primitive
from onax._prims import _batch_rules
from onax._prims.shaping import broadcast_bdim, moveaxis
from onax._transforms.batching import batch_jaxpr_to_axes, zero_if_mapped
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


def broadcast(x: ArrayLike, sz: DimSize, axis: int, mesh_axis: Any = None) -> Array:
    """Returns an array repeated along a new axis.

    Args:
      x: an array.
      sz: how often.
      axis: where the new axis lies.
      mesh_axis: None.

    Returns:
      Array.

    Examples:
      >>> onax.interpreters.batching.broadcast(jnp.ones(2), 3, 0).shape
      (3, 2)
    """
    _no_mesh_axis(mesh_axis)
    return broadcast_bdim(x, sz, axis)


def bdim_at_front(x: ArrayLike, bdim: int | None, size: DimSize, mesh_axis: Any = None) -> Array:
    """Returns an array with its mapped axis in front; one that is not mapped is repeated.

    Args:
      x: an array.
      bdim: its mapped axis, or None.
      size: the number of examples.
      mesh_axis: None.

    Returns:
      Array.

    Examples:
      >>> onax.interpreters.batching.bdim_at_front(jnp.ones((2, 3)), 1, 3).shape
      (3, 2)
    """
    if bdim is not None:
        return moveaxis(x, bdim, 0)
    return broadcast(x, size, 0, mesh_axis)


def _no_mesh_axis(mesh_axis):
    if mesh_axis is not None:
        raise NotImplementedError(f"explicit sharding in types is not there, so mesh_axis must be None: {mesh_axis!r}")


def batch_jaxpr_axes(
    closed_jaxpr: ClosedJaxpr, axis_data: AxisData, in_axes: Sequence[int | None], out_axes_dest: Sequence[Any]
) -> tuple[ClosedJaxpr, list[bool]]:
    """Returns a program on batched arguments; new in JAX 0.12.

    Args:
      closed_jaxpr: the program.
      axis_data: the mapped axis.
      in_axes: for each argument its mapped axis, or None.
      out_axes_dest: for each result where its mapped axis is to be, or `zero_if_mapped`.

    Returns:
      (program, whether each result is mapped).

    Examples:
      >>> batching, axis = onax.interpreters.batching, onax._core.axes.AxisData("i", 3)
      >>> program = onax.make_jaxpr(jnp.sin)(1.0)
      >>> batching.batch_jaxpr_axes(program, axis, [0], [batching.zero_if_mapped])[0]
      { lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }
    """
    program, dims = batch_jaxpr_to_axes(closed_jaxpr, axis_data, in_axes, out_axes_dest)
    return program, [dim is not None for dim in dims]


def defvectorized(prim: Primitive) -> None:
    """Sets the batching rule of an elementwise primitive.

    Args:
      prim: a Primitive.

    Returns:
      None.

    Examples:
      >>> onax.interpreters.batching.defvectorized(onax.extend.core.Primitive("square"))
    """
    _define(prim, _batch_rules.defvectorized)


def defbroadcasting(prim: Primitive) -> None:
    """Sets the batching rule of a primitive that broadcasts its operands as NumPy does.

    Args:
      prim: a Primitive.

    Returns:
      None.

    Examples:
      >>> onax.interpreters.batching.defbroadcasting(onax.extend.core.Primitive("plus"))
    """
    _define(prim, _batch_rules.defvectorized)


def defreducer(prim: Primitive) -> None:
    """Sets the batching rule of a primitive that removes the axes in its parameter `axes`.

    Args:
      prim: a Primitive.

    Returns:
      None.

    Examples:
      >>> onax.interpreters.batching.defreducer(onax.extend.core.Primitive("total"))
    """
    _define(prim, _batch_rules.defreducer)


def _define(prim, maker):
    check_primitive(prim)
    maker(prim)
    fancy_primitive_batchers[prim] = prim.batch


__all__ = [
    "axis_primitive_batchers",
    "batch_jaxpr_axes",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defreducer",
    "defvectorized",
    "fancy_primitive_batchers",
    "primitive_batchers",
    "register_vmappable",
    "unregister_vmappable",
    "zero_if_mapped",
]
