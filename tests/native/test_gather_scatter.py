"""The kernels of gathers and scatters of rows against loops in Python."""

import numpy as np
import pytest

from host_nodes import run_kernel
from onax._ground import onnx_runtime
from onax._native import gather_scatter, ort

RNG = np.random.default_rng(0)
COMBINE = {
    "scatter": lambda old, new: new,
    "scatter-add": lambda old, new: old + new,
    "scatter-sub": lambda old, new: old - new,
    "scatter-mul": lambda old, new: old * new,
    "scatter-min": np.minimum,
    "scatter-max": np.maximum,
}


@pytest.fixture(autouse=True, scope="module")
def runtime():
    """The library, attached once."""
    return ort.attach(onnx_runtime.find_runtime().library)


def numbers(shape, dtype):
    return RNG.integers(-9, 9, shape).astype(dtype)


def row(vector, sizes, clip):
    """The position that an index vector selects, or None if it is out of bounds and not clamped."""
    if clip:
        return tuple(np.clip(vector, 0, np.array(sizes) - 1))
    return tuple(vector) if all(0 <= i < n for i, n in zip(vector, sizes)) else None


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("shape, depth", [((5,), 1), ((5, 3), 1), ((4, 5), 2), ((3, 4, 2), 2)], ids=str)
def test_gather(shape, depth, wide, clip):
    x = numbers(shape, np.float32)
    indices = RNG.integers(-2, 7, (40, depth)).astype(np.int64 if wide else np.int32)
    out = (40, *shape[depth:])
    sizes = gather_scatter.kernel_sizes(0, shape, depth, 40, 4, wide, clip)
    (got,) = run_kernel(gather_scatter.gather_kernel([(out, x.dtype)], sizes, np.float32(0.5)), x, indices)
    found = [row(v, shape[:depth], clip) for v in indices]
    want = [np.full(shape[depth:], 0.5, np.float32) if at is None else x[at] for at in found]
    np.testing.assert_array_equal(got, np.array(want, np.float32).reshape(out))


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("name", COMBINE)
@pytest.mark.parametrize("shape, depth", [((5,), 1), ((5, 3), 1), ((3, 4, 2), 2)], ids=str)
def test_scatter(name, shape, depth, dtype, clip):
    x, updates = numbers(shape, dtype), numbers((20, *shape[depth:]), dtype)
    indices = RNG.integers(-2, 7, (20, depth)).astype(np.int32)
    code = gather_scatter.scatter_code(name, x.dtype)
    sizes = gather_scatter.kernel_sizes(code, shape, depth, 20, x.itemsize, False, clip)
    kernel = gather_scatter.scatter_kernel(name, [(shape, x.dtype)], sizes)
    (got,) = run_kernel(kernel, x, indices, updates)
    want = x.copy()
    for vector, update in zip(indices, updates):
        at = row(vector, shape[:depth], clip)
        if at is not None:
            want[at] = COMBINE[name](want[at], update)
    np.testing.assert_array_equal(got, want)


def test_rows_that_are_not_combined():
    assert gather_scatter.scatter_code("scatter-add", np.dtype(np.float16)) is None
    assert gather_scatter.scatter_code("scatter", np.dtype(np.float16)) == 0
