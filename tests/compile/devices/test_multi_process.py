"""Programs over the devices of two and of four processes give what they give in one."""

import numpy as np
import pytest

import onax as jax
import oracle
import process_cases
import processes
import shard_map_cases
import sharding_type_cases
from virtual_devices import eight_devices, mesh

with eight_devices():
    CASES = process_cases.cases(jax, mesh)
    TYPES = list(sharding_type_cases.cases(jax))
    NAMES = [name for name in shard_map_cases.cases(jax) if shard_map_cases.has_regions(name)]
RECORDED = oracle.load("shard_map_cases")
RECORDED_TYPES = oracle.load("sharding_type_cases")


def wanted(name):
    """The results in one process."""
    function, args = CASES[name]
    with eight_devices():
        return [np.asarray(x) for x in jax.tree.leaves(function(*args))]


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["", ", jit"], ids=["eager", "jit"])
@pytest.mark.parametrize("name", CASES)
def test_several_processes_give_what_one_gives(name, way, count):
    found = processes.outcomes(count)[name + way]
    assert not isinstance(found, str), found
    for got, want in zip(found, wanted(name), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if got.dtype.kind in "fcV":
            size = np.max(np.abs(want.astype(np.complex128)), initial=0.0, where=~np.isnan(want.astype(np.complex128)))
            eps = float(jax.numpy.finfo(want.dtype).eps)
            np.testing.assert_allclose(
                got.astype(np.complex128), want.astype(np.complex128), rtol=0, atol=16 * eps * size
            )
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", TYPES)
def test_shardings_in_types_are_those_of_one_process(name, count):
    (_, _, codes, _) = RECORDED_TYPES[name]["ok"][0]
    assert processes.type_outcomes(count)[name] == codes.decode()


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_several_processes_give_what_jax_gives(name, count):
    found = processes.recorded_outcomes(count)[name]
    assert not isinstance(found, str), found
    for got, (dtype, shape, data, _) in zip(found, RECORDED[name]["ok"], strict=True):
        want = np.frombuffer(data, np.dtype(getattr(jax.numpy, dtype, dtype))).reshape(shape)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if want.dtype.kind in "iub":
            np.testing.assert_array_equal(got, want)
        else:  # a chain of at most sixteen operations, as in `test_shard_map_cases.py`
            want = want.astype(np.complex128)
            eps = float(jax.numpy.finfo(got.dtype).eps)
            np.testing.assert_allclose(got, want, rtol=0, atol=64 * eps * np.max(np.abs(want), initial=0.0))
