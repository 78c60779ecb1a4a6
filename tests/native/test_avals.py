"""ShapedArray: fields, text, equality, derived avals."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from onax._native.avals import OpaqueDType, ShapedArray, intern_aval, short_dtype_name

float0 = np.dtype([("float0", np.void, 0)])


class Dim:
    """A stand-in for a symbolic dimension: hashable, multiplies, prints."""

    def __init__(self, name):
        self.name = name

    def __mul__(self, other):
        return Dim(f"{self.name}*{other}")

    __rmul__ = __mul__

    def __str__(self):
        return self.name

    def __int__(self):
        raise AssertionError("a symbolic dimension was taken for an int")

    def __eq__(self, other):
        return isinstance(other, Dim) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Key(OpaqueDType):
    """A stand-in for an extended dtype."""

    name = "key<fry>"
    itemsize = 8
    storage = np.dtype("V8")

    def __repr__(self):
        return self.name


KEY = Key()
B = Dim("b")

# shape, dtype, weak, str, repr, short
TEXTS = [
    ((3, 4), "float32", False, "float32[3,4]", "ShapedArray(float32[3,4])", "f32[3,4]"),
    ((), "int32", True, "~int32[]", "ShapedArray(int32[], weak_type=True)", "i32[]"),
    ((2,), ml_dtypes.bfloat16, False, "bfloat16[2]", "ShapedArray(bfloat16[2])", "bf16[2]"),
    ((2,), "uint8", False, "uint8[2]", "ShapedArray(uint8[2])", "u8[2]"),
    ((2,), "complex64", False, "complex64[2]", "ShapedArray(complex64[2])", "c64[2]"),
    ((0,), "bool", False, "bool[0]", "ShapedArray(bool[0])", "bool[0]"),
    ((1,), float0, False, "float0[1]", "ShapedArray(float0[1])", "float0[1]"),
    ((B, 2), "float32", False, "float32[b,2]", "ShapedArray(float32[b,2])", "f32[b,2]"),
    ((3,), KEY, False, "key<fry>[3]", "ShapedArray(key<fry>[3])", "key<fry>[3]"),
]


@pytest.mark.parametrize("shape, dtype, weak, text, representation, short", TEXTS)
def test_text(shape, dtype, weak, text, representation, short):
    aval = ShapedArray(shape, dtype, weak)
    assert str(aval) == text
    assert repr(aval) == representation
    assert aval.str_short(short_dtypes=True) == short
    assert aval.str_short() == text.lstrip("~")


@pytest.mark.parametrize("name, short", [("float16", "f16"), ("uint4", "u4"), ("float8_e5m2", "f8_e5m2")])
def test_short_dtype_names(name, short):
    assert short_dtype_name(np.dtype(getattr(ml_dtypes, name, name))) == short


def test_fields():
    aval = ShapedArray([np.int64(3), 4], np.float32, weak_type=True)
    assert aval.shape == (3, 4)
    assert all(type(d) is int for d in aval.shape)
    assert aval.dtype == np.dtype("float32")
    assert aval.weak_type is True
    assert (aval.ndim, aval.size, aval.itemsize, aval.nbytes, len(aval)) == (2, 12, 4, 48, 3)
    with pytest.raises(AttributeError):
        aval.shape = (1,)


def test_symbolic_dimensions_are_never_made_ints():
    aval = ShapedArray((B, 3), np.float32)
    assert aval.size == Dim("b*1*3") or str(aval.size).count("b") == 1
    assert aval == ShapedArray((Dim("b"), 3), np.float32)
    assert hash(aval) == hash(ShapedArray((Dim("b"), 3), np.float32))


EQUAL = [
    (ShapedArray((3,), "float32"), ShapedArray((3,), np.float32), True),
    (ShapedArray((3,), "float32"), ShapedArray((4,), "float32"), False),
    (ShapedArray((3,), "float32"), ShapedArray((3, 1), "float32"), False),
    (ShapedArray((3,), "float32"), ShapedArray((3,), "float32", True), False),
    (ShapedArray((3,), "float32"), ShapedArray((3,), "int32"), False),
    (ShapedArray((3,), "float32", sharding="s"), ShapedArray((3,), "float32"), False),
    (ShapedArray((3,), KEY), ShapedArray((3,), KEY), True),
    (ShapedArray((3,), KEY), ShapedArray((3,), "float32"), False),
    (ShapedArray((3,), "float32"), "float32[3]", False),
]


@pytest.mark.parametrize("a, b, equal", EQUAL)
def test_equality_is_by_value(a, b, equal):
    assert (a == b) is equal
    assert (a != b) is not equal
    if equal:
        assert hash(a) == hash(b)


@pytest.mark.parametrize("shape, error", [((3.0,), TypeError), ((None,), TypeError), ("ab", TypeError), (3, TypeError)])
def test_refused_shapes(shape, error):
    with pytest.raises(error, match="Shapes must be 1D sequences"):
        ShapedArray(shape, np.float32)


def test_unknown_dtype_is_refused():
    with pytest.raises(TypeError):
        ShapedArray((), "nonsense")


def test_update_changes_what_is_given():
    aval = ShapedArray((3,), np.float32, True)
    assert aval.update(shape=(4, 5)) == ShapedArray((4, 5), np.float32, True)
    assert aval.update(dtype="int32", weak_type=False) == ShapedArray((3,), np.int32)
    assert aval.strip_weak_type() == ShapedArray((3,), np.float32)
    assert aval.update(sharding="s").sharding == "s"
    assert aval.update(sharding="s").update(weak_type=False).sharding == "s"


@pytest.mark.parametrize(
    "dtype, tangent",
    [
        ("float32", "float32"), ("float16", "float16"), (ml_dtypes.bfloat16, ml_dtypes.bfloat16),
        ("complex64", "complex64"), ("int32", float0), ("bool", float0), (KEY, float0), (ml_dtypes.int4, float0),
        (float0, float0),
    ],
)  # fmt: skip
def test_tangent_types(dtype, tangent):
    aval = ShapedArray((2,), dtype)
    assert aval.to_tangent_aval() == ShapedArray((2,), tangent)


def test_interning_gives_one_object():
    dtype = np.dtype("float32")
    assert intern_aval((3, 4), dtype) is intern_aval((3, 4), dtype, False)
    assert intern_aval((3, 4), dtype) is not intern_aval((3, 4), dtype, True)


def test_copies_and_pickles_are_equal():
    aval = ShapedArray((3,), np.float32, True)
    assert pickle.loads(pickle.dumps(aval)) == aval
    assert copy.deepcopy(aval) == aval


def test_len_of_rank_zero():
    with pytest.raises(TypeError, match=r"len\(\) of unsized object"):
        ShapedArray((), np.float32)._len()
