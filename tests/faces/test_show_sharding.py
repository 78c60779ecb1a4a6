"""How shardings are shown: tables of devices, and the sharding a callback gets."""

import numpy as np
import pytest

import onax
from onax import debug
from virtual_devices import eight_devices

TABLES = [  # as JAX draws them with the package rich, recorded by hand
    (
        (4, 4),
        ("x", "y"),
        """
┌──────────┬──────────┐
│  CPU 0   │  CPU 1   │
├──────────┼──────────┤
│  CPU 2   │  CPU 3   │
├──────────┼──────────┤
│  CPU 4   │  CPU 5   │
├──────────┼──────────┤
│  CPU 6   │  CPU 7   │
└──────────┴──────────┘
""",
    ),
    (
        (8, 8),
        (None, "y"),
        """
┌───────────┬───────────┐
│           │           │
│           │           │
│           │           │
│           │           │
│CPU 0,2,4,6│CPU 1,3,5,7│
│           │           │
│           │           │
│           │           │
│           │           │
└───────────┴───────────┘
""",
    ),
    (
        (8,),
        ("x",),
        """
┌───────┬───────┬───────┬───────┐
│CPU 0,1│CPU 2,3│CPU 4,5│CPU 6,7│
└───────┴───────┴───────┴───────┘
""",
    ),
]


@pytest.mark.parametrize(("shape", "spec", "table"), TABLES)
def test_drawn(capsys, monkeypatch, shape, spec, table):
    monkeypatch.setenv("COLUMNS", "80")
    with eight_devices():
        sharding = onax.NamedSharding(onax.make_mesh((4, 2), ("x", "y")), onax.P(*spec))
        debug.visualize_sharding(shape, sharding)
        assert capsys.readouterr().out == table.lstrip()
        debug.visualize_array_sharding(onax.device_put(np.ones(shape, np.float32), sharding))
        assert capsys.readouterr().out == table.lstrip()


def test_not_drawn():
    place = onax.sharding.SingleDeviceSharding(onax.devices()[0])
    with pytest.raises(ValueError, match="1 and 2 dimensions"):
        debug.visualize_sharding((2, 2, 2), place)
    with pytest.raises(NotImplementedError, match="color_map"):
        debug.visualize_sharding((2, 2), place, color_map={})


def test_shardings_told():
    told = []
    with eight_devices():
        sharding = onax.NamedSharding(onax.make_mesh((8,), ("x",)), onax.P("x"))
        x = onax.device_put(np.ones(8, np.float32), sharding)
        inspect = lambda x: debug.inspect_array_sharding(x, callback=told.append) or x
        inspect(x)
        onax.vmap(inspect)(x)
        onax.grad(lambda x: inspect(x).sum())(x)
        assert told == [sharding] * 3
        onax.jit(inspect)(x)
        assert told[3].num_devices == 1
