"""Products and convolutions in exported models: bias inside, transposes as flags or gone."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax, nn
from recognition import assert_close, assert_recognized, model_of

RNG = np.random.default_rng(0)
A, B = (RNG.standard_normal(s).astype(np.float32) for s in ((3, 4), (4, 5)))
ROW, FULL = RNG.standard_normal(5).astype(np.float32), RNG.standard_normal((3, 5)).astype(np.float32)
Q, K, V = (RNG.standard_normal((2, 6, 3, 4)).astype(np.float32) for _ in range(3))  # batch, length, heads, size
IMAGE = RNG.standard_normal((2, 8, 8, 3)).astype(np.float32)
KERNEL = RNG.standard_normal((3, 3, 3, 5)).astype(np.float32)


@pytest.mark.parametrize("fun, operators", [
    (lambda a, b, c, d: a @ b + c, "Gemm"),
    (lambda a, b, c, d: c + a @ b, "Gemm"),
    (lambda a, b, c, d: a @ b + d, "Gemm"),
    (lambda a, b, c, d: (b.T @ a.T).T + c, "Gemm"),
    (lambda a, b, c, d: lax.dot_general(a, b.T, (((1,), (1,)), ((), ()))) + c, "Gemm"),
    (lambda a, b, c, d: a @ b + d[:, :1], None),  # a column: broadcasts too, but Gemm's bias is not used for it
    (lambda a, b, c, d: (lambda p: p + c + p)(a @ b), None),  # the product has another reader
])  # fmt: skip
def test_gemm(fun, operators):
    found, exported = model_of(fun, A, B, ROW, FULL)
    assert operators is None or found == operators.split()
    assert_close(exported, fun, (A, B, ROW, FULL), scale=4)


def test_a_product_that_something_else_reads_is_computed_once():
    fun = lambda a, b, c: (lambda p: (p + c, p))(a @ b)
    found, exported = model_of(fun, A, B, ROW)
    assert sorted(found) == ["Add", "MatMul"]
    assert_close(exported, fun, (A, B, ROW), scale=4)


def test_stacks_of_products():
    fun = lambda a, b, c: a[None] @ b + c
    assert_close(model_of(fun, A, np.stack([B, B]), ROW)[1], fun, (A, np.stack([B, B]), ROW), scale=4)


def own_attention(q, k, v):
    weights = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


@pytest.mark.parametrize("fun", [own_attention, lambda q, k, v: nn.dot_product_attention(q, k, v, scale=1.0)])
def test_attention_transposes_its_operands_and_result_only(fun):
    found, exported = model_of(fun, Q, K, V)
    assert found.count("Transpose") == 4 and found.count("MatMul") == 2
    assert_close(exported, fun, (Q, K, V), scale=4)
    gradient = onax.grad(lambda q, k, v: (fun(q, k, v) ** 2).sum(), (0, 1, 2))
    assert_close(model_of(gradient, Q, K, V)[1], gradient, (Q, K, V), scale=100)


@pytest.mark.parametrize("spec", ["bij,bjk->bik", "bij,bjk->bki", "bij,bkj->bik", "bij,bkj->bki", "bji,bjk->bik",
                                  "bji,bkj->bki", "bij,bjk->ibk", "bij,bjk->kib"])  # fmt: skip
def test_batched_products(spec):
    sizes = dict(zip("bijk", (2, 3, 4, 5)))
    x, y = (RNG.standard_normal([sizes[c] for c in part]).astype(np.float32) for part in spec.split("->")[0].split(","))
    fun = lambda x, y: jnp.einsum(spec, x, y)
    found, exported = model_of(fun, x, y)
    assert found.count("MatMul") == 1
    assert_close(exported, fun, (x, y), scale=8)


def test_gradients_of_a_layer_have_no_transposes():
    x = RNG.standard_normal((2, 6, 4)).astype(np.float32)
    gradient = onax.grad(lambda b, x: ((x @ b) ** 2).sum())
    found, exported = model_of(gradient, B, x)
    assert "Transpose" not in found and "Gemm" in found
    assert_close(exported, gradient, (B, x), scale=64)


def conv(x, kernel, layout, **options):
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layout, **options)


@pytest.mark.parametrize("fun", [
    lambda x, k, c: conv(x, k, ("NHWC", "HWIO", "NHWC")) + c,
    lambda x, k, c: c[None, None, None] + conv(x, k, ("NHWC", "HWIO", "NHWC")),
    lambda x, k, c: conv(x.transpose(0, 3, 1, 2), k, ("NCHW", "HWIO", "NCHW")) + c[:, None, None],
    lambda x, k, c: conv(x.transpose(0, 3, 1, 2), k, ("NCHW", "HWIO", "NHWC")) + c,
])  # fmt: skip
def test_conv_with_bias(fun):
    found, exported = model_of(fun, IMAGE, KERNEL, ROW)
    assert found.count("Conv") == 1 and "Add" not in found
    assert_close(exported, fun, (IMAGE, KERNEL, ROW), scale=32)


@pytest.mark.parametrize("fun", [
    lambda x, k, c: conv(x, k[..., :1], ("NHWC", "HWIO", "NHWC")) + c,  # the sum has more channels
    lambda x, k, c: conv(x, k, ("NHWC", "HWIO", "NHWC"))[:, :5] + c[:, None, None],
    lambda x, k, c: conv(x, k, ("NHWC", "HWIO", "NHWC")) + x[..., :1] * c,  # a residual connection
    lambda x, k, c: conv(x, k, ("NHWC", "HWIO", "NHWC")) + x[:1, :1, :, :1] * c,
    lambda x, k, c: conv(x.transpose(0, 3, 1, 2), k, ("NCHW", "HWIO", "NCHW")) + x[:, :1, :1, :1] * c[:, None, None],
])  # fmt: skip
def test_what_is_no_bias(fun):
    found, exported = model_of(fun, IMAGE, KERNEL, ROW)
    assert "Add" in found
    assert_close(exported, fun, (IMAGE, KERNEL, ROW), scale=32)


@pytest.mark.parametrize("known", [True, False])
def test_a_bias_of_the_shape_of_channels_under_vmap(known):
    x, kernel, bias = (RNG.standard_normal(s).astype(np.float32) for s in ((2, 3, 8, 8), (4, 3, 3, 3), (4, 1, 1)))
    convolve = lambda x, bias: lax.conv_general_dilated(x[None], kernel, (1, 1), "SAME")[0] + bias
    if known:
        assert_recognized(onax.vmap(lambda x: convolve(x, bias)), (x,), "Conv", scale=20)
    else:
        assert_recognized(onax.vmap(convolve, in_axes=(0, None)), (x, bias), "Reshape Conv", scale=20)


def test_a_constant_matrix_comes_behind_a_vector():
    matrix = RNG.standard_normal((5, 7)).astype(np.float32)
    x = RNG.standard_normal(7).astype(np.float32)
    fun = lambda x: matrix @ x
    found, exported = model_of(fun, x)
    assert found == ["MatMul"] and [list(i.dims) for i in exported.onnx_model.graph.initializer] == [[7, 5]]
    assert_close(exported, fun, (x,))
    for other in (lambda x: (matrix @ x, matrix + 1), lambda x: matrix @ jnp.stack([x, x], 1)):
        assert_close(model_of(other, x)[1], other, (x,))


@pytest.mark.parametrize("formula, shapes, most", [
    ("btkgh,bskh->bkgts", ((2, 5, 3, 2, 4), (2, 6, 3, 4)), 7),
    ("bkgts,bskh->btkgh", ((2, 3, 2, 5, 6), (2, 6, 3, 4)), 7),
])  # fmt: skip
def test_products_whose_rows_become_the_last_axis(formula, shapes, most):
    rng = np.random.default_rng(0)
    operands = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    fun = lambda *xs: jnp.einsum(formula, *xs)
    operators, exported = model_of(fun, *operands)
    assert len(operators) <= most
    assert_close(exported, fun, operands, scale=8.0)
    last = [n for n in exported.onnx_model.graph.node if n.op_type == "Transpose"][-1]
    perm = list(last.attribute[0].ints)
    assert perm[-1] == len(perm) - 1  # whole rows are moved


def test_rows_through_a_layer_that_is_mapped_over_them():
    weight, bias = np.ascontiguousarray(RNG.standard_normal((5, 4)), np.float32), ROW
    layer = lambda x: weight @ x + bias
    x = RNG.standard_normal((2, 3, 4)).astype(np.float32)
    assert_recognized(onax.vmap(onax.vmap(layer)), (x,), "Reshape Gemm Reshape Add", scale=8.0)
    three = onax.vmap(onax.vmap(lambda x: (layer(x), (3 * weight) @ x, (2 * weight) @ x)))
    operators, exported = model_of(three, x)
    assert "Transpose" not in operators and operators.count("Gemm") == 3
    assert_close(exported, three, (x,), scale=8.0)


def test_a_bias_behind_one_channel():
    kernel = np.ascontiguousarray(KERNEL[..., :1])
    conv = lambda x: lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    assert_recognized(lambda x: conv(x) + np.float32([0.5]), (IMAGE,), "Transpose Conv Reshape", scale=32.0)
