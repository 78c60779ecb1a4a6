"""Callbacks: what they are called with, when and how often, in every transformation, eagerly and compiled."""

import gc
import threading
import traceback
import weakref

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import export, lax
from onax.errors import LoweringError
from onax.experimental import io_callback

X = np.array([1.0, 2.0, 3.0], np.float32)
ONE = jax.ShapeDtypeStruct((), np.float32)
THREE = jax.ShapeDtypeStruct((3,), np.float32)
WAYS = pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])


class Log(list):
    """Remembers what it is called with, as Python numbers."""

    def __call__(self, *values):
        self.append([np.asarray(v).tolist() for v in values] if len(values) != 1 else np.asarray(values[0]).tolist())
        return np.float32(len(self))


# ---- pure_callback


@WAYS
def test_arguments_are_arrays_and_results_are_of_the_stated_types(way):
    seen = []

    def host(a, b, *, k):
        seen.append([type(x) for x in (a, b, *k)])
        return {"s": np.sin(a), "n": (7, np.float64(b))}

    types = {"s": THREE, "n": (jax.ShapeDtypeStruct((), np.int32), ONE)}
    out = way(lambda x: jax.pure_callback(host, types, x, 2, k=(x, np.ones(2))))(X)
    np.testing.assert_allclose(out["s"], np.sin(X))
    assert (out["n"][0].dtype, out["n"][1].dtype) == (np.int32, np.float32) and int(out["n"][0]) == 7
    assert all(issubclass(t, jax.Array) for t in seen[0]) and not out["s"].weak_type


SPECIAL = [
    *(np.dtype(name) for name in "bool int8 uint8 int16 uint16 int32 uint32 float16 float32 complex64".split()),
    np.dtype(ml_dtypes.bfloat16),
]


@WAYS
@pytest.mark.parametrize("dtype", SPECIAL, ids=str)
@pytest.mark.parametrize("shape", [(), (2, 3), (0, 2)], ids=str)
def test_every_dtype_and_shape(way, dtype, shape):
    x = jnp.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
    seen = []
    out = way(lambda v: jax.pure_callback(lambda a: seen.append(a) or a, v, v))(x)
    for y in (out, seen[0]):
        assert y.dtype == dtype and y.shape == shape
        np.testing.assert_array_equal(np.asarray(y), np.asarray(x))


@WAYS
def test_keys(way):
    key = jax.random.key(3)
    out = way(lambda k: jax.pure_callback(lambda a: jax.random.split(a, 2), jax.ShapeDtypeStruct((2,), k.dtype), k))(
        key
    )
    assert (jax.random.key_data(out) == jax.random.key_data(jax.random.split(key, 2))).all()


@WAYS
@pytest.mark.parametrize(
    "result, message",
    [
        (X[:2], r"Incorrect output shape for return value #0: Expected: \(3,\), Actual: \(2,\)"),
        (1.0, r"Expected: \(3,\), Actual: \(\)"),
        (X.astype(np.int32), "Incorrect output dtype for return value #0: Expected: float32, Actual: int32"),
        ((X, X), "Mismatched number of outputs from callback. Expected: 1, Actual: 2"),
        (None, "Mismatched number of outputs from callback. Expected: 1, Actual: 0"),
    ],
    ids=["shape", "scalar", "dtype", "two", "none"],
)
def test_other_results_than_stated(way, result, message):
    with pytest.raises(RuntimeError, match=message):
        way(lambda x: jax.pure_callback(lambda a: result, THREE, x))(X)


class Foreign:
    """An array of another library, which NumPy converts."""

    def __array__(self, dtype=None, copy=None):
        return X


@WAYS
@pytest.mark.parametrize("call", [jax.pure_callback, io_callback])
def test_results_that_numpy_converts(call, way):
    out = way(lambda x: call(lambda a: Foreign(), THREE, x))(X)
    np.testing.assert_array_equal(np.asarray(out), X)
    with pytest.raises(TypeError, match="Dtype <U3 is not a valid JAX array type"):
        way(lambda x: call(lambda a: "abc", THREE, x))(X)


