"""Quaternions (x, y, z, w): products, inverses and conversions, against SciPy's rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import onax as jax
from onax.scipy import _quaternions as quaternions

Q = np.random.default_rng(0).normal(size=(5, 4))
P = np.random.default_rng(1).normal(size=(5, 4))


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def rotations(q):
    return Rotation.from_quat(np.asarray(q))


def same(q, rotation):
    """Whether quaternions, or their opposites, are those of a rotation."""
    np.testing.assert_allclose(rotations(q).as_matrix(), rotation.as_matrix(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1, rtol=1e-12)


def test_products_and_inverses():
    p, q = quaternions.normalize(P), quaternions.normalize(Q)
    same(quaternions.multiply(p, q), rotations(P) * rotations(Q))
    same(quaternions.conjugate(q), rotations(Q).inv())
    np.testing.assert_allclose(quaternions.multiply(q, quaternions.conjugate(q)), [[0, 0, 0, 1]] * 5, atol=1e-15)


def test_canonical_signs():
    rows = np.array([[1.0, 2, 3, -4], [-1, 2, 0, 0], [0, -1, 5, 0], [0, 0, -2, 0], [1, 0, 0, 2]])
    want = [[-1, -2, -3, 4], [1, -2, 0, 0], [0, 1, -5, 0], [0, 0, 2, 0], [1, 0, 0, 2]]
    np.testing.assert_array_equal(jax.jit(quaternions.canonicalize)(rows), want)


ANGLES = [0.0, 1e-9, 0.3, 3.0, np.pi]


@pytest.mark.parametrize("angle", ANGLES)
def test_rotation_vectors(angle):
    v = angle * np.array([0.6, 0.0, -0.8])
    q = quaternions.from_rotvec(v)
    same(q, Rotation.from_rotvec(v))
    np.testing.assert_allclose(np.abs(quaternions.to_rotvec(q)), np.abs(v), atol=1e-12)
    np.testing.assert_allclose(quaternions.to_rotvec(-q), quaternions.to_rotvec(q), atol=1e-6 if angle > 3.1 else 1e-12)


def test_matrices_with_any_largest_component():
    q = np.concatenate([np.eye(4) + 0.1, Q])
    matrices = rotations(q).as_matrix()
    np.testing.assert_allclose(quaternions.to_matrix(quaternions.normalize(q)), matrices, atol=1e-12)
    same(quaternions.from_matrix(matrices), rotations(q))


def test_axes():
    axes, intrinsic = quaternions.parse_axes("ZYX")
    assert list(axes) == [2, 1, 0] and intrinsic
    assert not quaternions.parse_axes("xy")[1]
    for text in ("", "xyzx", "xxy", "xY", "abc"):
        with pytest.raises(ValueError):
            quaternions.parse_axes(text)
