"""The kernels in C of nodes onax.Host against the functions that compute the same on ndarrays."""

import numpy as np
import pytest

from host_nodes import run_kernel
from onax._ground import onnx_runtime
from onax._native import host_kernels, normals, ort, threefry

KEYS = np.random.default_rng(0).integers(0, 2**32, (3, 2), np.uint32)
FIRST, SECOND = np.ascontiguousarray(KEYS.T)
U32, F32 = np.dtype(np.uint32), np.dtype(np.float32)


@pytest.fixture(autouse=True, scope="module")
def runtime():
    """The library, attached once."""
    return ort.attach(onnx_runtime.find_runtime().library)


@pytest.mark.parametrize("n", [0, 7, 40_000])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_bits(width, n):
    kernel = host_kernels.bits_kernel("random_bits", [((3, n), np.dtype(f"u{width // 8}"))], (3, n, width))
    (got,) = run_kernel(kernel, FIRST, SECOND)
    np.testing.assert_array_equal(got, threefry.random_bits_partitionable(KEYS, n, width))


@pytest.mark.parametrize("n", [0, 7, 40_000])
def test_normal_numbers(n):
    (got,) = run_kernel(host_kernels.normal_kernel("normal", [((3, n), F32)], (3, n, 32)), FIRST, SECOND)
    np.testing.assert_array_equal(got, np.stack([normals.normal(int(a), int(b), n) for a, b in KEYS]))


def test_derived_keys():
    outputs = [((3, 4), U32)] * 2
    got = run_kernel(host_kernels.split_kernel("random_split", outputs, (3, 4)), FIRST, SECOND)
    np.testing.assert_array_equal(np.stack(got, -1), threefry.random_bits_partitionable(KEYS, 4, 0))
    data = np.array([5, 6, 7], np.uint32)
    want = threefry.threefry2x32(FIRST, SECOND, np.uint32(0), data)
    got = run_kernel(host_kernels.fold_in_kernel("fold_in", [((3,), U32)] * 2, (3, 1, 1)), FIRST, SECOND, data)
    np.testing.assert_array_equal(got, want)
    kernel = host_kernels.threefry_block_kernel("threefry2x32", [((3,), U32)] * 2, (3, 1, 1, 0, 1))
    np.testing.assert_array_equal(run_kernel(kernel, FIRST, SECOND, np.zeros((), U32), data), want)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("n", [2, 4])
def test_components(n, dtype):
    whole = np.random.default_rng(0).integers(0, 2**32, (50_000, n)).astype(dtype)
    size = whole.itemsize
    parts = [((50_000,), whole.dtype)] * n
    got = run_kernel(host_kernels.components_kernel("components", parts, (50_000, n, size, 0)), whole)
    np.testing.assert_array_equal(np.stack(got, -1), whole)
    kernel = host_kernels.components_kernel("components", [(whole.shape, whole.dtype)], (50_000, n, size, 1))
    np.testing.assert_array_equal(run_kernel(kernel, *got)[0], whole)


def test_erf_inv():
    x = np.random.default_rng(0).uniform(-1, 1, 70_000).astype(np.float32)
    (got,) = run_kernel(host_kernels.erf_inv_kernel("erf_inv", [(x.shape, F32)], (x.size,)), x)
    np.testing.assert_array_equal(got, normals.erf_inv(x))