def test_mistakes_are_found_where_they_are_made():
    with pytest.raises(ValueError, match="vmap_method must be on of the allowed methods"):
        jax.pure_callback(np.sin, THREE, X, vmap_method="parallel")
    with pytest.raises(ValueError, match="cannot specify 64-bit types"):
        jax.pure_callback(np.sin, np.zeros(3), X)
    with pytest.raises(TypeError, match=r"first argument to jax.debug.callback must be callable"):
        jax.debug.callback("text")
    with pytest.raises(TypeError, match="expected str"):
        jax.debug.print(X)
    with pytest.raises(ValueError, match="Unused positional arguments"):
        jax.debug.print("{}", 1, 2)
    with pytest.raises(ValueError, match=r"Unused keyword arguments.*f-string"):
        jax.debug.print("text", y=2)


def test_a_result_is_no_memory_of_the_users():
    mine = X.copy()
    out = jax.pure_callback(lambda: mine, THREE)
    mine[0] = 9
    assert out.tolist() == [1, 2, 3]


def test_arguments_may_be_kept():
    kept = []
    f = jax.jit(lambda x: jax.pure_callback(lambda a: kept.append(np.asarray(a)) or a, x, x * 2))
    for i in range(20):
        f(np.full(1000, i, np.float32))
    assert all((a == 2 * i).all() for i, a in enumerate(kept))


@WAYS
@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all"])
def test_vmap(way, method):
    shapes = []

    def host(a, b):
        shapes.append((a.shape, b.shape))
        return np.asarray(a) * np.asarray(b)

    f = lambda a, b: jax.pure_callback(host, ONE, a, b, vmap_method=method)
    out = way(jax.vmap(f, (0, None)))(X, np.float32(2))
    assert out.tolist() == [2, 4, 6]
    together = {"expand_dims": ((3,), (1,)), "broadcast_all": ((3,), (3,))}
    assert shapes == ([together[method]] if method in together else [((), ())] * 3)


def test_vmap_twice_and_behind():
    f = lambda a: jax.pure_callback(lambda v: np.asarray(v) + 1, ONE, a, vmap_method="expand_dims")
    m = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert jax.vmap(jax.vmap(f), in_axes=1, out_axes=1)(m).tolist() == (m + 1).tolist()
    with pytest.raises(NotImplementedError, match="Got vmap_method=None"):
        jax.vmap(lambda a: jax.pure_callback(np.sin, ONE, a))(X)


def test_derivatives():
    f = lambda x: jax.pure_callback(np.sin, ONE, x)
    for transform in (jax.grad, lambda g: jax.jit(jax.grad(g)), lambda g: jax.grad(jax.jit(g))):
        with pytest.raises(ValueError, match="Pure callbacks do not support JVP"):
            transform(f)(1.0)
        with pytest.raises(ValueError, match="IO callbacks do not support JVP"):
            transform(lambda x: io_callback(np.sin, ONE, x))(1.0)
        assert float(transform(lambda x: x * f(lax.stop_gradient(x)))(1.0)) == np.sin(np.float32(1))
    with pytest.raises(ValueError, match="Pure callbacks do not support transpose"):
        jax.linear_transpose(f, 1.0)(1.0)
    with pytest.raises(ValueError, match="IO callbacks do not support transpose"):
        jax.linear_transpose(lambda x: io_callback(np.sin, ONE, x), 1.0)(1.0)


def test_with_a_derivative_of_its_own():
    @jax.custom_jvp
    def sine(x):
        return jax.pure_callback(np.sin, ONE, x, vmap_method="expand_dims")

    sine.defjvp(lambda primals, tangents: (sine(*primals), tangents[0] * jnp.cos(*primals)))
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(sine)))(X), np.cos(X), rtol=1e-6)


def test_a_pure_result_nobody_reads_is_not_computed():
    log = Log()
    jax.jit(lambda x: (jax.pure_callback(log, ONE, x), x)[1])(X)
    assert log == []


# ---- effects: how often, and in which order


def emit(log):
    """Functions of a value that log it, by every way there is."""
    return {
        "io_callback": lambda v: io_callback(log, ONE, v),
        "io_callback, ordered": lambda v: io_callback(log, ONE, v, ordered=True),
        "io_callback without results": lambda v: io_callback(lambda a: log(a) and None, None, v),
        "debug.callback": lambda v: jax.debug.callback(log, v),
        "debug.callback, ordered": lambda v: jax.debug.callback(log, v, ordered=True),
    }


