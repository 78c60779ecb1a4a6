"""Classes that vmap maps by functions of their own: containers whose arrays do not all have the mapped axis alike.

A sparse array is one: its shape has an axis more than that of an example, and each of its arrays has one more too.
"""

from collections.abc import Callable
from dataclasses import dataclass

from onax._core.hitypes import MappingSpec
from onax._core.trace import find_cur_trace
from onax._ground.typing import AnyFunction
from onax._native.tree import tree_flatten, tree_unflatten
from onax._transforms.batching import move_mapped_axis
from onax._transforms.flatten import FlatFunction


@dataclass(frozen=True, slots=True)
class _Container:
    spec_type: type
    to_elt: Callable
    from_elt: Callable


_containers: dict[type, _Container] = {}


def register_vmappable(
    data_type: type,
    spec_type: type,
    axis_size_type: type,
    to_elt: AnyFunction,
    from_elt: AnyFunction,
    make_iota: AnyFunction,
) -> None:
    """Makes `vmap` map objects of a class, by two functions.

    Args:
      data_type: the class.
      spec_type: the type of its entries in `in_axes` and `out_axes`, `int` for axis numbers.
      axis_size_type: the type of the mapped axis's size, `int`.
      to_elt: ``to_elt(cont, get_idx, value, spec)`` returns one example; ``cont(array, axis)`` is that of an array.
      from_elt: ``from_elt(cont, axis_size, example, spec)`` returns all examples; ``cont(axis_size, array, axis)`` is
        that of an array.
      make_iota: accepted, without effect.

    Returns:
      None.

    Examples:
      >>> class Box:
      ...     def __init__(self, value):
      ...         self.value, self.shape = value, value.shape
      >>> batching = onax.interpreters.batching
      >>> to_elt = lambda cont, get_idx, box, axis: Box(cont(box.value, axis))
      >>> from_elt = lambda cont, size, box, axis: Box(cont(size, box.value, axis))
      >>> batching.register_vmappable(Box, int, int, to_elt, from_elt, None)
      >>> onax.vmap(lambda box: 2 * box.value)(Box(jnp.ones(3)))
      Array([2., 2., 2.], dtype=float32)
      >>> batching.unregister_vmappable(Box)
    """
    _containers[data_type] = _Container(spec_type, to_elt, from_elt)


def unregister_vmappable(data_type: type) -> None:
    """Takes back `register_vmappable`.

    Args:
      data_type: the class.

    Returns:
      None.

    Raises:
      KeyError: it is not registered.

    Examples:
      >>> class Box:
      ...     pass
      >>> batching = onax.interpreters.batching
      >>> batching.register_vmappable(Box, int, int, None, None, None)
      >>> batching.unregister_vmappable(Box)
    """
    del _containers[data_type]


def is_container(x):
    """Whether a value is of a registered class."""
    return type(x) in _containers


def spec_types():
    """The types that entries of `in_axes` and `out_axes` may have."""
    return (int, MappingSpec, *(c.spec_type for c in _containers.values()))


class MappedFunction(FlatFunction):
    """A flat function of whose values some are containers; `out_axes_of` gives the axes of a tree of results."""

    __slots__ = ("dims", "out_axes_of", "size")

    def __init__(self, fun, in_tree, dims, size, out_axes_of):
        super().__init__(fun, in_tree)
        self.dims, self.size, self.out_axes_of = dims, size, out_axes_of

    def __call__(self, *flat):
        trace = find_cur_trace()
        flat = [self._example(trace, x, d) if is_container(x) else x for x, d in zip(flat, self.dims)]
        args, kwargs = tree_unflatten(self.in_tree, flat)
        leaves, self.out_tree = tree_flatten(self.fun(*args, **kwargs), is_leaf=is_container)
        axes = self.out_axes_of(self.out_tree)
        return [self._whole(trace, x, axis) if is_container(x) else x for x, axis in zip(leaves, axes)]

    def _example(self, trace, x, spec):
        def example(value, axis):
            if is_container(value):
                return self._example(trace, value, axis)
            return trace.pack(value, axis if axis is None else axis % value.ndim)

        return x if spec is None else _containers[type(x)].to_elt(example, None, x, spec)

    def _whole(self, trace, x, spec):
        def whole(size, value, axis):
            if is_container(value):
                return self._whole(trace, value, axis)
            array, source = trace.unpack(value)
            return array if axis is None else move_mapped_axis(array, source, axis, size)

        return x if spec is None else _containers[type(x)].from_elt(whole, self.size, x, spec)
