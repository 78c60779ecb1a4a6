"""Axes of reductions, operands that broadcast, selections with known conditions."""

import itertools

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import nn
from recognition import assert_close, assert_recognized, model_of

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
ROW, COLUMN = np.arange(4, dtype=np.float32), np.arange(3, dtype=np.float32)[:, None]


@pytest.mark.parametrize("fun, operators", [
    (lambda x, _: x - x.sum(-1, keepdims=True), "ReduceSum Sub"),
    (lambda x, _: x - x.sum((0, 2), keepdims=True), "ReduceSum Sub"),
    (lambda x, _: (x.sum(1, keepdims=True), x.sum(1)), "ReduceSum ReduceSum"),
    (lambda x, row: x + row, "Add"),
    (lambda x, row: row[None, None] * x, "Mul"),
    (lambda x, row: x + jnp.broadcast_to(row, x.shape), "Add"),
    (lambda x, row: row[:2, None, None] + x, "Slice Reshape Add"),  # not in front
    (lambda x, row: jnp.where(x > row, jnp.zeros(x.shape), row), "Greater Where"),
    (lambda x, row: jnp.broadcast_to(row, (3, 4)) + row, "Add Expand"),
])  # fmt: skip
def test_axes(fun, operators):
    found, exported = model_of(fun, X, ROW)
    assert sorted(found) == sorted(operators.split()) or operators.endswith("Expand")
    assert_close(exported, fun, (X, ROW))


def test_operands_that_give_the_result_its_shape_stay():
    fun = lambda row: jnp.broadcast_to(row, (5, 4)) + 1
    found, exported = model_of(fun, ROW)
    assert "Expand" in found
    assert_close(exported, fun, (ROW,))


def test_known_conditions():
    fun = lambda x: jnp.var(x, -1) + 1  # selects NaN if there are too few elements
    found, exported = model_of(fun, X)
    assert "Where" not in found and "Identity" not in found
    assert_close(exported, fun, (X,))
    none = lambda x: jnp.where(np.zeros(X.shape, bool), x, 2 * x)
    assert_recognized(none, (X,), "Mul")


def test_selections_of_bools():
    mask = lambda x: jnp.where(jnp.tril(jnp.ones((40, 40), bool)), x, 0)
    x = np.ones((40, 40), np.float32)
    found, exported = model_of(mask, x)
    assert not {"And", "Or"} & set(found)
    assert_close(exported, mask, (x,))
    both = lambda x: (jnp.where(x > 1, True, False), jnp.where(x > 1, False, True))
    found, exported = model_of(both, X)
    assert set(found) <= {"Greater", "Not", "Identity"}
    assert_close(exported, both, (X,))


@pytest.mark.parametrize("fun, operators", [
    (lambda x: x.reshape(6, 4).reshape(4, 6) + 1, "Reshape Add"),
    (lambda x: jnp.exp(x.reshape(6, 4)).reshape(4, 6), "Reshape Exp Reshape"),
    (lambda x: jnp.transpose(x[:, None], (0, 2, 1, 3)), "Reshape"),
    (lambda x: jnp.transpose(x[:, None], (3, 1, 0, 2)), "Transpose Reshape"),
    (lambda x: jnp.transpose(jnp.exp(x[None]), (3, 1, 0, 2))[:, :, 0], None),
    (lambda x: jnp.transpose(jnp.transpose(x, (2, 0, 1)), (0, 2, 1)), "Transpose"),
    (lambda x: jnp.exp(jnp.transpose(jnp.transpose(x, (2, 0, 1)), (1, 2, 0))), "Exp"),
    (lambda x: jnp.exp(x[:, None].sum(1)), "Exp"),
    (lambda x: jnp.exp(x[:, None]).mean(1), "Reshape Exp Reshape"),
])  # fmt: skip
def test_axes_of_length_one(fun, operators):
    found, exported = model_of(fun, X)
    assert operators is None or sorted(found) == sorted(operators.split())
    assert_close(exported, fun, (X,))


@pytest.mark.parametrize("perm", list(itertools.permutations(range(4))))
def test_transposes_around_axes_of_length_one(perm):
    for shape in ((2, 1, 3, 4), (1, 2, 3, 4), (2, 3, 4, 1), (1, 6, 1, 4), (1, 1, 24, 1)):
        fun = lambda x, s=shape: (
            jnp.exp(jnp.transpose(jnp.tanh(x).reshape(s), perm)) + jnp.transpose(x.reshape(s), perm)
        )
        assert_close(model_of(fun, X)[1], fun, (X,))
        last = lambda x, s=shape: jnp.transpose(jnp.tanh(x.reshape(s)), perm).reshape([s[i] for i in perm if s[i] > 1])
        assert_close(model_of(last, X)[1], last, (X,))


