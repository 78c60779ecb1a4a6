"""custom_linear_solve on tapes."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from tape.harness import run_tape

A = np.eye(4, dtype=np.float32) * 3 + np.arange(16, dtype=np.float32).reshape(4, 4) / 16
B = np.arange(4, dtype=np.float32)


def test_the_solver_becomes_part_of_the_tape():
    def solve(a, b):
        return lax.custom_linear_solve(lambda x: a @ x, b, lambda _, y: y / 3 + a[0, 1] * y)

    (got,) = run_tape(solve, A, B)
    np.testing.assert_allclose(np.asarray(got._value), B / 3 + A[0, 1] * B, rtol=1e-6)


def test_solve_and_its_gradient():
    (got,) = run_tape(lambda a, b: jnp.linalg.solve(a, b), A, B, python=None)
    np.testing.assert_allclose(np.asarray(got._value), np.linalg.solve(A, B), rtol=1e-5)
    gradient = lambda a, b: jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum(), (0, 1))(a, b)
    for x, y in zip(run_tape(gradient, A, B, python=None), gradient(A, B)):
        np.testing.assert_allclose(np.asarray(x._value), np.asarray(y._value), rtol=1e-4, atol=1e-6)
