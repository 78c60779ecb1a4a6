"""full, full_like, empty, broadcast_like: dtypes, weak types, placement."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax import numpy as jnp
from onax.export import export, symbolic_shape
from virtual_devices import eight_devices

X = jnp.ones((2, 3), jnp.int8)
MADE = {  # call: (shape, dtype, weak type, value)
    "full of a Python number": (lambda: lax.full((2,), 3), (2,), "int32", True, 3),
    "full of a NumPy number": (lambda: lax.full((2,), np.int8(3)), (2,), "int8", False, 3),
    "full with a dtype": (lambda: lax.full((), 3, jnp.bfloat16), (), "bfloat16", False, 3),
    "full of nothing": (lambda: lax.full((0, 2), True), (0, 2), "bool", False, True),
    "full_like": (lambda: lax.full_like(X, 3.7), (2, 3), "int8", False, 3),
    "full_like of a number": (lambda: lax.full_like(2.0, 3), (), "float32", True, 3),
    "full_like with a shape": (lambda: lax.full_like(X, 1, shape=(4,)), (4,), "int8", False, 1),
    "full_like with a dtype": (lambda: lax.full_like(X, 1j, dtype=complex), (2, 3), "complex64", False, 1j),
    "full_like of a type": (lambda: lax.full_like(jax.ShapeDtypeStruct((3,), bool), 1), (3,), "bool", False, True),
    "empty": (lambda: lax.empty((2,), "uint8"), (2,), "uint8", False, 0),
    "broadcast_like": (lambda: lax.broadcast_like(np.int8([5]), np.ones((4, 2))), (4, 2), "int8", False, 5),
}


@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
@pytest.mark.parametrize("name", MADE)
def test_made(name, way):
    call, shape, dtype, weak, value = MADE[name]
    x = way(call)()
    assert (x.shape, str(x.dtype), x.weak_type) == (shape, dtype, weak)
    assert (np.asarray(x) == value).all()


def test_placement():
    with eight_devices():
        sharding = jax.NamedSharding(jax.make_mesh((8,), ("x",)), jax.P("x"))
        x = lax.full((8,), np.float32(2), sharding=sharding)
        assert x.sharding == sharding and x.tolist() == [2.0] * 8
        assert lax.full_like(x, 1).sharding == sharding
        assert lax.full_like(x, 1, shape=(2, 4)).sharding != sharding
        weak = lax.full((8,), 2.0, sharding=sharding)
        assert weak.weak_type and lax.full_like(weak, 1).sharding != sharding
        assert lax.empty((8,), np.float32, out_sharding=sharding).sharding == sharding
        described = jax.ShapeDtypeStruct((8,), np.float32, sharding=sharding)
        assert jnp.zeros_like(described).sharding == sharding == jnp.full_like(described, 2, dtype=int).sharding
        assert jnp.zeros_like(described, shape=(3,)).sharding != sharding
        assert jax.jit(lambda: jnp.ones_like(described))().sharding != sharding


@pytest.mark.parametrize("spec", [("x", None), ("x", None, None), (None, None)])
@pytest.mark.parametrize(
    "make",
    {
        "lax.full": lambda s: lax.full((8,), 1.0, sharding=s),
        "lax.full_like": lambda s: lax.full_like(jnp.zeros(8), 1.0, sharding=s),
        "jnp.ones": lambda s: jnp.ones(8, device=s),
        "callback": lambda s: jax.make_array_from_callback((8,), s, lambda index: np.ones(8, np.float32)[index]),
    }.values(),
    ids=("lax.full", "lax.full_like", "jnp.ones", "callback"),
)
def test_placement_by_a_spec_that_splits_nothing_beyond_the_dimensions(make, spec):
    with eight_devices():
        mesh = jax.make_mesh((8,), ("x",), (jax.sharding.AxisType.Auto,))
        sharding = jax.NamedSharding(mesh, jax.P(*spec))
        x = make(sharding)
        assert x.sharding == sharding and x.tolist() == [1.0] * 8 and (x + x).tolist() == [2.0] * 8
        lengths = {shard.data.shape for shard in x.addressable_shards}
        assert lengths == {sharding.shard_shape((8,))} == {(1,) if spec[0] else (8,)}
        assert x.reshape(2, 4).shape == (2, 4) and jax.jit(jnp.sum)(x) == 8
        with pytest.raises(ValueError, match="is only valid for values of rank at least"):
            jax.device_put(np.ones(8), sharding)
        with pytest.raises(ValueError, match="is only valid for values of rank at least"):
            make(jax.NamedSharding(mesh, jax.P(None, "x")))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lax.full((2,), np.ones(2)), TypeError, "scalar"),
        (lambda: lax.broadcast_like(np.ones(3), np.ones((3, 2))), ValueError, "Incompatible shapes"),
        (lambda: lax.broadcast_like(np.ones((1, 2)), np.ones(2)), ValueError, "Incompatible shapes"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_shapes_as_values():
    assert type(lax.shape_as_value((2, 3))) is np.ndarray and lax.shape_as_value((2, 3)).tolist() == [2, 3]
    assert lax.shape_as_value((2, 3)).dtype == np.int32
    assert repr(lax.shape_as_value(())) == "Array([], shape=(0,), dtype=int32)"
    spec = jax.ShapeDtypeStruct(symbolic_shape("n, 3"), np.float32)
    exported = export(jax.jit(lambda x: lax.shape_as_value(x.shape)))(spec)
    assert exported.call(np.ones((5, 3), np.float32)).tolist() == [5, 3]
