"""Dynamic slices in exported files are found again: they load, run under jit and are batched and differentiated."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax.export import export

X = np.arange(1.0, 25.0, dtype=np.float32).reshape(4, 6)
Q = np.stack([X[:, :3] + np.eye(4, 3, dtype=np.float32) * 9, X[:, 1:4] - 3 * np.eye(4, 3, dtype=np.float32)])
CASES = {
    "slice": (lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 6)), X, np.int32(1)),
    "slice of two axes": (lambda x, i: lax.dynamic_slice(x, (i, i), (2, 3)), X, np.int32(2)),
    "update": (lambda x, i: lax.dynamic_update_slice(x, 2 * x[:, :3], (0, i)), X, np.int32(2)),
    "update of two axes": (lambda x, i: lax.dynamic_update_slice(x, 2 * x[:2, :5], (i, i)), X, np.int32(1)),
    "clamped": (lambda x, i: lax.dynamic_slice(x, (i, i), (2, 3)), X, np.int32(99)),
    "loop": (
        lambda x, n: lax.fori_loop(
            0, 3, lambda i, c: lax.dynamic_update_slice(c, lax.dynamic_slice(c, (0, i), (4, 2)) + n, (0, i + 1)), x
        ),
        X,
        np.float32(1),
    ),
    "qr": (lambda x, s: onax.vmap(jnp.linalg.qr)(s * x)[1], Q, np.float32(2)),
    "eigenvalues": (lambda x, s: jnp.linalg.eigvals(s * x[1:4, :3]), X, np.float32(2)),
}


@pytest.mark.parametrize("name", CASES)
def test_exported_slices_run_while_a_program_is_traced(name):
    function, *arguments = CASES[name]
    expected = np.asarray(function(*map(jnp.asarray, arguments)))
    model = onax.onnx.load(export(function)(*arguments).serialize())
    assert model.static_inputs == ()
    call = lambda *xs: model(model.params, *xs)
    for run in (call, onax.jit(call)):
        np.testing.assert_allclose(np.asarray(run(*arguments)), expected, rtol=2e-5, atol=2e-5)


def test_derivatives_and_batches():
    function, x, i = CASES["slice of two axes"]
    model = onax.onnx.load(export(function)(x, i).serialize())
    call = lambda x, i: model(model.params, x, i)
    gradient = onax.jit(onax.grad(lambda x: jnp.sum(call(x, i) ** 2)))(x)
    want = np.zeros_like(X)
    want[2:4, 2:5] = 2 * X[2:4, 2:5]
    np.testing.assert_allclose(np.asarray(gradient), want)
    places = np.array([0, 1, 2], np.int32)
    batched = np.asarray(onax.vmap(lambda i: call(x, i))(places))
    np.testing.assert_array_equal(batched, [X[k : k + 2, k : k + 3] for k in places])
