"""What libraries ask about the traces at work, and types with one axis more or less."""

import contextlib
import weakref

from onax._core.axes import named_axes
from onax._core.jaxpr import Var
from onax._core.trace import find_cur_trace, set_current_trace
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


def get_opaque_trace_state(convention=None):
    """The transformation at work now, to be compared later.  `convention` names the caller and changes nothing."""
    return OpaqueTraceState(find_cur_trace())


def find_top_trace(_):
    """The trace that interprets operations now."""
    return find_cur_trace()


@contextlib.contextmanager
def take_current_trace():
    """Context that gives the current trace; inside, operations are carried out at once."""
    trace = find_cur_trace()
    with set_current_trace(None):
        yield trace


def mapped_aval(size, axis, aval):
    """The type of one example: without the axis, whose size must be `size`; as it is with axis None."""
    if axis is None:
        return aval
    if not 0 <= axis < len(aval.shape) or aval.shape[axis] != size:
        raise ValueError(f"axis {axis} of {aval.str_short()} was stated to have size {size}")
    return aval.update(shape=(*aval.shape[:axis], *aval.shape[axis + 1 :]))


def unmapped_aval(size, axis, aval, explicit_mesh_axis=None):
    """The type of `size` examples along a new axis; as it is with axis None."""
    if explicit_mesh_axis is not None:
        raise NotImplementedError(f"types have no explicit sharding: explicit_mesh_axis={explicit_mesh_axis!r}")
    return aval if axis is None else aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))


def gensym():
    """A function from types to new variables."""
    return Var


def _traces():
    trace = find_cur_trace()
    while trace is not None:
        yield trace
        trace = trace.parent_trace


def unsafe_am_i_under_a_jit_DO_NOT_USE():
    """Whether a program is being staged."""
    return any(trace.staging for trace in _traces())


def unsafe_am_i_under_a_vmap_DO_NOT_USE():
    """Whether a function is being mapped; below `jit`, which hides outer maps, only where the axis has a name."""
    return bool(named_axes()) or any(isinstance(trace, BatchTrace) for trace in _traces())


def unsafe_get_axis_names_DO_NOT_USE():
    """The names of the mapped axes in scope, as a list."""
    return [entry[0] for entry in named_axes()]


def nonempty_axis_env_DO_NOT_USE():
    """Whether a mapped axis with a name is in scope."""
    return bool(named_axes())
