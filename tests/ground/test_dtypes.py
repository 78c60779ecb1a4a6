"""The promotion lattice against its definition and JAX's recorded table; classification; extended dtypes."""

import enum
import itertools

import ml_dtypes
import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax._ground import dtypes
from onax._ground.config import config, enable_x64, numpy_dtype_promotion
from onax._native.avals import ShapedArray

ORDINARY = [
    np.dtype(n)
    for n in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
    )
] + [np.dtype(ml_dtypes.bfloat16)]

# What JAX 0.10.2 gives with 64-bit dtypes on, for pairs in which NumPy and JAX may part.
JAX_PAIRS = [
    ("int32", "float32", "float32"),
    ("int64", "float16", "float16"),
    ("uint64", "int8", "float64"),
    ("uint64", "float32", "float32"),
    ("bfloat16", "float16", "float32"),
    ("bfloat16", "int32", "bfloat16"),
    ("float64", "complex64", "complex128"),
    ("float32", "complex64", "complex64"),
    ("uint32", "int32", "int64"),
    ("uint8", "int8", "int16"),
    ("bool", "uint16", "uint16"),
]


def named(name):
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.mark.parametrize("a, b, wanted", JAX_PAIRS)
def test_promotion_with_x64(a, b, wanted):
    with enable_x64(True):
        assert dtypes.promote_types(named(a), named(b)) == dtypes.promote_types(named(b), named(a)) == named(wanted)


def test_promotion_is_commutative_associative_and_idempotent():
    with enable_x64(True):
        for a, b, c in itertools.product(ORDINARY, repeat=3):
            ab = dtypes.promote_types(a, b)
            assert ab == dtypes.promote_types(b, a)
            # associativity fails only through float* between 64-bit integers and the small floats
            if not {"uint64"} & {a.name, b.name, c.name}:
                assert dtypes.promote_types(ab, c) == dtypes.promote_types(a, dtypes.promote_types(b, c))
        for a in ORDINARY:
            assert dtypes.promote_types(a, a) == a


@pytest.mark.parametrize("a, b, wanted", [("uint32", "int32", "int32"), ("int64", "int32", "int64")])
def test_promotion_without_x64_makes_no_64_bit_integer(a, b, wanted):
    assert dtypes.promote_types(named(a), named(b)) == named(wanted)


@pytest.mark.parametrize(
    "args, wanted, weak",
    [
        ((1,), "int32", True),
        ((True,), "bool", False),
        ((1, 2.0), "float32", True),
        ((1, 2j), "complex64", True),
        ((1, np.int8(1)), "int8", False),
        ((1.0, np.int8(1)), "float32", True),
        ((1.0, np.float16(1)), "float16", False),
        ((True, 1), "int32", True),
        ((np.float64(1),), "float32", False),
        ((int, np.int8), "int8", False),
        ((ShapedArray((), np.dtype("float32"), weak_type=True), np.float16(0)), "float16", False),
        ((ml_dtypes.float8_e5m2, 1.0), "float8_e5m2", False),
    ],
)
def test_result_type(args, wanted, weak):
    assert dtypes.result_type(*args, return_weak_type_flag=True) == (named(wanted), weak)


@pytest.mark.parametrize("a, b", [("float8_e4m3fn", "float32"), ("int4", "int32"), ("float8_e5m2", "float8_e4m3fn")])
def test_small_dtypes_do_not_promote(a, b):
    with pytest.raises(dtypes.TypePromotionError, match="do not support implicit promotion"):
        dtypes.promote_types(named(a), named(b))


@pytest.mark.parametrize("args", [(np.int8(1), np.int32(1)), (1.5, np.int32(1)), (True, 1), (np.float32(1), 1j)])
def test_strict_promotion_refuses(args):
    with numpy_dtype_promotion("strict"):
        with pytest.raises(dtypes.TypePromotionError, match="jax_numpy_dtype_promotion=strict"):
            dtypes.result_type(*args)


