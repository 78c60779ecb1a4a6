"""Functions of matrices against SciPy, in double precision."""

import numpy as np
import pytest
import scipy.linalg as theirs

import onax as jax
import onax.scipy.linalg as ours

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(4, 4)), RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3))
H = A @ A.T + np.eye(4)

SAME = {  # name -> arguments: both libraries give the same
    "expm": (A,),
    "sqrtm": (H,),
    "solve_sylvester": (A, B, C),
    "expm_frechet": (A, A.T),
}


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", sorted(SAME))
def test_same_as_scipy(name):
    got, want = (jax.tree.leaves(getattr(m, name)(*SAME[name])) for m in (ours, theirs))
    assert len(got) == len(want)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-10)


def test_a_function_of_the_eigenvalues_is_one_of_the_matrix():
    np.testing.assert_allclose(ours.funm(H, lambda x: x * x).real, H @ H, rtol=1e-9)


def test_sylvester_equations_of_stacks():
    stacks = np.stack([A, H]), B, np.stack([C, 2 * C])
    found = ours.solve_sylvester(*stacks)
    assert found.shape == (2, 4, 3)
    for x, a, c in zip(found, stacks[0], stacks[2]):
        np.testing.assert_allclose(x, theirs.solve_sylvester(a, B, c), rtol=1e-9, atol=1e-10)


def test_refusals():
    with pytest.raises(ValueError, match="expected square array_like input"):
        ours.funm(np.ones((2, 2, 2)), np.exp)
    with pytest.raises(ValueError, match="Incompatible shapes for Sylvester equation:"):
        ours.solve_sylvester(A, B, C.T)
    with pytest.raises(ValueError, match='valid methods are either "schur" or "eigen"'):
        ours.solve_sylvester(A, B, C, method="lu")
    with pytest.raises(ValueError, match="square matrix"):
        ours.expm(C)
    with pytest.raises(NotImplementedError, match="Blocked"):
        ours.sqrtm(A, blocksize=2)
