"""The pass as a whole: what it leaves of a graph."""

import ml_dtypes
import numpy as np
import onnx.checker
import pytest

import onax
import onax.numpy as jnp
from onax import lax, nn
from onax._transforms.abstract import make_jaxpr
from onax.export.lower.driver import lower_jaxpr
from onax.export.recognize.recognize import FAMILIES
from onax.tree_util import tree_leaves
from recognition import model_of

RNG = np.random.default_rng(0)
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
    assert {"Erf", "Log", "ReduceMax", "ReduceL1"} <= {node.op_type for node in graph.nodes}


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


# ---- 16-bit floats


HALVES = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
ROWS = RNG.standard_normal((4, 16))
STRANGE = ROWS.copy()
STRANGE[0, 0], STRANGE[1, 1], STRANGE[2, 2], STRANGE[3, :] = np.nan, np.inf, -np.inf, 0.5
WEIGHT, BIAS = RNG.standard_normal((16, 8)), RNG.standard_normal(8)
MEAN, VARIANCE = RNG.standard_normal(16), RNG.uniform(0.5, 2, 16)


def of(x, *arrays):
    return [jnp.asarray(a.astype(x.dtype)) for a in arrays]


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-2)


def root_mean_square(x):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-2)


def dense(x):
    weight, bias = of(x, WEIGHT, BIAS)
    return x @ weight + bias


def batch_norm(x):
    mean, variance, scale, bias = of(x, MEAN, VARIANCE, VARIANCE, MEAN)
    return (x - mean) / jnp.sqrt(variance) * scale + bias


@pytest.mark.parametrize("opset", [21, 23])
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("fun, operator", [
    (nn.relu, "Relu"), (nn.relu6, "Clip"), (nn.sigmoid, "Sigmoid"), (nn.gelu, "Gelu"), (nn.hard_swish, "HardSwish"),
    (nn.hard_tanh, "Clip"), (nn.softmax, "Softmax"), (nn.log_softmax, "LogSoftmax"),
    (lambda x: x.mean(-1), "ReduceMean"), (layer_norm, "LayerNormalization"),
    (root_mean_square, "RMSNormalization"), (dense, "Gemm"),
    (batch_norm, "BatchNormalization"),
])  # fmt: skip
def test_operators_of_16_bit_floats(fun, operator, dtype, opset):
    finest = np.finfo(np.float16).eps if dtype == np.float16 else 2.0**-7
    for rows in (ROWS, STRANGE):
        x = rows.astype(dtype)
        with np.errstate(invalid="ignore"):
            want = np.asarray(fun(jnp.asarray(x))).astype(np.float64)
        found, exported = model_of(fun, x, opset=opset)
        if operator != "RMSNormalization" or opset > 22:
            assert set(found) <= {"Cast", operator} and found.count(operator) == 1 and len(found) <= 3
        got = np.asarray(exported.call(x)).astype(np.float64)
        finite = np.isfinite(want)
        np.testing.assert_array_equal(np.where(finite, 0, got), np.where(finite, 0, want))
        assert (np.abs(got[finite] - want[finite]) <= 8 * finest * (2 + np.abs(want[finite]))).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_other_programs_of_16_bit_floats(dtype):
    def fun(x):
        total = lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c) * x + jnp.exp(-c * c), x)
        return jnp.sort(total, -1), jnp.where(x > 0, jnp.log1p(jnp.abs(x)), nn.softplus(x)), jnp.cumsum(x, 0), x.max(0)

    x = ROWS.astype(dtype)
    finest = np.finfo(np.float16).eps if dtype == np.float16 else 2.0**-7
    gradient = onax.grad(lambda x: nn.log_softmax(fun(x)[1]).astype(np.float32).sum())
    for each in (fun, gradient):
        exported = model_of(each, x)[1]
        for got, want in zip(tree_leaves(exported.call(x)), tree_leaves(each(jnp.asarray(x))), strict=True):
            assert got.dtype == want.dtype == dtype
            got, want = np.asarray(got).astype(np.float64), np.asarray(want).astype(np.float64)
            assert (np.abs(got - want) <= 16 * finest * (2 + np.abs(want))).all()
