"""Shardings in types.  Those of arrays over several processes are in test_multi_process."""

import onax as jax
from onax._core import explicit_axes
from virtual_devices import eight_devices


def test_shardings_of_types_keep_explicit_axes_alone():
    with eight_devices():
        both = jax.make_mesh((4, 2), ("x", "y"))
        half = jax.make_mesh((4, 2), ("x", "y"), (jax.sharding.AxisType.Explicit, jax.sharding.AxisType.Auto))
    whole = jax.NamedSharding(both, jax.P(("x", "y")))
    assert explicit_axes.explicit_sharding(whole, 2).spec == jax.P(("x", "y"), None)
    assert explicit_axes.explicit_sharding(jax.NamedSharding(half, jax.P(("x", "y"))), 2).spec == jax.P("x", None)
    assert explicit_axes.explicit_sharding(jax.NamedSharding(half, jax.P("y")), 2) is None
    assert explicit_axes.explicit_sharding(None, 2) is None
    assert explicit_axes.dimensions_text((8, 4), explicit_axes.explicit_sharding(whole, 2)) == "8@(x,y),4"


def test_automatic_axes_end_with_their_block():
    with explicit_axes.automatic_axes(), explicit_axes.automatic_axes():
        assert explicit_axes.seen.automatic
    assert not explicit_axes.seen.automatic
