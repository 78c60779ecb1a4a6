"""auto_axes and explicit_axes outside of jit, their errors; `sharding_type_cases.py` has what they give inside."""

import numpy as np
import pytest

import onax as jax
from onax.sharding import AxisType, NamedSharding, auto_axes, explicit_axes, get_abstract_mesh
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices

X = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


def grid(*types):
    return jax.make_mesh((4, 2), ("x", "y"), types or (AxisType.Explicit,) * 2)


def types_inside(transform, mesh, *spec):
    """(type of the argument inside, explicit axes there, type of the result outside, its values)."""
    seen = []

    def function(a):
        seen.append((str(jax.typeof(a)), get_abstract_mesh().explicit_axes))
        return a * 2

    with jax.set_mesh(mesh):
        out = transform(function)(jax.device_put(X, P(*spec)))
    np.testing.assert_array_equal(out, 2 * X)
    return *seen[0], str(jax.typeof(out))


@pytest.mark.parametrize(
    "axes, inside, explicit",
    [
        (None, "float32[8,4]", ()),
        ("y", "float32[8@x,4]", ("x",)),
        (("x",), "float32[8,4@y]", ("y",)),
        (("x", "y"), "float32[8,4]", ()),
    ],
)
def test_arrays_in_automatic_regions(axes, inside, explicit):
    found = types_inside(lambda f: auto_axes(f, axes=axes, out_sharding=P("x")), grid(), "x", "y")
    assert found == (inside, explicit, "float32[8@x,4]")


def test_arrays_in_explicit_regions():
    mesh = grid(AxisType.Auto, AxisType.Auto)
    found = types_inside(lambda f: explicit_axes(f, axes="x", in_sharding=P("x")), mesh, "y")
    assert found == ("float32[8@x,4]", ("x",), "float32[8,4]")
    found = types_inside(lambda f: jax.jit(explicit_axes(f, in_sharding=P("x", "y"))), mesh)
    assert found == ("float32[8@x,4@y]", ("x", "y"), "float32[8,4]")


def test_decorators_with_options():
    @auto_axes(out_sharding=P("y"))
    def double(a):
        return a * 2

    with jax.set_mesh(grid()):
        assert double(jax.device_put(X, P("x"))).sharding.spec == P("y", None)


def test_without_a_mesh_the_function_runs_as_it_is():
    assert auto_axes(lambda a: a + 1, out_sharding=P())(1) == 2


def test_a_mesh_from_the_shardings():
    mesh = grid()
    x = jax.device_put(X, NamedSharding(mesh, P("x")))
    out = auto_axes(lambda a: a * 2, out_sharding=NamedSharding(mesh, P("y")))(x)
    assert str(jax.typeof(out)) == "float32[8@y,4]"


def test_errors():
    other = jax.make_mesh((8,), ("z",))
    with pytest.raises(ValueError, match="Context mesh cannot be empty"):
        explicit_axes(lambda a: a, in_sharding=P())(X)
    with jax.set_mesh(grid()):
        with pytest.raises(TypeError, match="Missing required keyword argument: 'out_sharding'"):
            auto_axes(lambda a: a)(X)
        with pytest.raises(TypeError, match="Missing required keyword argument: 'in_sharding'"):
            explicit_axes(lambda a: a)(X)
        with pytest.raises(ValueError, match="no axis 'z'"):
            auto_axes(lambda a: a, axes="z", out_sharding=P())(X)
        with pytest.raises(ValueError, match=r"Context mesh .* must match the mesh passed to shardings"):
            auto_axes(lambda a: a, out_sharding=NamedSharding(other, P()))(X)
    two = [NamedSharding(grid(), P()), NamedSharding(other, P())]
    with pytest.raises(ValueError, match="should have the same mesh"):
        auto_axes(lambda a: [a, a], out_sharding=two)(X)
