"""Transfer guards: which operations bring values to a device or from one to another, and what the levels do.

What is refused is what JAX 0.10.2 refuses on its CPU backend.
"""

import threading

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax, random
from onax.errors import JaxRuntimeError
from onax.sharding import NamedSharding, SingleDeviceSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices, mesh

X = jnp.ones(3)
SCALAR = jnp.float32(2)
KEY = random.key(0)
HOST = np.ones(3, np.float32)
increment = onax.jit(lambda x: x + 1)
increment(X)
increment(HOST)

IMPLICIT = {
    "jit of an ndarray": lambda: increment(HOST),
    "jit of a number": lambda: increment(1.0),
    "jit of a NumPy scalar": lambda: increment(np.float32(1)),
    "jit of a tree": lambda: onax.jit(lambda t: t["a"])({"a": HOST}),
    "compiled on the first call": lambda: onax.jit(lambda x: x * 3)(HOST),
    "number after an operator": lambda: X + 1,
    "number before an operator": lambda: 2.0 - X,
    "ndarray and an operator": lambda: X * HOST,
    "comparison": lambda: X > 0,
    "ufunc": lambda: jnp.add(X, 1),
    "maximum": lambda: jnp.maximum(X, 0),
    "clip": lambda: jnp.clip(X, 0, 1),
    "where": lambda: jnp.where(X > X, X, 0),
    "function of an ndarray": lambda: jnp.sin(HOST),
    "reduction of an ndarray": lambda: jnp.sum(HOST),
    "concatenate": lambda: jnp.concatenate([X, HOST]),
    "lax": lambda: lax.add(X, HOST),
    "lax of a number": lambda: lax.add(X, 1.0),
    "ones": lambda: jnp.ones(3),
    "zeros": lambda: jnp.zeros((2, 2)),
    "full": lambda: jnp.full(3, 2.0),
    "eye": lambda: jnp.eye(2),
    "zeros_like": lambda: jnp.zeros_like(X),
    "array of a list": lambda: jnp.array([1, 2]),
    "asarray": lambda: jnp.asarray(HOST),
    "scalar type": lambda: jnp.float32(1),
    "ndarray as an index": lambda: X[HOST.astype(int)],
    "update": lambda: X.at[0].set(SCALAR),
    "key": lambda: random.key(0),
    "fold_in": lambda: random.fold_in(KEY, 1),
    "randint": lambda: random.randint(KEY, (3,), 0, 5),
}
NO_TRANSFER = {
    "jit of an array": lambda: increment(X),
    "jit of a scalar array": lambda: increment(SCALAR),
    "constant of a program": lambda: onax.jit(lambda x: x + HOST)(X),
    "static argument": lambda: onax.jit(lambda x, n: x * n, static_argnums=1)(X, 3),
    "made in a program": lambda: onax.jit(lambda: jnp.ones(3))(),
    "operator": lambda: X + X,
    "square": lambda: X**2,
    "scalar array": lambda: X + SCALAR,
    "sum": lambda: jnp.sum(X, 0),
    "mean": lambda: X.mean(),
    "norm": lambda: jnp.linalg.norm(X),
    "allclose": lambda: jnp.allclose(X, X),
    "median": lambda: jnp.median(X),
    "cov": lambda: jnp.cov(X),
    "stack": lambda: jnp.stack([X, X]),
    "array of arrays": lambda: jnp.array([X, X]),
    "reshape": lambda: X.reshape(3, 1),
    "roll": lambda: jnp.roll(X, 1),
    "new axis": lambda: X[None],
    "arange": lambda: jnp.arange(3),
    "scan": lambda: lax.scan(lambda c, x: (c, x), SCALAR, X),
    "relu": lambda: onax.nn.relu(X),
    "split": lambda: random.split(KEY),
    "normal": lambda: random.normal(KEY, (3,)),
    "read": lambda: (np.asarray(X), float(SCALAR), str(X), onax.device_get(X)),
    "make_jaxpr": lambda: onax.make_jaxpr(lambda x: x + 1)(HOST),
}
EXPLICIT = {
    "device_put": lambda: onax.device_put(HOST),
    "device_put of a tree": lambda: onax.device_put({"a": X, "b": 1.0}),
    "scalar type of an ndarray": lambda: jnp.float32(HOST),
}


@pytest.mark.parametrize("guard", [onax.transfer_guard, onax.transfer_guard_host_to_device])
@pytest.mark.parametrize("name", IMPLICIT)
def test_implicit_transfers_are_refused(name, guard):
    with guard("disallow"), pytest.raises(JaxRuntimeError, match="Disallowed host-to-device transfer"):
        IMPLICIT[name]()
    with guard("allow"):
        IMPLICIT[name]()
    with guard("log"):
        IMPLICIT[name]()


@pytest.mark.parametrize("name", NO_TRANSFER)
def test_what_brings_nothing_from_the_host_is_never_refused(name):
    with onax.transfer_guard("disallow_explicit"):
        NO_TRANSFER[name]()


@pytest.mark.parametrize("name", EXPLICIT)
def test_explicit_transfers_are_refused_by_disallow_explicit_alone(name):
    with onax.transfer_guard("disallow"):
        EXPLICIT[name]()
    with onax.transfer_guard("disallow_explicit"), pytest.raises(JaxRuntimeError, match="host-to-device"):
        EXPLICIT[name]()


def test_text_of_the_error():
    with onax.transfer_guard("disallow"), pytest.raises(JaxRuntimeError) as info:
        increment(HOST)
    assert str(info.value).splitlines()[0] == (
        "INVALID_ARGUMENT: Disallowed host-to-device transfer: aval=ShapedArray(float32[3]), "
        "dst_sharding=SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)"
    )


