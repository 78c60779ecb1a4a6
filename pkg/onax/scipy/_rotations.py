"""Implementation of onax.scipy.spatial.transform: rotations as unit quaternions."""

from typing import NamedTuple

import numpy as np

from onax import numpy as jnp
from onax._ground import dtypes
from onax._native.array import Array
from onax.numpy._promotion import ensure_arraylikes, promote_dtypes_inexact
from onax.random import normal
from onax.scipy import _quaternions as quaternions


def _as_floats(x):
    return promote_dtypes_inexact(jnp.asarray(x))[0]


class Rotation(NamedTuple):
    """Rotations in three dimensions: unit quaternions.  A pytree.

    ``p * q`` is the rotation q, then p.  The functions `from_...` make rotations; they raise TypeError or ValueError
    for shapes that do not fit.

    Args:
      quat: quaternions of length 1, the scalar last, (..., 4).

    Examples:
      >>> turn = onax.scipy.spatial.transform.Rotation.from_rotvec(jnp.array([0.0, 0.0, 90.0]), degrees=True)
      >>> turn.apply(jnp.array([1.0, 0.0, 0.0])).round(4) + 0.0
      Array([0., 1., 0.], dtype=float32)
    """

    quat: Array

    @classmethod
    def from_quat(cls, quat):
        """Makes rotations from quaternions (..., 4), which it normalises."""
        return cls(quaternions.normalize(_as_floats(quat)))

    @classmethod
    def from_matrix(cls, matrix):
        """Makes rotations from matrices (..., 3, 3)."""
        return cls(quaternions.from_matrix(_check_trailing_shape("matrix", _as_floats(matrix), (3, 3))))

    @classmethod
    def from_rotvec(cls, rotvec, degrees=False):
        """Makes rotations from rotation vectors (axes times angles), (..., 3)."""
        rotvec = _check_trailing_shape("rotvec", _as_floats(rotvec), (3,))
        return cls(quaternions.from_rotvec(jnp.deg2rad(rotvec) if degrees else rotvec))

    @classmethod
    def from_mrp(cls, mrp):
        """Makes rotations from modified Rodrigues parameters, (..., 3): axes times tan(angle / 4)."""
        mrp = _check_trailing_shape("mrp", _as_floats(mrp), (3,))
        size = jnp.sum(mrp * mrp, axis=-1, keepdims=True) + 1
        return cls(jnp.concatenate([2 * mrp, 2 - size], axis=-1) / size)

    @classmethod
    def from_euler(cls, seq, angles, degrees=False):
        """Makes rotations from angles (..., len(seq)), or one angle, about axes: "xyz" are fixed, "XYZ" turn along.

        Raises ValueError for other strings and another number of angles.
        """
        axes, intrinsic = quaternions.parse_axes(seq)
        (angles,) = promote_dtypes_inexact(*ensure_arraylikes("Rotation.from_euler", angles))
        angles = jnp.atleast_1d(angles)
        if angles.shape[-1] != len(axes):
            raise ValueError(f"from_euler: {seq!r} takes {len(axes)} angles, got an array of shape {angles.shape}")
        return cls(quaternions.from_euler(axes, intrinsic, jnp.deg2rad(angles) if degrees else angles))

    @classmethod
    def identity(cls, num=None, dtype=float):
        """The identity rotation, or `num` of them (JAX returns only one)."""
        unit = jnp.array([0, 0, 0, 1], dtypes.canonicalize_dtype(dtype))
        return cls(unit if num is None else jnp.tile(unit, (num, 1)))

    @classmethod
    def random(cls, random_key, num=None):
        """A uniformly distributed rotation, or `num` of them (JAX has none)."""
        return cls(quaternions.normalize(normal(random_key, (4,) if num is None else (num, 4))))

    @classmethod
    def concatenate(cls, rotations):
        """Concatenates several rotations into one array."""
        return cls(jnp.concatenate([jnp.atleast_2d(r.quat) for r in rotations]))

    def as_quat(self, canonical=False, scalar_first=False):
        """The quaternions, (..., 4); canonical: those of q and -q whose scalar is positive."""
        quat = quaternions.canonicalize(self.quat) if canonical else self.quat
        return jnp.roll(quat, 1, axis=-1) if scalar_first else quat

    def as_matrix(self):
        """The matrices, (..., 3, 3)."""
        return quaternions.to_matrix(self.quat)

    def as_rotvec(self, degrees=False):
        """The axes times the angles, (..., 3)."""
        rotvec = quaternions.to_rotvec(self.quat)
        return jnp.rad2deg(rotvec) if degrees else rotvec

    def as_mrp(self):
        """The modified Rodrigues parameters, (..., 3)."""
        vector, scalar = self.quat[..., :3], self.quat[..., 3:]
        return jnp.where(scalar < 0, -1, 1).astype(vector.dtype) * vector / (1 + jnp.abs(scalar))

    def as_euler(self, seq, degrees=False):
        """The angles about three axes, (..., 3); ValueError for other sequences than `from_euler` takes, or shorter."""
        if len(seq) != 3:
            raise ValueError(f"Expected 3 axes, got {seq}.")
        angles = quaternions.to_euler(self.quat, *quaternions.parse_axes(seq))
        return jnp.rad2deg(angles) if degrees else angles

    def apply(self, vectors, inverse=False):
        """Rotates vectors (..., 3); with `inverse` by the inverse rotations."""
        (vectors,) = promote_dtypes_inexact(jnp.asarray(vectors))
        matrix = self.as_matrix()
        vectors = _check_trailing_shape("vectors", vectors, (3,))
        matrix = jnp.swapaxes(matrix, -1, -2) if inverse else matrix
        return jnp.sum(matrix * vectors[..., None, :], axis=-1)

    def inv(self):
        """The inverse rotations."""
        return Rotation(quaternions.conjugate(self.quat))

    def magnitude(self):
        """The angles, from 0 to pi."""
        vector = jnp.linalg.norm(self.quat[..., :3], axis=-1)
        return 2 * jnp.arctan2(vector, jnp.abs(self.quat[..., 3]))

    def mean(self, weights=None):
        """The rotation that is nearest to all in the sense of chords; ValueError for another number of weights."""
        count = len(self)
        weights = jnp.ones(count, self.quat.dtype) if weights is None else jnp.asarray(weights, self.quat.dtype)
        if weights.ndim != 1:
            raise ValueError(f"Expected `weights` to be 1 dimensional, got shape {weights.shape}.")
        if weights.shape[0] != count:
            raise ValueError(
                "Expected `weights` to have number of values equal to number of rotations, got "
                f"{weights.shape[0]} values and {count} rotations."
            )
        _, vectors = jnp.linalg.eigh((weights[:, None] * self.quat).T @ self.quat)
        return Rotation(vectors[:, -1])

    @property
    def single(self):
        """Whether this is a single rotation, not an array of them."""
        return self.quat.ndim == 1

    def __mul__(self, other):
        return Rotation(quaternions.normalize(quaternions.multiply(self.quat, other.quat)))

    def __getitem__(self, indexer):
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self.quat[indexer])

    def __len__(self):
        if self.single:
            raise TypeError("Single rotation has no len().")
        return self.quat.shape[0]

    def __bool__(self):
        return True