@pytest.mark.parametrize(
    "args, wanted", [((1, np.float32(1)), "float32"), ((1, 2.0), "float32"), ((2, np.int8(1)), "int8")]
)
def test_strict_promotion_admits_weak_types(args, wanted):
    with numpy_dtype_promotion("strict"):
        assert dtypes.result_type(*args) == named(wanted)


@pytest.mark.parametrize("bad, error", [((), ValueError), ((object(),), TypeError), ((np.array("a"),), TypeError)])
def test_result_type_refuses(bad, error):
    with pytest.raises(error):
        dtypes.result_type(*bad)


@pytest.mark.parametrize(
    "wide, narrow", [("int64", "int32"), ("uint64", "uint32"), ("float64", "float32"), ("complex128", "complex64")]
)
def test_canonical(wide, narrow):
    assert dtypes.canonicalize_dtype(wide) == named(narrow)
    with enable_x64(True):
        assert dtypes.canonicalize_dtype(wide) == named(wide)


def test_explicit_64_bit_dtype_warns():
    with pytest.warns(UserWarning, match="requested in zeros is not available, and will be truncated to dtype float32"):
        assert dtypes.check_user_dtype("float64", "zeros") == np.float32
    assert dtypes.check_user_dtype(float, "zeros") == np.float32
    with pytest.raises(TypeError, match="got dtype S3 in zeros"):
        dtypes.check_user_dtype("S3", "zeros")


class _Impl:
    tag = "fry"
    key_shape = (2,)


def test_key_dtype():
    impl = _Impl()
    key = dtypes.KeyType(impl)
    assert (key.name, repr(key), key.itemsize, key.storage) == ("key<fry>", "key<fry>", 8, np.dtype("V8"))
    assert key == dtypes.KeyType(impl) and hash(key) == hash(dtypes.KeyType(impl)) and key != dtypes.KeyType(_Impl())
    for kind, wanted in [(dtypes.prng_key, True), (dtypes.extended, True), (np.generic, True), (np.integer, False)]:
        assert dtypes.issubdtype(key, kind) is wanted
    assert not dtypes.issubdtype(np.float32, dtypes.prng_key)
    assert dtypes.canonicalize_dtype(key, allow_extended_dtype=True) is key
    with pytest.raises(ValueError):
        dtypes.canonicalize_dtype(key)
    with pytest.raises(ValueError, match="is not a valid dtype for JAX type promotion"):
        dtypes.result_type(ShapedArray((), key), np.int32(1))


@pytest.mark.parametrize(
    "dtype, kind, wanted",
    [
        ("bfloat16", np.floating, True),
        ("float8_e5m2", np.inexact, True),
        ("int4", np.signedinteger, True),
        ("uint2", np.unsignedinteger, True),
        ("bool", np.number, False),
        ("int32", np.int32, True),
        ("int32", np.int64, False),
        ("complex64", np.complexfloating, True),
    ],
)
def test_issubdtype(dtype, kind, wanted):
    assert dtypes.issubdtype(named(dtype), kind) is wanted


@pytest.mark.parametrize(
    "dtype, kind, wanted",
    [
        ("bfloat16", "real floating", True),
        ("int4", "integral", True),
        ("int8", ("bool", "signed integer"), True),
        ("uint8", "signed integer", False),
        ("bool", "numeric", False),
        ("int8", np.int8, True),
    ],
)
def test_isdtype(dtype, kind, wanted):
    assert dtypes.isdtype(named(dtype), kind) is wanted
    with pytest.raises(ValueError, match="Unrecognized kind"):
        dtypes.isdtype(named(dtype), "fruit")


def test_short_names_and_widths():
    short = {"float32": "f32", "bfloat16": "bf16", "bool": "bool", "uint8": "u8", "complex64": "c64", "int4": "i4"}
    for name, wanted in short.items():
        assert dtypes.short_name(named(name)) == wanted
    assert [dtypes.itemsize_bits(named(n)) for n in ("int4", "float8_e5m2", "bool", "float64")] == [4, 8, 8, 64]
    assert dtypes.finfo("bfloat16").bits == 16 and dtypes.iinfo(named("int4")).max == 7
    assert not config.jax_enable_x64


