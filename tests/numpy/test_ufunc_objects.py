"""Elementwise functions as objects: reduce, accumulate, outer and at, against NumPy; functions of users."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([[3, -1, 2], [0, 5, 4]])
F = X * 0.5
NAMES = "add multiply maximum minimum bitwise_and bitwise_or bitwise_xor logical_and logical_or".split()
CALLS = [
    *[call(f"{name}.reduce", X) for name in NAMES],
    *[call(f"{name}.reduce", X, axis=1, keepdims=True) for name in NAMES],
    *[call(f"{name}.outer", X, X[0]) for name in [*NAMES, "subtract", "logical_xor"]],
    *[call(f"{name}.accumulate", F, axis=1) for name in ("add", "multiply")],
    *[call(f"{name}.outer", F[0], F) for name in ("logaddexp", "logaddexp2")], call("add.reduce", F, axis=None),
    call("add.reduce", F, initial=2.0),
    call("maximum.reduce", F, where=F > 0, initial=-9.0), call("add.reduce", X, dtype=np.float32),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_updates():
    indices = np.array([0, 2, 0])
    for name in ("add", "subtract", "multiply", "minimum", "maximum"):
        want = F[0].copy()
        getattr(np, name).at(want, indices, 2.0)
        updated = lambda x, name=name: getattr(jnp, name).at(x, indices, 2.0, inplace=False)
        np.testing.assert_allclose(updated(F[0]), want)
        np.testing.assert_allclose(jax.jit(updated)(F[0]), want)
    assert jnp.negative.at(jnp.ones(3), np.array([1]), inplace=False).tolist() == [1, -1, 1]
    truth = np.array([True, False, True])
    for name, want in (("add", [True, True, True]), ("multiply", [True, False, True])):  # as of 0 and 1
        updated = getattr(jnp, name).at(truth, indices[:2] // 2, 3, inplace=False)
        assert updated.tolist() == want and updated.dtype == bool


def test_functions_of_users():
    def larger(x, y):
        return jnp.where(x > y, x, y)

    made = jnp.frompyfunc(larger, 2, 1, identity=None)
    assert repr(made) == "<jnp.ufunc 'larger'>" and (made.nin, made.nout, made.nargs) == (2, 1, 2)
    assert made(X, 1).tolist() == np.maximum(X, 1).tolist()
    assert made.outer(X[0], X[1]).tolist() == np.maximum.outer(X[0], X[1]).tolist()
    assert made == jnp.frompyfunc(larger, 2, 1) and hash(made) == hash(jnp.frompyfunc(larger, 2, 1))
    assert made != jnp.frompyfunc(larger, 2, 1, identity=0)
    assert isinstance(jnp.add, jnp.ufunc) and jnp.add.identity == 0
    for name in ("nin", "nout", "nargs", "identity"):
        with pytest.raises(AttributeError):
            setattr(jnp.add, name, 3)


REFUSED = [
    (lambda: jnp.add(X, X, out=X), NotImplementedError, "out"),
    (lambda: jnp.add(X, X, where=X > 0), NotImplementedError, "where"),
    (lambda: jnp.negative.reduce(X), ValueError, "binary"),
    (lambda: jnp.subtract.reduce(X, out=X), NotImplementedError, "out"),
    (lambda: jnp.maximum.accumulate(X, out=X), NotImplementedError, "out"),
    (lambda: jnp.maximum.reduceat(X, np.array([0]), out=X), NotImplementedError, "out"),
    (lambda: jnp.bitwise_or.reduce(F[0]), ValueError, "integer argument required; got dtype=float"),
    (lambda: jnp.add.reduce(X, where=X), ValueError, "dtype=bool"),
    (lambda: jnp.maximum.reduce(X, where=X > 0), ValueError, "identity"),
    (lambda: jnp.add.at(X, 0, 1), NotImplementedError, "inplace=False"),
    (lambda: jnp.frompyfunc(3, 1, 1), TypeError, "callable"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


def test_functions_of_users_are_traced_once():
    traced = []

    def larger(a, b):
        traced.append((a, b))
        return jnp.where(a > b, a, b)

    made, x = jnp.frompyfunc(larger, 2, 1), jnp.arange(3.0)
    assert made(x, 1.0).tolist() == made(x, 1.0).tolist() == [1.0, 1.0, 2.0] and len(traced) == 1
    assert made.outer(x, x).tolist() == made.outer(x, x).tolist() and len(traced) == 2
    assert float(made.reduce(x)) == float(made.reduce(x)) == 2.0 and len(traced) <= 4
    with pytest.raises(
        TypeError, match="larger requires ndarray or scalar arguments, got <class 'list'> at position 0"
    ):
        made([1.0], x)
