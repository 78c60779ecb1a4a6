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
