"""Loops and branches that are evaluated eagerly: the device of their operands, and loops long enough to be compiled."""

from onax._control.jit_call import jit_p
from onax._core.axes import named_axes
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from onax._core.sharding import incompatible_devices_error, placed_argument
from onax._core.trace import typeof
from onax._ground.config import CHECK_TRACER_LEAKS, DEBUG_INFS, DEBUG_NANS, DISABLE_JIT, KEY_REUSE
from onax._native import context
from onax._native.array import ArrayImpl

# Steps from which a loop is compiled: a step costs the interpreter 1 to 2 us an equation, its tape 30 us once.
LONG = 64
# Options that ask for evaluation operation by operation.
CHECKS = CHECK_TRACER_LEAKS | DEBUG_INFS | DEBUG_NANS | DISABLE_JIT | KEY_REUSE


def may_be_compiled(*bodies):
    """Whether a loop with these bodies gives the same compiled: no effects, and no checks of single operations."""
    return not (context.option_word() & CHECKS or named_axes() or any(body.effects for body in bodies))


def are_spread(operands):
    """Whether an operand lies on several devices."""
    return any(type(x) is ArrayImpl and x._shards is not None for x in operands)


def run_compiled(primitive, args, params, body):
    """The results of a loop as a compiled program, which its body caches."""
    avals = tuple(map(typeof, args))
    rest = [value for name, value in sorted(params.items()) if value is not body]
    key = ("compiled", primitive, avals, *rest)
    program = body.cache.get(key)
    if program is None:
        invars, outvars = [Var(a) for a in avals], [Var(a) for a in primitive.abstract_eval(*avals, **params)]
        eqn = JaxprEqn(invars, outvars, primitive, params, body.effects)
        program = body.cache[key] = ClosedJaxpr(Jaxpr([], invars, outvars, [eqn], body.effects, body.debug_info))
    return jit_p.impl(*args, jaxpr=program, name=primitive.name)


def committed_device(primitive, operands):
    """The device to which operands are committed; None if none is.

    An eager loop or branch is one program, as in JAX: operands that this branch does not read count too.
    Raises ValueError if operands are committed to different devices.
    """
    first = device = None
    for i, x in enumerate(operands):
        if type(x) is ArrayImpl and x._committed and x._shards is None:
            if first is None:
                first, device = i, x.device
            elif x.device != device:
                raise incompatible_devices_error(*(placed_argument(operands, k, primitive.name) for k in (first, i)))
    return device