@pytest.mark.parametrize("fun, operators", [
    (lambda x: (jnp.exp(x)[None] * 2)[0], "Exp Mul"),
    (lambda x: jnp.where(x[0] > 3, jnp.exp(x)[None, None], 1)[0, 0], "Slice Squeeze Greater Exp Where"),
    (lambda x: nn.softmax(jnp.exp(-x)[None], 2)[0], "Neg Exp Softmax"),
    (lambda x: nn.softmax(jnp.exp(-x)[None], 0)[0], None),
    (lambda x: (jnp.exp(-x)[None] + jnp.exp(-x)[:, None]).sum(0), None),
])  # fmt: skip
def test_axes_in_front(fun, operators):
    found, exported = model_of(fun, X)
    assert operators is None or sorted(found) == sorted(operators.split())
    assert_close(exported, fun, (X,))


NEUTRAL_LINE = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, -3.0], np.float32)


@pytest.mark.parametrize("fun", [
    lambda x: x - np.float32(0), lambda x: x * np.float32(1), lambda x: x / np.ones(7, np.float32),
    lambda x: jnp.maximum(x, -np.inf), lambda x: jnp.minimum(np.float32(np.inf), x),
])  # fmt: skip
def test_operands_that_change_nothing(fun):
    operators, _ = model_of(lambda x: jnp.exp(fun(x)) + fun(x), NEUTRAL_LINE)
    assert sorted(operators) == ["Add", "Exp"]
    _, alone = model_of(fun, NEUTRAL_LINE)
    got = np.asarray(alone.call(NEUTRAL_LINE))
    np.testing.assert_array_equal(got, NEUTRAL_LINE)
    np.testing.assert_array_equal(np.signbit(got[3:5]), [False, True])


def test_adding_zero_changes_the_sign_of_zero():
    for fun, sign in ((lambda x: x + np.float32(0), False), (lambda x: x - np.float32(-0.0), False)):
        _, exported = model_of(fun, NEUTRAL_LINE)
        assert np.signbit(np.asarray(exported.call(NEUTRAL_LINE)))[4] == sign


def test_parts_of_complex_numbers_are_not_taken_apart():
    z = (X + 1j * X[::-1]).astype(np.complex64).reshape(6, 4)
    found, exported = model_of(jnp.fft.fft, z)
    assert found == ["DFT"]
    np.testing.assert_allclose(exported.call(z), np.fft.fft(z), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("fun", [lambda z, w: z + w, lambda z, w: z - w])
def test_sums_of_complex_numbers_are_sums_of_arrays(fun):
    z = (X + 1j * X[::-1]).astype(np.complex64).reshape(6, 4)
    found, exported = model_of(fun, z, z[::-1].copy())
    assert set(found) <= {"Add", "Sub", "Slice"}
    np.testing.assert_array_equal(exported.call(z, z[::-1].copy()), fun(z, z[::-1].copy()))


@pytest.mark.parametrize("fun", [
    lambda z, w: z + w.conj(), lambda z, w: z - w[:1], lambda z, w: z + w.real, lambda z, w: 1j * z + w.swapaxes(0, 0),
])  # fmt: skip
def test_other_sums_of_complex_numbers(fun):
    z = (X + 1j * X[::-1]).astype(np.complex64).reshape(6, 4)
    np.testing.assert_allclose(model_of(fun, z, 2 * z)[1].call(z, 2 * z), fun(z, 2 * z), rtol=1e-6)


def test_parts_in_another_order_stay():
    for fun in (lambda x: jnp.stack([x[:, 1], x[:, 0]], 1), lambda x: jnp.stack([x[:, 0], x[:, 0]], 1),
                lambda x: jnp.stack([x[:, 0], x[:, 1]], 0)):  # fmt: skip
        assert_close(model_of(fun, X[0, :, :2])[1], fun, (X[0, :, :2],))
    whole = lambda x: jnp.stack([x[:, 0], x[:, 1]], 1)
    assert_close(model_of(whole, X[0, :, :2])[1], whole, (X[0, :, :2],))


def test_unit_axes_beside_a_symbolic_size():
    (n,) = onax.export.symbolic_shape("n")
    attend = lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True)
    x = np.random.default_rng(0).standard_normal((3, 5, 4, 8)).astype(np.float32)
    with pytest.warns(UserWarning, match="cannot assert"):
        found, exported = model_of(attend, *[onax.ShapeDtypeStruct((n, 5, 4, 8), np.float32)] * 3)
    assert sorted(found) == sorted(model_of(attend, x, x, x)[0]) and "Reshape" not in found
    assert_close(exported, attend, (x, x, x), ulps=32)
    fun = lambda x: jnp.transpose(x[:, None], (0, 3, 1, 2))[:, :, 0] * 2
    found, exported = model_of(fun, onax.ShapeDtypeStruct((n, 3, 4), np.float32))
    assert sorted(found) == ["Mul", "Transpose"]
    assert_close(exported, fun, (X,))
