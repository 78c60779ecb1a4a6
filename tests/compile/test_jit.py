"""jit end to end: values through ONNX Runtime, caching, static arguments, placement, errors."""

import dataclasses
import functools
import os
import pickle
import subprocess
import sys
import threading
import traceback

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import debug
from onax._compile import memory_limit
from onax._compile.jit import jit
from onax._ground import errors
from onax._ground.config import config
from onax._ground.dtypes import KeyType
from onax._native.array import ArrayImpl, from_user, make_array
from onax._prims import elementwise as ops
from onax._prims import shaping
from onax._transforms.abstract import make_jaxpr
from onax._transforms.autodiff import grad
from onax._transforms.vmap import vmap

X = np.arange(3, dtype=np.float32)
DTYPES = ["f4", "f2", ml_dtypes.bfloat16, "i1", "i2", "i4", "u1", "u2", "u4"]


def values(x):
    return np.asarray(x).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (0, 3), (2, 2)])
def test_dtypes_and_shapes(dtype, shape):
    x = (np.arange(np.prod(shape, dtype=int)).reshape(shape) + 1).astype(dtype)
    out, same = jit(lambda a: (ops.add(a, a), a))(x)
    assert out.dtype == same.dtype == x.dtype and out.shape == shape
    assert values(out) == values(x + x) and values(same) == values(x)


@pytest.mark.parametrize("dtype", [*DTYPES, "c8", "?"])
def test_moves(dtype):
    x = np.arange(6).astype(dtype)
    out = jit(lambda a: shaping.reshape(a, (2, 3)))(x)
    assert out.dtype == x.dtype and values(out) == values(x.reshape(2, 3))


BIG = from_user(np.arange(1000, dtype=np.float32))
FUNCTIONS = [
    (lambda: (), (), ()),
    (lambda: 3, (), 3),
    (lambda a: None, (1,), None),
    (lambda a: {"a": a, "b": (a, 2.0)}, (X,), {"a": X, "b": (X, 2.0)}),
    (lambda a, b: ops.add(b, b), (1.0, X), X + X),
    (lambda a: (lambda y: (y, y))(ops.add(a, a)), (X,), (X + X, X + X)),
    (lambda a: ops.add(a, X), (X,), X + X),
    (lambda a: ops.add(a, BIG), (np.float32(1),), np.arange(1000) + 1),
    (lambda a: BIG, (1,), np.arange(1000)),
    (lambda a: ops.add(a, a), (X[::2],), X[::2] * 2),
    (lambda a: shaping.reshape(a, (3,)), (X.reshape(1, 3),), X),
    (lambda d: ops.add(d["x"], d["y"][0]), ({"y": [X], "x": X},), X + X),
]


@pytest.mark.parametrize("fun, args, expected", FUNCTIONS)
def test_functions(fun, args, expected):
    jitted = jit(fun)
    for _ in range(2):
        out = jitted(*args)
        np.testing.assert_equal(
            [values(x) for x in _flat(out)], [values(np.asarray(x, np.asarray(x).dtype)) for x in _flat(expected)]
        )
        assert all(isinstance(x, ArrayImpl) for x in _flat(out))
    assert jitted._cache_size() == 1


def _flat(x):
    if isinstance(x, dict):
        return [leaf for k in sorted(x) for leaf in _flat(x[k])]
    return [leaf for y in x for leaf in _flat(y)] if isinstance(x, (tuple, list)) else [] if x is None else [x]


@pytest.mark.parametrize(
    "fun, arg, weak",
    [
        (lambda x: x, 1.0, True),
        (lambda x: x, np.float32(1), False),
        (lambda x: x, True, False),
        (lambda x: ops.add(x, 1.0), 2.0, True),
        (lambda x: ops.add(x, 1.0), np.float32(2), False),
        (lambda x: 3.0, np.float32(2), True),
    ],
)
def test_weak_types(fun, arg, weak):
    assert jit(fun)(arg).weak_type is weak


class Convertible:
    def __jax_array__(self):
        return X


def bad_type(x):
    return 0


class Incomparable:
    def __init__(self):
        self.name = "incomparable"

    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise KeyError("no comparison")


def identity(x):
    return x


