"""Names that came after JAX 0.10.2, eagerly and jitted: against the recorded results of the JAX that has them."""

import numpy as np
import pytest

import newer_cases
import onax as jax
import onax.numpy as jnp
import onax.scipy.special
import oracle
import recorded_versions
from tolerance import assert_same_bits, assert_within, finfo, is_float
from virtual_devices import eight_devices

RECORDED = oracle.load("newer_cases")
# A case is a chain of at most sixteen operations, each within four units in the last place of its result.
CHAIN_ULPS = 64
CASES = newer_cases.cases(jax)


def agree(got, answer, name):
    """Compares elements with the recorded ones, each relative to its own size: the cases have small results, too."""
    leaves = jax.tree_util.tree_leaves(got)
    assert len(leaves) == len(answer["ok"])
    for leaf, (dtype, shape, data, weak) in zip(leaves, answer["ok"]):
        want = np.frombuffer(data, np.dtype(getattr(jnp, dtype, dtype))).reshape(shape)
        if isinstance(leaf, jax.Array):
            assert leaf.weak_type == weak, f"{name}: weak type {leaf.weak_type}, expected {weak}"
        leaf = np.asarray(leaf)
        if is_float(want.dtype) and isinstance(leaf, np.ndarray):
            wide = np.abs(want.astype(np.float64))
            size = np.where(np.isfinite(wide), wide, 0)
            assert_within(leaf, want, CHAIN_ULPS * float(finfo(want.dtype).eps) * size, name)
        elif want.dtype.kind == "c":
            np.testing.assert_allclose(leaf, want, rtol=CHAIN_ULPS * float(finfo(want.real.dtype).eps), err_msg=name)
        elif want.dtype == np.uint8 and not np.array_equal(leaf, want):
            assert bytes(leaf).decode() == bytes(want).decode(), name
        else:
            assert_same_bits(leaf, want, name)


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    function, args = CASES[name]
    assert "ok" in RECORDED[name], RECORDED[name]
    with eight_devices():
        agree(function(*args), RECORDED[name], name)


@pytest.mark.parametrize("name", [name for name, (_, args) in CASES.items() if args])
def test_agrees_under_jit(name):
    function, args = CASES[name]
    with eight_devices():
        agree(jax.jit(function)(*args), RECORDED[name], f"{name} under jit")


def test_the_answers_are_those_of_the_newer_jax():
    assert recorded_versions.versions()["oracle_recordings/newer_cases.json.gz"] == newer_cases.JAX_VERSION
    assert recorded_versions.versions()["oracle_recordings/elementwise_polynomial.json.gz"] == newer_cases.JAX_VERSION
    assert newer_cases.JAX_VERSION == recorded_versions.NEWEST


def test_recordings_of_the_newer_jax_are_known():
    versions = recorded_versions.versions()
    assert all((recorded_versions.TESTS / path).exists() for path in versions)
    newer = {path for path, version in versions.items() if version != recorded_versions.REFERENCE}
    assert {"oracle_recordings/elementwise_polynomial.json.gz", "oracle_recordings/newer_cases.json.gz"} < newer
