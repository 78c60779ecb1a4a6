"""pad against NumPy: every mode, widths as numbers, pairs and dicts, empty axes; functions as modes."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([[1.0, -2, 3, 0.5], [4, 5, -6, 7], [0, 2, 2, -9]])
I = np.arange(6).reshape(2, 3)
MODES = {
    "constant": [{}, {"constant_values": 7}, {"constant_values": ((1, 2), (3, 4))}],
    "edge": [{}], "linear_ramp": [{}, {"end_values": (5, -4)}], "wrap": [{}],
    "maximum": [{}, {"stat_length": 2}], "minimum": [{}, {"stat_length": ((1, 2), (3, 1))}],
    "mean": [{}, {"stat_length": 2}],
    "median": [{}, {"stat_length": 2}],
    "reflect": [{}, {"reflect_type": "odd"}], "symmetric": [{}, {"reflect_type": "odd"}],
}  # fmt: skip
CALLS = [
    *[
        call("pad", x, width, mode=mode, **options)
        for mode, rows in MODES.items()
        for options in rows
        for x, width in ((X, ((1, 2), (0, 9))), (I, 3 if mode != "linear_ramp" else 1))
    ],
    call("pad", X, (2, 1)), call("pad", X, ((0, 0), (1, 0))), call("pad", X[:0], ((1, 1), (0, 0))),
    call("pad", I > 2, 1),
    call(lambda xp, x: xp.pad(x, {0: 1, -1: (2, 0)}), X), call("pad", X * 1j, 1, mode="reflect"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_empty_mode_and_functions():
    assert jnp.pad(X, 1, mode="empty").shape == (5, 6)

    def fill(vector, width, axis, options):
        return vector.at[: width[0]].set(options["value"]).at[vector.shape[0] - width[1] :].set(-axis)

    padded = jnp.pad(jnp.ones((2, 2)), ((1, 0), (0, 1)), mode=fill, value=9)
    assert padded.tolist() == [[9, 9, -1], [1, 1, -1], [1, 1, -1]]


def test_types_and_slopes():
    assert jnp.pad(jnp.float16(1).reshape(1), 1, mode="mean").dtype == np.float16
    assert jnp.pad(jnp.asarray(2.0).reshape(1), 1, constant_values=3.5).weak_type
    slope = jax.jit(jax.grad(lambda x: jnp.pad(x, 2, mode="wrap").sum()))(jnp.ones(3))
    assert slope.tolist() == [2, 3, 2]


REFUSED = [
    (lambda: jnp.pad(X, -1), ValueError, "negative"),
    (lambda: jnp.pad(X, 1.5), TypeError, "integral"),
    (lambda: jnp.pad(X, 1, mode="other"), NotImplementedError, "other"),
    (lambda: jnp.pad(X, 1, mode="edge", constant_values=1), ValueError, "unsupported keyword"),
    (lambda: jnp.pad(X, ((1, 1), (1, 1), (1, 1))), ValueError, "pad_width"),
    (lambda: jnp.pad(X, 1, mode="mean", stat_length=0), ValueError, "stat_length"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
