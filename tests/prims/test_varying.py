"""pvary: it says in the type of a value that it varies, and sums cotangents."""

import numpy as np
import pytest

import onax as jax
from onax._prims.varying import pvary_p, vary_over
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh

W = np.array([0.5, -2.0], np.float32)


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


def test_only_over_missing_axes():
    def body(w):
        once = vary_over(w, ("x",))
        assert vary_over(once, ("x",)) is once and vary_over(once, ()) is once
        both = vary_over(once, ("x", "y"))
        assert [jax.typeof(v).manual_axis_type.varying for v in (once, both)] == [{"x"}, {"x", "y"}]
        return both

    f = jax.shard_map(body, mesh=mesh(x=4, y=2), in_specs=P(), out_specs=P(("x", "y")))
    assert np.array_equal(f(W), np.tile(W, 8))
    steps = jax.make_jaxpr(f)(W).eqns[0].params["jaxpr"].eqns
    assert [(e.primitive, e.params["axes"]) for e in steps] == [(pvary_p, ("x",)), (pvary_p, ("y",))]


def test_derivatives():
    f = jax.shard_map(lambda w: vary_over(w, ("x",)), mesh=mesh(x=4), in_specs=P(), out_specs=P("x"))
    ct = np.arange(8, dtype=np.float32)
    assert np.array_equal(jax.vjp(f, W)[1](ct)[0], ct.reshape(4, 2).sum(0))
    assert np.array_equal(jax.jvp(f, (W,), (2 * W,))[1], np.tile(2 * W, 4))
    assert np.array_equal(jax.vmap(f)(np.stack([W, -W])), np.tile(np.stack([W, -W]), 4))