def _check_trailing_shape(name, x, last):
    if x.shape[-len(last) :] != last:
        raise ValueError(f"{name} must have a shape that ends with {last}, got {x.shape}")
    return x


class Slerp(NamedTuple):
    """Rotations between given ones, at constant angular velocity in each interval.  A pytree.

    `Slerp.init` makes it; it is called with one time or an array of them.  Beyond the first and last it goes on
    turning.

    Args:
      times: ascending times, (n,).
      timedelta: the lengths of the intervals.
      rotations: the rotations at the first n - 1 times.
      rotvecs: the rotation vectors of the intervals.

    Examples:
      >>> rotation = onax.scipy.spatial.transform.Rotation
      >>> turns = rotation.from_rotvec(jnp.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
      >>> between = onax.scipy.spatial.transform.Slerp.init(jnp.array([0.0, 1.0]), turns)
      >>> between(0.5).as_rotvec().round(4)
      Array([0. , 0. , 0.5], dtype=float32)
    """

    times: Array
    timedelta: Array
    rotations: Rotation
    rotvecs: Array

    @classmethod
    def init(cls, times, rotations):
        """Makes a Slerp from n times and n rotations; ValueError for fewer than two or for unequal numbers."""
        if not isinstance(rotations, Rotation):
            raise TypeError("`rotations` must be a `Rotation` instance.")
        if rotations.single or len(rotations) == 1:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        times = _as_floats(times)
        if times.ndim != 1:
            raise ValueError(f"Expected times to be specified in a 1 dimensional array, got {times.ndim} dimensions.")
        if times.shape[0] != len(rotations):
            raise ValueError(
                "Expected number of rotations to be equal to number of timestamps given, got "
                f"{len(rotations)} rotations and {times.shape[0]} timestamps."
            )
        first, second = rotations[:-1], rotations[1:]
        return cls(times, jnp.diff(times), first, (first.inv() * second).as_rotvec())

    def __call__(self, times):
        """The rotations at these times; ValueError for more than one axis."""
        at = _as_floats(times)
        if at.ndim > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        i = jnp.clip(jnp.searchsorted(self.times, at, side="right") - 1, 0, self.timedelta.size - 1)
        part = (at - self.times[i]) / self.timedelta[i]
        return self.rotations[i] * Rotation.from_rotvec(self.rotvecs[i] * part[..., None])
