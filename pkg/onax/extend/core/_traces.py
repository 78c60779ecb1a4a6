"""What libraries ask about the traces at work, and types with one axis more or less."""

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from onax._core.axes import named_axes
from onax._core.jaxpr import Var
from onax._core.trace import Trace, find_cur_trace, set_current_trace
from onax._native.avals import AbstractValue
from onax._transforms.batching import BatchTrace


class TraceTag:
    """The identity of a transformation: equal only to itself."""


class OpaqueTraceState:
    """The transformation at work at some time; equal to another if both saw the same one.  It has no hash."""

    __slots__ = ("_trace",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, trace):
        self._trace = weakref.ref(trace)

    def __eq__(self, other):
        trace = self._trace()
        return isinstance(other, OpaqueTraceState) and trace is not None and trace is other._trace()

    def __repr__(self):
        return f"OpaqueTraceState({self._trace()!r})"


def get_opaque_trace_state(convention: Any = None) -> OpaqueTraceState:
    """Returns the transformation at work now, to be compared later.

    Args:
      convention: the caller, without effect.

    Returns:
      A value with an equality.

    Examples:
      >>> onax.extend.core.get_opaque_trace_state() == onax.extend.core.get_opaque_trace_state()
      True
    """
    return OpaqueTraceState(find_cur_trace())


def find_top_trace(_: Any) -> Trace:
    """Returns the trace that interprets operations now.

    Returns:
      A trace.

    Examples:
      >>> onax.extend.core.find_top_trace(())
      EvalTrace
    """
    return find_cur_trace()


@contextlib.contextmanager
def take_current_trace() -> Iterator[Trace]:
    """Context manager that gives the current trace; inside, operations are carried out at once.

    Returns:
      A context manager.

    Examples:
      >>> with onax.extend.core.take_current_trace() as trace:
      ...     print(trace)
      EvalTrace
    """
    trace = find_cur_trace()
    with set_current_trace(None):
        yield trace


def mapped_aval(size: int, axis: int | None, aval: AbstractValue) -> AbstractValue:
    """Returns the type of one example.

    Args:
      size: the number of examples.
      axis: the axis of the examples; None: the type stays as it is.
      aval: the type of all examples.

    Returns:
      A type.

    Raises:
      ValueError: there is no axis of this size.

    Examples:
      >>> onax.extend.core.mapped_aval(3, 0, onax.typeof(jnp.ones((3, 2))))
      ShapedArray(float32[2])
    """
    if axis is None:
        return aval
    if not 0 <= axis < len(aval.shape) or aval.shape[axis] != size:
        raise ValueError(f"axis {axis} of {aval.str_short()} was stated to have size {size}")
    return aval.update(shape=(*aval.shape[:axis], *aval.shape[axis + 1 :]))


def unmapped_aval(size: int, axis: int | None, aval: AbstractValue, explicit_mesh_axis: Any = None) -> AbstractValue:
    """Returns the type of several examples along a new axis.

    Args:
      size: the number of examples.
      axis: the new axis; None: the type stays as it is.
      aval: the type of one example.
      explicit_mesh_axis: accepted, without effect.

    Returns:
      A type.

    Raises:
      NotImplementedError: `explicit_mesh_axis` is given.

    Examples:
      >>> onax.extend.core.unmapped_aval(3, 0, onax.typeof(jnp.ones(2)))
      ShapedArray(float32[3,2])
    """
    if explicit_mesh_axis is not None:
        raise NotImplementedError(f"types have no explicit sharding: explicit_mesh_axis={explicit_mesh_axis!r}")
    return aval if axis is None else aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))


def gensym() -> Callable[[AbstractValue], Var]:
    """Returns a function from types to new variables.

    Returns:
      A function.

    Examples:
      >>> onax.extend.core.gensym()(onax.typeof(1.0)).aval
      ShapedArray(float32[], weak_type=True)
    """
    return Var


def _traces():
    trace = find_cur_trace()
    while trace is not None:
        yield trace
        trace = trace.parent_trace


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:
    """Returns whether a program is being staged.

    Returns:
      A bool.

    Examples:
      >>> onax.extend.core.unsafe_am_i_under_a_jit_DO_NOT_USE()
      False
    """
    return any(trace.staging for trace in _traces())


def unsafe_am_i_under_a_vmap_DO_NOT_USE() -> bool:
    """Returns whether a function is being mapped; below `jit`, which hides outer maps, only for axes with names.

    Returns:
      A bool.

    Examples:
      >>> onax.extend.core.unsafe_am_i_under_a_vmap_DO_NOT_USE()
      False
    """
    return bool(named_axes()) or any(isinstance(trace, BatchTrace) for trace in _traces())


def unsafe_get_axis_names_DO_NOT_USE() -> list[Any]:
    """Returns the names of the mapped axes in scope.

    Returns:
      A list.

    Examples:
      >>> onax.extend.core.unsafe_get_axis_names_DO_NOT_USE()
      []
    """
    return [entry[0] for entry in named_axes()]


def nonempty_axis_env_DO_NOT_USE() -> bool:
    """Returns whether a mapped axis with a name is in scope.

    Returns:
      A bool.

    Examples:
      >>> onax.extend.core.nonempty_axis_env_DO_NOT_USE()
      False
    """
    return bool(named_axes())
