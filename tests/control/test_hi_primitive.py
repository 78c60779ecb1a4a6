"""Operations that users define as objects, with a rule for each transformation."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax.experimental.hijax import HiType, VJPHiPrimitive, Zero, instantiate_zeros


class _Unary(VJPHiPrimitive):
    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval,), aval, {}
        super().__init__()

    @classmethod
    def apply(cls, x):
        return cls(onax.typeof(x))(x)


class Sin(_Unary):
    """The sine, with the derivative ten times the cosine in reverse mode and twenty times in forward mode."""

    def expand(self, x):
        return jnp.sin(x)

    def vjp_fwd(self, nzs_in, x):
        return self(x), jnp.cos(x)

    def vjp_bwd_retval(self, residual, ct):
        return (10 * residual * ct,)

    def jvp(self, primals, tangents):
        return self(*primals), 20 * jnp.cos(*primals) * tangents[0]

    def batch_dim_rule(self, axis_data, dims):
        return dims[0]


class Doubled(_Unary):
    def expand(self, x):
        return x + x


class Linear(Doubled):
    def lin(self, nzs_in, x):
        return self(x), ()

    def linearized(self, residuals, t):
        return 3 * t


class Halves(VJPHiPrimitive):
    """A function of two arguments and two results in a tree; backward passes add to accumulators."""

    def __init__(self, pair):
        self.in_avals, self.out_aval, self.params = (pair, pair["a"]), {"x": pair["a"], "y": pair["b"]}, {}
        super().__init__()
        self.seen = []

    def expand(self, pair, scale):
        return {"x": pair["a"] * scale, "y": pair["b"] / scale}

    def vjp_fwd(self, nzs_in, pair, scale):
        self.seen.append(nzs_in)
        return self(pair, scale), (scale, None)

    def vjp_bwd(self, residuals, ct, pair, scale):
        self.seen.append(type(ct["y"]))
        pair["a"].accum(ct["x"] * residuals[0])
        pair["a"].accum(ct["x"])
        pair["b"].accum(instantiate_zeros(ct["y"]) + 1)


class Scaled(VJPHiPrimitive):
    def __init__(self, x, y):
        self.in_avals, self.out_aval, self.params = (x, y), x, {}
        super().__init__()

    def expand(self, x, y):
        return x * y

    def transpose(self, ct, x, y):
        x.accum(ct * y)

    def batch_dim_rule(self, axis_data, dims):
        return dims[0] if dims[0] is not None else dims[1]

    def vjp_fwd(self, nzs_in, x, y):
        return self(x, y), (x, y)

    def vjp_bwd_retval(self, residuals, ct):
        return (ct * residuals[1], ct * residuals[0])


@pytest.mark.parametrize("wrap", [lambda f: f, onax.jit], ids=["eager", "jit"])
def test_rules_of_an_operation(wrap):
    cos = np.cos(0.5)
    assert np.allclose(wrap(Sin.apply)(0.5), np.sin(0.5))
    assert np.allclose(wrap(onax.grad(Sin.apply))(0.5), 10 * cos)
    assert np.allclose(wrap(onax.grad(onax.grad(Sin.apply)))(0.5), -10 * np.sin(0.5))
    assert np.allclose(wrap(lambda x: onax.jvp(Sin.apply, (x,), (1.0,)))(0.5), (np.sin(0.5), 20 * cos))
    assert np.allclose(wrap(onax.vmap(onax.grad(Sin.apply)))(jnp.array([0.5, 0.5])), 10 * cos)
    assert np.allclose(wrap(onax.grad(Linear.apply))(0.5), 3)
    scaled = lambda x, y: Scaled(onax.typeof(x), onax.typeof(y))(x, y)
    assert np.allclose(wrap(lambda x: onax.linear_transpose(lambda x: scaled(x, 4.0), x)(2.0)[0])(1.0), 8)
    grads = onax.grad(lambda x, y: onax.vmap(scaled, (0, None))(x, y).sum(), (0, 1))
    x, y = wrap(grads)(jnp.arange(3.0), 5.0)
    assert np.allclose(x, 5) and np.allclose(y, 3)


def test_trees_symbolic_zeros_and_accumulators():
    pair = {"a": jnp.float32(2), "b": jnp.float32(3)}
    operation = Halves({key: onax.typeof(x) for key, x in pair.items()})
    cts = onax.grad(lambda p: operation(p, jnp.float32(4))["x"])(pair)
    assert operation.seen == [({"a": True, "b": True}, False), Zero]
    assert np.allclose(cts["a"], 5) and np.allclose(cts["b"], 1)


def test_an_operation_is_one_equation():
    jaxpr = onax.make_jaxpr(lambda x: Sin.apply(x) * 2.0)(1.0)
    assert "call_hi_primitive[_prim=Sin[{}]] a" in str(jaxpr)
    model = onax.export.export(onax.jit(Sin.apply))(1.0).onnx_model
    assert [node.op_type for node in model.graph.node] == ["Sin"]


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (lambda: onax.grad(Doubled.apply)(1.0), "for grad support, subclass .* must implement `vjp_fwd`"),
        (lambda: onax.jvp(Doubled.apply, (1.0,), (1.0,)), "for jvp support, subclass .* must implement `jvp`"),
        (lambda: onax.vmap(Doubled.apply)(jnp.ones(2)), "for vmap support, .* `batch` or `batch_dim_rule`"),
        (lambda: onax.linear_transpose(Doubled.apply, 1.0)(1.0), "for transpose support, .* `transpose`"),
        (lambda: _Unary.apply(1.0), "must implement `expand`"),
        (lambda: _Unary(HiType()), "onax has no types of values besides arrays"),
    ],
)
def test_missing_rules(transform, message):
    with pytest.raises(NotImplementedError, match=message):
        transform()


def test_a_constructor_that_sets_nothing():
    with pytest.raises(AttributeError, match=r"subclass __init__ should set `self\.in_avals`"):
        VJPHiPrimitive()
