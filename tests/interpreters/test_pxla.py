"""There are no compile options of XLA; the mesh of ``with mesh:``."""

import pytest

import onax as jax
from onax.interpreters import pxla
from onax.sharding import AxisType


def test_refusal():
    with pytest.raises(NotImplementedError, match="not with XLA"):
        pxla.create_compile_options(1)


@pytest.mark.filterwarnings("ignore:onax.interpreters.pxla.thread_resources")
def test_the_mesh_of_with():
    mesh, other = (jax.make_mesh((1,), (name,), (AxisType.Auto,)) for name in "xy")
    current = lambda: pxla.thread_resources.env.physical_mesh
    assert current().empty
    with mesh:
        with jax.set_mesh(other), other:
            assert current() is other
        with jax.set_mesh(other):
            assert current() is mesh
    assert current().empty
    with pytest.raises(AttributeError, match="no attribute 'no_such'"):
        pxla.no_such  # noqa: B018


def test_thread_resources_are_deprecated():
    with pytest.warns(DeprecationWarning, match="thread_resources is deprecated"):
        pxla.thread_resources  # noqa: B018
