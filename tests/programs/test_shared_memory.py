"""No Array shares memory that the user can still write: an ndarray changed after a call changes no result.

The one exception, by its contract, is `jnp.from_dlpack`.
"""

import copy

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

ONES = np.ones(3, np.float32)
LAYOUTS = {
    "contiguous": lambda: np.arange(6, dtype=np.float32).reshape(2, 3),
    "column-major": lambda: np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "strided": lambda: np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
    "float64": lambda: np.arange(6.0).reshape(2, 3),
    "bool": lambda: np.zeros((2, 3), bool),
    "complex": lambda: np.ones((2, 3), np.complex64),
    "rank 0": lambda: np.array(3, np.float32),
    "read-only view": lambda: np.arange(6, dtype=np.float32).reshape(2, 3),
}


def same(x):
    return x


def without_jit(x):
    with jax.disable_jit():
        return jax.jit(lambda a: jnp.ravel(a))(x)


# Entries that hand their operand back, or may.
ENTRIES = {
    "asarray": jnp.asarray,
    "array": jnp.array,
    "array(copy=False)": lambda x: jnp.array(x, copy=False),
    "device_put": jax.device_put,
    "device_put on a device": lambda x: jax.device_put(x, jax.devices()[0]),
    "device_put of a tree": lambda x: jax.device_put({"a": [x]}),
    "jit": jax.jit(same),
    "jit of views": jax.jit(lambda x: (x, x.T, jnp.ravel(x))),
    "jit in jit": jax.jit(lambda x: jax.jit(same)(x)),
    "jit closure": lambda x: jax.jit(lambda: jnp.asarray(x))(),
    "compiled": lambda x: jax.jit(same).lower(x).compile()(x),
    "jvp": lambda x: jax.jvp(same, (x,), (x,)) if x.dtype.kind == "f" else same(jnp.array(x)),
    "vjp": lambda x: jax.vjp(same, x)[0],
    "transpose": jnp.transpose,
    "ravel": jnp.ravel,
    "lax.reshape": lambda x: lax.reshape(x, (1, *x.shape)),
    "squeeze": jnp.squeeze,
    "expand_dims": lambda x: jnp.expand_dims(x, 0),
    "broadcast_to": lambda x: jnp.broadcast_to(x, (2, *x.shape)),
    "broadcast_to its own shape": lambda x: jnp.broadcast_to(x, x.shape),
    "broadcast_in_dim": lambda x: lax.broadcast_in_dim(x, x.shape, tuple(range(x.ndim))),
    "slice of all": lambda x: lax.slice(x, (0,) * x.ndim, x.shape),
    "dynamic_slice of all": lambda x: lax.dynamic_slice(x, (0,) * x.ndim, x.shape),
    "where": lambda x: jnp.where(True, x, x),
    "select_n": lambda x: lax.select_n(np.bool_(True), x, x),
    "concatenate": lambda x: lax.concatenate([np.atleast_1d(x)], 0),
    "pad by nothing": lambda x: lax.pad(x, np.zeros((), x.dtype), ((0, 0, 0),) * x.ndim),
    "convert": lambda x: lax.convert_element_type(x, x.dtype if x.dtype != np.float64 else np.float32),
    "astype": lambda x: jnp.astype(x, x.dtype if x.dtype != np.float64 else np.float32),
    "real": jnp.real,
    "conj": jnp.conj,
    "stop_gradient": lax.stop_gradient,
    "reduction over no axis": lambda x: jnp.max(x, axis=()) if x.dtype.kind == "f" else jnp.all(x, axis=()),
    "broadcast_arrays": lambda x: jnp.broadcast_arrays(x, x),
    "atleast_3d": jnp.atleast_3d,
    "disable_jit": without_jit,
    "full": lambda x: jnp.full(x.shape, x),
    "deepcopy": lambda x: copy.deepcopy(jnp.asarray(x)),
}
OF_AXES = {
    "vmap": jax.vmap(same),
    "vmap of another axis": jax.vmap(same, in_axes=1),
    "vmap in and out": jax.vmap(same, in_axes=1, out_axes=1),
    "vmap of what is not mapped": lambda x: jax.vmap(lambda a, b: jnp.asarray(a), (None, 0), None)(x, ONES),
    "vmap of jit": jax.vmap(jax.jit(same)),
    "swapaxes": lambda x: jnp.swapaxes(x, 0, 1),
    "moveaxis": lambda x: jnp.moveaxis(x, 0, 1),
    "reshape": lambda x: jnp.reshape(x, (3, 2)),
    "split": lambda x: jnp.split(x, 3, axis=1),
    "unstack": jnp.unstack,
    "flip": jnp.flip,
    "take": lambda x: jnp.take(x, 0, axis=0),
    "diagonal": jnp.diagonal,
    "einsum": lambda x: jnp.einsum("ij->ji", x),
    "dynamic_index_in_dim": lambda x: lax.dynamic_index_in_dim(x, 0),
    "update": lambda x: jnp.zeros((2, 3), x.dtype).at[:].set(x),
}


