"""Named axes in files: what vmap and shard_map bring is lowered; a collective alone says what it lacks."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._ground.errors import LoweringError
from onax.export import export
from onax.export.lower.driver import lower_jaxpr

X = np.arange(12, dtype=np.float32).reshape(4, 3)
ALONE = {
    "psum": lambda x: lax.psum(x, "i"),
    "pmax": lambda x: lax.pmax(x, "i"),
    "all_gather": lambda x: lax.all_gather(x, "i"),
    "ppermute": lambda x: lax.ppermute(x, "i", [(0, 1)]),
    "axis_index": lambda x: lax.axis_index("i") + x,
}


@pytest.mark.parametrize("name", ALONE)
def test_a_collective_alone_is_refused(name):
    jaxpr = jax.make_jaxpr(ALONE[name], axis_env=[("i", 2)])(X)
    with pytest.raises(
        LoweringError, match=f"(?s)names an axis that no vmap, pmap or shard_map around it binds.*{name}"
    ):
        lower_jaxpr(jaxpr, opset=21)


def test_vmap_replaces_them():
    f = jax.vmap(lambda x: x / lax.psum(x, "i") + lax.axis_index("i"), axis_name="i")
    exported = export(jax.jit(f))(X)
    np.testing.assert_allclose(exported.call(X), f(X), rtol=1e-6)
    assert not {n.domain for n in exported.onnx_model.graph.node} - {""}


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_a_rule_of_batching_is_its_program(dtype):
    @jax.custom_batching.custom_vmap
    def f(x):
        return x * 2

    f.def_vmap(lambda size, mapped, x: (x * 2, True))
    x = X.astype(dtype)
    np.testing.assert_array_equal(export(jax.jit(lambda v: f(v) + 1))(x).call(x), x * 2 + 1)