PROGRAMS = {
    "in line": (lambda e, x: (e(x[0]), e(x[1]), e(x[0]))[0], [1, 2, 1]),
    "unread": (lambda e, x: (e(1.0), x)[1], [1]),
    "in a call": (lambda e, x: (jax.jit(lambda v: e(v))(x[1]), e(5.0))[0], [2, 5]),
    "in a branch": (lambda e, x: lax.cond(x[0] > 0, lambda: (e(1.0), 0)[1], lambda: (e(2.0), 0)[1]), [1]),
    "in a branch without results": (lambda e, x: lax.cond(x[0] > 5, lambda: discard(e(1.0)), lambda: None), []),
    "in a switch": (
        lambda e, x: lax.switch(jnp.int32(x[1]), [lambda: discard(e(0.0)), lambda: None, lambda: discard(e(2.0))]),
        [2],
    ),
    "in a scan": (
        lambda e, x: (e(0.0), lax.scan(lambda c, y: (c + y, discard(e(c))), 0.0, x), e(9.0))[1],
        [0, 0, 1, 3, 9],
    ),
    "in a scan backwards": (lambda e, x: lax.scan(lambda c, y: (discard(e(y)), y), None, x, reverse=True), [3, 2, 1]),
    "in a fori_loop": (lambda e, x: lax.fori_loop(0, 3, lambda i, c: (e(c), c * 2)[1], x[1]), [2, 4, 8]),
    "in a while_loop": (lambda e, x: lax.while_loop(lambda c: c < 4, lambda c: (e(c), c + 1)[1], x[0]), [1, 2, 3]),
    "in a loop's condition": (
        lambda e, x: lax.while_loop(lambda c: (e(c), c < 3)[1], lambda c: c + 1, x[0]),
        [1, 2, 3],
    ),
    "in a loop in a loop": (
        lambda e, x: lax.fori_loop(0, 2, lambda i, c: lax.fori_loop(0, 2, lambda j, d: (e(d), d + 1)[1], c), 0.0),
        [0, 1, 2, 3],
    ),
    "in a loop in a branch": (
        lambda e, x: lax.cond(x[0] > 0, lambda: lax.fori_loop(0, 2, lambda j, d: (e(d), d + 1)[1], 5.0), lambda: 0.0),
        [5, 6],
    ),
}


def discard(_):
    """Nothing, for the sake of the argument."""


@WAYS
@pytest.mark.parametrize("kind", emit(None))
@pytest.mark.parametrize("name", PROGRAMS)
def test_effects_happen_once_each_in_order(name, kind, way):
    log = Log()
    program, want = PROGRAMS[name]
    f = way(lambda x: program(emit(log)[kind], x))
    for _ in range(2):  # compiled, then called again
        log.clear()
        f(X)
        jax.effects_barrier()
        assert log == want


@WAYS
def test_effects_under_vmap(way):
    log = Log()
    way(jax.vmap(lambda a: io_callback(log, ONE, a)))(X)
    way(jax.vmap(lambda a: jax.debug.callback(log, a, ordered=True), in_axes=0))(X)
    way(jax.vmap(lambda a, b: jax.debug.callback(log, a, b), in_axes=(0, None)))(X[:2], np.float32(7))
    assert log == [1, 2, 3, 1, 2, 3, [1, 7], [2, 7]]
    with pytest.raises(ValueError, match="Cannot `vmap` ordered IO callback"):
        way(jax.vmap(lambda a: io_callback(log, ONE, a, ordered=True)))(X)


@WAYS
def test_io_is_not_done_for_examples_that_skip_it(way):
    in_branch = lambda a: lax.cond(a < 2, lambda: (io_callback(Log(), None, a), 1)[1], lambda: 2)
    with pytest.raises(NotImplementedError, match="IO effect not supported in vmap-of-cond"):
        way(jax.vmap(in_branch))(X)
    in_loop = lambda a: lax.while_loop(lambda c: c < 2, lambda c: (io_callback(Log(), None, c), c + 1)[1], a)
    with pytest.raises(NotImplementedError, match="Unordered IO effects not supported in while_loop with batched"):
        way(jax.vmap(in_loop))(X)
    ordered = lambda a: lax.while_loop(lambda c: c < 2, lambda c: io_callback(Log(), ONE, c, ordered=True), a)
    with pytest.raises(NotImplementedError, match="Ordered IO effects not supported in vmap"):
        way(jax.vmap(ordered))(X)


