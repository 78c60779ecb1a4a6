"""The names of jax.numpy, its linalg and jax.nn, with JAX's parameters (recorded by tests/numpy_calls.py)."""

import json

import pytest

import numpy_calls
import onax as jax
import public_names
import recorded_versions

RECORDED = json.loads(numpy_calls.SIGNATURES.read_text())
OURS = numpy_calls.signatures(jax)

# Names whose signature here is plainer or of another library's making.
OTHER_SIGNATURES = {
    "numpy.bool", "numpy.bool_", "numpy.dtype", "numpy.finfo", "numpy.iinfo", "numpy.ndarray", "numpy.array_repr",
    "numpy.array_str", "numpy.can_cast", "numpy.save", "numpy.savez", "numpy.printoptions", "numpy.set_printoptions",
    "numpy.get_printoptions", "numpy.object_", "numpy.einsum",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(OURS) & set(RECORDED) - OTHER_SIGNATURES))
def test_signature(name):
    assert OURS[name] == RECORDED[name]


def test_nothing_public_is_unknown_to_jax():
    newest = public_names.recorded()[recorded_versions.NEWEST]
    newer = {f"{p.rpartition('.')[2]}.{n}" for p in ("jax.numpy", "jax.numpy.linalg", "jax.nn") for n in newest[p]}
    extra = set(OURS) - set(RECORDED) - newer
    assert not extra, sorted(extra)
