"""Programs of users, with the types that type checkers must infer; tests/ground/test_typing.py checks them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_type

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import Array, export, ffi, lax, nn, random, tree_util
from onax.api_util import donation_vector, safe_map
from onax.example_libraries import optimizers, stax
from onax.experimental import io_callback, mesh_utils, rnn, sparse
from onax.extend import core
from onax.flatten_util import ravel_pytree
from onax.interpreters import ad
from onax.nn import initializers
from onax.numpy import fft, linalg
from onax.scipy import fft as scipy_fft
from onax.scipy import linalg as scipy_linalg
from onax.scipy import signal, special, stats
from onax.scipy.optimize import minimize


def loss(w: Array, x: Array, scale: float = 1.0) -> Array:
    return ((x @ w) ** 2).sum() * scale


def step(w: Array, x: Array) -> tuple[Array, dict[str, Array]]:
    value = loss(w, x)
    return w - 0.1 * value, {"loss": value}


def called(function: Callable[[Array, int], Array]) -> Callable[[Array, int], Array]:
    return function


def count(carry: tuple[Array, int]) -> tuple[Array, int]:
    return carry[0] + 1, carry[1] + 1


class Box:
    def tree_flatten(self) -> tuple[tuple[()], None]:
        return (), None


@jax.jit
def decorated(x: Array, times: int) -> Array:
    return x * times


def programs(array: Array) -> None:
    # Transformations keep the arguments of the function that they are given, jit and vmap its result too.
    compiled = jax.jit(step)
    assert_type(compiled(array, array), tuple[Array, dict[str, Array]])
    assert_type(jax.jit(static_argnames="scale")(loss)(array, array, scale=2.0), Array)
    assert_type(jax.vmap(loss)(array, array), Array)
    assert_type(jax.checkpoint(loss)(array, array), Array)
    assert_type(jax.value_and_grad(loss)(array, array), tuple[Array, Any])
    assert_type(jax.jvp(loss, (array, array), (array, array)), tuple[Array, Array])
    assert_type(jax.vjp(loss, array, array)[0], Array)
    assert_type(jax.jit(jax.vmap(loss))(array, array), Array)

    # Arrays: attributes, operators, methods.
    assert_type(array.shape, tuple[int, ...])
    assert_type(array.ndim, int)
    assert_type(array + 1, Array)
    assert_type(2.0 / array, Array)
    assert_type(array < 3, Array)
    assert_type(array[0], Array)
    assert_type(array.at[0].set(1.0), Array)
    assert_type(array.at[0, :].add(array, mode="drop"), Array)
    assert_type(array.at[:2].get(fill_value=0.0), Array)
    assert_type(divmod(array, 2), tuple[Array, Array])
    assert_type(array.argsort(descending=True), Array)
    assert_type(array.nonzero(), tuple[Array, ...])
    assert_type(array.T.reshape(3, 2).sum(axis=0), Array)
    assert_type(float(array.mean()), float)
    assert_type(list(array), list[Array])
    assert_type(decorated(array, 3), Array)
    assert_type(jax.grad(called(decorated))(array, 3), Any)
    assert_type(jax.block_until_ready(step(array, array)), tuple[Array, dict[str, Array]])
    assert_type(jax.make_jaxpr(jax.jit(lambda v: v))(array), Any)  # jit of a lambda is an argument of any function
    assert_type(jax.vmap(jax.vmap(lambda v: loss(v, v)))(array), Array)
    assert_type(jax.jvp(jax.jit(lambda v: v), (array,), (array,)), tuple[Any, Any])
    assert_type(jax.vjp(jax.jit(lambda v: v), array)[0], Any)
    assert_type(jax.vjp(step, array, array, has_aux=True)[2], dict[str, Array])
    assert_type(jax.device_count(), int)
    assert_type(jax.make_mesh((2,), ("x",)), jax.sharding.Mesh)


def functions(x: Array) -> None:
    key = random.key(0)
    # Functions of numpy: creation, reductions, shapes, products.
    assert_type(jnp.zeros((2, 3)), Array)
    assert_type(jnp.ones_like(x), Array)
    assert_type(jnp.full((2,), 1.0, dtype="float32"), Array)
    assert_type(jnp.asarray([1, 2]), Array)
    assert_type(jnp.arange(3), Array)
    assert_type(jnp.eye(3), Array)
    assert_type(jnp.sum(x, axis=0), Array)
    assert_type(jnp.prod(x, axis=(0, 1), keepdims=True), Array)
    assert_type(jnp.mean(x), Array)
    assert_type(jnp.var(x, ddof=1), Array)
    assert_type(jnp.max(x, initial=0.0), Array)
    assert_type(jnp.any(x > 0), Array)
    assert_type(jnp.argmax(x, axis=-1), Array)
    assert_type(jnp.cumsum(x), Array)
    assert_type(jnp.nansum(x), Array)
    assert_type(jnp.median(x), Array)
    assert_type(jnp.sort(x), Array)
    assert_type(jnp.reshape(x, (1, -1)), Array)
    assert_type(jnp.transpose(x, (1, 0)), Array)
    assert_type(jnp.moveaxis(x, 0, 1), Array)
    assert_type(jnp.concatenate([x, x]), Array)
    assert_type(jnp.stack([x, x], axis=1), Array)
    assert_type(jnp.split(x, 2), list[Array])
    assert_type(jnp.meshgrid(x, x), list[Array])
    assert_type(jnp.histogram(x), tuple[Array, Array])
    assert_type(jnp.matmul(x, x), Array)
    assert_type(jnp.tensordot(x, x, axes=1), Array)
    assert_type(jnp.clip(x, 0, 1), Array)
    assert_type(jnp.take(x, x, axis=0), Array)
    assert_type(jnp.tril(x), Array)
    assert_type(jnp.where(x > 0, x, 0), Array)
    assert_type(jnp.where(x > 0), tuple[Array, ...])
    assert_type(jnp.nonzero(x), tuple[Array, ...])
    assert_type(jnp.dot(x, x), Array)
    assert_type(jnp.einsum("ij,jk->ik", x, x), Array)
    assert_type(jnp.interp(x, x, x), Array)
    assert_type(jnp.diff(x), Array)
    assert_type(jnp.tile(x, 2), Array)
    assert_type(jnp.roll(x, 1), Array)
    assert_type(jnp.searchsorted(x, 1.0), Array)
    assert_type(jnp.broadcast_to(x, (2, 3)), Array)
    assert_type(jnp.atleast_1d(x), Array)
    assert_type(jnp.atleast_2d(x, x), list[Array])
    assert_type(jnp.linspace(0, 1), Array)
    assert_type(jnp.linspace(0, 1, retstep=True), tuple[Array, Array])
    assert_type(jnp.average(x, weights=x), Array)
    assert_type(jnp.average(x, returned=True), tuple[Array, Array])
    assert_type(jnp.top_k(x, 2), tuple[Array, Array])
    assert_type(jnp.unique(x), Array)
    assert_type(jnp.unique(x, return_counts=True), tuple[Array, ...])
    assert_type(jnp.unique_counts(x).counts, Array)
    assert_type(jnp.result_type(x, 1.0), np.dtype)
    assert_type(jnp.ndim(x), int)
    assert_type(jnp.shape(x), tuple[int, ...])
    # Elementwise functions; those that are objects have methods.
    assert_type(jnp.sin(x), Array)
    assert_type(jnp.exp(1.0), Array)
    assert_type(jnp.exp(np.ones(3)), Array)
    assert_type(jnp.exp(np.float32(1)), Array)
    assert_type(jnp.exp(np.arange(3)[1]), Array)
    assert_type(jnp.asarray([[1, 2], (3, 4.0)]), Array)
    assert_type(jnp.power(x, 2), Array)
    assert_type(jnp.arctan2(x, 1), Array)
    assert_type(jnp.add, jnp.ufunc)
    assert_type(jnp.add.reduce(x, axis=None), Array)
    assert_type(jnp.multiply.accumulate(x), Array)
    assert_type(jnp.maximum.outer(x, x), Array)
    # Linear algebra and Fourier transforms.
    assert_type(linalg.norm(x), Array)
    assert_type(linalg.solve(x, x), Array)
    assert_type(linalg.inv(x), Array)
    assert_type(linalg.det(x), Array)
    assert_type(linalg.cholesky(x), Array)
    assert_type(linalg.cond(x), Array)
    assert_type(jnp.linalg.inv(x), Array)
    assert_type(jnp.fft.fft(x), Array)
    assert_type(linalg.matrix_power(x, 3), Array)
    assert_type(linalg.svd(x).S, Array)
    assert_type(linalg.svd(x, compute_uv=False), Array)
    assert_type(linalg.qr(x).R, Array)
    assert_type(linalg.qr(x, mode="r"), Array)
    assert_type(linalg.eigh(x).eigenvectors, Array)
    assert_type(linalg.slogdet(x).logabsdet, Array)
    assert_type(fft.fft(x, axis=0), Array)
    assert_type(fft.rfft(x, n=8), Array)
    # Neural networks and random numbers.
    assert_type(nn.silu(x), Array)
    assert_type(nn.gelu(x, approximate=False), Array)
    assert_type(nn.softmax(x, axis=-1), Array)
    assert_type(nn.log_softmax(x), Array)
    assert_type(nn.one_hot(x, 10), Array)
    assert_type(nn.relu(x), Array)
    assert_type(nn.dot_product_attention(x, x, x), Array)
    assert_type(nn.initializers.zeros(key, (2,)), Array)
    assert_type(jax.nn.silu(x), Array)
    assert_type(jax.random.exponential(key, (2,)), Array)
    assert_type(jax.scipy.special.expit(x), Array)
    assert_type(jax.scipy.stats.norm.pdf(x), Array)
    assert_type(initializers.he_normal()(key, (2, 3)), Array)
    assert_type(random.split(key), Array)
    assert_type(random.fold_in(key, 3), Array)
    assert_type(random.normal(key, (3,)), Array)
    assert_type(random.uniform(key, (3,), minval=-1.0), Array)
    assert_type(random.randint(key, (3,), 0, 10), Array)
    assert_type(random.bernoulli(key, 0.5), Array)
    assert_type(random.categorical(key, x), Array)
    assert_type(random.permutation(key, x), Array)


def operations(x: Array) -> None:
    # Functions of lax: operations, slices, sorts, products, loops and branches, which keep what the function returns.
    assert_type(lax.add(x, 1.0), Array)
    assert_type(lax.linalg.cholesky(x), Array)
    assert_type(lax.linalg.eigh(x)[1], Array)
    assert_type(lax.exp(x, accuracy=lax.AccuracyMode.DEFAULT), Array)
    assert_type(lax.select(x > 0, x, x), Array)
    assert_type(lax.dynamic_slice(x, (0,), (2,)), Array)
    assert_type(lax.split(x, (1, 2)), list[Array])
    assert_type(lax.top_k(x, 2), list[Array])
    assert_type(lax.cumsum(x, axis=0, reverse=True), Array)
    assert_type(lax.dot_general(x, x, (((0,), (0,)), ((), ()))), Array)
    assert_type(lax.conv_general_dilated(x, x, (1, 1), "SAME"), Array)
    assert_type(lax.stop_gradient((x, x)), tuple[Array, Array])
    assert_type(lax.scan(step, x, x), tuple[Array, dict[str, Array]])
    assert_type(lax.while_loop(lambda c: c[0] < 3, count, (x, 0)), tuple[Array, int])
    assert_type(lax.fori_loop(0, 3, lambda i, c: loss(c, c), x), Array)
    assert_type(lax.cond(x > 0, loss, loss, x, x), Array)
    assert_type(lax.cond(x > 0, jnp.sin, lambda other: other, x), Array)  # the parameters have other names
    assert_type(lax.cond(x > 0, jax.jit(lambda v: v), jax.jit(lambda v: v + 1), x), Any)
    assert_type(lax.switch(1, [step, step], x, x), tuple[Array, dict[str, Array]])
    assert_type(lax.map(lambda row: loss(row, row), x), Array)
    # The rest of lax, and scipy.
    assert_type(lax.full((2,), 0.5), Array)
    assert_type(lax.dynamic_index_in_dim(x, 0), Array)
    assert_type(scipy_linalg.solve(x, x), Array)
    assert_type(signal.fftconvolve(x, x), Array)
    assert_type(scipy_fft.dct(x), Array)
    assert_type(lax.broadcast_like(x, x), Array)
    assert_type(special.logsumexp(x), Array)
    assert_type(special.logsumexp(x, return_sign=True), tuple[Array, Array])
    assert_type(special.expit(x), Array)
    assert_type(special.erf(x), Array)
    assert_type(signal.stft(x), tuple[Array, Array, Array])
    assert_type(scipy_linalg.cho_factor(x), tuple[Array, bool])
    assert_type(stats.norm.logpdf(x, loc=1.0), Array)
    assert_type(stats.mode(x).mode, Array)
    assert_type(minimize(loss, x, method="BFGS").x, Array)
    assert_type(special.softmax(x, axis=0), Array)
    assert_type(special.gammainc(1.0, x), Array)
    assert_type(special.zeta(x, 2.0), Array)
    assert_type(special.comb(5, 2), Array)
    assert_type(scipy_linalg.det(x), Array)
    assert_type(scipy_linalg.inv(x), Array)
    assert_type(scipy_linalg.toeplitz(x), Array)
    assert_type(jax.image.resize(x, (2, 2), "linear"), Array)
    assert_type(jax.ops.segment_sum(x, x, num_segments=3), Array)


def trees(x: Array, model: dict[str, Array]) -> None:
    leaves, structure = tree_util.tree_flatten(model)
    assert_type(leaves, list[Any])
    assert_type(structure, tree_util.PyTreeDef)
    assert_type(structure.num_leaves, int)
    assert_type(jax.tree.leaves(model), list[Any])
    assert_type(jax.tree.structure(model), tree_util.PyTreeDef)
    assert_type(tree_util.keystr(tree_util.tree_leaves_with_path(model)[0][0]), str)
    assert_type(jax.tree.all(model), bool)
    assert_type(ravel_pytree(model)[0], Array)
    assert_type(tree_util.register_pytree_node_class(Box), type[Box])


def files(x: Array) -> None:
    exported = export.export(loss)(x, x)
    assert_type(exported, export.Exported)
    assert_type(exported.serialize(), bytearray)
    export.save(exported, Path("loss.onnx"))
    assert_type(export.load("loss.onnx"), export.Exported)
    assert_type(export.is_symbolic_dim(export.symbolic_shape("b, 3")[0]), bool)
    assert_type(jax.onnx.load("loss.onnx"), jax.onnx.Model)
    assert_type(scipy_linalg.sqrtm(x), Array)


def experiments(x: Array) -> None:
    # Sparse arrays keep their class; dense ones come out of them.
    matrix = sparse.BCOO.fromdense(x)
    assert_type(matrix, sparse.BCOO)
    assert_type(matrix.todense(), Array)
    assert_type(matrix.shape, tuple[int, ...])
    assert_type(matrix.sum_duplicates(nse=3), sparse.BCOO)
    assert_type(sparse.bcoo_transpose(matrix, permutation=(1, 0)), sparse.BCOO)
    assert_type(sparse.bcoo_reduce_sum(matrix, axes=(0,)), sparse.BCOO)
    assert_type(sparse.todense(matrix), Array)
    assert_type(sparse.csr_matvec(sparse.CSR.fromdense(x), x), Array)
    assert_type(sparse.value_and_grad(loss)(x, x, scale=2.0), tuple[Array, Any])
    assert_type(sparse.eye(3, sparse_format="bcsr").todense(), Array)
    # Optimizers and layers are tuples of functions.
    optimizer = optimizers.adam(1e-3)
    assert_type(optimizer, optimizers.Optimizer)
    init, update, get_params = optimizers.sgd(optimizers.exponential_decay(0.1, 10, 0.5))
    state = update(0, {"w": x}, init({"w": x}))
    assert_type(optimizers.l2_norm(get_params(state)), Array)
    init_layers, apply_layers = stax.serial(stax.Dense(3), stax.Relu)
    _, parameters = init_layers(random.key(0), (-1, 2))
    assert_type(apply_layers(parameters, x), Any)
    # Others.
    assert_type(mesh_utils.create_device_mesh((1,)), np.ndarray)
    assert_type(rnn.lstm(x, x, x, x, x, 2, 3, 1, 0.0, False), tuple[Array, Array, Array])
    assert_type(io_callback(print, None, x), Any)
    assert_type(ffi.include_dir(), str)
    assert_type(donation_vector((0,), (), jax.tree.structure(((x,), {}))), tuple[bool, ...])
    assert_type(safe_map(jax.jit(loss), [x], [x]), list[Array])
    assert_type(sparse.sparsify(jax.jit(lambda v: v))(matrix), Any)
    assert_type(core.jaxpr_as_fun(jax.make_jaxpr(loss)(x, x))(x, x), list[Any])
    assert_type(ad.add_jaxvals(x, x), Array)


def arguments(x: Array, mesh: jax.sharding.Mesh) -> None:
    # What is accepted as a dtype, a sharding, a device, a precision.
    assert_type(jnp.float32(3.0), Array)
    assert_type(jnp.zeros(3, jnp.bfloat16), Array)
    assert_type(jnp.zeros(3, np.float32), Array)
    assert_type(jnp.zeros(3, float), Array)
    assert_type(jnp.zeros(3, x.dtype), Array)
    assert_type(jnp.zeros(3, jnp.dtype("f4"), device=jax.devices()[0]), Array)
    assert_type(jnp.zeros(3, device=jax.NamedSharding(mesh, jax.P("x"))), Array)
    assert_type(jnp.zeros(3, out_sharding=jax.P("x")), Array)
    assert_type(x.astype(jnp.int32), Array)
    assert_type(lax.dot(x, x, precision="highest"), Array)
    assert_type(lax.dot(x, x, precision=(lax.Precision.HIGH, lax.Precision.HIGH)), Array)
