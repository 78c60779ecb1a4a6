"""jit under its former name warns."""

import collections
import pickle

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental import pjit
from onax.sharding import NamedSharding, SingleDeviceSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices, mesh


def negate(x):
    return -x


def test_warns():
    with pytest.warns(DeprecationWarning, match=r"use onax\.jit"):
        found = pjit.pjit
    assert found(lambda x: x + 1)(1) == 2
    with pytest.raises(AttributeError, match="no attribute 'xmap'"):
        pjit.xmap  # noqa: B018


@pytest.mark.filterwarnings("ignore:onax.experimental.pjit")
def test_the_mesh_of_with():
    with eight_devices():
        grid, four = mesh(x=4, y=2), mesh(x=4)
        double = pjit.pjit(lambda x: x * 2)
        there = jax.device_put(jnp.arange(8.0), NamedSharding(grid, P("x")))
        with grid:
            for x in (np.arange(8.0), jnp.arange(8.0)):
                assert double(x).sharding == NamedSharding(grid, P())
            assert double(there).sharding.spec == P("x")
            assert jax.jit(lambda x: x * 2)(np.arange(8.0)).devices() == {jax.devices()[0]}
        with four, pytest.raises(ValueError, match=r"incompatible devices .* jit's context mesh"):
            double(there)
        with jax.set_mesh(grid):
            assert isinstance(double(np.arange(8.0)).sharding, SingleDeviceSharding)
        assert isinstance(double(np.arange(8.0)).sharding, SingleDeviceSharding)
        copied = pickle.loads(pickle.dumps(pjit.pjit(negate)))
        with grid:
            assert copied(np.arange(8.0)).sharding == NamedSharding(grid, P())
        assert pjit.pjit(static_argnums=1)(lambda x, n: x * n)(3, 2) == 6


def in_mesh(grid, function):
    with grid:
        return function()


def nested(inner, **options):
    """A pjit of a call of another function, of which the options are given."""
    return pjit.pjit(lambda x: inner(lambda y: y + 1, **options)(x))


X = np.arange(8.0, dtype=np.float32)
NEEDS = "jit requires a non-empty mesh in context if you are passing `PartitionSpec`s to in_shardings"
PLACES = {  # which mesh the specs are over; None is the whole on all devices of it
    "None for the result": (lambda: pjit.pjit(negate, in_shardings=P("x"), out_shardings=None), P()),
    "None for the argument": (lambda: pjit.pjit(negate, in_shardings=None), P()),
    "None for one of two results": (
        lambda: lambda x: pjit.pjit(lambda x: (x, x), out_shardings=(P("y"), None))(x)[1],
        P(),
    ),
    "None and a keyword": (lambda: lambda x: pjit.pjit(negate, in_shardings=None)(x=x), P()),
    "jit in pjit": (lambda: nested(jax.jit, out_shardings=P("x")), P("x")),
    "pjit in pjit": (lambda: nested(pjit.pjit, out_shardings=P("x")), P("x")),
}


@pytest.mark.filterwarnings("ignore:onax.experimental.pjit")
@pytest.mark.parametrize("name", PLACES)
def test_specs_and_none_are_over_the_mesh_of_with(name):
    with eight_devices():
        grid = mesh(x=4, y=2)
        make, spec = PLACES[name]
        assert in_mesh(grid, lambda: make()(X)).sharding == NamedSharding(grid, spec)


@pytest.mark.filterwarnings("ignore:onax.experimental.pjit")
def test_meshes_that_do_not_count():
    with eight_devices():
        grid = mesh(x=4, y=2)
        there = jax.device_put(X, NamedSharding(grid, P("x")))
        for options in ({"in_shardings": None}, {"out_shardings": None}):
            assert pjit.pjit(negate, **options)(there).sharding.spec == P("x")  # None says nothing without a mesh
        with pytest.raises(RuntimeError, match="^p" + NEEDS), jax.set_mesh(grid):
            pjit.pjit(negate, in_shardings=P("x"))(X)
        for use in (lambda f: f(X), lambda f: f.lower(X), lambda f: jax.make_jaxpr(f)(X), lambda f: f.eval_shape(X)):
            with pytest.raises(RuntimeError, match=r"^jit requires .* to out_shardings"), grid:
                use(jax.jit(negate, out_shardings=P("x")))
        with pytest.raises(ValueError, match="Mesh context manager should not be used with jit"), grid:
            pjit.pjit(negate, device=jax.devices()[0])(X)
        with grid, pytest.raises(ValueError, match="does not match the sharding on the respective arg"):
            pjit.pjit(negate, in_shardings=None)(there)


def test_a_mesh_as_decorator():
    with eight_devices():
        grid = mesh(x=4, y=2)
        split = grid(lambda x: jax.lax.with_sharding_constraint(x, P("y")))
        assert split(X).sharding == NamedSharding(grid, P("y"))
        with pytest.raises(RuntimeError, match="non-empty mesh"):
            jax.lax.with_sharding_constraint(X, P("y"))


@pytest.mark.filterwarnings("ignore:onax.experimental.pjit")
def test_options_by_position():
    with eight_devices(), mesh(x=2):
        assert pjit.pjit(lambda x: x * 2, P("x"), P("x"))(np.arange(8.0)).sharding.spec == P("x")
        assert pjit.pjit(lambda x, n: x * n, None, None, 1)(3, 2) == 6
        pair = collections.namedtuple("Pair", ["x"])
        with pytest.raises(ValueError, match=r"in_shardings is not a tuple.*might need to be wrapped"):
            pjit.pjit(lambda x: x, pair(None), pair(None))(pair(1.0))
