"""The base class of traces that other packages define, with JAX's protocol.

onax's own traces get the functions of a custom_jvp or custom_vjp call as plain functions, and run while current.
Those of other packages get `WrappedFun`s, and run while no trace is current; `__init_subclass__` sees to it.
"""

import functools

from onax._core.jaxpr import DebugInfo
from onax._core.linear_util import WrappedFun, wrap_init
from onax._core.refs import Ref
from onax._core.trace import Trace, as_array
from onax._native.array import Array
from onax._native.context import set_current_trace


class LibraryTrace(Trace):
    """A trace that another package defines.


      process_primitive(primitive, tracers, params)
      process_custom_jvp_call(primitive, fun, jvp, tracers, *, symbolic_zeros)
      process_custom_vjp_call(primitive, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros)
      stage_value(value), optional: for an array that the user makes

    ``primitive.bind_with_trace(parent_trace, values, types of the values, params)`` hands an operation on.

    Args:
      subclass has an attribute `parent_trace`, and interprets operations by

    Examples:
      >>> issubclass(onax.core.Trace, object)
      True
    """

    def __init__(self):
        self.alive = True
        self.calls = {}
        self.function = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for name, adapt in _ADAPTERS:
            if name in vars(cls):
                setattr(cls, name, adapt(vars(cls)[name]))

    @property
    def staging(self):
        """Whether operations end up in a program."""
        return self.parent_trace.staging

    def stage_value(self, val):
        """A value of this trace for an array that the user makes: the array, unless a subclass says otherwise."""
        return val

    def new_const(self, x):
        """As `stage_value`."""
        with set_current_trace(None):
            return self.stage_value(x)

    def full_raise(self, x):
        """The value: no trace stands above another."""
        return x

    @property
    def main(self):
        """The attribute `tag` of a subclass, which traces of one transformation share."""
        return getattr(self, "tag", None)


def _wrapped(function, params):
    if isinstance(function, WrappedFun):
        return function
    return wrap_init(function, debug_info=DebugInfo("custom rule", params["name"], None, None))


def _adapt_primitive(process):
    @functools.wraps(process)
    def run(self, primitive, tracers, params):
        tracers = [x if isinstance(x, (Array, Ref)) else as_array(x) for x in tracers]
        with set_current_trace(None):
            return process(self, primitive, tracers, params)

    return run


def _adapt_custom_call(process):
    """For the calls of both kinds; `params`, which onax's own traces read, is left out."""

    @functools.wraps(process)
    def run(self, primitive, *functions_and_tracers, params=None, **rest):
        *functions, tracers = functions_and_tracers
        with set_current_trace(None):
            return process(self, primitive, *[_wrapped(f, params) for f in functions], tracers, **rest)

    return run


_ADAPTERS = (
    ("process_primitive", _adapt_primitive),
    ("process_custom_jvp_call", _adapt_custom_call),
    ("process_custom_vjp_call", _adapt_custom_call),
)
