"""Arrays made of Python's objects, of other arrays, of rules, as NumPy makes them (answers in quotes are JAX's)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from agreement import assert_as_numpy, call
from onax.sharding import NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices

VALUES = [
    ("jnp.float32('2.5')", "Array(2.5, dtype=float32)"),
    ("jnp.int32('7')", "Array(7, dtype=int32)"),
    ("jnp.bool_('')", "Array(False, dtype=bool)"),
    ("jnp.array(['1.5', 2], 'float32')", "Array([1.5, 2. ], dtype=float32)"),
    ("jnp.float32(np.array(['1', '2']))", "Array([1., 2.], dtype=float32)"),
    ("jnp.complex64('1+2j')", "Array(1.+2.j, dtype=complex64)"),
    ("jnp.array({1}, 'bool')", "Array(True, dtype=bool)"),
    ("jnp.array([2**70], 'float32')", "Array([1.1805916e+21], dtype=float32)"),
    ("jnp.array(1j, 'bool')", "Array(True, dtype=bool)"),
    ("jnp.array([1j, 0], 'bool')", "Array([ True, False], dtype=bool)"),
    ("jnp.bool_(np.array([1j]))", "Array([ True], dtype=bool)"),
    ("jnp.array([1j, 0]).astype(bool)", "Array([ True, False], dtype=bool)"),
    ("jax.jit(lambda x: x.astype(bool))(jnp.array([1j, 0]))", "Array([ True, False], dtype=bool)"),
    ("jax.lax.convert_element_type(jnp.array([1j]), bool)", "Array([False], dtype=bool)"),
    ("jax.lax.convert_element_type(1j, bool)", "Array(True, dtype=bool)"),
    ("jnp.full(2, 1j, bool)", "Array([ True,  True], dtype=bool)"),
]
ERRORS = [
    ("jnp.float32(1j)", "TypeError", "float() argument must be a string or a real number, not 'complex'"),
    ("jnp.array([1, 2j], 'int32')", "TypeError", "int() argument must be a string"),
    ("jnp.full(2, 1j, dtype='float32')", "TypeError", "float() argument must be a string or a real number"),
    ("jnp.full_like(jnp.ones(2), 1j)", "TypeError", "float() argument must be a string or a real number"),
    ("jnp.array([2**70])", "OverflowError", "Python int too large"),
    ("jnp.array([float('nan')], 'int32')", "ValueError", "cannot convert float NaN to integer"),
    ("jnp.array([300.5], 'int8')", "OverflowError", "Python integer 300 out of bounds for int8"),
    ("jnp.array('1.5', 'int32')", "ValueError", "invalid literal for int()"),
    ("jnp.float32('x')", "ValueError", "could not convert string to float: 'x'"),
]


def run(expression):
    return eval(expression, {"jax": jax, "jnp": jnp, "np": np})


@pytest.mark.parametrize("expression, answer", VALUES)
def test_value(expression, answer):
    assert repr(run(expression)) == answer


@pytest.mark.parametrize("expression, kind, words", ERRORS)
def test_error(expression, kind, words):
    with pytest.raises(Exception) as caught:
        run(expression)
    assert type(caught.value).__name__ == kind
    assert str(caught.value).startswith(words)


X = np.arange(6.0).reshape(2, 3)
ROW = np.array([4.0, 8.0, 16.0])
CALLS = [
    call("zeros", (2, 3)), call("ones", 4, np.int8), call("zeros", (0, 2)),
    call("full", (2,), 3), call("full", (2, 3), ROW), call("full", (), 2.5, np.complex64),
    call("zeros_like", X), call("ones_like", X, np.uint8), call("full_like", X, 7), call("full_like", X, ROW, np.int32),
    call("zeros_like", X, shape=(4,)),
    call("broadcast_to", ROW, (2, 3)), call("copy", X),
    call(lambda xp: xp.frombuffer(np.arange(4.0).tobytes())),
    call(lambda xp: xp.frombuffer(b"abcdef", np.uint8, 3, 2)),
    call(lambda xp: xp.fromstring("1, 2, 3", dtype=np.int32, sep=",")),
    call(lambda xp: xp.asarray([[1, 2.5], (3, True)])), call(lambda xp: xp.array([], np.int8)),
    call(lambda xp: xp.array(2, ndmin=3)), call(lambda xp, x: xp.array([x, 2 * x]), X),
    call(lambda xp, x: xp.astype(x, np.int16), X),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_sequences_of_tracers():
    f = jax.jit(lambda x, y: jnp.array([x, [y, 1]][1:] + [[x, y]]))
    assert f(2.0, 3.0).tolist() == [[3, 1], [2, 3]]


WEAK = [
    (lambda: jnp.asarray(2), "int32", True),
    (lambda: jnp.array(2.0), "float32", True),
    (lambda: jnp.array([2.0]), "float32", False),
    (lambda: jnp.asarray(np.float64(2)), "float32", False),
    (lambda: jnp.full((2,), 3), "int32", True),
    (lambda: jnp.full_like(jnp.asarray(1), 2.5), "int32", True),
    (lambda: jnp.zeros_like(2.0), "float32", True),
]


@pytest.mark.parametrize(("make", "dtype", "weak"), WEAK)
def test_weak_types(make, dtype, weak):
    assert (str(make().dtype), make().weak_type) == (dtype, weak)


def test_devices():
    with eight_devices():
        third = jax.devices()[2]
        for make in (
            lambda **place: jnp.zeros(3, **place),
            lambda **place: jnp.asarray([1, 2], **place),
        ):
            x = make(device=third)
            assert x.device == third and x.committed and not make().committed


REFUSED = [
    (lambda: jnp.zeros((-1,)), (TypeError, ValueError), "nonnegative|negative"),
    (lambda: jnp.zeros(2.0), TypeError, "integer"),
    (lambda: jnp.empty(2, 3), TypeError, r"`jax.numpy.empty\(2, 3\)` when you meant `jax.numpy.empty\(\(2, 3\)\)`"),
    (lambda: jnp.ndarray((1, 1)), TypeError, "takes no arguments"),
    (lambda: jnp.broadcast_to(X, (2, 2)), ValueError, "broadcast"),
    (lambda: jnp.asarray("text"), TypeError, "not a valid JAX array type"),
    (lambda: jnp.asarray([[1], [2, 3]]), (TypeError, ValueError), "inhomogeneous|shape"),
    (lambda: jnp.zeros_like([1]), TypeError, "requires ndarray"),
    (lambda: jnp.fromfile("nothing"), NotImplementedError, "fromfile"),
    (lambda: jax.jit(jnp.zeros)(3), TypeError, "concrete"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


def test_conversions_with_a_device():
    """They are constraints: inside of a program the result gets the sharding, and committed arrays are not moved."""
    with eight_devices():
        first, second = jax.devices()[:2]
        place = NamedSharding(jax.make_mesh((2,), ("x",), (jax.sharding.AxisType.Auto,)), P("x"))
        conversions = (jnp.array, jnp.asarray, lambda x, device: jnp.asarray(x).astype(float, device=device))
        for convert in conversions:
            assert jax.jit(lambda x, f=convert: f(x, device=place))(np.arange(8)).sharding == place
            there = jax.device_put(np.arange(8), first)
            assert convert(there, device=first).device is first
            for device in (second, place, jax.sharding.SingleDeviceSharding(second)):
                assert convert(np.arange(8), device=device).committed
                with pytest.raises(ValueError, match=r"^Received incompatible devices for jitted computation. Got arg"):
                    convert(there, device=device)


def test_arrays_like_a_type_over_an_abstract_mesh():
    with eight_devices():
        mesh = jax.make_mesh((2,), ("x",))
        struct = jax.ShapeDtypeStruct((4,), np.float32, sharding=NamedSharding(mesh.abstract_mesh, P("x")))
        assert jnp.zeros_like(struct).devices() == {jax.devices()[0]}
        with jax.set_mesh(mesh):
            assert jnp.zeros_like(struct).sharding == NamedSharding(mesh, P("x"))
