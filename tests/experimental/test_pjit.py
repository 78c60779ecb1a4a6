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


@pytest.mark.filterwarnings("ignore:onax.experimental.pjit")
def test_options_by_position():
    with eight_devices(), mesh(x=2):
        assert pjit.pjit(lambda x: x * 2, P("x"), P("x"))(np.arange(8.0)).sharding.spec == P("x")
        assert pjit.pjit(lambda x, n: x * n, None, None, 1)(3, 2) == 6
        pair = collections.namedtuple("Pair", ["x"])
        with pytest.raises(ValueError, match=r"in_shardings is not a tuple.*might need to be wrapped"):
            pjit.pjit(lambda x: x, pair(None), pair(None))(pair(1.0))