@WAYS
def test_effects_under_differentiation(way):
    log = Log()
    f = lambda a: (jax.debug.callback(log, a), a * a)[1]
    assert float(way(jax.grad(f))(3.0)) == 6
    assert [float(t) for t in way(lambda a: jax.jvp(f, (a,), (a,)))(3.0)] == [9, 18]
    way(jax.grad(lambda a: lax.scan(lambda c, y: (f(c) * y, None), a, X)[0]))(1.0)
    assert log == [3, 3, 1, 1, 2]
    log.clear()
    way(jax.grad(jax.checkpoint(lambda a: jnp.sin(f(a)))))(2.0)
    assert log == [2, 2]  # once more when recomputed, as in JAX


@WAYS
def test_a_program_of_effects_alone(way):
    log = Log()
    assert way(lambda: jax.debug.callback(log, 1.0))() is None
    assert way(lambda: io_callback(log, ONE, 2.0))().tolist() == 2
    assert log == [1, 2]


# ---- debug.print


@WAYS
def test_print(way, capsys):
    def f(x):
        jax.debug.print("{} {y:.3f} {s}", x, y=x[1], s="text")
        jax.debug.print("{x.shape} {x.dtype} {x[0]} {0!r}", x[0], x=x)
        jax.debug.print("{}", {"a": x, "b": (1, None)})
        jax.debug.print("{{}} {}", x.astype(jnp.bfloat16))
        jax.debug.print("plain", ordered=True)

    with np.printoptions(precision=2):
        compiled = way(f)
        compiled(X / 3)
    assert capsys.readouterr().out.splitlines()[0] == "[0.33 0.67 1.  ] 0.667 text"
    compiled(X)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[1. 2. 3.] 2.000 text"
    assert lines[1].startswith("(3,) float32 1.0 Array(1., dtype=float32")
    assert lines[2].startswith("{'a': Array([1., 2., 3.], dtype=float32), 'b': (Array(1, dtype=int32")
    assert lines[3:] == ["{} [1 2 3]", "plain"]


def test_decorator_forms(capsys):
    log = Log()
    jax.debug.callback(ordered=True)(log, 3.0)
    jax.debug.print(ordered=True)("{}", 4)
    assert log == [3] and capsys.readouterr().out == "4\n"


# ---- errors


def explode(*_):
    """Raises."""
    raise LookupError("from the callback")  # this line


CALLS = {
    "pure_callback": lambda x: jax.pure_callback(explode, THREE, x),
    "io_callback": lambda x: io_callback(explode, THREE, x, ordered=True),
    "debug.callback": lambda x: jax.debug.callback(explode, x),
    "in a loop": lambda x: lax.fori_loop(0, 3, lambda i, c: jax.pure_callback(explode, THREE, c), x),
    "in a branch": lambda x: lax.cond(x[0] > 0, lambda: jax.pure_callback(explode, THREE, x), lambda: x),
    "in a call, under vmap": jax.vmap(lambda x: jax.pure_callback(explode, ONE, x, vmap_method="sequential")),
}


@WAYS
@pytest.mark.parametrize("name", CALLS)
def test_what_a_callback_raises_comes_out_as_it_is(name, way):
    f = way(CALLS[name])
    for _ in range(2):
        with pytest.raises(LookupError, match="from the callback") as info:
            f(X)
        text = "".join(traceback.format_exception(info.value))
        assert "# this line" in text and "test_callbacks.py" in text


@WAYS
@pytest.mark.parametrize("name", ["pure_callback", "io_callback", "debug.callback"])
def test_what_a_callback_raises_is_logged(name, way, caplog):
    with pytest.raises(LookupError):
        way(CALLS[name])(X)
    (record,) = [r for r in caplog.records if r.levelname == "ERROR"]
    assert record.getMessage() == f"jax.{name} failed" and isinstance(record.exc_info[1], LookupError)


@WAYS
def test_runtime_errors_of_a_callback_are_not_reworded(way):
    def fail(_):
        raise RuntimeError("mine") from KeyError("why")

    with pytest.raises(RuntimeError, match=r"\Amine") as info:
        way(lambda x: jax.pure_callback(fail, THREE, x))(X)
    assert type(info.value) is RuntimeError and isinstance(info.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: jax.pure_callback(explode, THREE, x),
        lambda x: io_callback(explode, THREE, x),
        lambda x: (jax.debug.callback(explode, x), x)[1],
        lambda x: lax.fori_loop(0, 3, lambda i, c: jax.pure_callback(explode, THREE, c), x),
    ],
)
def test_files_cannot_hold_callbacks(call):
    with pytest.raises(LoweringError, match=r"(?s)callback.*test_callbacks\.py.*explode at .*test_callbacks\.py"):
        export.export(call)(X)


