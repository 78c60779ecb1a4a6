"""Arrays on a device of its own memory: where their elements are, and what is copied.

The sessions run on the CPU and the memory is the host's; all copies are counted as those of a CUDA device.
"""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from made_up_cuda import Copies, made_up_cuda
from onax import lax

X = np.arange(12, dtype=np.float32).reshape(4, 3) / 4


@pytest.fixture
def cuda():
    with made_up_cuda(2) as found:
        yield found


def test_values_stay_on_the_device_between_calls(cuda):
    f = jax.jit(lambda x: jnp.tanh(x) @ jnp.ones((3, 3)))
    x = jax.device_put(X, cuda[0])
    with Copies() as first:
        y = f(x)
    assert first.counted == (1, 0, 0)
    with Copies() as chain:
        for _ in range(10):
            y = f(y)
        assert y.shape == (4, 3) and y.dtype == np.float32 and y.devices() == {cuda[0]} and y.committed
        assert len(y) == 4 and y.nbytes == 48 and y.aval.str_short() == "float32[4,3]" and not y.is_deleted()
        jax.block_until_ready(y)
    assert chain.counted == (0, 0, 0)
    with Copies() as again:
        f(x)
    assert again.counted == (0, 0, 0)  # the argument was uploaded by the first call
    wanted = X
    for _ in range(11):
        wanted = np.tanh(wanted) @ np.ones((3, 3))
    with Copies() as read:
        assert np.allclose(y, wanted, rtol=1e-4)
        assert repr(y).startswith("Array([[") and float(y[0, 0]) == np.asarray(y)[0, 0]
    assert read.counted == (0, 1, 0)  # the host's copy is kept


def test_an_eager_operation_takes_the_values_to_the_host_once(cuda):
    y = jax.jit(lambda x: jnp.cumsum(x, 0))(jax.device_put(X, cuda[0]))
    with Copies() as eager:
        z = jnp.sin(y) + y * 2 - y[1]
    assert eager.counted == (0, 1, 0) and z.devices() == {cuda[0]} and z.committed
    with Copies() as jitted:
        jax.jit(lambda a, b: lax.cumsum(a) + b)(y, z)
    assert jitted.counted == (1, 0, 0)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint32, np.float16, ml_dtypes.bfloat16, np.complex64])
def test_dtypes(cuda, dtype):
    a = (np.arange(6) % 2).astype(dtype).reshape(2, 3)
    f = jax.jit(lambda x: (jnp.swapaxes(x, 0, 1), x[::-1]))
    with Copies() as copies:
        y, z = f(jax.device_put(a, cuda[0]))
        y, z = f(y)
        assert (y.shape, z.shape, y.dtype) == ((2, 3), (3, 2), dtype)
    assert copies.counted == (1, 0, 0)
    assert np.array_equal(y, a) and np.array_equal(z, a.T[::-1])
    assert y.at[0, 0].set(1).shape == (2, 3)


def test_keys_stay_on_the_device(cuda):
    key = jax.device_put(jax.random.key(3), cuda[0])
    split = jax.jit(lambda k: jax.random.split(k, 4))
    with Copies() as copies:
        keys = split(key)
        other = jax.jit(lambda k: k[1])(keys)
        assert keys.shape == (4,) and other.shape == () and keys.dtype == key.dtype
    assert copies.counted == (1, 0, 0)
    wanted = jax.random.split(jax.random.key(3), 4)
    assert np.array_equal(jax.random.key_data(keys), jax.random.key_data(wanted))
    assert np.array_equal(jax.random.normal(other, 5), jax.random.normal(wanted[1], 5))
    keys = split(other)
    with Copies() as read:
        assert "overlaying" in repr(keys)
    assert read.counted == (0, 1, 0)


