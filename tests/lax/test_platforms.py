"""platform_dependent: the branch for this platform, or the default."""

import pytest

import onax as jax
from onax import lax


def failing(x):
    raise AssertionError("a branch of another platform is never traced")


@pytest.mark.parametrize("way", [lambda f: f, jax.jit, jax.grad])
@pytest.mark.parametrize("branches", [{"cpu": lambda x: x * 3, "tpu": failing}, {"default": lambda x: x * 3}])
def test_chosen(branches, way):
    chosen = way(lambda x: lax.platform_dependent(x, **branches))(2.0)
    assert float(chosen) == (3 if way is jax.grad else 6)


def test_refusals():
    with pytest.raises(TypeError, match="'tpu' branch must be a callable"):
        lax.platform_dependent(1.0, tpu=3)
    with pytest.raises(NotImplementedError, match=r"branches for \['cuda', 'tpu'\]"):
        lax.platform_dependent(1.0, tpu=failing, cuda=failing)
