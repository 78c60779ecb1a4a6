"""The types of shards, and a body as one program of all devices."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._control.manual_region import ManualRegion, global_program, stacked_program
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices, mesh

# spec: (its axes, the others, the type of a shard of float32[8,4], that of the whole)
SPECS = {
    P(): ((), ("x", "y"), "float32[8,4]", "float32[8,4]"),
    P("x"): (("x",), ("y",), "float32[2,4]{V:x}", "float32[8,4]"),
    P("y", "x"): (("x", "y"), (), "float32[4,1]{V:(x,y)}", "float32[8,4]"),
    P(("x", "y")): (("x", "y"), (), "float32[1,4]{V:(x,y)}", "float32[8,4]"),
    P("x", unreduced={"y"}): (("x",), ("y",), "float32[2,4]{V:x, U:y}", "float32[8,4]"),
    P(reduced={"y"}): ((), ("x", "y"), "float32[8,4]{R:y}", "float32[8,4]"),
}


@pytest.fixture(autouse=True)
def grid():
    with eight_devices():
        yield mesh(x=4, y=2)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_types_of_shards(grid, spec):
    mentioned, others, shard, whole = SPECS[spec]
    region = ManualRegion(grid, {"x", "y"}, True)
    aval = jax.core.ShapedArray((8, 4), np.dtype(np.float32))
    assert region.mentioned_axes(spec) == mentioned and region.unmentioned_axes(spec) == others
    found = region.shard_aval(aval, spec)
    assert str(found) == shard and str(region.unshard_aval(found, spec)) == whole
    unchecked = ManualRegion(grid, {"x", "y"}, False).shard_aval(aval, spec)
    assert unchecked.shape == found.shape and unchecked.mat.empty


def test_some_axes(grid):
    region = ManualRegion(grid, {"y"}, True)
    assert (region.names, region.sizes, region.size(("y",))) == (("y",), (2,), 2)
    assert ManualRegion(grid, {"y", "x"}, True).restrict({"x"}).names == ("x",)
    assert region.key != ManualRegion(grid, {"y"}, False).key


def equation(f, given, stated, x):
    return jax.make_jaxpr(jax.shard_map(f, mesh=mesh(x=4, y=2), in_specs=given, out_specs=stated))(x).eqns[-1]


def test_one_program_of_all_devices():
    x = np.arange(8, dtype=np.float32)
    params = dict(equation(lambda v: v * lax.psum(v, "x"), P("x"), P("x"), x).params)
    program = global_program(params.pop("jaxpr"), params)
    assert [v.aval.shape for v in (*program.invars, *program.outvars)] == [(8,), (8,)]
    (out,) = jax.core.eval_jaxpr(program.jaxpr, program.consts, x)
    np.testing.assert_allclose(out, x * np.tile(x.reshape(4, 2).sum(0), 4))


def test_values_of_devices_along_leading_axes():
    body = equation(lambda v: v * lax.axis_index("x"), P(), P("x"), np.arange(2.0, dtype=np.float32)).params["jaxpr"]
    program, axes = stacked_program(ManualRegion(mesh(x=4, y=2), {"x", "y"}, True), body, [("y",)])
    assert program.invars[0].aval.shape == (2, 2) and axes == [("x", "y")]