def test_arguments_returned_and_constants(cuda):
    constant = jnp.arange(5.0)
    f = jax.jit(lambda x: (x, jnp.cumsum(x, 0), constant))
    y = jax.jit(lambda x: jnp.cumsum(x, 1))(jax.device_put(X, cuda[0]))
    with Copies() as copies:
        same, summed, known = f(y)
        assert same is not y and same.shape == y.shape
    assert copies.counted == (0, 0, 0)
    assert np.array_equal(same, y) and np.array_equal(known, constant)
    assert {a.devices().pop() for a in (same, summed, known)} == {cuda[0]}
    same.delete()
    assert np.array_equal(jax.jit(lambda x: x + 0)(y), np.cumsum(X, 1))


def test_device_put_moves_through_the_host(cuda):
    f = jax.jit(lambda x: jnp.cumsum(x, 0))
    y = f(jax.device_put(X, cuda[0]))
    with Copies() as first, Copies(1) as second:
        z = jax.device_put(y, cuda[1])
        w = f(z)
        same = jax.device_put(y, cuda[0])
        f(same)
    assert first.counted == (0, 1, 0) and second.counted == (1, 0, 0)
    assert w.devices() == {cuda[1]} and np.allclose(w, np.cumsum(np.cumsum(X, 0), 0))
    host = jax.device_put(y, jax.devices("cpu")[0])
    assert host.devices() == {jax.devices("cpu")[0]} and np.array_equal(host, np.cumsum(X, 0))
    with pytest.raises(ValueError, match="incompatible devices"):
        jax.jit(lambda a, b: a + b)(y, z)


def test_placement_follows_the_default_device(cuda):
    f = jax.jit(lambda x: jnp.cumsum(x, 0))
    with jax.default_device(cuda[1]):
        x = jnp.asarray(X)
        with Copies(1) as copies:
            y = f(f(x))
            y = f(y)
        assert copies.counted == (1, 0, 0) and y.devices() == {cuda[1]} and not y.committed
    with Copies() as elsewhere:
        z = f(y)  # uncommitted: it goes where the default is now
    assert elsewhere.counted == (0, 0, 0) and z.devices() == {jax.devices("cpu")[0]}


def test_deleted_arrays_say_so(cuda):
    f = jax.jit(lambda x: jnp.cumsum(x, 0))
    y = f(jax.device_put(X, cuda[0]))
    y.delete()
    assert y.is_deleted() and y.shape == (4, 3)
    for use in (lambda: f(y), lambda: np.asarray(y), lambda: y + 1, lambda: repr(y), lambda: copy.copy(y)):
        with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[4,3\]"):
            use()


def test_copies_and_pickles(cuda):
    y = jax.jit(lambda x: jnp.cumsum(x, 0))(jax.device_put(X, cuda[0]))
    with Copies() as copies:
        other = copy.deepcopy(y)
        assert other.devices() == {cuda[0]}
    assert copies.counted == (0, 0, 0)
    y.delete()
    assert np.array_equal(other, np.cumsum(X, 0)) and np.array_equal(pickle.loads(pickle.dumps(other)), other)


def test_io_binding_can_be_left_out(cuda):
    f = jax.jit(lambda x: jnp.cumsum(x, 0), compiler_options={"io_binding": False})
    with Copies() as copies:
        y = f(f(jax.device_put(X, cuda[0])))
    assert copies.counted == (0, 0, 0) and y.devices() == {cuda[0]}
    assert np.allclose(y, np.cumsum(np.cumsum(X, 0), 0))


def test_transformations_and_loops(cuda):
    x = jax.device_put(X, cuda[0])
    loss = lambda x: jnp.sum(jnp.tanh(x @ x.T))
    step = jax.jit(lambda x: x - 0.1 * jax.grad(loss)(x))
    with Copies() as copies:
        y = x
        for _ in range(5):
            y = step(y)
    assert copies.counted == (1, 0, 0)
    wanted = jnp.asarray(X)
    for _ in range(5):
        wanted = wanted - 0.1 * jax.grad(loss)(wanted)
    assert np.allclose(y, wanted, rtol=1e-5)
    scanned = jax.jit(lambda x: lax.scan(lambda c, r: (c + r, c * r), x[0], x))(y)
    assert np.allclose(scanned[0], wanted[0] + wanted.sum(0), rtol=1e-4)
    assert jax.vmap(jax.jit(lambda r: jnp.cumsum(r)))(y).shape == (4, 3)