STRUCT = jax.ShapeDtypeStruct((), np.float32)


def called_twice(static=(), **values):
    function = jit(lambda x: 0, static_argnums=static)
    for _ in range(2):
        function(*(make() for make in values.values()))


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Labelled:
    value: object
    label: object = dataclasses.field(metadata={"static": True})


class Silent:
    def __call__(self, x):
        return x

    def __repr__(self):
        raise ValueError("no text")


def test_a_function_whose_text_cannot_be_made_has_a_text():
    jitted = jit(Silent())
    assert repr(jitted) == "<PjitFunction>" and repr(jit(bad_type)) == f"<PjitFunction of {bad_type!r}>"
    del jitted.__wrapped__
    assert repr(jitted) == "<PjitFunction>" and jitted(3) == 3


def test_fields_that_cannot_be_compared_but_are_the_same_are_equal():
    shared = Labelled(1.0, X)
    assert [float(jit(lambda d: d.value)(shared)) for _ in range(2)] == [1.0, 1.0]


ERRORS = [
    (lambda: jit(bad_type)("a"), TypeError, r"(?s)Error interpreting argument to .*bad_type.* at path x\..*static"),
    (lambda: jit(lambda x, y: 0)(1, {"k": object()}), TypeError, r"at path y\['k'\]"),
    (lambda: jit(bad_type)(np.array(["a"])), TypeError, "Error interpreting argument to"),
    (lambda: jit(bad_type)(np.ones(2, np.longdouble)), TypeError, "Error interpreting argument to"),
    (lambda: jit(bad_type)(2**40), OverflowError, "argument path is x. Got <class 'int'> with value 1099511627776"),
    (lambda: called_twice(x=iter([1, 2**31]).__next__), OverflowError, "^An overflow.* argument path is x. Got <class"),
    (
        lambda: jit(identity)(STRUCT),
        TypeError,
        r"^Argument 'x' of shape float32\[\] of type .* is not a valid JAX type",
    ),
    (lambda: jit(lambda: jit(identity)(STRUCT))(), TypeError, "^A ShapeDtypeStruct does not have a value and cannot"),
    (
        lambda: jit(lambda x: jit(lambda y: y + jit(identity)(STRUCT))(x)).lower(1.0),
        TypeError,
        "^A ShapeDtypeStruct does not have a value",
    ),
    (lambda: jit(bad_type)(np.ma.array([1.0])), ValueError, "masked arrays are not supported"),
    (lambda: jit(bad_type)(Convertible()), ValueError, "Triggering __jax_array__"),
    (lambda: jit(lambda x: "a")(1), TypeError, "returned a value of type <class 'str'>, which is not a valid JAX type"),
    (lambda: jit(lambda x: 0)(), TypeError, "missing 1 required positional argument: 'x'"),
    (lambda: jit(3), TypeError, "Expected a callable value, got 3"),
    (lambda: jit(staticmethod(bad_type)), TypeError, "staticmethod arguments are not supported, got <staticmethod"),
    (
        lambda: called_twice(0, x=Incomparable),
        ValueError,
        "(?s)^static arguments should be comparable.*Incomparable'>: K",
    ),
    (
        lambda: called_twice(x=lambda: Labelled(1.0, np.ones(3))),
        ValueError,
        "^Exception raised while checking equality",
    ),
    (
        lambda: called_twice(x=lambda: Labelled(1.0, Incomparable())),
        ValueError,
        "^Exception raised while checking equa",
    ),
    (lambda: jit(lambda: (yield)), TypeError, "Expected a function, got a generator function"),
    (lambda: jit(lambda x: 0, static_argnums=0)([1]), ValueError, "Non-hashable static arguments"),
    (
        lambda: jit(lambda x: ops.mul(x, x), compiler_options={"foo": 1})(X),
        RuntimeError,
        "No such compile option: 'foo'",
    ),
    (
        lambda: jit(lambda x: jit(lambda y: ops.mul(y, y), compiler_options={"foo": 1})(x))(X),
        ValueError,
        "`compiler_options` can only be passed to top-level `jax.jit`",
    ),
    (lambda: jit(lambda x: 1 if ops.gt(x, 0.0) else 2)(1.0), errors.TracerBoolConversionError, "argument x"),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_escaped_tracers():
    kept = []
    jit(lambda x: kept.append(x))(1.0)
    for use in (lambda: jit(lambda x: x)(kept[0]), lambda: ops.add(kept[0], 1.0)):
        with pytest.raises(errors.UnexpectedTracerError):
            use()


def test_with_other_transformations():
    square_sum = jit(lambda a: shaping.reduce_sum(ops.mul(a, a), (0,)))
    for f in (grad(square_sum), jit(grad(square_sum)), jit(grad(jit(square_sum)))):
        assert values(f(X)) == [0, 2, 4]
    rows = np.stack([X, X + 1])
    for f in (vmap(square_sum), jit(vmap(square_sum)), vmap(jit(vmap(jit(lambda a: ops.mul(a, a)))))):
        assert np.allclose(np.asarray(f(rows)).sum(), (rows * rows).sum())
    inner = jit(lambda a, b: ops.add(a, b))
    assert values(jit(lambda a: inner(a, inner(a, 2.0)))(X)) == [2, 4, 6]


def test_inline():
    text = str(make_jaxpr(jit(lambda x: ops.mul(x, x), inline=True))(1.0))
    assert "jit" not in text and "mul" in text
    text = str(make_jaxpr(jit(module_level))(1.0))
    assert "name=module_level" in text


def test_metadata_and_methods():
    @jit
    def foo(x):
        "doc"
        return x

    assert (foo.__name__, foo.__doc__, foo.__wrapped__(5)) == ("foo", "doc", 5) and "PjitFunction" in repr(foo)

    class Scale:
        by = 3.0

        @functools.partial(jit, static_argnums=0)
        def call(self, x):
            return ops.mul(x, self.by)

        @jit
        def broken(self, x):
            return x

    assert values(Scale().call(X)) == [0, 3, 6]
    with pytest.raises(TypeError, match="at path self"):
        Scale().broken(X)
    assert values(jit(functools.partial(ops.add, X))(X)) == [0, 2, 4]


def module_level(x):
    return ops.add(x, x)


def test_pickle():
    again = pickle.loads(pickle.dumps(jit(module_level, keep_unused=True)))
    assert values(again(X)) == [0, 2, 4] and again._options.keep_unused


def test_options_belong_to_the_key():
    f = jit(lambda x: ops.add(x, x))
    assert f(np.ones(2)).dtype == np.float32
    config.update("jax_enable_x64", True)
    try:
        assert f(np.ones(2)).dtype == np.float64
    finally:
        config.update("jax_enable_x64", False)
    assert f(np.ones(2)).dtype == np.float32 and f._cache_size() == 2


def test_a_jitted_function_that_is_jitted_again_has_the_outer_options():
    inner = jit(lambda x, y: ops.mul(x, x), keep_unused=True)
    assert inner._options.keep_unused and not jit(inner)._options.keep_unused


def test_debugging_options():
    seen = []
    f = jit(lambda x: (seen.append(type(x)), ops.log(x))[1])
    with _set("jax_disable_jit", True):
        f(np.float32(1))
    assert seen == [np.float32]
    with _set("jax_debug_nans", True), pytest.raises(FloatingPointError, match="nan"):
        f(-1.0)
    assert np.isnan(np.asarray(f(-1.0)))
    with _set("jax_no_tracing", True), pytest.raises(RuntimeError, match="re-tracing function"):
        jit(lambda x: x)(1.0)


class _set:
    def __init__(self, name, value):
        self.name, self.value = name, value

    def __enter__(self):
        self.before = config.read(self.name)
        config.update(self.name, self.value)

    def __exit__(self, *_):
        config.update(self.name, self.before)


def test_threads():
    f = jit(lambda x: ops.add(ops.mul(x, x), 1.0))
    wrong = []

    def work(k):
        for i in range(50):
            x = np.full((k % 2 + 2,), i, np.float32)
            if values(f(x)) != values(x * x + 1):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and f._cache_size() == 2


PLACES = """
import warnings
import numpy as np
from onax._compile.jit import jit
from onax._core.sharding import SingleDeviceSharding
from onax._ground.devices import devices
from onax._native import context
from onax._prims import elementwise as ops
from onax._transforms.transfer import device_put

first, second = devices()
x = np.ones(2, np.float32)
f = jit(lambda x, y: (ops.add(x, y), x, 3.0))

def places(results):
    return {(r.device, r._committed) for r in results}

assert places(f(x, x)) == {(first, False)}
a = device_put(x, second)
assert places(f(a, x)) == places(f(x, a)) == {(second, True)}
try:
    f(a, device_put(x, first))
except ValueError as error:
    assert "argument x of <lambda> with shape float32[2] and with device ids [1] on platform CPU" in str(error)
else:
    raise AssertionError
double = lambda x: ops.add(x, x)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert places([jit(double, device=second)(x)]) == {(second, True)}
assert caught[0].category is DeprecationWarning and caught[0].filename == "<string>"
for name in ("in_shardings", "out_shardings"):
    assert places([jit(double, **{name: SingleDeviceSharding(second)})(x)]) == {(second, True)}
context.swap_default_device(second)
assert places(f(x, x)) == {(second, False)}
print("fine")
"""


def test_places():
    done = subprocess.run(
        [sys.executable, "-c", PLACES],
        env={**os.environ, "JAX_NUM_CPU_DEVICES": "2"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "fine\n", done.stderr


def test_tracebacks_show_the_users_frames():
    def inner(x):
        return ops.add(x, X[:2])

    with pytest.raises(TypeError) as caught:
        jit(lambda x: inner(x))(X)
    frames = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
    assert frames == ["test_tracebacks_show_the_users_frames", "<lambda>", "inner"]


class Generator:
    tag, key_shape = "fry", (2,)


@pytest.mark.parametrize("through_runtime", [True, False])
def test_keys_cross_the_boundary(through_runtime):
    dtype = KeyType(Generator())
    words = np.arange(12, dtype=np.uint32).reshape(6, 2)
    keys = make_array(words.view(dtype.storage).reshape(6), dtype)
    f = jit(lambda k: shaping.reshape(k, (2, 3)) if through_runtime else k)
    for _ in range(2):
        out = f(keys)
        assert out.dtype == dtype and out.shape == ((2, 3) if through_runtime else (6,))
        assert values(np.asarray(out._value).reshape(-1).view(np.uint32)) == list(range(12))
    assert f._cache_size() == 1


def test_an_allocation_of_the_runtime_that_fails_tells_bytes_and_line(monkeypatch):
    monkeypatch.setattr(memory_limit, "machine_memory", lambda: 1 << 80)

    def too_much(x):
        debug.callback(lambda value: None, x[0])  # an effect, which takes a session of the runtime
        grown = shaping.broadcast_in_dim(x, (1 << 20, 1 << 20, 2), (2,))
        return jnp.sort(grown, axis=0)[0, 0]

    line = too_much.__code__.co_firstlineno + 2
    with pytest.raises(MemoryError) as caught:
        jit(too_much)(np.ones(2, np.float32))
    text = str(caught.value)
    assert f"{1 << 43:,} bytes" in text and f"In the operation from {__file__}:{line}:" in text


def test_a_value_beyond_all_numbers_of_bytes_is_refused(monkeypatch):
    monkeypatch.setattr(memory_limit, "machine_memory", lambda: 1 << 80)

    def too_much(x):
        return jnp.sort(shaping.broadcast_in_dim(x, (1 << 30, 1 << 30), ()))[0, 0]

    with pytest.raises(MemoryError, match=r"[\d,]{20,} bytes"):
        jit(too_much)(np.float32(1))


def test_attributes_of_a_callable_hide_no_method_of_the_jitted_function():
    class Scale:
        def __init__(self):
            self.factor = 3
            self.lower = self.trace = self._call = self._stage = self._miss = self._options = "mine"

        def __call__(self, x):
            return x * self.factor

    jitted = jit(Scale())
    assert jitted.factor == 3 and float(jitted(2.0)) == 6.0
    assert float(jit(lambda x: jitted(x))(2.0)) == 6.0
    assert jitted.eval_shape(2.0).shape == () and jitted.lower(2.0).compile()(2.0) == 6.0
    assert float(jit(lambda x: jit(jnp.negative)(x))(3.0)) == -3.0
