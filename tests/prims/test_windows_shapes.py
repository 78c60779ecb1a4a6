"""Numbers and positions of windows, with padding, holes and strides."""

import numpy as np
import pytest

from onax import lax
from onax._prims.windows_shapes import combine_windows, dilated_shape, slice_bounds, window_offsets, windows_shape


@pytest.mark.parametrize(
    "size, window, stride, kind, want",
    (
        (10, 3, 2, "SAME", (0, 1)),
        (10, 3, 2, "same_lower", (1, 0)),
        (10, 3, 1, "SAME", (1, 1)),
        (10, 3, 2, "VALID", (0, 0)),
        (5, 1, 3, "SAME", (0, 0)),
        (0, 3, 1, "SAME", (1, 1)),
    ),
)
def test_padding_types(size, window, stride, kind, want):
    assert lax.padtype_to_pads((size,), (window,), (stride,), kind) == [want]


def positions(size, window, stride, low, high, base, gap):
    """The positions of windows along one axis, by listing them."""
    length = (max(size - 1, 0) * base + 1 if size else 0) + low + high
    extent = (window - 1) * gap + 1
    return [start for start in range(0, length, stride) if start + extent <= length]


@pytest.mark.parametrize("seed", range(40))
def test_numbers_of_windows(seed):
    rng = np.random.default_rng(seed)
    size, window, stride, base, gap = (int(rng.integers(a, b)) for a, b in ((0, 9), (1, 5), (1, 4), (1, 4), (1, 3)))
    low, high = (int(n) for n in rng.integers(0, 4, 2))
    (found,) = windows_shape((size,), (window,), (stride,), ((low, high),), (base,), (gap,))
    assert found == len(positions(size, window, stride, low, high, base, gap))


@pytest.mark.parametrize("window", [1, 2, 3, 7, 16, 33])
@pytest.mark.parametrize("stride, dilation", [(1, 1), (2, 1), (1, 3), (3, 2)])
def test_windows_are_combined_from_halves(window, stride, dilation):
    size = (window - 1) * dilation + 1 + 4 * stride
    x = np.arange(size)
    take = lambda y, start, limit, step: y[start:limit:step]
    got = combine_windows(x, size, 5, window, stride, dilation, take, np.add)
    want = [sum(range(i * stride, i * stride + (window - 1) * dilation + 1, dilation)) for i in range(5)]
    assert got.tolist() == want


def test_positions_inside_a_window():
    assert window_offsets((2, 3)) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] and window_offsets(()) == [()]
    assert slice_bounds((1, 2), (1, 3), (4, 2), (2, 1)) == ((1, 6), (8, 8))


@pytest.mark.parametrize("call, error, text", [
    (lambda: dilated_shape((3,), (0,)), TypeError, "All dilations must be positive"),
    (lambda: lax.padtype_to_pads((3,), (2,), (1,), "MOST"), (ValueError, RuntimeError), "padding"),
    (lambda: lax.padtype_to_pads((3, 3), (2, 2), (1, 1, 1), "SAME"), ValueError, r"shapes \(2,\) \(3,\)"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