def test_tangents():
    assert dtypes.primal_tangent_dtype(np.dtype("float32")) == np.float32
    assert dtypes.primal_tangent_dtype(np.dtype("int32")) == dtypes.float0


# JAX 0.10.2: result_type of each pair, rows and columns in the order of the first column; * marks weak results.
TABLE_WITH_X64 = """
b1    b1    i8    i16   i32   i64   u8    u16   u32   u64   bf    f16   f32   f64   c64   c128  i64*  f64*  c128*
i8    i8    i8    i16   i32   i64   i16   i32   i64   f64*  bf    f16   f32   f64   c64   c128  i8    f64*  c128*
i16   i16   i16   i16   i32   i64   i16   i32   i64   f64*  bf    f16   f32   f64   c64   c128  i16   f64*  c128*
i32   i32   i32   i32   i32   i64   i32   i32   i64   f64*  bf    f16   f32   f64   c64   c128  i32   f64*  c128*
i64   i64   i64   i64   i64   i64   i64   i64   i64   f64*  bf    f16   f32   f64   c64   c128  i64   f64*  c128*
u8    u8    i16   i16   i32   i64   u8    u16   u32   u64   bf    f16   f32   f64   c64   c128  u8    f64*  c128*
u16   u16   i32   i32   i32   i64   u16   u16   u32   u64   bf    f16   f32   f64   c64   c128  u16   f64*  c128*
u32   u32   i64   i64   i64   i64   u32   u32   u32   u64   bf    f16   f32   f64   c64   c128  u32   f64*  c128*
u64   u64   f64*  f64*  f64*  f64*  u64   u64   u64   u64   bf    f16   f32   f64   c64   c128  u64   f64*  c128*
bf    bf    bf    bf    bf    bf    bf    bf    bf    bf    bf    f32   f32   f64   c64   c128  bf    bf    c64
f16   f16   f16   f16   f16   f16   f16   f16   f16   f16   f32   f16   f32   f64   c64   c128  f16   f16   c64
f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   f64   c64   c128  f32   f32   c64
f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   c128  c128  f64   f64   c128
c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c128  c64   c128  c64   c64   c64
c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128
i*    i64*  i8    i16   i32   i64   u8    u16   u32   u64   bf    f16   f32   f64   c64   c128  i64*  f64*  c128*
f*    f64*  f64*  f64*  f64*  f64*  f64*  f64*  f64*  f64*  bf    f16   f32   f64   c64   c128  f64*  f64*  c128*
c*    c128* c128* c128* c128* c128* c128* c128* c128* c128* c64   c64   c64   c128  c64   c128  c128* c128* c128*
"""
TABLE_WITHOUT_X64 = """
b1    b1    i8    i16   i32   u8    u16   u32   bf    f16   f32   c64   i32*  f32*  c64*
i8    i8    i8    i16   i32   i16   i32   i32   bf    f16   f32   c64   i8    f32*  c64*
i16   i16   i16   i16   i32   i16   i32   i32   bf    f16   f32   c64   i16   f32*  c64*
i32   i32   i32   i32   i32   i32   i32   i32   bf    f16   f32   c64   i32   f32*  c64*
u8    u8    i16   i16   i32   u8    u16   u32   bf    f16   f32   c64   u8    f32*  c64*
u16   u16   i32   i32   i32   u16   u16   u32   bf    f16   f32   c64   u16   f32*  c64*
u32   u32   i32   i32   i32   u32   u32   u32   bf    f16   f32   c64   u32   f32*  c64*
bf    bf    bf    bf    bf    bf    bf    bf    bf    f32   f32   c64   bf    bf    c64
f16   f16   f16   f16   f16   f16   f16   f16   f32   f16   f32   c64   f16   f16   c64
f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   c64   f32   f32   c64
c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64
i*    i32*  i8    i16   i32   u8    u16   u32   bf    f16   f32   c64   i32*  f32*  c64*
f*    f32*  f32*  f32*  f32*  f32*  f32*  f32*  bf    f16   f32   c64   f32*  f32*  c64*
c*    c64*  c64*  c64*  c64*  c64*  c64*  c64*  c64   c64   c64   c64   c64*  c64*  c64*
"""
SHORT = {
    **{f"{kind[0]}{n}": np.dtype(f"{kind}{n}") for kind in ("int", "uint") for n in (8, 16, 32, 64)},
    **{f"f{n}": np.dtype(f"float{n}") for n in (16, 32, 64)},
    "b1": np.dtype(bool),
    "bf": np.dtype(ml_dtypes.bfloat16),
    "c64": np.dtype("complex64"),
    "c128": np.dtype("complex128"),
}
WEAK = {"i*": 1, "f*": 1.0, "c*": 1j}


