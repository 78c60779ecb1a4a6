"""Control flow in exported models: every control program on ONNX Runtime, a sample in ONNX's reference evaluator, loops
without a step, lengths known only at run time, nests."""

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

import control_cases
import onax as jax
import onax.numpy as jnp
from onax import ShapeDtypeStruct, lax
from onax.export import export, symbolic_shape
from onax.tree_util import tree_leaves

CASES = control_cases.cases(jax)
# What the reference evaluator cannot run, and why.
NO_REFERENCE = {
    **dict.fromkeys(["scan in bfloat16"], "its kernels lack bfloat16"),
    **dict.fromkeys([name for name in CASES if "associative scan" in name], "its Pad takes no negative widths"),
    **dict.fromkeys(["scan backwards", "vmap of grad of scan"], "its Scan goes forward only"),
}
SAMPLE = [name for name in list(CASES)[::3] if name not in NO_REFERENCE]


def close(got, wanted):
    got, wanted = tree_leaves(got), tree_leaves(wanted)
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=2e-5, atol=1e-5)


def reference(exported, *args):
    inputs = dict(zip(exported.in_names, (np.asarray(a) for a in tree_leaves(args))))
    return ReferenceEvaluator(exported.onnx_model).run(list(exported.out_names), inputs)


@pytest.mark.parametrize("name", CASES)
def test_on_the_runtime(name):
    function, args = CASES[name]
    close(export(jax.jit(function))(*args).call(*args), function(*args))


@pytest.mark.parametrize("name", SAMPLE)
def test_in_the_reference_evaluator(name):
    function, args = CASES[name]
    close(reference(export(jax.jit(function))(*args), *args), function(*args))


(N,) = symbolic_shape("n")
K = jnp.arange(1.0, 4.0)
# Programs of one array of n rows (or of a length), n known only at run time.
OF_ANY_LENGTH = {
    "scan": lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c * K), jnp.zeros(3), x),
    "scan backwards": lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c), jnp.zeros(3), x, reverse=True),
    "scan of nothing": lambda x: lax.scan(lambda c, _: (c * 2, c), K, None, length=x.shape[0])[1],
    "map": lambda x: lax.map(lambda y: jnp.sum(y) * K, x),
    "reduce": lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b, (0,)),
    "cond inside scan": lambda x: lax.scan(
        lambda c, y: (lax.cond(y[0] > 3, lambda v: v + y, lambda v: v * 2, c), c), jnp.ones(3), x
    ),
    "scan inside scan": lambda x: lax.scan(
        lambda c, y: (lax.scan(lambda d, z: (d + z * K[0], d), jnp.sum(c), y)[0] * jnp.ones(3), c), jnp.ones(3), x
    ),
    "vmap of scan": lambda x: jax.vmap(lambda r: lax.scan(lambda c, y: (c * y, c), 1.0, r))(x),
}


@pytest.mark.parametrize("name", OF_ANY_LENGTH)
def test_any_number_of_steps(name):
    function = OF_ANY_LENGTH[name]
    exported = export(jax.jit(lambda x: function(x[1:])))(ShapeDtypeStruct((N, 3), np.float32))
    for n in (1, 2, 5):  # none, one and four steps
        x = np.arange(3.0 * n, dtype=np.float32).reshape(n, 3)
        close(exported.call(x), function(jnp.asarray(x[1:])))
        if n > 1:  # the evaluator's Loop cannot stack nothing
            close(reference(exported, x), function(jnp.asarray(x[1:])))


def test_a_loop_over_rows():
    function = lambda x: lax.while_loop(
        lambda c: c[0] < x.shape[0], lambda c: (c[0] + 1, c[1] + lax.dynamic_index_in_dim(x, c[0], 0, False)), (0, K)
    )
    exported = export(jax.jit(function))(ShapeDtypeStruct((N, 3), np.float32))
    x = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    close(exported.call(x), function(jnp.asarray(x)))
    close(reference(exported, x), function(jnp.asarray(x)))


def deep(x, n):
    """Five constructs inside each other, each closing over values of those around it."""

    def outer(i, c):
        def branch(v):
            def step(d, y):
                inner = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] + y * x[0] + i), (0, d))[1]
                return lax.switch(n % 3, [lambda: inner, lambda: inner * x[1], lambda: inner + v.sum()]), d

            return v + lax.scan(step, c[0], x)[1]

        return lax.cond(i > 0, branch, lambda v: v - x, c)

    return lax.fori_loop(0, 3, outer, x)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_nests(n):
    x = np.array([0.5, 0.25, 1.0], np.float32)
    exported = export(jax.jit(deep))(x, np.int32(0))
    wanted = deep(jnp.asarray(x), jnp.int32(n))
    close(exported.call(x, np.int32(n)), wanted)
    close(reference(exported, x, np.int32(n)), wanted)


def operators(function, *args):
    """Types of the nodes of the exported main graph."""
    return [node.op_type for node in export(jax.jit(function))(*args).onnx_model.graph.node]


FORMS = {
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c), 0.0, x), (K,), "Scan"),
    "fori_loop of known bounds": (lambda x: lax.fori_loop(0, 3, lambda i, c: c * i, x), (K,), "Loop"),
    "fori_loop": (lambda x, n: lax.fori_loop(0, n, lambda i, c: c * i, x), (K, 3), "Loop"),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 9, lambda c: c * 2, x), (K,), "Loop"),
    "cond": (lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), (True, K), "If"),
}


@pytest.mark.parametrize("name", FORMS)
def test_constructs_keep_their_form(name):
    function, args, wanted = FORMS[name]
    assert wanted in operators(function, *args)


def test_a_loop_of_known_length_has_a_constant_trip_count():
    model = export(jax.jit(FORMS["fori_loop of known bounds"][0]))(K).onnx_model
    (loop,) = (node for node in model.graph.node if node.op_type == "Loop")
    constants = {t.name: t for t in model.graph.initializer}
    constants.update({n.output[0]: n.attribute[0].t for n in model.graph.node if n.op_type == "Constant"})
    trips, condition = loop.input[:2]
    assert np.frombuffer(constants[trips].raw_data, np.int64).tolist() == [3]
    assert not condition or constants[condition].raw_data == b"\x01"


X = np.array([[1, -2, np.nan], [3, np.inf, 4]], np.float32)


@pytest.mark.parametrize("function, init", [
    (lambda a, b: jnp.maximum(a, b), -np.inf),
    (lambda a, b: lax.min(b, a), 2.0),
    (lambda a, b: a + b, 5.0),
    (lambda a, b: a * b, 2.0),
])  # fmt: skip
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_functions_that_are_one_primitive_are_its_reduction(function, init, axes):
    fun = lambda x: lax.reduce(x, np.float32(init), function, axes)
    exported = export(fun)(X)
    assert len(exported.onnx_model.graph.node) <= 6
    close(exported.call(X), fun(X))


@pytest.mark.parametrize("function", [lambda a, b: a + b + 1, lambda a, b: a + a, lambda a, b: b - a, lambda a, b: b])
def test_other_functions_combine_pairs(function):
    fun = lambda x: lax.reduce(x, np.float32(0), function, (1,))
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    close(export(fun)(x).call(x), fun(x))
