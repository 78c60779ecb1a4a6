"""Values of users become ndarrays of the dtypes that arrays have, as a few lines of Python say."""

import warnings

import ml_dtypes
import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax._ground.config import enable_x64
from onax._native import context
from onax._native.array import (
    from_user,
    make_array,
)
from tolerance import assert_same_bits


@pytest.fixture
def x64():
    """64-bit dtypes on, in this thread."""
    previous = context.swap_thread_word(context.X64_BIT, context.X64_BIT)
    yield
    context.swap_thread_word(*previous)


@pytest.fixture
def x32():
    """64-bit dtypes off, in this thread."""
    previous = context.swap_thread_word(context.X64_BIT, 0)
    yield
    context.swap_thread_word(*previous)


# value, dtype and weak bit with 64-bit dtypes off, dtype with them on
FROM_USER = [
    (1, "int32", True, "int64"),
    (1.5, "float32", True, "float64"),
    (1j, "complex64", True, "complex128"),
    (True, "bool", False, "bool"),
    (np.float64(2.0), "float32", False, "float64"),
    (np.complex128(2.0), "complex64", False, "complex128"),
    (np.int8(2), "int8", False, "int8"),
    (np.bool_(True), "bool", False, "bool"),
    (np.arange(3), "int32", False, "int64"),
    (np.arange(3, dtype=np.uint64), "uint32", False, "uint64"),
    (np.arange(3, dtype=">f4"), "float32", False, "float32"),
    (np.ones(2, np.float16), "float16", False, "float16"),
    (np.ones(2, ml_dtypes.bfloat16), "bfloat16", False, "bfloat16"),
]


@pytest.mark.parametrize("value, dtype, weak, wide", FROM_USER)
def test_values_of_users_get_canonical_dtypes(value, dtype, weak, wide, x32):
    x = from_user(value)
    assert (x.dtype.name, x.weak_type, x.shape) == (dtype, weak, np.shape(value))
    assert np.array_equal(np.asarray(x), np.asarray(value).astype(x.dtype))
    previous = context.swap_thread_word(context.X64_BIT, context.X64_BIT)
    try:
        assert from_user(value).dtype.name == wide
    finally:
        context.swap_thread_word(*previous)


@pytest.mark.parametrize(
    "value, error",
    [
        ("a", TypeError), (None, TypeError), ([1, 2], TypeError), (np.array(["a"]), TypeError),
        (np.array([None]), TypeError), (np.longdouble(1), TypeError), (np.datetime64("2020"), TypeError),
        (2**31, OverflowError), (-(2**31) - 1, OverflowError), (2**200, OverflowError),
    ],
)  # fmt: skip
def test_refused_values(value, error, x32):
    with pytest.raises(error):
        from_user(value)


def test_wide_integers_with_x64(x64):
    assert from_user(2**40).item() == 2**40
    with pytest.raises(OverflowError, match="too large to convert to int64"):
        from_user(2**63)


# ---- the meaning, in Python


NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
SPECIAL = [0.0, -0.0, 1.5, -2.5, 127.0, np.inf, -np.inf, np.nan, 1e-42, 3.4e38, 1e300, 1e-300]
DTYPES = [
    *(
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    ),
    *("complex64", "complex128", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4),
]


def canonical(x, wide):
    """The ndarray that an array of a NumPy value holds."""
    x = np.asarray(x)
    x = x.astype(x.dtype.newbyteorder("="))
    with np.errstate(all="ignore"):
        return x if wide or x.dtype.name not in NARROW else x.astype(NARROW[x.dtype.name])


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numpy_values(dtype, order, wide):
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = np.array(SPECIAL if dtype.kind in "fcV" else [0, 1, 100, 7]).astype(dtype)
    if dtype.kind != "V":
        value = value.astype(dtype.newbyteorder(order))
    with enable_x64(wide), warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in (value, value[::2], value.reshape(2, -1).T, value[:0], value[1]):
            want = canonical(given, wide)
            assert_same_bits(np.asarray(from_user(given)), want, f"{given!r}")


def like(scalar, dtype, wide):
    """A Python scalar in an operation with an array whose dtype it does not change."""
    if isinstance(scalar, int) and not isinstance(scalar, bool):
        limit = 2 ** (63 if wide else 31)
        if not -limit <= scalar < limit:
            raise OverflowError
        if dtype.kind in "iu":  # wraps around, as in JAX
            return np.array(scalar, np.int64).astype(dtype)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(scalar).astype(np.float64 if wide and dtype.itemsize == 8 else np.float32).astype(dtype)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "float16", "float32", "bfloat16"])
def test_python_scalars_beside_arrays(dtype, wide):
    dtype = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    scalars = [0, 1, -1, 255, 256, 70000, -(2**31), 2**31 - 1, 2**31, 2**63, -(2**63) - 1]
    scalars += SPECIAL if dtype.kind not in "iu" else []
    one = make_array(np.ones((), dtype))
    with enable_x64(wide):
        for scalar in scalars:
            try:
                want = like(scalar, dtype, wide)
            except OverflowError:
                with pytest.raises(OverflowError):
                    one * scalar
                continue
            got = one * scalar
            assert got.dtype == dtype
            assert_same_bits(np.asarray(got), want, f"{scalar!r}")


@pytest.mark.parametrize(
    "call",
    [jnp.asarray, onax.typeof, onax.jit(jnp.sin), lambda x: jnp.add(1, x), lambda x: jnp.ones(2) * x, onax.lax.neg],
)
def test_masked_arrays_are_refused(call):
    with pytest.raises(ValueError, match="numpy masked arrays are not supported"):
        call(np.ma.array([1.0, 2.0], mask=[True, False]))
    assert call(np.ma.array([1.0, 2.0], mask=[True, False]).filled(0)) is not None
