"""Rotations against SciPy: forms, angles, means, paths between them; derivatives."""

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats
from scipy.spatial.transform import Rotation as Theirs

import onax as jax
from onax.scipy.spatial.transform import Rotation, Slerp

RNG = np.random.default_rng(0)
QUATS = RNG.normal(size=(6, 4))


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def close(got, want, atol=1e-12):
    np.testing.assert_allclose(got, want, 1e-9, atol)


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zyx", "zxz", "YXY", "ZYX"])
def test_euler_angles(seq):
    angles = RNG.uniform(-1.4, 1.4, (5, 3))
    close(Rotation.from_euler(seq, angles).as_matrix(), Theirs.from_euler(seq, angles).as_matrix())
    close(Rotation.from_quat(QUATS).as_euler(seq), Theirs.from_quat(QUATS).as_euler(seq))


def test_locked_angles_give_the_rotation_back():
    for seq, middle in (("xyz", np.pi / 2), ("ZYX", -np.pi / 2), ("zxz", 0.0), ("XYX", np.pi)):
        rotation = Rotation.from_euler(seq, np.array([0.3, middle, 0.5]))
        angles = rotation.as_euler(seq)
        assert angles[2] == 0
        close(Rotation.from_euler(seq, angles).as_matrix(), rotation.as_matrix(), 1e-7)


def test_forms_of_rotations():
    mine, theirs = Rotation.from_quat(QUATS), Theirs.from_quat(QUATS)
    for name in ("as_matrix", "as_rotvec", "as_mrp", "magnitude"):
        close(getattr(mine, name)(), getattr(theirs, name)())
    close(Rotation.from_matrix(mine.as_matrix()).as_quat(canonical=True), theirs.as_quat(canonical=True))
    close(Rotation.from_mrp(QUATS[:, :3]).as_matrix(), Theirs.from_mrp(QUATS[:, :3]).as_matrix())
    close((mine * mine[1]).as_matrix(), (theirs * theirs[1]).as_matrix())
    close(mine.inv().apply(QUATS[:, :3]), theirs.inv().apply(QUATS[:, :3]))
    close(mine.mean().as_matrix(), theirs.mean().as_matrix(), 1e-9)
    assert len(Rotation.identity(3)) == 3 and bool(Rotation.identity())
    drawn = Rotation.random(jax.random.key(0), 4).quat
    close(np.linalg.norm(drawn, axis=-1), np.ones(4))


def test_rotations_are_differentiable_at_none():
    got = jax.jacobian(lambda v: Rotation.from_rotvec(v).apply(np.array([1.0, 2, 3])))(np.zeros(3))
    close(got, [[0, 3, -2], [-3, 0, 1], [2, -1, 0]])


def test_slerp():
    from_scipy = scipy.spatial.transform.Slerp(np.arange(6.0), Theirs.from_quat(QUATS))
    times = np.array([0.0, 0.4, 2.0, 3.7, 5.0])
    got = jax.jit(Slerp.init(np.arange(6.0), Rotation.from_quat(QUATS)))(times)
    close(got.as_matrix(), from_scipy(times).as_matrix())


def test_arrays_of_rotations():
    several = Rotation.from_quat(QUATS)
    together = Rotation.concatenate([several, several[:2]])
    assert len(together) == 8 and not several.single and several[0].single
    close(together.as_quat()[6], several.as_quat()[0])
    close(several.as_quat(scalar_first=True), np.roll(several.as_quat(), 1, -1))
    close(jax.jit(lambda r: r.inv() * r)(several).magnitude(), np.zeros(6), 1e-7)
    close(jax.vmap(lambda q: Rotation.from_quat(q).as_matrix())(QUATS), several.as_matrix())
    close(Rotation.from_rotvec(np.array([0, 0, 90.0]), degrees=True).apply(np.array([1.0, 0, 0])), [0, 1, 0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Rotation.from_euler("xyY", np.zeros(3)), "sequence|axes|seq"),
        (lambda: Rotation.from_quat(QUATS).as_euler("xy"), "3|sequence|axes"),
        (lambda: Rotation.from_quat(QUATS).mean(np.ones(3)), "weights"),
        (lambda: Slerp.init(np.arange(1.0), Rotation.from_quat(QUATS[:1])), "least 2|two|2 rotations"),
        (lambda: Slerp.init(np.arange(3.0), Rotation.from_quat(QUATS)), "number|times"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