@pytest.mark.parametrize("x64, table", [(True, TABLE_WITH_X64), (False, TABLE_WITHOUT_X64)])
def test_whole_table(x64, table):
    rows = [line.split() for line in table.strip().splitlines()]
    names = [row[0] for row in rows]

    def value(name):
        return WEAK[name] if name in WEAK else np.zeros((), SHORT[name])

    with enable_x64(x64):
        for a, *row in rows:
            for b, wanted in zip(names, row, strict=True):
                got = dtypes.result_type(value(a), value(b), return_weak_type_flag=True)
                assert got == (SHORT[wanted.rstrip("*")], wanted.endswith("*")), (a, b)


@pytest.mark.parametrize("x64", [False, True])
def test_bool_computes_as_int32(x64):
    with enable_x64(x64):
        assert dtypes.to_numeric_dtype(np.dtype(bool)) == np.int32
        assert dtypes.to_numeric_dtype(np.dtype("uint8")) == np.uint8


class Level(enum.IntEnum):
    LOW = 1


class Metres(float):
    pass


class Phase(complex):
    pass


@pytest.mark.parametrize("value, dtype", [(Level.LOW, "int32"), (Metres(2.5), "float32"), (Phase(1j), "complex64")])
def test_subclasses_of_python_scalars_are_scalars(value, dtype):
    """As in JAX, each is weakly typed, wherever it is met first."""
    for call in (jnp.asarray, onax.jit(lambda x: x), lambda x: onax.vmap(lambda y: y, None, axis_size=1)(x)[0]):
        base = next(base for base in (int, float, complex) if isinstance(value, base))
        for x in (value, type("Another", (base,), {})(value)):
            out = call(x)
            assert out == value and out.dtype == dtype and out.weak_type
    assert (jnp.ones(2, jnp.bfloat16) * value).dtype == ("complex64" if dtype == "complex64" else "bfloat16")
    assert onax.lax.fori_loop(0, 2, lambda i, x: x, value) == value
    assert jnp.full(1, value).dtype == dtype and dtypes.is_weakly_typed(value) and dtypes.dtype(value) == dtype


def test_numpy_scalars_are_no_python_scalars():
    assert not dtypes.is_scalar_type(np.float64) and not dtypes.is_scalar_type(str)
    assert not jnp.asarray(np.float64(1)).weak_type


def test_isdtype_refuses_abstract_types():
    for kind in (np.floating, np.generic, 3):
        with pytest.raises(TypeError, match=r"^Expected kind to be a dtype, string, or tuple; got kind="):
            dtypes.isdtype(np.dtype(np.float32), kind)


def test_extended_dtypes_are_not_promoted():
    key = onax.random.key(0)
    for join in (lambda: jnp.where(True, key, 0), lambda: jnp.result_type(key, 1.0)):
        with pytest.raises(ValueError, match=r"^dtype=key<fry> is not a valid dtype for JAX type promotion"):
            join()
