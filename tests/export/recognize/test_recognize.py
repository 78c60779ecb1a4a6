"""The pass as a whole: what it leaves of a graph."""

import numpy as np
import onnx.checker
import pytest

import onax
import onax.numpy as jnp
from onax import lax, nn
from onax._transforms.abstract import make_jaxpr
from onax.export.lower.driver import lower_jaxpr
from onax.export.recognize.recognize import FAMILIES
from recognition import model_of

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def test_rules_say_on_which_operators_they_start():
    for family in FAMILIES:
        for op_types, rule in family:
            assert op_types.split() and rule.__doc__


@pytest.mark.parametrize("recognize", [False, True])
def test_formulas_are_built_where_no_rule_takes_them(recognize):
    fun = lambda x: lax.erfc(x) + jnp.log1p(x * x) + x.max(-1, keepdims=True)
    graph = lower_jaxpr(make_jaxpr(fun)(X), opset=21, recognize=recognize)
    assert not any(node.domain for node in graph.nodes)
    assert {"Erf", "Log", "ReduceMax", "IsNaN"} <= {node.op_type for node in graph.nodes}


def test_opsets_are_never_raised():
    for opset in range(18, 27):
        _, exported = model_of(lambda x: nn.gelu(nn.softmax(x)), X, opset=opset)
        (entry,) = [o.version for o in exported.onnx_model.opset_import if o.domain == ""]
        assert entry == opset


def test_models_are_the_same_each_time():
    fun = lambda x: nn.gelu(nn.log_softmax(x)) + nn.softplus(x)
    first, second = (model_of(fun, X)[1].serialize() for _ in range(2))
    assert first == second


STEPS = (
    nn.relu, nn.relu6, nn.silu, nn.softplus, nn.gelu, nn.softmax, nn.log_softmax, nn.standardize, nn.hard_swish,
    lambda x: nn.gelu(x, approximate=False),
    lambda x: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5),
    lambda x: x[None].transpose(1, 2, 0)[:, :, 0],
    lambda x: x.reshape(x.shape[::-1]),
    lambda x: x.T @ x + x.sum(0)[0],
    lambda x: jnp.einsum("bij,bkj->bik", x[None], x[None])[0],
    lambda x: jnp.where(jnp.tril(jnp.ones(x.shape, bool)), x, -10),
    lambda x: x.var(0) + x.max(-1, keepdims=True),
    lambda x: lax.cond(x.sum() > 0, nn.silu, nn.relu, x),
    lambda x: lax.fori_loop(0, 2, lambda _, y: nn.softmax(y) + y * 0.5, x),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
def test_compositions(seed):
    rng = np.random.default_rng(seed)
    steps = [STEPS[i] for i in rng.integers(len(STEPS), size=5)]
    x = rng.standard_normal(rng.choice([1, 3, 4, 6], 2)).astype(np.float32)
    if seed % 4 == 1:
        x.flat[0] = rng.choice([np.nan, np.inf, -np.inf])

    def fun(x):
        for step in steps:
            x = step(x) * 0.5 + 0.1
        return x

    if seed % 4 == 2:
        inner = fun
        fun = onax.grad(lambda x: jnp.tanh(inner(x)).sum())
    _, exported = model_of(fun, x, opset=int(rng.choice([18, 21, 23])))
    onnx.checker.check_model(exported.onnx_model, full_check=True)
    with np.errstate(all="ignore"):
        want = np.asarray(fun(x))
        got = np.asarray(exported.call(x))
    largest = np.max(np.abs(want), where=np.isfinite(want), initial=1)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 * largest)