def operand(layout):
    base = LAYOUTS[layout]()
    x = base
    if layout == "read-only view":
        x = base.view()
        x.setflags(write=False)
    return base, x


def check(entry, base, x):
    leaves = jax.tree.leaves(entry(x))
    assert leaves and all(isinstance(leaf, jax.Array) for leaf in leaves)
    before = [np.array(leaf) for leaf in leaves]
    assert not any(np.shares_memory(np.asarray(leaf), base) for leaf in leaves)
    assert not any(np.asarray(leaf).flags.writeable for leaf in leaves)
    base[...] = 1 - base
    for leaf, value in zip(leaves, before):
        np.testing.assert_array_equal(leaf, value)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ENTRIES)
def test_results_survive_a_write_to_the_operand(name, layout):
    check(ENTRIES[name], *operand(layout))


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "rank 0"])
@pytest.mark.parametrize("name", OF_AXES)
def test_results_of_axes_survive_a_write_to_the_operand(name, layout):
    check(OF_AXES[name], *operand(layout))


# What is kept and used later: residuals, constants of programs.
KEPT = {
    "vjp": lambda x: (lambda back: lambda: back(ONES)[0])(jax.vjp(lambda a: a * a, x)[1]),
    "vjp of a constant": lambda x: (lambda back: lambda: back(ONES)[0])(jax.vjp(lambda a: a * x, ONES)[1]),
    "vjp of jit": lambda x: (lambda back: lambda: back(ONES)[0])(jax.vjp(jax.jit(lambda a: a * a), x)[1]),
    "linearize": lambda x: (lambda push: lambda: push(ONES))(jax.linearize(lambda a: a * a, x)[1]),
    "jit": lambda x: (lambda f: lambda: f(ONES))(jax.jit(lambda y: y * x)),
    "grad of jit": lambda x: (lambda f: lambda: f(ONES))(jax.grad(jax.jit(lambda y: jnp.sum(y * y * x)))),
    "lowered": lambda x: (lambda f: lambda: f.compile()(ONES))(jax.jit(lambda y: y * x).lower(ONES)),
    "traced": lambda x: (lambda f: lambda: f.lower().compile()(ONES))(jax.jit(lambda y: y * x).trace(ONES)),
    "jaxpr": lambda x: (lambda j: lambda: j.consts[0])(jax.make_jaxpr(lambda y: y * jnp.asarray(x))(ONES)),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_survives_a_write(name):
    x = np.arange(1, 4, dtype=np.float32)
    use = KEPT[name](x)
    before = np.array(use())
    x[...] = 99
    np.testing.assert_array_equal(use(), before)


def test_large_constants_survive_a_write():
    x = np.ones(3000, np.float32)
    f = jax.jit(lambda y: y * x)
    traced, before = f.trace(x), np.array(f(x))
    x[...] = 5
    ones = np.ones(3000, np.float32)
    np.testing.assert_array_equal(f(ones), before)
    np.testing.assert_array_equal(traced.lower().compile()(ones), before)


def test_from_dlpack_is_asked_to_share():
    x = np.arange(3, dtype=np.float32)
    y = jnp.from_dlpack(x)
    assert y.unsafe_buffer_pointer() == x.ctypes.data
    back = np.from_dlpack(y)
    assert back.ctypes.data == x.ctypes.data and not back.flags.writeable
    assert jnp.from_dlpack(x, copy=True).unsafe_buffer_pointer() != x.ctypes.data
    with pytest.raises(TypeError, match="__dlpack__"):
        jnp.from_dlpack(3)


def test_what_is_handed_out_is_read_only():
    x = jnp.arange(3.0)
    for view in (np.asarray(x), np.from_dlpack(x), np.frombuffer(x, np.float32), np.asarray(memoryview(x))):
        assert not view.flags.writeable and view.ctypes.data == x.unsafe_buffer_pointer()
        with pytest.raises(ValueError):
            view.setflags(write=True)
    assert memoryview(x).readonly
    for dtype, kind in ((jnp.bfloat16, "BF16"), (jnp.int4, "S4"), (jnp.float8_e4m3fn, "F8E4M3FN")):
        with pytest.raises(BufferError, match=f"INVALID_ARGUMENT: Buffers of type {kind} are not supported"):
            memoryview(jnp.ones(2, dtype))
