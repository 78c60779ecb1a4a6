"""Attention in exported models: one operator where it treats NaN and infinities as the formula does."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import nn
from recognition import assert_close, assert_recognized, model_of

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal((2, 6, 3, 4)).astype(np.float32) for _ in range(3))  # batch, length, heads, size
BIAS = RNG.standard_normal((6, 6)).astype(np.float32)


def own(q, k, v, change=lambda s: s * 0.5):
    weights = nn.softmax(change(jnp.einsum("bqhd,bkhd->bhqk", q, k)), -1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


RECOGNIZED = (
    own,
    nn.dot_product_attention,
    lambda q, k, v: own(q, k, v, lambda s: s / np.float32(2)),
    lambda q, k, v: own(q, k, v, lambda s: s),
    lambda q, k, v: own(q, k, v, lambda s: s * 0.5 + BIAS),
    lambda q, k, v: own(q, k[:, :2], v[:, :2]),
)


@pytest.mark.parametrize("fun", RECOGNIZED)
def test_one_operator(fun):
    found, exported = model_of(fun, Q, K, V, opset=23)
    assert found.count("Attention") == 1 and not {"MatMul", "Softmax"} & set(found)
    assert_close(exported, fun, (Q, K, V), scale=4)
    found, exported = model_of(fun, Q, K, V, opset=22)
    assert found.count("MatMul") == 2 and "Softmax" in found
    assert_close(exported, fun, (Q, K, V), scale=4)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("operand", [0, 1, 2])
def test_special_values(number, operand):
    operands = [Q.copy(), K.copy(), V.copy()]
    operands[operand][0, 2, 1, 3] = number
    _, exported = model_of(own, *operands, opset=23)
    with np.errstate(invalid="ignore"):
        assert_close(exported, own, operands, scale=4)


@pytest.mark.parametrize("fun", [
    lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True),
    lambda q, k, v: own(q, k, v, lambda s: jnp.where(np.tril(np.ones((6, 6), bool)), s, -jnp.inf)),
    lambda q, k, v: own(q, k, v, lambda s: s + np.where(np.tril(np.ones((6, 6), bool)), 0, -np.inf).astype(np.float32)),
    lambda q, k, v: own(q, k, v, lambda s: s + q[:, :, :, 0].mean((0, 2))),  # a mask that is not known
    lambda q, k, v: own(q, k, v, lambda s: -s),
])  # fmt: skip
def test_masks_that_the_operator_treats_otherwise(fun):
    keys = K.copy()
    keys[0, 5, 0, 0] = np.nan
    found, exported = model_of(fun, Q, keys, V, opset=23)
    assert "Attention" not in found
    with np.errstate(invalid="ignore"):
        assert_close(exported, fun, (Q, keys, V), scale=4)


def test_weights_that_something_else_reads():
    def fun(q, k, v):
        weights = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1)
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v), weights

    found, exported = model_of(fun, Q, K, V, opset=23)
    assert "Attention" not in found
    assert_close(exported, fun, (Q, K, V), scale=4)


def test_gradients():
    gradient = onax.grad(lambda q, k, v: (own(q, k, v) ** 2).sum(), (0, 1, 2))
    assert_close(model_of(gradient, Q, K, V, opset=23)[1], gradient, (Q, K, V), scale=100)


KEEP = np.int32([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]])
NOBODY = np.zeros((2, 6), np.int32)


@pytest.mark.parametrize("mask", [
    lambda keep: (1 - keep[:, None, None, :].astype(np.float32)) * -1e9,
    lambda keep: jnp.where(keep[:, None, None, :] > 0, 0.0, -1e9),
    lambda keep: jnp.where(keep[:, None, :, None] > 0, BIAS, -1e4),
    lambda keep: jnp.where(keep[0] > 0, 0.0, -1e9),
    lambda keep: keep[:, :3, None, None] * BIAS,
])  # fmt: skip
def test_masks_of_numbers_that_are_not_too_large(mask):
    fun = lambda q, k, v, keep: own(q, k, v, lambda s: s * 0.5 + mask(keep))
    for keep in (KEEP, NOBODY):
        found, exported = model_of(fun, Q, K, V, keep, opset=23)
        assert found.count("Attention") == 1 and not {"MatMul", "Softmax"} & set(found)
        assert_close(exported, fun, (Q, K, V, keep), scale=4)
        found, exported = model_of(fun, Q, K, V, keep, opset=21)
        assert found.count("MatMul") == 2
        assert_close(exported, fun, (Q, K, V, keep), scale=4)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("operand", [0, 1, 2])
def test_special_values_with_a_mask(number, operand):
    fun = lambda q, k, v: own(q, k, v, lambda s: s + jnp.where(KEEP[:, None, None, :] > 0, 0.0, -1e9))
    operands = [Q.copy(), K.copy(), V.copy()]
    operands[operand][0, 4, 1, 3] = number
    found, exported = model_of(fun, *operands, opset=23)
    assert "Attention" in found
    with np.errstate(invalid="ignore"):
        assert_close(exported, fun, operands, scale=4)


@pytest.mark.parametrize("lowest", [np.finfo(np.float32).min, -np.inf])
def test_masks_whose_rows_may_be_all_the_lowest_keep_the_formula(lowest):
    fun = lambda q, k, v, keep: own(q, k, v, lambda s: s * 0.5 + jnp.where(keep[:, None, None, :] > 0, 0, lowest))
    found, exported = model_of(fun, Q, K, V, NOBODY, opset=23)
    assert "Attention" not in found
    with np.errstate(invalid="ignore"):
        assert_close(exported, fun, (Q, K, V, NOBODY), scale=4)
    known = lambda q, k, v: own(
        q, k, v, lambda s: s + np.where(np.arange(6) == 2, lowest, 0)[:, None].astype(np.float32)
    )
    found, exported = model_of(known, Q, K, V, opset=23)
    assert "Attention" not in found
    with np.errstate(invalid="ignore"):
        assert_close(exported, known, (Q, K, V), scale=4)


@pytest.mark.parametrize("copies", [2, 3])
def test_repeated_heads(copies):
    q = RNG.standard_normal((2, 6, 3 * copies, 4)).astype(np.float32)
    repeated = lambda q, k, v: own(q, *(jnp.repeat(x, copies, 2) for x in (k, v)))
    found, exported = model_of(repeated, q, K, V, opset=23)
    assert found == ["Reshape"] * 3 + ["Attention", "Reshape"]
    assert_close(exported, repeated, (q, K, V), scale=4)
    in_front = lambda q, k, v: onax.nn.softmax(q @ jnp.repeat(k, copies, 1).mT, -1) @ jnp.repeat(v, copies, 1)
    operands = [np.ascontiguousarray(x.transpose(0, 2, 1, 3)) for x in (q, K, V)]
    found, exported = model_of(in_front, *operands, opset=23)
    assert found == ["Attention"]
    assert_close(exported, in_front, operands, scale=4)


def test_tiled_heads_are_not_repeated_ones():
    q = RNG.standard_normal((2, 6, 6, 4)).astype(np.float32)
    tiled = lambda q, k, v: own(q, *(jnp.tile(x, (1, 1, 2, 1)) for x in (k, v)))
    found, exported = model_of(tiled, q, K, V, opset=23)
    assert "Attention" in found
    assert_close(exported, tiled, (q, K, V), scale=4)


def test_heads_in_the_last_axis_need_no_transposes():
    x = RNG.standard_normal((2, 6, 12)).astype(np.float32)
    weights = RNG.standard_normal((3, 12, 12)).astype(np.float32) / 4

    def fun(x):
        q, k, v = ((x @ w).reshape(2, 6, 3, 4) for w in weights)
        return own(q, k, v).reshape(2, 6, 12)

    found, exported = model_of(fun, x, opset=23)
    assert found == ["MatMul"] * 3 + ["Attention"]
    assert_close(exported, fun, (x,), scale=8)

    def masked(x, keep):
        heads = [x.reshape(2, 6, 3, 4) * k for k in (1, 2, 3)]
        return own(*heads, lambda s: s + (1 - keep[:, None, None]) * np.float32(-1e4))

    found, exported = model_of(masked, x, KEEP, opset=23)
    assert "Attention" in found and "Transpose" not in found
    assert_close(exported, masked, (x, KEEP), scale=8)


@pytest.mark.parametrize("mask", [None, np.linspace(-2, 0, 24, dtype=np.float32).reshape(4, 6),
                                  np.linspace(-2, 0, 12, dtype=np.float32).reshape(2, 1, 6)])  # fmt: skip
def test_a_single_example(mask):
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((1, 2, t, 8)).astype(np.float32) for t in (4, 6, 6))

    def fun(q, k, v):
        scores = q @ jnp.swapaxes(k, -1, -2) * 0.35
        return nn.softmax(scores if mask is None else scores + mask) @ v

    expanded = " Expand" if mask is not None and mask.ndim == 3 else ""
    assert_recognized(fun, (q, k, v), "Attention" + expanded, opset=23, ulps=32)
    found, exported = model_of(fun, q[0], k[0], v[0], opset=23)
    assert found.count("Attention") == (0 if expanded else 1)  # with it there would be more nodes
    assert_close(exported, fun, (q[0], k[0], v[0]), ulps=32)


def test_groups_of_queries():
    rng = np.random.default_rng(4)
    q, k, v = (rng.standard_normal((3, t, h, 8)).astype(np.float32) for t, h in ((16, 6), (12, 2), (12, 2)))
    special = v.copy()
    special[0, 3, 1, 2], special[1, 0, 0, 0] = np.nan, np.inf
    for values in (v, special):
        assert_recognized(nn.dot_product_attention, (q, k, values), "Reshape Reshape Reshape Attention Reshape",
                          opset=23, ulps=32)  # fmt: skip
    assert "Attention" not in model_of(nn.dot_product_attention, q, k, v, opset=22)[0]
    causal = lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True)
    found, exported = model_of(causal, q, k, v, opset=23)
    assert "Attention" not in found
    assert_close(exported, causal, (q, k, v), ulps=32)


def test_groups_of_queries_with_a_symbolic_batch():
    (b,) = onax.export.symbolic_shape("b")
    types = [onax.ShapeDtypeStruct((b, t, h, 8), np.float32) for t, h in ((16, 6), (12, 2), (12, 2))]
    with pytest.warns(UserWarning, match="cannot assert"):
        found, exported = model_of(nn.dot_product_attention, *types, opset=23)
    assert "Attention" in found and "Transpose" not in found
    rng = np.random.default_rng(4)
    args = [rng.standard_normal((2, *t.shape[1:])).astype(np.float32) for t in types]
    assert_close(exported, nn.dot_product_attention, args, ulps=32)
