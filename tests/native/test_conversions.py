"""Arrays as Python values, text, ndarrays and DLPack capsules, and back."""

import operator

import ml_dtypes
import numpy as np
import pytest

from native_arrays import arr, keys
from onax._native.array import from_user
from onax._native.array_sources import from_dlpack_buffer


@pytest.mark.parametrize(
    "use, error",
    [
        (bool, "cannot be converted to boolean"), (np.asarray, "cannot be converted to a NumPy array"),
        (float, "argument must be a number"), (operator.index, "Only integer scalar"),
        (operator.methodcaller("item"), "use onax.random.key_data"),
    ],
)  # fmt: skip
def test_keys_are_no_numbers(use, error):
    with pytest.raises(TypeError, match=error):
        use(keys(()))


AMBIGUOUS = "The truth value of an array with more than one element is ambiguous"
SCALAR = "Only scalar arrays can be converted to Python scalars; got arr.ndim=1"
INDEX = "Only integer scalar arrays can be converted to a scalar index"


# value, conversion, what it gives or (error, text)
CONVERSIONS = [
    (2.5, bool, True),
    (2.5, int, 2),
    (2.5, float, 2.5),
    (2.5, complex, 2.5 + 0j),
    (2.5, operator.index, (TypeError, INDEX)),
    (3, operator.index, 3),
    (True, operator.index, (TypeError, INDEX)),
    (True, float, 1.0),
    (1 + 2j, complex, 1 + 2j),
    (1 + 2j, float, (TypeError, "complex")),
    ([1.0], bool, True),
    ([1.0], float, (TypeError, SCALAR)),
    ([1.0, 2.0], int, (TypeError, SCALAR)),
    ([1.0, 2.0], bool, (ValueError, AMBIGUOUS)),
    ([], bool, (ValueError, "The truth value of an empty array is ambiguous")),
    (3, len, (TypeError, r"len\(\) of unsized object")),
    (3, iter, (TypeError, "iteration over a 0-d array")),
    (3, hash, (TypeError, "unhashable type: 'onax._native.array.ArrayImpl'")),
    ([1, 2], len, 2),
    ([[1, 2], [3, 4]], operator.methodcaller("tolist"), [[1, 2], [3, 4]]),
    ([7], operator.methodcaller("item"), 7),
    ([7, 8], operator.methodcaller("item", 1), 8),
    (3, lambda x: [10, 11, 12, 13][x], 13),
    (2.5, lambda x: format(x, ".2f"), "2.50"),
    (2.5, lambda x: f"{x}", "2.5"),
    (1.1, lambda x: f"{x}", "1.100000023841858"),
    (1.1, lambda x: f"{x!s}", "1.1"),
    ([1.0, 2.0], lambda x: f"{x}", "[1. 2.]"),
    ([1.0, 2.0], lambda x: format(x, ".2f"), (TypeError, "unsupported format string passed to numpy.ndarray")),
    (3, lambda x: 3 in x, (ValueError, "search array must be one-dimensional")),
    ([1, 2], lambda x: "a" in x, (TypeError, "unsupported operand type")),
]


@pytest.mark.parametrize("value, convert, expected", CONVERSIONS)
def test_conversions(value, convert, expected):
    x = from_user(np.asarray(value))
    if isinstance(expected, tuple):
        with pytest.raises(expected[0], match=expected[1]):
            convert(x)
    else:
        assert convert(x) == expected
        assert type(convert(x)) is type(expected)


REPRS = [
    (arr([0, 1, 2], np.float32), "Array([0., 1., 2.], dtype=float32)", "[0. 1. 2.]"),
    (from_user(2.0), "Array(2., dtype=float32, weak_type=True)", "2.0"),
    (arr(np.zeros((0, 3)), np.float32), "Array([], shape=(0, 3), dtype=float32)", "[]"),
    (arr([1, 2], ml_dtypes.bfloat16), "Array([1, 2], dtype=bfloat16)", "[1 2]"),
    (arr([[True]]), "Array([[ True]], dtype=bool)", "[[ True]]"),
    (
        arr(np.full(9, 123456, np.float32), weak_type=True),
        "Array([123456., 123456., 123456., 123456., 123456., 123456., 123456.,\n"
        "       123456., 123456.], dtype=float32, weak_type=True)",
        "[123456. 123456. 123456. 123456. 123456. 123456. 123456. 123456. 123456.]",
    ),
]


@pytest.mark.parametrize("x, representation, text", REPRS)
def test_text(x, representation, text):
    assert repr(x) == representation
    assert str(x) == text


READERS = [
    np.asarray,
    lambda x: x.__array__(),
    lambda x: x._value,
    lambda x: np.asarray(memoryview(x)),
    np.from_dlpack,
]


@pytest.mark.parametrize("read", READERS)
def test_readers_get_the_same_memory_read_only(read):
    x = arr([1.0, 2.0], np.float32)
    seen = read(x)
    assert seen.ctypes.data == x.unsafe_buffer_pointer()
    with pytest.raises(ValueError):
        seen[0] = 3
    with pytest.raises(ValueError):
        seen.flags.writeable = True


@pytest.mark.parametrize("copied", [np.array, lambda x: x.__array__(copy=True), lambda x: x.__array__(np.float64)])
def test_copies_for_users_are_writable(copied):
    x = arr([1.0, 2.0], np.float32)
    copied(x)[0] = 9
    assert x.tolist() == [1.0, 2.0]


def test_array_refuses_a_conversion_without_a_copy():
    with pytest.raises(ValueError):
        arr([1.0], np.float32).__array__(np.float64, copy=False)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_dlpack_round_trip_shares_memory(dtype):
    x = arr([1, 0, 1], dtype)
    y = from_dlpack_buffer(x)
    assert y.aval == x.aval and y.tolist() == x.tolist()
    assert y.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    assert from_dlpack_buffer(x, copy=True).unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


class Old:
    """An exporter, and a consumer's call, from before DLPack 1.0."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def test_consumers_that_cannot_be_told_of_read_only_memory_get_a_copy():
    x = arr([1.0, 2.0], np.float32)
    y = from_dlpack_buffer(Old(x))
    assert y.tolist() == [1.0, 2.0]
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    with pytest.raises(BufferError, match="read-only memory"):
        x.__dlpack__(copy=False)


def test_dlpack_refusals():
    with pytest.raises(BufferError, match="key_data"):
        keys(()).__dlpack__()
    with pytest.raises(BufferError, match="cannot be exported to"):
        arr([1.0]).__dlpack__(dl_device=(2, 0))
