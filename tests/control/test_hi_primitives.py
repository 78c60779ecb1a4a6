"""Primitives that programs define: what transformations make of their rules."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.rewrite import eliminate_dead_code
from onax.experimental import hijax
from onax.experimental.hijax import HiPrim
from onax.export import export


def primitive(avals=1, **rules):
    """A function that applies a new primitive of `avals` arguments; its result has the type of the first."""

    class Made(HiPrim):
        def __init__(self, *types):
            self.in_avals, self.out_aval, self.params = types, types[0], {}
            super().__init__()

    for name, rule in rules.items():
        setattr(Made, name, rule)
    return lambda *args: Made(*map(jax.typeof, args))(*args)


def own_call(rule):
    """A rule that returns the result of the primitive beside what `rule` returns."""
    return lambda self, nzs, *args: (self(*args), rule(*args))


# every rule has a factor of its own, which tells whether it was used
sine = primitive(
    expand=lambda self, x: jnp.sin(x),
    vjp_fwd=own_call(jnp.cos),
    vjp_bwd_retval=lambda self, cosine, ct: (3 * cosine * ct,),
    jvp=lambda self, p, t: (self(*p), 5 * jnp.cos(p[0]) * t[0]),
    batch_dim_rule=lambda self, axis_data, dims: dims[0],
)
linear_sine = primitive(
    expand=lambda self, x: jnp.sin(x),
    lin=own_call(jnp.cos),
    linearized=lambda self, cosine, t: 7 * cosine * t,
    jvp=hijax.jvp_from_lin,
)
product = primitive(
    expand=lambda self, x, y: x * y,
    vjp_fwd=own_call(lambda x, y: (x, y)),
    vjp_bwd_retval=lambda self, xy, ct: (xy[1] * ct, xy[0] * ct),
    batch_dim_rule=lambda self, axis_data, dims: dims[1] if dims[0] is None else dims[0],
)
_jvp = {"expand": lambda self, x: jnp.sin(x), "jvp": lambda self, p, t: (self(*p), 2 * jnp.cos(p[0]) * t[0])}
_lin, _linearized = hijax.linearize_from_jvp
by_jvp = primitive(**_jvp, **dict(zip(("vjp_fwd", "vjp_bwd_retval"), hijax.vjp_from_jvp)))
by_lin = primitive(
    **_jvp, lin=_lin, linearized=_linearized, **dict(zip(("vjp_fwd", "vjp_bwd_retval"), hijax.vjp_from_lin))
)

X = np.float32(0.5)
V = np.arange(3, dtype=np.float32)
COS, SIN = np.cos(0.5), np.sin(0.5)
VALUES = {
    "applied": (lambda: sine(X), SIN),
    "in a program": (lambda: jax.jit(sine)(X), SIN),
    "grad": (lambda: jax.grad(sine)(X), 3 * COS),
    "grad in a program": (lambda: jax.jit(jax.grad(sine))(X), 3 * COS),
    "grad of a program": (lambda: jax.grad(jax.jit(sine))(X), 3 * COS),
    "grad of grad": (lambda: jax.grad(jax.grad(sine))(X), -3 * SIN),
    "jvp": (lambda: jax.jvp(sine, (X,), (1.0,))[1], 5 * COS),
    "jvp of grad": (lambda: jax.jvp(jax.grad(sine), (X,), (1.0,))[1], -3 * SIN),
    "hessian": (lambda: jax.hessian(sine)(X), -3 * SIN),
    "linearize": (lambda: jax.linearize(linear_sine, X)[1](2.0), 14 * COS),
    "grad of lin": (lambda: jax.grad(linear_sine)(X), 7 * COS),
    "jvp of lin": (lambda: jax.jvp(linear_sine, (X,), (1.0,))[1], 7 * COS),
    "grad by jvp": (lambda: jax.grad(by_jvp)(X), 2 * COS),
    "grad by lin by jvp": (lambda: jax.grad(by_lin)(X), 2 * COS),
    "grad of grad by lin by jvp": (lambda: jax.grad(jax.grad(by_lin))(X), -2 * SIN),
    "linearize by jvp": (lambda: jax.linearize(by_lin, X)[1](1.0), 2 * COS),
    "vmap": (lambda: jax.vmap(sine)(V), np.sin(V)),
    "vmap of grad": (lambda: jax.vmap(jax.grad(sine))(V), 3 * np.cos(V)),
    "grad of vmap": (lambda: jax.grad(lambda v: jax.vmap(sine)(v).sum())(V), 3 * np.cos(V)),
    "jvp of vmap": (lambda: jax.jvp(jax.vmap(sine), (V,), (V,))[1], 5 * np.cos(V) * V),
    "vmap of a product": (lambda: jax.vmap(product, (0, None))(V, 2.0), 2 * V),
    "grad of vmap of a product": (
        lambda: jax.grad(lambda y: jax.vmap(product, (0, None))(V, y).sum())(2.0), V.sum(),
    ),
    "vmap of vmap": (lambda: jax.vmap(jax.vmap(product, (0, None)), (None, 0))(V, V), np.outer(V, V)),
    "in a loop": (
        lambda: jax.grad(lambda v: jax.lax.scan(lambda c, x: (c + sine(x), None), 0.0, v)[0])(V), 3 * np.cos(V),
    ),
    "in a branch": (lambda: jax.grad(lambda x: jax.lax.cond(x > 0, sine, jnp.cos, x))(X), 3 * COS),
    "under checkpoint": (lambda: jax.grad(jax.checkpoint(sine))(X), 5 * COS),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    call, expected = VALUES[name]
    assert np.allclose(call(), expected, rtol=1e-5)


def test_trees():
    class Pair(HiPrim):
        def __init__(self, aval):
            self.in_avals, self.out_aval, self.params = ({"a": aval, "b": aval},), (aval, {"c": aval}), {}
            super().__init__()

        def expand(self, x):
            return x["a"] * x["b"], {"c": jnp.sin(x["a"])}

        def vjp_fwd(self, nzs_in, x):
            return self(x), x

        def vjp_bwd_retval(self, x, ct):
            seen.append(type(ct[1]["c"]))
            return ({"a": ct[0] * x["b"], "b": None},)

    seen = []
    f = lambda x: Pair(jax.typeof(x["a"]))(x)
    assert np.allclose(f({"a": 2.0, "b": 3.0})[0], 6)
    found = jax.grad(lambda x: f(x)[0])({"a": 2.0, "b": 3.0})
    assert found == {"a": 3, "b": 0} and seen == [hijax.Zero]


def test_accumulators():
    def vjp_bwd(self, x, ct, x_acc, y_acc):
        kinds.append((type(x_acc).__name__, type(y_acc).__name__))
        x_acc.accum(ct)
        x_acc.accum(ct)
        y_acc.accum(ct)

    kinds = []
    f = primitive(expand=lambda self, x, y: x * y, vjp_fwd=own_call(lambda x, y: x), vjp_bwd=vjp_bwd)
    assert jax.grad(f)(X, X) == 2 and kinds == [("ValAccum", "NullAccum")]
    ref = jax.new_ref(jnp.zeros(2))
    hijax.RefAccum(jax.typeof(jnp.zeros(2)), ref).accum(jnp.ones(2))
    assert list(ref[...]) == [1, 1]


def test_control_flow_outside_of_programs():
    f = primitive(
        expand=lambda self, x: jnp.sin(x) if x > 0 else jnp.cos(x),
        vjp_fwd=own_call(lambda x: x),
        vjp_bwd_retval=lambda self, x, ct: (2 * ct if x > 0 else 3 * ct,),
    )
    assert jax.grad(f)(1.0) == 2 and jax.grad(f)(-1.0) == 3


def test_exported():
    exported = export(jax.jit(lambda v: jax.lax.scan(lambda c, x: (c + sine(x), x), 0.0, v)[0]))(V)
    assert np.allclose(exported.call(V), np.sin(V).sum())


def test_expand_is_called_once_for_a_program():
    calls = []
    f = jax.jit(primitive(expand=lambda self, x: (calls.append(0), jnp.sin(x))[1]))
    f(X), f(X)
    assert len(calls) == 1


def test_printed_and_exported():
    assert str(jax.make_jaxpr(product)(X, X)) == (
        "{ lambda ; a:f32[] b:f32[]. let\n    c:f32[] = call_hi_primitive[_prim=Made[{}]] a b\n  in (c,) }"
    )
    model = jax.export.export(jax.jit(sine))(X).onnx_model
    assert [node.op_type for node in model.graph.node] == ["Sin"]


def test_transpose():
    def transpose(self, ct, x, y):
        x.accum(y * ct)

    scale = primitive(expand=lambda self, x, y: x * y, transpose=transpose)
    assert jax.linear_transpose(lambda x: scale(x, np.float32(3)), X)(np.float32(2)) == (6,)


ERRORS = {
    "no vjp_fwd": (lambda: jax.grad(linear_only)(X), NotImplementedError, "for grad support, subclass"),
    "no jvp": (lambda: jax.jvp(product, (X, X), (X, X)), NotImplementedError, "for jvp support, subclass"),
    "no batch": (lambda: jax.vmap(linear_sine)(V), NotImplementedError, "for vmap support, subclass"),
    "no expand": (lambda: primitive()(X), NotImplementedError, "must implement `expand`"),
    "two backward rules": (
        lambda: primitive(vjp_bwd=lambda *_: None, vjp_bwd_retval=lambda *_: None)(X),
        AttributeError,
        "should not override both `vjp_bwd` and `vjp_bwd_retval`",
    ),
    "no types": (lambda: HiPrim(), AttributeError, "subclass __init__ should set `self.in_avals`"),
    "a circle": (
        lambda: jax.jvp(primitive(jvp=hijax.jvp_from_lin, lin=_lin, linearized=_linearized), (X,), (X,)),
        TypeError,
        "each by the other",
    ),
}
linear_only = primitive(**_jvp)


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        call()


def test_instances_of_equal_parameters_are_equal():
    class Of(HiPrim):
        def __init__(self, n):
            self.in_avals, self.out_aval, self.params = (), jax.typeof(1.0), {"n": n}
            super().__init__()

    assert Of(1) == Of(1) != Of(2) and hash(Of(1)) == hash(Of(1)) and repr(Of(3)) == "Of[{'n': 3}]" and Of(3).n == 3


class First(HiPrim):
    def __init__(self):
        self.in_avals, self.out_aval, self.params = (jax.typeof(1.0),), jax.typeof(1.0), {}
        super().__init__()

    def expand(self, x):
        return x * 2


class Both(HiPrim):
    def __init__(self):
        self.in_avals, self.out_aval, self.params = (
            (jax.typeof(1.0), jax.typeof(1.0)),
            (jax.typeof(1.0), jax.typeof(1.0)),
            {},
        )
        super().__init__()

    def expand(self, x, y):
        return x * 2, x * y

    def dce(self, used):
        return super().dce(used) if used[1] or not used[0] else ((True, False), (True, False), First())


def names(jaxpr):
    return [type(eqn.params["_prim"]).__name__ for eqn in eliminate_dead_code(jaxpr).eqns]


def test_the_object_gives_the_operation_for_the_used_results():
    assert names(jax.make_jaxpr(lambda x, y: Both()(x, y))(1.0, 2.0)) == ["Both"]
    assert names(jax.make_jaxpr(lambda x, y: Both()(x, y)[1])(1.0, 2.0)) == ["Both"]
    assert names(jax.make_jaxpr(lambda x, y: (Both()(x, y), x)[1])(1.0, 2.0)) == []
    first = jax.make_jaxpr(lambda x, y: Both()(x, y)[0])(1.0, 2.0)
    assert names(first) == ["First"]
    assert jax.jit(lambda x, y: Both()(x, y)[0])(3.0, 2.0) == 6
