"""Functions of arrays with symbolic dimensions: exported once, run for several sizes, compared with evaluation."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._ground.dims import evaluate_shape
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export import export, symbolic_shape

W = np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4)
I32 = "int32 "


def _convolution(x, strides, padding):
    kernel = np.linspace(-1, 1, 54, dtype=np.float32).reshape(3, 2, 3, 3)
    return lax.conv_general_dilated(x, kernel, strides, padding)


KEY = lambda: onax.random.key(7)


def _noisy(key, row):
    return row + onax.random.uniform(key, row.shape)


def _pool(x, width, padding):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, width, width), (1, 1, 2, 2), padding)


# name: (function, the arguments' shapes, preceded by a dtype unless it is float32)
CASES = {
    "mean": (lambda x: jnp.mean(x, axis=0), ["b, 6"]),
    "mean of all": (lambda x: jnp.mean(x), ["b, t"]),
    "var": (lambda x: jnp.var(x, axis=1), ["b, t"]),
    "reshape -1": (lambda x: x.reshape(x.shape[0], -1), ["b, t, 3"]),
    "reshape flat": (lambda x: x.reshape(-1), ["b, t"]),
    "reshape split": (lambda x: x.reshape(x.shape[0], 2, 3), ["b, 6"]),
    "ravel": (jnp.ravel, ["b, t"]),
    "concatenate": (lambda x, y: jnp.concatenate([x, y]), ["b, 6", "t, 6"]),
    "stack": (lambda x: jnp.stack([x, x * 2]), ["b, 6"]),
    "slice from": (lambda x: x[1:], ["b, 6"]),
    "slice to": (lambda x: x[:-1], ["b, 6"]),
    "slice by": (lambda x: x[::2], ["b, 6"]),
    "slice from the end": (lambda x: (x[-3:], x[:-2], x[-1:]), ["b, 6"]),
    "inner slice": (lambda x: (x[1:-1], x[2:5], x[1:-1] + x[:-2] * x[2:]), ["h, 6"]),
    "empty slice": (lambda x: (x[3:2], x[1:-1], x[4:-4]), ["b, 6"]),
    "strided slices": (lambda x: (x[1::2], x[::3], x[::-2], x[3:-2:2], x[-1:1:-1]), ["b, 6"]),
    "strided and counted": (lambda x: x[::2] + jnp.arange(0, x.shape[0], 2), ["b"]),
    "set inside": (lambda x: (x.at[1:-1].set(0.0), x.at[::2].add(1.0), x.at[-3:].mul(2.0)), ["b, 6"]),
    "differences": (lambda x: jnp.diff(x, axis=0), ["h, 6"]),
    "reversed": (lambda x: x[::-1], ["b, 6"]),
    "last": (lambda x: x[-1], ["b, 6"]),
    "matmul": (lambda x: x @ W, ["b, t, 6"]),
    "einsum": (lambda x, y: jnp.einsum("bij,bjk->bik", x, y), ["b, t, 6", "b, 6, t"]),
    "softmax": (lambda x: onax.nn.softmax(x @ W), ["b, 6"]),
    "logsumexp": (lambda x: onax.nn.logsumexp(x, axis=0), ["b, 6"]),
    "arange": (lambda x: jnp.arange(x.shape[0], dtype=np.float32) * x, ["b"]),
    "iota": (lambda x: lax.broadcasted_iota(np.int32, x.shape, 1), ["b, t"]),
    "ones": (lambda x: jnp.ones((x.shape[0], 2)), ["b"]),
    "where": (lambda x: jnp.where(x > 0, x, 0.0), ["b, t"]),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 0))), ["b, 6"]),
    "argmax": (lambda x: jnp.argmax(x, axis=0), ["b, 6"]),
    "transpose": (lambda x: x.T, ["b, t"]),
    "outer": (lambda x: x[:, None] - x[None, :], ["b"]),
    "broadcast": (lambda x: jnp.broadcast_to(x, (3, *x.shape)), ["b, t"]),
    "tile": (lambda x: jnp.tile(x, (2, 1)), ["b, 6"]),
    "repeat": (lambda x: jnp.repeat(x, 2, axis=0), ["b, 6"]),
    "take": (lambda x: jnp.take(x, np.array([0, 1]), axis=1), ["b, 6"]),
    "gather": (lambda x, i: x[i], ["b, 6", I32 + "t"]),
    "gather in rows": (lambda x: x[jnp.arange(x.shape[0]), 0], ["b, 6"]),
    "set": (lambda x: x.at[0].set(1.0), ["b, 6"]),
    "scatter-add": (lambda x, i: x.at[i].add(1.0), ["b, 6", I32 + "t"]),
    "one_hot": (lambda i: onax.nn.one_hot(i, 5), [I32 + "b"]),
    "grad": (onax.grad(lambda x: jnp.sum(jnp.tanh(x @ W) ** 2) / x.shape[0]), ["b, 6"]),
    "grad of mean": (onax.grad(lambda x: jnp.mean(onax.nn.relu(x @ W))), ["b, 6"]),
    "grad of gather": (onax.grad(lambda x, i: jnp.sum(x[i] ** 2)), ["b, 6", I32 + "t"]),
    "value_and_grad": (onax.value_and_grad(lambda w, x: jnp.mean((x @ w) ** 2)), ["6, 4", "b, 6"]),
    "vmap": (lambda x: onax.vmap(lambda row: row @ W)(x), ["b, 6"]),
    "vmap of grad": (lambda x: onax.vmap(onax.grad(lambda row: jnp.sum(jnp.sin(row))))(x), ["b, 6"]),
    "split": (lambda x: jnp.split(x, 2, axis=1), ["b, 6"]),
    "flip": (lambda x: jnp.flip(x, 0), ["b, 6"]),
    "roll": (lambda x: jnp.roll(x, 1, axis=0), ["b, 6"]),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (1, 0), (1, 6)), ["b, 6"]),
    "eye": (lambda x: jnp.eye(x.shape[0]), ["b"]),
    "tril": (jnp.tril, ["b, b"]),
    "reductions": (lambda x: (x.min(0), x.max(0), x.prod(0), jnp.any(x > 1, axis=0)), ["b, 6"]),
    "jit inside": (lambda x: onax.jit(lambda y: jnp.clip(y, 0, 1))(x), ["b, 6"]),
    "sort": (lambda x: jnp.sort(x, axis=0), ["b, 6"]),
    "sort, descending": (lambda x: jnp.sort(x, descending=True), ["b, t"]),
    "argsort": (lambda x: jnp.argsort(x, axis=0), ["b, 6"]),
    "top_k": (lambda x: lax.top_k(x, 3), ["b, 6"]),
    "top_k of all": (lambda x: lax.top_k(x, x.shape[1]), ["b, t"]),
    "cumsum": (lambda x: jnp.cumsum(x, axis=0), ["b, 6"]),
    "cumsum of all": (jnp.cumsum, ["b, t"]),
    "cumsum of integers": (jnp.cumsum, [I32 + "b"]),
    "cummax": (lambda x: lax.cummax(x, 1), ["b, 6"]),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, 1), ["b, 6"]),
    "median": (lambda x: jnp.median(x, axis=0), ["b, 6"]),
    "median of all": (jnp.median, ["b, t"]),
    "nanmedian": (lambda x: jnp.nanmedian(x, axis=0), ["b, 6"]),
    "grad of sort": (onax.grad(lambda x: jnp.sum(jnp.sort(x, axis=1)[:, :2])), ["b, 6"]),
    "grad of cumsum": (onax.grad(lambda x: jnp.sum(jnp.cumsum(x, axis=0) ** 2)), ["b, 6"]),
    "grad of top_k": (onax.grad(lambda x: jnp.sum(lax.top_k(x, 2)[0])), ["b, 6"]),
    "nonzero": (lambda x: jnp.nonzero(x > 0, size=4), ["b, 6"]),
    "nonzero of all": (lambda x: jnp.nonzero(x > 0, size=x.shape[0]), ["b"]),
    "one_hot of a length": (lambda x: onax.nn.one_hot(jnp.arange(3), x.shape[0]), ["b"]),
    "insert": (lambda x: (jnp.insert(x, 1, 7.0), jnp.insert(x, -1, jnp.ones(2))), ["b"]),
    "insert a column": (lambda x: jnp.insert(x, 0, 1.0, axis=1), ["b, t"]),
    "pad to twice": (lambda x: jnp.pad(x, ((1, 2), (0, x.shape[1]))), ["b, t"]),
    "nearest": (lambda x: onax.image.resize(x, (2 * x.shape[0], 3), "nearest"), ["b, 6"]),
    "linear": (lambda x: onax.image.resize(x, (4, x.shape[1]), "linear"), ["6, t"]),
    "cubic": (lambda x: onax.image.resize(x, (2 * x.shape[0], 2 * x.shape[1]), "cubic"), ["h, w"]),
    "unique": (lambda x: jnp.unique(x, size=4), [I32 + "b"]),
    "convolution": (lambda x: _convolution(x, (1, 1), "SAME"), ["b, 2, h, w"]),
    "strided convolution": (lambda x: _convolution(x, (2, 2), "SAME"), ["b, 2, h, w"]),
    "strided convolution, lower": (lambda x: _convolution(x, (2, 3), "SAME_LOWER"), ["b, 2, h, w"]),
    "convolution of valid windows": (lambda x: _convolution(x, (2, 1), "VALID"), ["b, 2, h, w"]),
    "grad of convolution": (onax.grad(lambda x: jnp.sum(_convolution(x, (2, 2), "SAME") ** 2)), ["b, 2, 8, 6"]),
    "max pool": (lambda x: _pool(x, 2, "VALID"), ["b, 2, h, w"]),
    "max pool, same": (lambda x: _pool(x, 3, "SAME"), ["b, 2, h, w"]),
    "grad of max pool": (onax.grad(lambda x: jnp.sum(_pool(x, 2, "VALID") ** 2)), ["b, 2, h, w"]),
    "normal": (lambda x: x + onax.random.normal(KEY(), x.shape), ["b, t"]),
    "dropout": (lambda x: jnp.where(onax.random.bernoulli(KEY(), 0.5, x.shape), x, 0), ["b, 6"]),
    "randint": (lambda x: x + onax.random.randint(KEY(), x.shape, 0, 10), ["b, t"]),
    "categorical": (lambda x: onax.random.categorical(KEY(), x), ["b, 6"]),
    "keys for examples": (lambda x: onax.vmap(_noisy)(onax.random.split(KEY(), x.shape[0]), x), ["b, 6"]),
    "expression": (lambda x: x.reshape(-1, 2).sum(0), ["2*b + 2*t, t"]),
}


@pytest.mark.filterwarnings("ignore:ONNX cannot assert")
@pytest.mark.parametrize("name", CASES)
def test_case(name):
    fun, texts = CASES[name]
    scope = symbolic_shape("h, w", constraints=["h >= 3", "w >= 3"])[0].scope  # a window fits
    specs = []
    for text in texts:
        dtype = np.int32 if text.startswith(I32) else np.float32
        specs.append(ShapeDtypeStruct(symbolic_shape(text.removeprefix(I32), scope=scope), dtype))
    exported = export(fun)(*specs)
    rng = np.random.default_rng(0)
    for b, t in ((1, 3), (4, 2), (5, 7)):
        args = []
        for spec in specs:
            shape = evaluate_shape(spec.shape, {"b": b, "t": t, "h": t + 2, "w": t + 1})
            x = rng.integers(-5, 5, shape) if spec.dtype == np.int32 else rng.normal(size=shape)
            args.append(jnp.asarray(x.astype(spec.dtype)))
        pairs = zip(onax.tree.leaves(exported.call(*args)), onax.tree.leaves(fun(*args)), strict=True)
        for got, wanted in pairs:
            assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
            # sums in another order: up to 100 terms of size about 1
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-5)


def test_types_without_values():
    """eval_shape gives results' shapes as expressions."""
    b, t = symbolic_shape("b, t")
    out = onax.eval_shape(lambda x: jnp.concatenate([x.reshape(-1), jnp.ones(3)]), ShapeDtypeStruct((b, t), np.float32))
    assert str(out.shape) == "(b*t + 3,)"


REFUSED = {
    "reshape": (
        lambda x: x.reshape(2, -1),
        onax.errors.InconclusiveDimensionOperation,
        r"Cannot divide evenly the sizes of shapes \(b, t\) and \(2, -1\). The remainder mod\(b\*t, - 2\) should be 0",
    ),
    "squeeze": (jnp.squeeze, ValueError, "jnp.squeeze with axis=None is not supported with shape polymorphism"),
    "iteration": (list, onax.errors.InconclusiveDimensionOperation, "Symbolic dimension 'b' used in a context"),
    "linspace": (lambda x: jnp.linspace(0, 1, x.shape[0]), onax.errors.InconclusiveDimensionOperation, "'b' > '1'"),
    "permutation": (lambda x: onax.random.permutation(KEY(), x), NotImplementedError, "shape polymorphism for `perm"),
    "associative_scan": (
        lambda x: lax.associative_scan(jnp.add, x),
        NotImplementedError,
        "axis of non-constant size: b",
    ),
    "negative padding": (lambda x: jnp.pad(x, (-1, x.shape[0])), ValueError, "negative values"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_depends_on_sizes_is_refused(name):
    function, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        onax.eval_shape(function, ShapeDtypeStruct(symbolic_shape("b, t"), np.float32))