def test_logged_transfers(caplog):
    with onax.transfer_guard("log"):
        onax.device_put(HOST)
        assert not caplog.records
        increment(HOST)
    assert [r.message.split(":")[0] for r in caplog.records] == ["host-to-device transfer"]
    caplog.clear()
    with onax.transfer_guard_host_to_device("log_explicit"):
        onax.device_put(HOST)
    assert len(caplog.records) == 1


def test_the_innermost_guard_of_a_direction_holds():
    with onax.transfer_guard_host_to_device("disallow"):
        with onax.transfer_guard("allow"):
            increment(HOST)
        with pytest.raises(JaxRuntimeError):
            increment(HOST)
    with onax.transfer_guard("disallow"), onax.transfer_guard_host_to_device("allow"):
        increment(HOST)
    with onax.transfer_guard_device_to_host("disallow"), onax.transfer_guard_device_to_device("disallow"):
        increment(HOST)


def test_a_guard_is_that_of_its_thread_and_of_decorated_functions():
    results = []
    with onax.transfer_guard("disallow"):
        thread = threading.Thread(target=lambda: results.append(increment(HOST)))
        thread.start()
        thread.join()
    assert len(results) == 1
    guarded = onax.transfer_guard("disallow")(lambda: increment(HOST))
    for _ in range(2):
        with pytest.raises(JaxRuntimeError):
            guarded()
    increment(HOST)


def test_guards_of_all_threads():
    try:
        onax.config.update("jax_transfer_guard", "disallow")
        assert onax.config.jax_transfer_guard_host_to_device == "disallow"
        with pytest.raises(JaxRuntimeError):
            increment(HOST)
        with onax.transfer_guard_host_to_device("allow"):
            increment(HOST)
    finally:
        onax.config.update("jax_transfer_guard", None)
    increment(HOST)
    with pytest.raises(ValueError, match="new enum value must be None or in"):
        onax.transfer_guard("never")


def test_programs_are_not_compiled_again():
    traced = []

    @onax.jit
    def function(x):
        traced.append(x)
        return x + 1

    function(X)
    with onax.transfer_guard("disallow"):
        function(X)
    function(X)
    assert len(traced) == 1


def test_transfers_between_devices():
    guard = onax.transfer_guard_device_to_device
    with eight_devices():
        last, over_all = onax.devices()[-1], NamedSharding(mesh(x=8), P("x"))
        there, split = onax.device_put(X, last), onax.device_put(jnp.arange(8.0), over_all)
        moved = [
            lambda: X + there,
            lambda: jnp.add(there, X),
            lambda: onax.jit(lambda x: x + 1, in_shardings=SingleDeviceSharding(last))(X),
            lambda: onax.jit(lambda x: x + 1, out_shardings=SingleDeviceSharding(last))(X),
            lambda: split + SCALAR,
        ]
        unmoved = [
            lambda: there + 1,
            lambda: there + HOST,
            lambda: increment(there),
            lambda: split + split,
            lambda: split.sum(),
            lambda: onax.device_get(split),
            lambda: onax.device_put(X, onax.devices()[0]),
        ]
        for function in moved:
            with guard("disallow"), pytest.raises(JaxRuntimeError, match="Disallowed device-to-device transfer"):
                function()
            with onax.transfer_guard_host_to_device("disallow"):
                function()
        with guard("disallow_explicit"):
            for function in unmoved:
                function()
        with guard("disallow"):
            onax.device_put(X, last)
        with guard("disallow_explicit"), pytest.raises(JaxRuntimeError, match="device-to-device"):
            onax.device_put(X, last)
        with onax.transfer_guard_host_to_device("disallow_explicit"), pytest.raises(JaxRuntimeError, match="host-to-d"):
            onax.device_put(split, last)  # as in JAX, arrays over several devices are put together on the host


EXPLICIT_MOVES = {  # from a sharding to another one: (spec, first device), (spec, devices), what is refused
    "to the same devices in another order": (P("x"), (P("x"), (1, 0)), None),
    "copies to the same devices in another order": (P(), (P("x"), (1, 0)), None),
    "one of several copies": (P(), (None, (1,)), None),
    "copies elsewhere": (P(), (None, (2,)), "host-to-device"),
    "equal shards": (P("x"), (P("x"), (2, 3)), "device-to-device"),
    "other shards": (P("x"), (P(), (0, 1)), "host-to-device"),
    "other shards elsewhere": (P(), (P("x"), (2, 3)), "host-to-device"),
    "to one device": (P("x"), (None, (1,)), "host-to-device"),
}


@pytest.mark.parametrize("name", EXPLICIT_MOVES)
def test_explicit_moves_of_arrays_over_several_devices(name):
    given, (spec, ids), refused = EXPLICIT_MOVES[name]
    with eight_devices():
        devices = [onax.devices()[i] for i in ids]
        x = onax.device_put(jnp.arange(8.0), NamedSharding(onax.sharding.Mesh(onax.devices()[:2], "x"), given))
        place = devices[0] if spec is None else NamedSharding(onax.sharding.Mesh(devices, "x"), spec)
        with onax.transfer_guard("disallow"):
            onax.device_put(x, place)
        with onax.transfer_guard("disallow_explicit"):
            if refused is None:
                np.testing.assert_array_equal(onax.device_put(x, place), np.arange(8.0))
            else:
                with pytest.raises(JaxRuntimeError, match=f"Disallowed {refused} transfer"):
                    onax.device_put(x, place)
