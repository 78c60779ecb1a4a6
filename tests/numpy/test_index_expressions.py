"""How index expressions are read: the two shortcuts against NumPy, and against the general reader's entries."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax import device_put, devices, jit
from onax._native.array import basic_index
from onax.errors import NonConcreteBooleanIndexError
from onax.numpy._index_expressions import ascending_bounds, leading_arrays, parse, python_slice, wrap_known_indices

SHAPE = (4, 5, 6)
X = np.arange(120).reshape(SHAPE)


@pytest.mark.parametrize("index", [2, -1, slice(1, 3), (..., 2), (None, 1, slice(None, None, -2)), (1, ..., 0), ()])
def test_basic_indices_read_as_in_numpy(index):
    basic = basic_index(index)
    np.testing.assert_array_equal(X[basic], X[index])
    assert isinstance(X[basic], np.ndarray)


def test_basic_indices_take_integer_arrays_of_rank_0():
    assert basic_index((jnp.asarray(3), 1)) == (3, 1, ...)


@pytest.mark.parametrize("index", [1.0, True, "a", [0, 1], np.arange(2), jnp.arange(2), (0, jnp.asarray(True))])
def test_what_is_no_basic_index(index):
    assert basic_index(index) is None


def test_an_array_committed_to_a_device_is_no_basic_index():
    """It decides where the result lies."""
    assert basic_index(device_put(jnp.asarray(1), devices()[0])) is None


def test_leading_arrays_count_from_the_front():
    arrays = leading_arrays(SHAPE, (jnp.array([-1, 9, -9]), 2, jnp.array([0], "uint8")))
    assert [a.tolist() for a in arrays] == [[3, 9, -5], 2, [0]]
    assert all(a.dtype == np.intp for a in arrays)


@pytest.mark.parametrize(
    ("shape", "index"),
    [
        (SHAPE, slice(2)),
        (SHAPE, (jnp.arange(2), slice(None))),
        (SHAPE, jnp.array([True, False, True, True])),
        (SHAPE, np.arange(2)),
        ((4,), (jnp.arange(2), 1)),
        ((0, 3), jnp.arange(2)),
    ],
    ids=["slice", "slice behind", "mask", "ndarray", "too many", "empty axis"],
)
def test_what_are_no_leading_arrays(shape, index):
    assert leading_arrays(shape, index) is None


def test_wrap_known_indices_of_unsigned_numbers_keeps_them_out_of_bounds():
    assert wrap_known_indices(np.array([3, 2**64 - 1], np.uint64), 4).tolist() == [3, 4]
    assert wrap_known_indices(np.array([255], np.uint8), 4).tolist() == [255]


def test_entries():
    parsed = parse(SHAPE, (1, None, slice(4, None, -2), ..., jnp.array([0, 2])))
    assert [(e.kind, e.axis) for e in parsed.entries] == [
        ("int", 0),
        ("new", None),
        ("slice", 1),
        ("gap", None),
        ("array", 2),
    ]
    resolved = parsed.entries[2].value
    assert resolved == (4, -1, -2, 3) and ascending_bounds(resolved) == (0, 5, 2)
    assert X[0, python_slice(resolved), 0].tolist() == X[0, 4::-2, 0].tolist()


@pytest.mark.parametrize("read", [
    lambda x, i: x[i],
    lambda x, i: x[:, None][i][:, 0],
    lambda x, i: jnp.take(x, i),
    lambda x, i: jnp.take_along_axis(x, i, 0),
    lambda x, i: x.at[i].get(mode="fill"),
    lambda x, i: jnp.zeros_like(x).at[i].set(x[i])[jnp.array([199, 100, 3])],
])  # fmt: skip
def test_negative_narrow_indices_of_long_axes(read):
    """The length of the axis is no int8: JAX raises OverflowError, or wraps around; NumPy's answer is given."""
    x, i = jnp.arange(200), jnp.array([-1, -100, 3], "int8")
    assert read(x, i).tolist() == jit(read)(x, i).tolist() == [199, 100, 3]
    assert jit(lambda x: read(x, np.array([-1, -100, 3], "int8")))(x).tolist() == [199, 100, 3]


def test_traced_sequences_of_sequences():
    """As the arrays of the same values, whatever the depth."""
    x, read = jnp.arange(24).reshape(2, 3, 4), lambda x, i: x[i]
    for i in ((((1, 0), (1, 1)), 2), ((1, 0), (1, 2)), (([1, 0], (0, 1)), ((2, 1), [0, 0]))):
        arrays = tuple(np.array(part) for part in i)
        assert jit(read)(x, i).tolist() == read(x, arrays).tolist()
    with pytest.raises(NonConcreteBooleanIndexError, match="must be concrete"):
        jit(read)(x, ((True, False),))


@pytest.mark.parametrize("shape, rest", [((0,), (0, 2)), ((0, 2), (0,)), ((3, 0), (0,)), ((0, 0), (0,))])
def test_a_mask_with_an_empty_axis_selects_nothing(shape, rest):
    x, mask = jnp.ones((3, 2)), np.zeros(shape, bool)
    assert x[mask].shape == rest
    assert x.at[mask].set(7.0).tolist() == x.tolist()


@pytest.mark.parametrize("shape", [(2,), (1,), (0, 5), (5, 0)])
def test_a_mask_of_another_shape_is_refused(shape):
    with pytest.raises(IndexError, match="boolean index did not match shape of indexed array in index 0"):
        jnp.ones((3, 2))[np.zeros(shape, bool)]
