"""The shardings of arguments and results that jit is given."""

import functools
import re

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax.sharding import NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices, mesh


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


X = np.arange(12, dtype=np.float32).reshape(4, 3)
INCOMPATIBLE = "Received incompatible devices for jitted computation. Got "


def half(start, kind="Auto"):
    """A sharding of the leading dimension over four devices from `start` on."""
    devices = jax.devices()[start : start + 4]
    four = jax.make_mesh((4,), ("x",), (getattr(jax.sharding.AxisType, kind),), devices=devices)
    return NamedSharding(four, P("x"))


ERRORS = {
    "jit to other devices than those of an argument": (
        lambda: jax.jit(lambda x: x, out_shardings=half(4))(jax.device_put(X, half(0))),
        ValueError,
        f"{INCOMPATIBLE}argument x of <lambda>.<locals>.<lambda> with shape float32[4,3] and with device ids "
        "[0, 1, 2, 3] on platform CPU and explicit output sharding with device ids [4, 5, 6, 7] on platform CPU",
    ),
    "device_put inside of jit to other devices": (
        lambda: jax.jit(lambda x: jax.device_put(x, half(4)))(jax.device_put(X, half(0))),
        ValueError,
        f"{INCOMPATIBLE}argument x of <lambda>.<locals>.<lambda> with shape float32[4,3] and with device ids "
        "[0, 1, 2, 3] on platform CPU and device_put inside jit with device ids [4, 5, 6, 7] on platform CPU at ",
    ),
    "device_put inside of jit to two meshes": (
        lambda: jax.jit(lambda x: jax.device_put(x, half(0)) + jax.device_put(x, half(4)))(X),
        ValueError,
        f"{INCOMPATIBLE}device_put inside jit with device ids [0, 1, 2, 3]",
    ),
    "jit of what lies in another memory": (
        lambda: jax.jit(lambda x: x, in_shardings=half(0).with_memory_kind("pinned_host"))(jax.numpy.asarray(X)),
        ValueError,
        "Memory kinds passed to jax.jit does not match memory kind on the respective arg. Got jit memory kind: "
        "pinned_host, arg memory kind: device for arg type: float32[4,3]",
    ),
    "jit of what lies elsewhere": (
        lambda: jax.jit(lambda x: x, in_shardings=NamedSharding(mesh(x=2), P()))(
            jax.device_put(X, NamedSharding(mesh(x=2), P("x")))
        ),
        ValueError,
        "Sharding passed to jit does not match the sharding on the respective arg.",
    ),
    "jit, shardings of another structure": (
        lambda: jax.jit(lambda x, y: x, in_shardings=(NamedSharding(mesh(x=2), P("x")),))(X, X),
        ValueError,
        "pjit in_shardings specification must be a tree prefix",
    ),
    "jit, results of another structure": (
        lambda: jax.jit(lambda x: (x, x), out_shardings=(NamedSharding(mesh(x=2), P("x")),))(X),
        ValueError,
        "Mismatch details (1 found):\npytree structure error: different lengths of tuple at key path\n    pjit out",
    ),
    "jit, shardings and keyword arguments": (
        lambda: jax.jit(lambda x: x, in_shardings=NamedSharding(mesh(x=2), P("x")))(x=X),
        ValueError,
        "pjit does not support kwargs when in_shardings is specified.",
    ),
    "jit of too few dimensions": (
        lambda: jax.jit(lambda x: x, in_shardings=NamedSharding(mesh(x=2), P("x")))(1.0),
        ValueError,
        "One of pjit arguments with pytree key path x is incompatible with its sharding annotation",
    ),
    "jit to too few dimensions": (
        lambda: jax.jit(lambda x: {"a": x}, out_shardings=NamedSharding(mesh(x=2), P("x")))(1.0),
        ValueError,
        "One of pjit outputs with pytree key path result['a'] is incompatible with its sharding annotation",
    ),
    "jit of open dimensions": (
        lambda: jax.jit(lambda x: x, in_shardings=NamedSharding(mesh(x=2), P(P.UNCONSTRAINED)))(X),
        ValueError,
        "Unconstrained dims are not allowed when passed to in_shardings",
    ),
    "jit to open dimensions": (
        lambda: jax.jit(lambda x: x, out_shardings=NamedSharding(mesh(x=2), P(P.UNCONSTRAINED)))(X),
        ValueError,
        "Unconstrained dims are not allowed when passed to out_shardings",
    ),
    "the mesh in a program": (
        lambda: jax.jit(lambda x: (jax.sharding.get_mesh(), x)[1])(X),
        ValueError,
        "`get_mesh` can only be used outside of `jax.jit`",
    ),
    "a mesh set in a program": (
        lambda: jax.jit(lambda x: (jax.set_mesh(mesh(x=2)), x)[1])(X),
        ValueError,
        "`set_mesh` can only be used outside of `jax.jit`",
    ),
    "jit to a spec without a mesh": (
        lambda: jax.jit(lambda x: x, out_shardings=P("x"))(X),
        RuntimeError,
        "jit requires a non-empty mesh in context if you are passing `PartitionSpec`s to out_shardings.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=re.escape(text)):
        call()


def test_places_beside_none():
    place = NamedSharding(mesh(x=4), P("x"))
    tree, places = {"a": None, "b": X}, {"a": None, "b": place}
    same = lambda t: t
    assert jax.jit(same, in_shardings=(places,), out_shardings=places)(tree)["b"].sharding == place
    assert jax.jit(same, out_shardings=place)(tree)["b"].sharding == place
    assert lax.with_sharding_constraint(tree, places)["b"].sharding == place


@pytest.mark.parametrize("spec", [P(), P("x"), P(None, "x")])
def test_device_put_inside_of_jit(spec):
    x = np.arange(16.0, dtype=np.float32).reshape(4, 4)
    for kind, expected in ("Auto", P("x")), ("Explicit", P(*spec, *[None] * (2 - len(spec)))):
        place = half(0, kind)
        put = functools.partial(jax.device_put, device=NamedSharding(place.mesh, spec))
        moved = jax.jit(put)(jax.device_put(x, place))
        assert moved.sharding == NamedSharding(place.mesh, expected)
        assert np.array_equal(moved, x)


def test_device_put_to_host_memory_inside_of_jit():
    host = half(0).with_memory_kind("pinned_host")
    put = jax.jit(lambda x: (jax.device_put(x * 2, host), x * 2))
    moved, other = jax.jit(put)(jax.device_put(X, half(0)))
    assert (moved.sharding, other.sharding) == (host, half(0))
    assert np.array_equal(moved, 2 * X)


@pytest.mark.parametrize("place", [NamedSharding, None])
def test_arguments_are_moved_to_the_one_device_of_a_function(place):
    x = jax.device_put(X, half(0) if place else jax.devices()[2])
    device = jax.devices()[1]
    with pytest.warns(DeprecationWarning):
        on_device = jax.jit(lambda x: x * 2, device=device)
    for _ in range(2):
        assert on_device(x).devices() == {device}
        assert np.array_equal(on_device(x), 2 * X)


ALIKE = {  # shardings of an argument and `in_shardings` of a function, and whether it is moved
    "from one device to another": (lambda: single(2), lambda: single(1), True),
    "one of several copies": (lambda: over(0, P()), lambda: single(5), True),
    "copies to other devices": (lambda: over(0, P()), lambda: over(4, P()), True),
    "shards to other devices": (lambda: half(0), lambda: half(4), True),
    "shards over another mesh": (lambda: half(0), lambda: NamedSharding(mesh(x=2, y=2), P(("x", "y"))), True),
    "shards to one device": (lambda: half(0), lambda: single(1), False),
    "copies to shards": (lambda: over(0, P()), lambda: half(0), False),
    "one device to shards": (lambda: single(0), lambda: half(0), False),
}


def single(i):
    return jax.sharding.SingleDeviceSharding(jax.devices()[i])


def over(start, spec):
    return NamedSharding(half(start).mesh, spec)


@pytest.mark.parametrize("name", ALIKE)
def test_committed_arguments_go_where_they_are_split_alike(name):
    given, wanted, moves = ALIKE[name]
    x, function = jax.device_put(X, given()), jax.jit(lambda x: x * 2, in_shardings=wanted())
    if moves:
        for _ in range(2):
            assert function(x).devices() == wanted().device_set
            assert np.array_equal(function(x), 2 * X)
    else:
        with pytest.raises(ValueError, match=r"^Sharding passed to jit does not match the sharding on the respective"):
            function(x)


def test_static_arguments_by_name_are_keywords():
    f = jax.jit(lambda x, n: x * n, static_argnames="n", in_shardings=(half(0),))
    assert f(X, 2).sharding == half(0)
    with pytest.raises(ValueError, match="pjit does not support kwargs when in_shardings is specified"):
        f(X, n=2)


def test_moves_to_the_device_of_a_function_are_guarded():
    x = jax.device_put(X, jax.devices()[0])
    with pytest.warns(DeprecationWarning):
        f = jax.jit(lambda x: x * 2, device=jax.devices()[1])
    with jax.transfer_guard("disallow"), pytest.raises(jax.errors.JaxRuntimeError, match="device-to-device"):
        f(x)


def constrained(x):
    return lax.with_sharding_constraint(x, half(0))


@pytest.mark.filterwarnings("ignore:backend and device argument")
@pytest.mark.parametrize(
    "make",
    [
        lambda: jax.jit(lambda x, y: (x, y), in_shardings=(half(0), half(4))),
        lambda: jax.jit(lambda x, y: x + y, in_shardings=half(0), out_shardings=half(4)),
        lambda: jax.jit(lambda x, y: constrained(x), in_shardings=half(4)),
        lambda: jax.jit(lambda x, y: constrained(x), device=jax.devices()[0]),
    ],
)
def test_devices_disagree_in_calls_and_ahead_of_time(make):
    struct = jax.ShapeDtypeStruct(X.shape, X.dtype)
    for use in (lambda f: f(X, X), lambda f: f.lower(struct, struct)):
        with pytest.raises(ValueError, match=r"^Received incompatible devices for jitted computation. Got "):
            use(make())


@pytest.mark.parametrize("option", ["in_shardings", "out_shardings"])
@pytest.mark.parametrize(
    ("sharding", "text"),
    [
        (lambda: P(P.UNCONSTRAINED), "Unconstrained dims are not allowed when passed to {}: P(UNCONSTRAINED,)"),
        (
            lambda: (NamedSharding(mesh(x=2), P(P.UNCONSTRAINED, "x")),),
            "Unconstrained dims are not allowed",
        ),
        (
            lambda: NamedSharding(jax.sharding.Mesh(np.empty((), object), ()), P()),
            "One of {} leaf specifications got an empty NamedSharding: ",
        ),
    ],
)
def test_shardings_that_are_refused_at_once(option, sharding, text):
    with pytest.raises(ValueError, match="^" + re.escape(text.format(option))):
        jax.jit(lambda x: x, **{option: sharding()})
