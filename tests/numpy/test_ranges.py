"""Ranges, grids and matrices of a few diagonals, against NumPy; their types and devices."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp
from virtual_devices import eight_devices

X = np.arange(6.0).reshape(2, 3)
COLUMN, ROW = np.array([[1.0], [2.0]]), np.array([4.0, 8.0, 16.0])
CALLS = [
    call("arange", 5), call("arange", 2, 9, 3), call("arange", 9, 2, -2), call("arange", 0.0, 1.0, 0.25),
    call("arange", 5, 2), call("arange", 3, dtype=np.float32), call("arange", 1, 2.5),
    call("linspace", 0, 1), call("linspace", 0, 1, 5, endpoint=False), call("linspace", 0, 1, 1),
    call("linspace", 0, 1, 0),
    call("linspace", COLUMN, ROW, 4, axis=-1), call("linspace", 0, 10, 4, dtype=np.int32), call("linspace", 0, 1j, 3),
    call("linspace", 0, 3, 4, retstep=True),
    call("logspace", 0, 3, 4), call("logspace", 0, 3, 4, base=2, endpoint=False),
    call("logspace", COLUMN, ROW, 3, axis=1), call("logspace", ROW, ROW, 3, base=ROW + 2),
    call("geomspace", 1, 1000, 4), call("geomspace", -1, -8, 4), call("geomspace", COLUMN, ROW, 3),
    call("geomspace", ROW, COLUMN[None], 4, axis=-1), call("geomspace", 1, 16, 4, endpoint=False),
    call(lambda xp, k: xp.tri(3, 4, k, np.float32), np.int32(1)), call("arange", 0, 3),
    call("eye", 3), call("eye", 3, 5, 1, np.int32), call("eye", 4, 2, -2), call("identity", 3), call("eye", 0),
    call("tri", 3, dtype=np.int32), call("tri", 2, 4, 1, np.float32), call("tri", 4, 2, -1, np.bool_),
    call("meshgrid", ROW, np.arange(2)), call("meshgrid", ROW, np.arange(2), indexing="ij", sparse=True),
    call("indices", (2, 3)), call("indices", (2, 3), sparse=True), call("indices", (2,), np.float32),
    call(lambda xp: xp.fromfunction(lambda i, j: i * 10 + j, (2, 3))),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


REFUSED = [
    (lambda: jnp.arange(0, 1, 0), ZeroDivisionError, "zero"),
    (lambda: jnp.eye([2]), TypeError, r"integer type, got \(\[2\],\). argument of 'N' jnp.eye\(\)."),
    (lambda: jnp.eye(2, 2.0), TypeError, r"integer type, got \(2.0,\). argument 'M' of jnp.eye\(\)."),
    (lambda: jnp.eye(2, k=jnp.array([1])), ValueError, r"k must be a scalar integer; got \[1\]"),
    (lambda: jnp.linspace(0, 1, -1), ValueError, "non-negative"),
    (lambda: jnp.meshgrid(X), ValueError, "1"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


WEAK = [
    (lambda: jnp.arange(3), "int32", False),
    (lambda: jnp.linspace(0, 1, 3), "float32", False),
]


@pytest.mark.parametrize(("make", "dtype", "weak"), WEAK)
def test_weak_types(make, dtype, weak):
    assert (str(make().dtype), make().weak_type) == (dtype, weak)


def test_devices():
    with eight_devices():
        third = jax.devices()[2]
        for make in (
            lambda **place: jnp.arange(3, **place),
            lambda **place: jnp.linspace(0, 1, 3, **place),
            lambda **place: jnp.eye(3, **place),
        ):
            x = make(device=third)
            assert x.device == third and x.committed and not make().committed


FAR = [-(2**100), -(2**40), -(2**31), 2**31 - 1, 2**31, 2**32, 2**63, 2**100]


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("k", FAR)
def test_diagonals_far_outside(k, x64):
    """`eye` has no ones then; the triangles refuse an offset that the default integer does not hold (as in JAX)."""
    x, far = np.arange(12, dtype=np.float32).reshape(3, 4), 2**70 if k > 0 else -(2**70)
    with jax.enable_x64(x64):
        np.testing.assert_array_equal(jnp.eye(3, 4, k), np.zeros((3, 4)))
        limit = 2 ** (63 if x64 else 31)
        for ours, theirs, first in ((jnp.tril, np.tril, k), (jnp.triu, np.triu, k - 1), (None, None, k)):
            run = (lambda: jnp.tri(3, 4, k)) if ours is None else lambda ours=ours: ours(x, k)
            want = np.tri(3, 4, 9 if far > 0 else -9) if ours is None else theirs(x, 9 if far > 0 else -9)
            if -limit <= first < limit - 3:  # the index of the last row is added to the offset
                np.testing.assert_array_equal(run(), want)
            elif not -limit <= first < limit:
                with pytest.raises(OverflowError, match=f"Python int {first} too large to convert to int"):
                    run()


def test_ranges_of_ints_beyond_64_bits_are_refused():
    with pytest.raises(OverflowError, match="too large to convert to C long"):
        jnp.arange(2**100, 2**100 + 3)
