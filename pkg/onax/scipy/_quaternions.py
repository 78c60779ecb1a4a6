"""Formulas for quaternions with the scalar last, for onax.scipy.spatial.transform."""

import re

import numpy as np

from onax import numpy as jnp

_AXES = "xyz"


def normalize(quat):
    """The quaternion divided by its norm."""
    return quat / jnp.linalg.norm(quat, axis=-1, keepdims=True)


def multiply(p, q):
    """Hamilton's product p q: the rotation q, then p."""
    pv, qv, pw, qw = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    vector = pw * qv + qw * pv + jnp.cross(pv, qv)
    scalar = pw * qw - jnp.sum(pv * qv, axis=-1, keepdims=True)
    return jnp.concatenate([vector, scalar], axis=-1)


def conjugate(q):
    """The inverse of a unit quaternion."""
    return jnp.concatenate([-q[..., :3], q[..., 3:]], axis=-1)


def canonicalize(q):
    """Whichever of q and -q has a positive scalar; if the scalar is 0, a positive first nonzero component."""
    negative, decided = jnp.zeros(q.shape[:-1], bool), jnp.zeros(q.shape[:-1], bool)
    for i in (3, 0, 1, 2):
        negative = negative | (~decided & (q[..., i] < 0))
        decided = decided | (q[..., i] != 0)
    return jnp.where(negative[..., None], -q, q)


def _safe_norm(v):
    """The Euclidean norm, with derivative 0 at 0."""
    square = jnp.sum(v * v, axis=-1, keepdims=True)
    zero = square == 0
    return jnp.where(zero, 0, jnp.sqrt(jnp.where(zero, 1, square)))


def from_rotvec(v):
    """The quaternion of a rotation vector (axis times angle)."""
    angle = _safe_norm(v)
    small = angle < 1e-3
    half = jnp.where(small, 1, angle) / 2
    square = angle * angle
    scale = jnp.where(small, 0.5 - square / 48 + square * square / 3840, jnp.sin(half) / (2 * half))
    return jnp.concatenate([scale * v, jnp.cos(angle / 2)], axis=-1)


def to_rotvec(q):
    """The rotation vector (axis times angle), with an angle from 0 to pi."""
    q = canonicalize(q)
    v, w = q[..., :3], q[..., 3:]
    sine = _safe_norm(v)
    angle = 2 * jnp.arctan2(sine, w)
    small = angle < 1e-3
    square = angle * angle
    series = 2 + square / 12 + 7 * square * square / 2880
    return jnp.where(small, series, angle / jnp.where(small, 1, sine)) * v


def from_matrix(m):
    """The quaternion of a rotation matrix, by the largest of four equivalent forms (S. Shepperd, 1978)."""
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    forms = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts = {i: 1 - trace + 2 * m[..., i, i], j: m[..., j, i] + m[..., i, j], k: m[..., k, i] + m[..., i, k]}
        forms.append(jnp.stack([parts[0], parts[1], parts[2], m[..., k, j] - m[..., j, k]], axis=-1))
    last = (m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1], 1 + trace)
    forms.append(jnp.stack(last, axis=-1))
    sizes = jnp.stack([m[..., 0, 0], m[..., 1, 1], m[..., 2, 2], trace], axis=-1)
    choice = jnp.argmax(sizes, axis=-1)[..., None]
    out = forms[3]
    for i in range(3):
        out = jnp.where(choice == i, forms[i], out)
    return normalize(out)


def to_matrix(q):
    """The rotation matrix."""
    x, y, z, w = (q[..., i] for i in range(4))
    rows = (
        (x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w),
    )
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def parse_axes(seq):
    """Returns (axis indices, whether the axes are intrinsic).  Raises ValueError for an invalid string."""
    if not 0 < len(seq) < 4:
        raise ValueError(f"Expected axis specification to be a non-empty string of upto 3 characters, got {seq}")
    intrinsic = re.fullmatch("[XYZ]+", seq) is not None
    if not intrinsic and re.fullmatch("[xyz]+", seq) is None:
        raise ValueError(f"Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], got {seq}")
    if any(a == b for a, b in zip(seq, seq[1:])):
        raise ValueError(f"Expected consecutive axes to be different, got {seq}")
    return [_AXES.index(c) for c in seq.lower()], intrinsic


def from_euler(axes, intrinsic, angles):
    """The quaternion of successive rotations about axes; angles have shape (..., number of axes)."""
    out = None
    for n, axis in enumerate(axes):
        half = angles[..., n] / 2
        parts = [jnp.zeros_like(half)] * 3 + [jnp.cos(half)]
        parts[axis] = jnp.sin(half)
        turn = jnp.stack(parts, axis=-1)
        out = turn if out is None else multiply(out, turn) if intrinsic else multiply(turn, out)
    return out


def to_euler(q, axes, intrinsic):
    """Angles about three axes, after E. Bernardes and S. Viollet, "Quaternion to Euler angles conversion: A direct,
    general and computationally efficient method" (2022).  Where only a sum of two is determined, the last is 0."""
    i, j, k = axes[::-1] if intrinsic else axes
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    x, y, z, w = q[..., i], q[..., j], q[..., k] * sign, q[..., 3]
    a, b, c, d = (w, x, y, z) if symmetric else (w - y, x + z, y + w, z - x)
    middle = 2 * jnp.arctan2(jnp.hypot(c, d), jnp.hypot(a, b))
    half_sum, half_difference = jnp.arctan2(b, a), jnp.arctan2(d, c)
    eps = 1e-7
    low, high = jnp.abs(middle) <= eps, jnp.abs(middle - np.pi) <= eps
    first, third = half_sum - half_difference, half_sum + half_difference
    if not symmetric:
        middle = middle - np.pi / 2
    first, third = (third, first) if intrinsic else (first, third)
    if not symmetric:
        first, third = (first * sign, third) if intrinsic else (first, third * sign)
    alone = jnp.where(low, 2 * half_sum, 2 * half_difference * (1 if intrinsic else -1))
    if not symmetric and intrinsic:
        alone = alone * sign
    locked = low | high
    first, third = jnp.where(locked, alone, first), jnp.where(locked, 0, third)
    angles = jnp.stack([first, middle, third], axis=-1)
    return jnp.where(angles < -np.pi, angles + 2 * np.pi, jnp.where(angles > np.pi, angles - 2 * np.pi, angles))
