"""Values at fractional coordinates, against SciPy."""

import numpy as np
import pytest
from scipy import ndimage as theirs

import onax as jax
from agreement import assert_agrees
from onax.scipy import ndimage

X = np.random.default_rng(0).normal(size=(5, 7)) * 10
AT = np.random.default_rng(1).uniform(-9, 14, size=(2, 40))


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("mode", ["constant", "nearest", "mirror", "reflect"])
def test_as_in_scipy(mode, order):
    """SciPy's "wrap" joins the ends; what is called so here is its "grid-wrap", and "constant" its "grid-constant"."""
    name = {"constant": "grid-constant"}.get(mode, mode)
    ours = lambda x, at: ndimage.map_coordinates(x, list(at), order, mode, cval=2.5)
    assert_agrees(ours, lambda x, at: theirs.map_coordinates(x, at, order=order, mode=name, cval=2.5), X, AT)


@pytest.mark.parametrize("order", [0, 1])
def test_wrapping(order):
    ours = lambda x, at: ndimage.map_coordinates(x, list(at), order, "wrap")
    assert_agrees(ours, lambda x, at: theirs.map_coordinates(x, at, order=order, mode="grid-wrap"), X, AT)


def test_integers_are_rounded():
    x = np.array([0, 10, 21], np.int32)
    got = ndimage.map_coordinates(x, [np.array([0.5, 1.26, 2.0])], 1)
    assert got.tolist() == [5, 13, 21] and got.dtype == np.int32


def test_slopes():
    slope = jax.jit(jax.grad(lambda c: ndimage.map_coordinates(X, [c, 1.0], 1)))(1.25)
    np.testing.assert_allclose(slope, X[2, 1] - X[1, 1], rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ndimage.map_coordinates(X, [AT[0]], 1), ValueError, "1 != 2"),
        (lambda: ndimage.map_coordinates(X, list(AT), 3), NotImplementedError, "order<=1"),
        (lambda: ndimage.map_coordinates(X, list(AT), 1, "grid-wrap"), NotImplementedError, "grid-wrap"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
