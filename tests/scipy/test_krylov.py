"""Iterative solvers: preconditioners, trees, derivatives, stacks, failures."""

import numpy as np
import pytest

import onax as jax
import onax.experimental.sparse
from onax.scipy.sparse import linalg

RNG = np.random.default_rng(0)
QUATS = RNG.normal(size=(6, 4))


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(got, want, 1e-9, atol)


POSITIVE = QUATS.T @ QUATS + np.eye(4)
GENERAL = RNG.normal(size=(4, 4)) + 4 * np.eye(4)


@pytest.mark.parametrize("solver", [linalg.cg, linalg.gmres, linalg.bicgstab])
def test_solvers(solver):
    a = POSITIVE if solver is linalg.cg else GENERAL
    b = QUATS[0]
    want = np.linalg.solve(a, b)
    for m in (None, np.diag(1 / np.diag(a)), lambda x: x / 4):
        close(solver(a, b, tol=1e-12, M=m)[0], want, 1e-9)
    tree, _ = solver(lambda t: {"x": a @ t["x"], "y": 2 * t["y"]}, {"x": b, "y": np.ones(2)}, tol=1e-12)
    close(tree["x"], want, 1e-9)
    close(tree["y"], 0.5 * np.ones(2), 1e-9)
    solve = lambda b: solver(a, b, tol=1e-12)[0]
    close(jax.jit(jax.jacrev(solve))(b), np.linalg.inv(a), 1e-9)
    close(jax.vmap(solve)(QUATS), np.linalg.solve(a, QUATS.T).T, 1e-9)


def test_complex_system():
    a = GENERAL + 1j * POSITIVE
    close(linalg.gmres(a, QUATS[0] + 1j, tol=1e-12, restart=2, maxiter=200)[0], np.linalg.solve(a, QUATS[0] + 1j), 1e-9)


def test_gmres_tells_of_failure():
    x, info = linalg.gmres(np.zeros((3, 3)), np.ones(3))
    assert info == -1 and not np.isfinite(x).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: linalg.cg(np.ones((2, 3)), np.ones(3)), ValueError, "square"),
        (lambda: linalg.cg("matrix", np.ones(3)), TypeError, "function or ndarray|callable|matrix"),
        (lambda: linalg.gmres(POSITIVE, np.ones(4), solve_method="other"), ValueError, "other|solve_method"),
        (lambda: linalg.cg(POSITIVE, np.ones(4), np.ones(3)), (TypeError, ValueError), "x0|shape|structure"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


class Doubled:
    """A linear operator that has only `@`."""

    def __init__(self, a):
        self.a, self.shape = a, a.shape

    def __matmul__(self, x):
        return 2 * (self.a @ x)


@pytest.mark.parametrize("solver", [linalg.cg, linalg.gmres, linalg.bicgstab])
def test_operators(solver):
    b = QUATS[0]
    close(solver(Doubled(POSITIVE), b, tol=1e-12)[0], np.linalg.solve(2 * POSITIVE, b), 1e-9)
    close(solver(jax.experimental.sparse.BCOO.fromdense(POSITIVE), b, tol=1e-12)[0], np.linalg.solve(POSITIVE, b), 1e-9)
    with pytest.raises(ValueError, match="square"):
        solver(Doubled(np.ones((2, 3))), b)


@pytest.mark.parametrize("solver", [linalg.cg, linalg.gmres, linalg.bicgstab])
def test_strict_promotion_and_weak_types(solver):
    a, b = POSITIVE + 0j, QUATS[0] + 1j * QUATS[1]
    with jax.numpy_dtype_promotion("strict"):
        x = solver(a, b, tol=1e-12, M=np.eye(4, dtype=complex))[0]
    close(x, np.linalg.solve(a, b), 1e-9)
    assert x.dtype == np.complex128 and not x.weak_type
    assert solver(lambda x: x * 2, 1.0)[0].weak_type == (solver is not linalg.cg)


@pytest.mark.parametrize("solver", [linalg.cg, linalg.gmres, linalg.bicgstab])
def test_weak_types(solver):
    weak = lambda b: [x.weak_type for x in jax.tree.leaves(solver(lambda x: x, b)[0])]
    assert weak(1.0) == [solver is not linalg.cg]
    assert weak({"a": 1.0, "b": np.ones(2)}) == [False, False]
