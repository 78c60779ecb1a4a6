"""Rotary embeddings in exported models: one operator from opset 23 on."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from recognition import assert_close, model_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 6, 4, 8)).astype(np.float32)  # batch, positions, heads, size
SPECIAL = X.copy()
SPECIAL[0, 1, 2, 3], SPECIAL[1, 0, 0, 5], SPECIAL[1, 2, 3, 0] = np.nan, np.inf, -np.inf
ANGLES = np.outer(np.arange(1, 7), 10000.0 ** -(np.arange(4) / 4)).astype(np.float32)
COS, SIN = np.cos(ANGLES), np.sin(ANGLES)


def rotate(x, cos, sin):
    first, second = jnp.split(x, 2, -1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def by_slices(x, cos, sin):
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return jnp.concatenate([first * cos - sin * second, first * sin + cos * second], -1)


def whole(x, cos, sin):
    cos, sin = (np.concatenate([v, v], -1) for v in (cos, sin))
    half = x.shape[-1] // 2
    return x * cos + jnp.concatenate([-x[..., half:], x[..., :half]], -1) * sin


FORMS = rotate, by_slices, whole


def assert_rotated(fun, args, operators):
    with np.errstate(invalid="ignore"):
        found, exported = model_of(fun, *args, opset=23)
        assert found == operators.split()
        assert_close(exported, fun, args)
        found, exported = model_of(fun, *args, opset=22)
        assert "RotaryEmbedding" not in found
        assert_close(exported, fun, args)


@pytest.mark.parametrize("form", FORMS)
def test_heads_behind_positions(form):
    for x in (X, SPECIAL):
        fun = lambda x: form(x, COS[:, None], SIN[:, None])
        assert_rotated(fun, (x,), "Reshape RotaryEmbedding Reshape")


@pytest.mark.parametrize("form", FORMS)
def test_heads_in_front_of_positions(form):
    x = np.ascontiguousarray(SPECIAL.transpose(0, 2, 1, 3))
    assert_rotated(lambda x: form(x, COS, SIN), (x,), "RotaryEmbedding")


def test_tables_as_arguments_and_by_example():
    tables = [np.stack([v, v[::-1]])[:, :, None] for v in (COS, SIN)]
    found, exported = model_of(rotate, X, *tables, opset=23)
    assert found.count("RotaryEmbedding") == 1 and "Mul" not in found
    assert_close(exported, rotate, (X, *tables))


@pytest.mark.parametrize("fun", [
    lambda x: rotate(x, COS[:, None], SIN[:, None]) + x[:, :, :, :1] * rotate(x, 1, 2),
    lambda x: jnp.concatenate([x[..., :4] * 2 - x[..., 4:] * 3, x[..., 4:] * 2 - x[..., :4] * 3], -1),
    lambda x: jnp.concatenate([x[..., 4:] * 2 - x[..., :4] * 3, x[..., 4:] * 2 + x[..., :4] * 3], -1),
    lambda x: jnp.concatenate([x[..., :4] * COS[:, None] - x[..., 4:] * SIN[:, None],
                               x[..., 4:] * SIN[:, None] + x[..., :4] * COS[:, None]], -1),
    lambda x: x * np.float32(2) + jnp.concatenate([-x[..., 4:], x[..., :4]], -1) * np.arange(8, dtype=np.float32),
    lambda x: rotate(x, COS[:, None, :1], SIN[:, None, :1]),
])  # fmt: skip
def test_what_only_looks_alike(fun):
    found, exported = model_of(fun, X, opset=23)
    assert found.count("RotaryEmbedding") <= ("Add" in found and "Split" in found)
    assert_close(exported, fun, (X,), scale=8)


def test_gradients_and_exact():
    fun = lambda x: rotate(x, COS[:, None], SIN[:, None])
    gradient = onax.grad(lambda x: (fun(x) ** 2).sum())
    assert_close(model_of(gradient, X, opset=23)[1], gradient, (X,), scale=4)
    assert "RotaryEmbedding" not in model_of(fun, X, opset=23, exact=True)[0]
