"""The first call: donation, what is logged, weak types of results."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._compile.jit import jit
from onax._ground.errors import JaxRuntimeError
from onax._native.array import from_user
from onax._prims import elementwise as ops
from onax.sharding import NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices, mesh

X = np.arange(3, dtype=np.float32)


def test_compilations_are_logged(caplog):
    f = jit(lambda x: ops.add(x, x))
    with jax.log_compiles():
        f(X)
        f(X)
    compiling = [m for m in (r.getMessage() for r in caplog.records) if m.startswith("Compiling")]
    assert compiling == ["Compiling jit(<lambda>) with global shapes and types (float32[3])."]


def test_donation():
    x, y, z = (from_user(a) for a in (X, X.astype(np.int32), X[:2]))
    with pytest.warns(UserWarning, match=r"donated buffers were not usable: int32\[3\]"):
        jit(lambda x, y, z: (ops.add(x, x), y[0]), donate_argnums=(0, 1))(x, y, z)
    assert [a.is_deleted() for a in (x, y, z)] == [True, False, False]
    with pytest.raises(RuntimeError, match="deleted"):
        jit(lambda x: x)(x)


def test_an_argument_that_is_donated_is_not_another_argument_too():
    add, keep = (jit(f, donate_argnums=0) for f in (lambda x, y: x + y, lambda x, y: x + 1))
    for _ in range(2):
        x = jnp.arange(3)
        with pytest.raises(
            JaxRuntimeError, match="INVALID_ARGUMENT: Attempt to use a buffer that was previously donated"
        ):
            add(x, x)
        assert not x.is_deleted() and add(x, jnp.arange(3)).tolist() == [0, 2, 4] and x.is_deleted()
        x = jnp.arange(3)
        assert keep(x, x).tolist() == [1, 2, 3] and x.is_deleted()  # the second one is not read


def test_a_donated_argument_is_deleted_by_an_error_too():
    def fail(x):
        raise ValueError("no")

    add_result = jit(lambda x: x + jax.pure_callback(fail, x, x), donate_argnums=0)
    for _ in range(2):  # the first call, and one that finds the program
        x = from_user(X)
        with pytest.raises(ValueError, match="no"):
            add_result(x)
        assert x.is_deleted()


def test_memory_that_others_hold_is_not_overwritten():
    x = from_user(X)
    kept, view = jit(lambda x: (x, x + 1))(x)[0], np.asarray(x)  # the result shares the memory of the argument
    doubled = jit(lambda x: x * 2, donate_argnums=0)(x)
    assert x.is_deleted() and not kept.is_deleted()
    for shared in (kept, view):
        np.testing.assert_array_equal(shared, X)
    np.testing.assert_array_equal(doubled, X * 2)


def test_no_execution():
    f = jax.jit(lambda x: x + 1)
    assert f(1.0) == 2.0
    with jax.no_execution(True):
        with pytest.raises(RuntimeError, match=r"execute function jit\(<lambda>\), but the no_execution config"):
            f(1.0)
        compiled = f.lower(1.0).compile()
    assert f(1.0) == compiled(1.0) == 2.0


def test_donated_arguments_that_in_shardings_moves():
    """Those are deleted that can share memory with what is computed with: the same sharding, or copies everywhere."""
    with eight_devices():
        grid = mesh(x=4)
        for spec, committed, deleted in ((P(), False, True), (P("x"), False, False), (P("x"), True, True)):
            sharding = NamedSharding(grid, spec)
            x = jax.device_put(jnp.arange(16), sharding) if committed else jnp.arange(16)
            doubled = jit(lambda x: x * 2, in_shardings=sharding, donate_argnums=0)(x)
            assert doubled.tolist() == list(range(0, 32, 2)) and x.is_deleted() == deleted
            y = jnp.arange(16)
            jit(lambda y: y * 2, in_shardings=sharding)(y)
            assert not y.is_deleted()


def test_a_type_is_no_argument():
    described = jax.ShapeDtypeStruct((4, 2), np.int32)
    with pytest.raises(
        TypeError, match=r"^Argument 'x\['b'\]' of shape int32\[4,2\] of type .* is not a valid JAX type"
    ):
        jax.jit(lambda x: x)({"b": described})
