"""Records of gathers and scatters: modes, roles of axes."""

import numpy as np
import pytest

from onax import lax
from onax._prims.indexing_records import window_sizes

X = np.arange(20, dtype=np.float32).reshape(4, 5)
ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))


def test_modes():
    assert lax.GatherScatterMode.from_any(None) is lax.GatherScatterMode.FILL_OR_DROP
    assert lax.GatherScatterMode.from_any("drop") is lax.GatherScatterMode.FILL_OR_DROP
    assert str(lax.GatherScatterMode.CLIP) == "GatherScatterMode.CLIP"
    with pytest.raises(ValueError, match='Unknown gather mode "wrap"'):
        lax.gather(X, np.array([[1]]), ROWS, (1, 5), mode="wrap")
    with pytest.raises(NotImplementedError, match="ONE_HOT"):
        lax.gather(X, np.array([[1]]), ROWS, (1, 5), mode="one_hot")


GATHER = lax.GatherDimensionNumbers((1, 2), (0,), (0, 2), (3,), (1,))
SCATTER = lax.ScatterDimensionNumbers((0,), (1,), (1,), (2,), (0,))


def test_roles_of_axes():
    layout = GATHER.layout()
    assert (layout.index_map, layout.point, layout.batching, layout.index_batching, layout.window_dims) == (
        (0, 2), (0,), (3,), (1,), (1, 2),
    )  # fmt: skip
    assert layout.window_axes(4) == [1, 2] and SCATTER.layout().window_axes(4) == [0, 3]


def test_widths_of_windows():
    numbers = lax.ScatterDimensionNumbers((1, 2), (0,), (0,))
    assert window_sizes(3, numbers, (9, 4, 5)) == (1, 4, 5)


@pytest.mark.parametrize(
    "mode, text",
    [("fill", "FILL_OR_DROP"), ("clip", "CLIP"), ("promise_in_bounds", "PROMISE_IN_BOUNDS"), (None, "FILL_OR_DROP")],
)
def test_modes_by_name(mode, text):
    found = lax.GatherScatterMode.from_any(mode)
    assert str(found) == f"GatherScatterMode.{text}" and lax.GatherScatterMode.from_any(found) is found


def test_records_are_tuples_with_defaults():
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
    assert numbers.operand_batching_dims == numbers.start_indices_batching_dims == () and len(numbers) == 5
    assert numbers == lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))


Y = np.ones((3, 4, 5), np.float32)
MISFITS = [  # fields of the numbers, shape of the indices, what the messages of gather and of scatter say
    (((1,), (0, 1), (0, 0)), (2, 2), "{map} in {op} op must not repeat"),
    (((1,), (1, 0), (1,)), (3, 1), "{points} in {op} op must be sorted"),
    (((1,), (1,), (1,), (0,), (1,)), (3, 1), "{Op} op cannot have the index vector dimension as a batching dimension"),
    (((1,), (1,), (1,), (0,), ()), (3, 1), "{Op} op requires equal numbers of operand_batching_dims and {batching}"),
    (((1,), (1,), (0,), (0,), (0,)), (3, 1), "{map} and operand_batching_dims in {op} op must be disjoint"),
    (((1,), (1,), (1,), (0,), (0,)), (2, 1), "{Op} op requires operand batching dimensions and indices batching"),
    (((1,), (1,), (1,), (0,), (0,)), (1, 1), "{Op} op requires operand batching dimensions and indices batching"),
]


@pytest.mark.parametrize(("fields", "index_shape", "message"), MISFITS)
def test_numbers_that_do_not_fit(fields, index_shape, message):
    """Also after calls with the same dtypes, when the type rule does not run first."""
    indices = np.zeros(index_shape, np.int32)
    rows = np.zeros((3, 2), np.int32)
    assert lax.gather(Y, rows, lax.GatherDimensionNumbers((1,), (0, 1), (0, 1)), (1, 1, 5)).shape == (3, 5)
    lax.scatter(Y, rows, np.ones((3, 5), np.float32), lax.ScatterDimensionNumbers((1,), (0, 1), (0, 1)))
    names = {"map": "start_index_map", "points": "collapsed_slice_dims", "batching": "start_indices_batching_dims"}
    with pytest.raises(TypeError, match=message.format(op="gather", Op="Gather", **names)):
        lax.gather(Y, indices, lax.GatherDimensionNumbers(*fields), (1, 1, 5))
    names = {
        "map": "scatter_dims_to_operand_dims", "points": "inserted_window_dims",
        "batching": "scatter_indices_batching_dims",
    }  # fmt: skip
    with pytest.raises(TypeError, match=message.format(op="scatter", Op="Scatter", **names)):
        lax.scatter(Y, indices, np.ones((index_shape[0], 5), np.float32), lax.ScatterDimensionNumbers(*fields))
