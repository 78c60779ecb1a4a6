"""Dtypes under JAX's names: canonical forms, common dtypes, kinds, sizes (expected results are JAX's)."""

import numpy as np
import pytest

import onax as jax
from onax import dtypes
from onax import numpy as jnp
from onax._ground import config
from onax._prims.convert import convert

CANONICAL = [  # dtype, without x64, with it
    ("float64", "float32", "float64"),
    ("int64", "int32", "int64"),
    ("uint64", "uint32", "uint64"),
    ("complex128", "complex64", "complex128"),
    (int, "int32", "int64"),
    (float, "float32", "float64"),
    (complex, "complex64", "complex128"),
    (bool, "bool", "bool"),
    ("bfloat16", "bfloat16", "bfloat16"),
    ("int4", "int4", "int4"),
]


@pytest.mark.parametrize("dtype, narrow, wide", CANONICAL)
def test_canonical_dtypes(dtype, narrow, wide):
    dtype = jnp.dtype(dtype) if isinstance(dtype, str) else dtype
    for x64, wanted in ((False, narrow), (True, wide)):
        with jax.enable_x64(x64):
            assert dtypes.canonicalize_dtype(dtype) == jnp.dtype(wanted)


def test_extended_dtypes_are_asked_for():
    key = jax.random.key(0).dtype
    assert dtypes.canonicalize_dtype(key, allow_extended_dtype=True) == key
    assert dtypes.issubdtype(key, dtypes.prng_key) and dtypes.issubdtype(key, dtypes.extended)
    with pytest.raises(ValueError):
        dtypes.canonicalize_dtype(key)
    with pytest.raises(ValueError, match="extended dtype prng_key"):
        dtypes.canonicalize_dtype(dtypes.prng_key)
    with pytest.raises(TypeError, match="canonicalize_dtype"):
        dtypes.canonicalize_dtype(np.zeros(2))


@pytest.mark.parametrize(
    "args, dtype, weak",
    [
        ((1, 2.0), "float32", True),
        ((np.int8(1), 2), "int8", False),
        ((np.float32, 1j), "complex64", False),
        (("bfloat16", "float16"), "float32", False),
        ((None, np.int8(1)), "float32", False),
        ((jnp.asarray(1), 2.0), "float32", True),
        ((True,), "bool", False),
    ],
)
def test_result_types(args, dtype, weak):
    assert dtypes.result_type(*args) == np.dtype(dtype)
    assert dtypes.result_type(*args, return_weak_type_flag=True) == (np.dtype(dtype), weak)


def test_no_result_type():
    with pytest.raises(ValueError):
        dtypes.result_type()
    with pytest.raises(TypeError):
        dtypes.result_type("text of no dtype")
    with pytest.raises(ValueError, match=r"^dtype=key<fry> is not a valid dtype for JAX type promotion"):
        dtypes.result_type(jax.random.key(0), 1.0)


@pytest.mark.parametrize(
    "x, kind", [(np.bool_(1), bool), ("uint8", int), (jnp.bfloat16, float), (jnp.ones(2), float), (1j, complex)]
)
def test_scalar_types(x, kind):
    assert dtypes.scalar_type_of(x) is kind


@pytest.mark.parametrize("dtype, bits", [("int4", 4), ("uint2", 2), ("bool", 8), ("bfloat16", 16), ("complex64", 64)])
def test_bits_of_an_element(dtype, bits):
    assert dtypes.itemsize_bits(jnp.dtype(dtype)) == bits


def test_elements_of_no_dtype():
    with pytest.raises(ValueError, match="None"):
        dtypes.itemsize_bits(None)
    with pytest.raises(TypeError, match="array"):
        dtypes.itemsize_bits(np.zeros(2))


@pytest.mark.parametrize(
    "mode, args, wanted",
    [  # as JAX 0.10.2 answers without x64
        ("allow", ("int64",), "int64"),
        ("allow", (np.int64, np.int32), "int64"),
        ("allow", (np.dtype("int64"), np.float32), "float32"),
        ("allow", (int,), "int32"),
        ("allow", (np.int64(3),), "int32"),
        ("allow", (np.ones(2),), "float32"),
        ("error", (int,), "int32"),
        ("error", (np.ones(2),), "float32"),
        ("error", (np.int16, "float16"), "float16"),
    ],
)
def test_explicit_x64_dtypes_decide_about_named_dtypes(mode, args, wanted):
    with config.explicit_x64_dtypes(mode):
        assert dtypes.result_type(*args) == jnp.result_type(*args) == np.dtype(wanted)
        if len(args) == 1:
            assert jax.lax.dtype(*args) == np.dtype(wanted)


@pytest.mark.parametrize("named", ["int64", np.float64, np.dtype("complex128")])
def test_named_dtypes_of_64_bits_warn_or_are_refused(named):
    for asked in (jnp.result_type, dtypes.result_type, jax.lax.dtype):
        with pytest.warns(UserWarning, match="Explicitly requested dtype .* requested in dtype is not available"):
            assert asked(named) == dtypes.canonicalize_dtype(named)
        with config.explicit_x64_dtypes("error"), pytest.raises(ValueError, match="Explicitly requested dtype"):
            asked(named)
        with jax.enable_x64(True):
            assert asked(named) == np.dtype(named)


@pytest.mark.parametrize(
    "dtype, wanted",
    [
        ("float8_e5m2", "float32"),
        ("bfloat16", "float32"),
        ("float16", "float32"),
        ("int8", "int32"),
        ("uint8", "uint32"),
        ("complex64", "complex64"),
    ],
)
def test_weak_results_have_the_default_dtype_of_their_kind(dtype, wanted):
    weak = convert(0, jnp.dtype(dtype), True)
    assert weak.weak_type
    assert jnp.result_type(weak) == dtypes.result_type(weak) == np.dtype(wanted)
    assert dtypes.result_type(weak, weak, return_weak_type_flag=True) == (np.dtype(wanted), True)
    assert (weak + weak).dtype == weak.dtype


def test_bools_are_never_weak():
    assert dtypes.result_type(convert(0, np.dtype(bool), True), return_weak_type_flag=True) == (np.dtype(bool), False)
