"""What tracers of shard_map's body show where the function is applied to arrays at once."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.sharding import AxisType
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


def shown(function, x, spec, axes=("i",), kind=AxisType.Explicit):
    """What `function` makes of a shard, as text."""
    texts = []
    mesh = jax.make_mesh((2,) * len(axes), axes, (kind,) * len(axes))

    def body(shard):
        texts.append(str(function(shard)))
        return shard

    x = jax.device_put(x, jax.NamedSharding(mesh, spec))
    jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec)(x)
    return texts[0]


def on_devices(axes, values):
    names = f"({', '.join(axes)},)"
    places = list(np.ndindex((2,) * len(axes)))
    return "\n".join(
        f"On cpu:{n} at mesh coordinates {names} = {place}:\n{value}\n"
        for n, (place, value) in enumerate(zip(places, values, strict=True))
    )


X = np.arange(4, dtype=np.int32)
SHOWN = {
    "an argument": (lambda x: x, P("i"), ["[0 1]", "[2 3]"]),
    "a whole argument": (lambda x: x, P(), ["[0 1 2 3]"] * 2),
    "an operation": (lambda x: x + 1, P("i"), ["[1 2]", "[3 4]"]),
    "a sum over devices": (lambda x: lax.psum(x, "i"), P("i"), ["[2 4]"] * 2),
    "a constant": (lambda x: jnp.arange(2), P("i"), ["[0 1]"] * 2),
    "the place on the axis": (lambda x: lax.axis_index("i"), P("i"), ["0", "1"]),
    "a jitted function": (lambda x: jax.jit(lambda y: y * 2)(x), P("i"), ["[0 2]", "[4 6]"]),
    "a gradient": (
        lambda x: jax.grad(lambda y: (y**2).sum())(x.astype(np.float32)), P("i"), ["[0. 2.]", "[4. 6.]"],
    ),
    "a reference": (lambda x: _doubled(x), P("i"), ["[0 2]", "[4 6]"]),
}  # fmt: skip


def _doubled(x):
    ref = jax.new_ref(x)
    ref[...] += x
    return ref[...]


@pytest.mark.parametrize("kind", [AxisType.Explicit, AxisType.Auto])
@pytest.mark.parametrize("name", SHOWN)
def test_values(name, kind):
    function, spec, values = SHOWN[name]
    assert shown(function, X, spec, kind=kind) == on_devices(("i",), values)


def test_two_axes():
    assert shown(lambda x: x, X.reshape(2, 2), P("i", "j"), ("i", "j")) == on_devices(
        ("i", "j"), ["[[0]]", "[[1]]", "[[2]]", "[[3]]"]
    )


def test_truth():
    assert shown(lambda x: "yes" if lax.psum(x, "i").sum() > 5 else "no", X, P("i")) == "yes"
    with pytest.raises(jax.errors.TracerBoolConversionError):
        shown(lambda x: "yes" if x.sum() > 5 else "no", X, P("i"))


def test_of_programs():
    mesh = jax.make_mesh((2,), ("i",))
    texts = []
    f = jax.jit(jax.shard_map(lambda x: (texts.append(str(x)), x)[1], mesh=mesh, in_specs=P("i"), out_specs=P("i")))
    f(X)
    assert texts == ["JitTracer(int32[2]{V:i})"]
