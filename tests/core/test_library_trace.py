"""Traces of other packages, by JAX's protocol, inside and around onax's own transformations."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.core import Trace, Tracer
from onax.extend.core import TraceTag, set_current_trace, take_current_trace


class LoggingTracer(Tracer):
    def __init__(self, trace, val):
        super().__init__(trace, jax.typeof(val))
        self.val = val

    def full_lower(self):
        return self


class LoggingTrace(Trace):
    """Notes the operations and hands them on to the trace around it."""

    def __init__(self, parent_trace, tag, log):
        super().__init__()
        self.parent_trace, self.tag, self.log = parent_trace, tag, log

    def to_val(self, x):
        return x.val if isinstance(x, LoggingTracer) and x._trace.tag is self.tag else x

    def stage_value(self, val):
        self.log.append("stage")
        return LoggingTracer(self, self.parent_trace.stage_value(val))

    def hand_on(self, primitive, tracers, params):
        vals = [self.to_val(t) for t in tracers]
        out = primitive.bind_with_trace(self.parent_trace, vals, [jax.typeof(v) for v in vals], params)
        return [LoggingTracer(self, x) for x in out] if primitive.multiple_results else LoggingTracer(self, out)

    def process_primitive(self, primitive, tracers, params):
        self.log.append(primitive.name)
        return self.hand_on(primitive, tracers, params)

    def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
        self.log.append("custom_jvp")
        return self.hand_on(primitive, tracers, {"subfuns": (fun, jvp), "symbolic_zeros": symbolic_zeros})

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros):
        self.log.append("custom_vjp")
        with set_current_trace(self.parent_trace):
            return [LoggingTracer(self, x) for x in fun.call_wrapped(*map(self.to_val, tracers))]


def logged(function, log):
    def run(*args):
        with take_current_trace() as parent:
            trace = LoggingTrace(parent, TraceTag(), log)
            with set_current_trace(trace):
                return trace.to_val(function(*[LoggingTracer(trace, x) for x in args]))

    return run


@jax.custom_jvp
def square(x):
    return x * x


square.defjvp(lambda primals, tangents: (square(primals[0]), 3 * primals[0] * tangents[0]))


@jax.custom_vjp
def cube(x):
    return x * x * x


cube.defvjp(lambda x: (cube(x), x), lambda x, g: (7 * g,))

X = jnp.float32(2.0)
CASES = {
    "operators": (lambda x: x * 2.0 + 1, X, 5, ["mul", "add"]),
    "jit": (lambda x: jax.jit(lambda y: y + 1)(x), X, 3, ["jit"]),
    "an array": (lambda x: x * jnp.array([1.0, 2.0]), X, [2, 4], ["stage", "mul"]),
    "an ndarray": (lambda x: x + np.ones(2, np.float32), X, [3, 3], ["add"]),
    "custom_jvp": (square, X, 4, ["custom_jvp"]),
    "custom_vjp": (cube, X, 8, ["custom_vjp"]),
    "grad inside": (jax.grad(lambda x: square(x) * x), X, 16, None),
    "vmap inside": (lambda x: jax.vmap(lambda y: y * x)(jnp.arange(3.0)), X, [0, 2, 4], ["iota", "mul"]),
    "scan": (lambda x: jax.lax.scan(lambda c, _: (c * 2, None), x, None, length=3)[0], X, 16, ["scan"]),
    "index": (lambda x: x[1], jnp.arange(3.0), 1, ["slice", "squeeze"]),
}


@pytest.mark.parametrize("name", CASES)
def test_operations_reach_the_trace(name):
    function, x, expected, operations = CASES[name]
    log = []
    assert logged(function, log)(x).tolist() == expected
    assert operations is None or log == operations
    assert jax.jit(logged(function, []))(x).tolist() == expected


def test_transformations_around_it():
    f = logged(lambda x: square(x) * 2, [])
    assert jax.vmap(f)(jnp.arange(3.0)).tolist() == [0, 2, 8]
    assert jax.grad(f)(X) == 12  # by the rule of the function, which says 3 x
    text = str(jax.make_jaxpr(f)(X))
    assert "name=square" in text and "jvp=<lambda>" in text and "mul c c" in text


def test_no_trace_is_current_while_it_interprets():
    class Doubling(LoggingTrace):
        def process_primitive(self, primitive, tracers, params):
            return jnp.float32(2.0) * 2  # would never end under the trace itself

    with take_current_trace() as parent, set_current_trace(Doubling(parent, TraceTag(), [])) as _:
        assert jnp.sin(jnp.float32(0.0)) == 4


def test_what_it_says_of_itself():
    tag = TraceTag()
    with take_current_trace() as parent:
        trace = LoggingTrace(parent, tag, [])
    assert trace.main is tag and not trace.staging and trace.full_raise(3) == 3
    assert Trace.stage_value(trace, X) is X


def test_a_trace_that_lacks_a_rule():
    class Partial(Trace):
        def __init__(self, parent_trace):
            self.parent_trace = parent_trace  # before the base class: JAX's classes allow either order
            super().__init__()

    with take_current_trace() as parent:
        trace = Partial(parent)
    assert trace.parent_trace is parent
    with set_current_trace(trace), pytest.raises(NotImplementedError, match="Partial does not interpret operations"):
        jnp.sin(X)
    with set_current_trace(trace), pytest.raises(NotImplementedError, match="custom_jvp calls"):
        square(X)
