"""mulhi: the upper half of exact products, as a kernel and as other operations."""

import numpy as np
import pytest

import onax as jax
from onax._ground.config import enable_x64
from onax._prims.elementwise_high import mulhi, multiply_high

DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize(
    "way",
    [mulhi, multiply_high, jax.jit(mulhi), jax.jit(multiply_high)],
    ids=["kernel", "operations", "jit", "jit of operations"],
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_products(dtype, way):
    info = np.iinfo(dtype)
    edges = [info.min, info.max, 0, 1, 2, 3, info.max // 2, info.max - 1, info.min + 1]
    edges += [int(v) for v in np.random.default_rng(0).integers(info.min, info.max, 20, dtype, endpoint=True)]
    pairs = [(a, b) for a in edges for b in edges]
    x, y = (np.array([p[i] for p in pairs], dtype) for i in (0, 1))
    with enable_x64(True):
        got = np.asarray(way(jax.numpy.asarray(x), jax.numpy.asarray(y)))
    assert got.dtype == dtype and got.tolist() == [(a * b) >> info.bits for a, b in pairs]


@pytest.mark.parametrize("dtype", ["float32", "bool", "int4"])
def test_refused_dtypes(dtype):
    x = jax.numpy.ones(2, getattr(jax.numpy, dtype, dtype))
    with pytest.raises(TypeError, match="mulhi"):
        mulhi(x, x)
