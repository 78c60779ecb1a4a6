"""Kernels of gathers and scatters: positions in and out of bounds, windows, combination in order."""

import numpy as np
import pytest

from onax._prims import indexing_kernels as kernels
from onax._prims.indexing_kernels import Layout, clamp, combine, fill, gather, in_bounds, to_intp

X = np.arange(20, dtype=np.float32).reshape(4, 5)
ROWS = Layout((0,), (0,), (), (), (1,))
WINDOWS = Layout((0, 1), (), (), (), (1, 2))


def test_positions_too_large_for_intp_stay_out_of_bounds():
    large = to_intp(np.array([0, 2**63, 2**64 - 1], np.uint64))
    assert large.dtype == np.intp and large.tolist() == [0, 2**63 - 1, 2**63 - 1]
    small = np.array([1, 2], np.intp)
    assert to_intp(small) is small


@pytest.mark.parametrize("start, inside, clamped", [
    ((0, 0), True, (0, 0)), ((2, 2), True, (2, 2)), ((3, 0), False, (2, 0)), ((-1, 3), False, (0, 2)),
    ((9, -9), False, (2, 0)),
])  # fmt: skip
def test_windows_stay_inside(start, inside, clamped):
    at = np.array([start], np.intp)
    assert in_bounds(at, WINDOWS, X.shape, (2, 3)).tolist() == [inside]
    assert clamp(at, WINDOWS, X.shape, (2, 3)).tolist() == [list(clamped)]
    a, b = clamped
    np.testing.assert_array_equal(gather(X, at, WINDOWS, (2, 3)), X[None, a : a + 2, b : b + 3])


@pytest.mark.parametrize("count", [0, 1, 7])
def test_rows(count):
    at = np.arange(count, dtype=np.intp)[:, None] - 1
    np.testing.assert_array_equal(gather(X, at, ROWS, (1, 5)), X[np.clip(at[:, 0], 0, 3)])
    np.testing.assert_array_equal(gather(X, at, ROWS, (1, 2)), X[np.clip(at[:, 0], 0, 3), :2])


def test_windows_that_are_not_ok_are_filled():
    out = gather(X, np.array([[1], [9]], np.intp), ROWS, (1, 5))
    filled = fill(out, np.array([True, False]), ROWS, -7)
    np.testing.assert_array_equal(filled, [X[1], [-7] * 5])
    assert fill(out, np.array([True, True]), ROWS, -7) is out


@pytest.mark.parametrize("op", [None, np.add, np.multiply, np.minimum])
@pytest.mark.parametrize("rows", [[], [2], [0, 3, 1], [1, 1, 1], [3, 0, 3, 0]])
@pytest.mark.parametrize("width", [1, 3])
def test_rows_are_combined_in_order(rows, op, width):
    flat = np.arange(4.0 * width).reshape(4, width) + 1
    values = np.arange(float(len(rows) * width)).reshape(len(rows), width) + 2
    want = flat.copy()
    for row, value in zip(rows, values):
        want[row] = value if op is None else op(want[row], value)
    combine(flat, np.array(rows, np.intp), values, op)
    np.testing.assert_array_equal(flat, want)


@pytest.mark.parametrize("mode, dropped", [(kernels.CLIP, False), (kernels.FILL_OR_DROP, True)])
def test_updates_out_of_bounds(mode, dropped):
    at, updates = np.array([[1], [7]], np.intp), np.ones((2, 5), np.float32)
    want = X.copy()
    want[1] += 1
    want[3] += 0 if dropped else 1
    before = X.copy()
    np.testing.assert_array_equal(kernels.scatter(X, at, updates, ROWS, (1, 5), mode, np.add), want)
    np.testing.assert_array_equal(X, before)