def test_files_leave_out_prints():
    with pytest.warns(UserWarning, match=r"debug\.print\('here \{\}'\) at .*test_callbacks\.py.* is left out"):
        exported = export.export(lambda x: (jax.debug.print("here {}", x), x + 1)[1])(X)
    assert np.array_equal(exported.call(X), X + 1)


# ---- the caller's thread, options, and lifetimes


def test_a_callback_sees_the_callers_thread_and_options():
    seen = []

    def host(x):
        seen.append((threading.get_ident(), jnp.zeros(1, dtype=float).dtype.name))
        return x

    f = jax.jit(lambda x: jax.pure_callback(host, THREE, x) + 1)
    f(X)
    with jax.enable_x64():
        f(X)
    thread = threading.Thread(target=f, args=(X,))
    thread.start()
    thread.join()
    here = threading.get_ident()
    assert seen == [(here, "float32"), (here, "float64"), (seen[2][0], "float32")] and seen[2][0] != here


def test_a_callback_may_use_onax_itself():
    inner = jax.jit(lambda v: jnp.sin(v) * 2)
    f = jax.jit(lambda x: jax.pure_callback(lambda a: jax.vmap(inner)(a), THREE, x))
    np.testing.assert_allclose(f(X), 2 * np.sin(X), rtol=1e-6)
    loss = lambda x: jnp.sum(f(lax.stop_gradient(x)) * x)  # called while something else is transformed
    np.testing.assert_allclose(jax.grad(loss)(X), 2 * np.sin(X), rtol=1e-6)


def test_callbacks_are_freed_with_their_function():
    def compile_one():
        host = lambda a: np.sin(a)
        f = jax.jit(lambda x: jax.pure_callback(host, THREE, x))
        f(X)
        return weakref.ref(host)

    gone = compile_one()
    gc.collect()
    assert gone() is None


@WAYS
@pytest.mark.parametrize("call", [jax.pure_callback, io_callback])
def test_callbacks_get_no_weak_types(way, call):
    seen = []
    record = lambda x, y: (seen.append((x.weak_type, y["k"].weak_type)), x)[1]
    way(lambda x: call(record, ONE, x, {"k": 2}))(1.0)
    assert seen == [(False, False)]


def test_arguments_and_placements_that_callbacks_refuse():
    for call, name in ((jax.pure_callback, "pure_callback"), (io_callback, "io_callback")):
        with pytest.raises(
            TypeError, match=rf"^Error interpreting argument to {name} as a JAX value.*'str'.*position 1"
        ):
            call(lambda x, y: x, ONE, 1.0, "a")
    with pytest.raises(
        NotImplementedError, match="pure_callback only supports SingleDeviceSharding, but got <class 'int'>"
    ):
        jax.pure_callback(lambda x: x, ONE, np.float32(1), sharding=3)
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    assert float(jax.pure_callback(lambda x: x, ONE, np.float32(1), sharding=here)) == 1.0


def test_debug_callbacks_in_programs_get_no_weak_types():
    seen = []
    call = lambda x: jax.debug.callback(lambda x, *, k: seen.append((x.weak_type, k[0].weak_type)), x, k=[x])
    jax.jit(call)(1.0)
    call(1.0)
    assert seen == [(False, False), (True, True)]


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[:, 1], lambda x: x[::2]])
def test_operands_lie_in_rows(view):
    """Callbacks hand them to functions in C."""
    seen = []
    x = jnp.arange(12.0).reshape(4, 3)
    for call in (
        lambda x: jax.pure_callback(lambda v: (seen.append(np.asarray(v)), v)[1], jax.typeof(view(x)), view(x)),
        lambda x: jax.debug.callback(lambda v: seen.append(np.asarray(v)), view(x)),
        lambda x: jax.experimental.io_callback(lambda v: seen.append(np.asarray(v)), None, view(x)),
    ):
        call(x)
    jax.effects_barrier()
    assert len(seen) == 3 and all(v.flags.c_contiguous and np.array_equal(v, view(x)) for v in seen)
