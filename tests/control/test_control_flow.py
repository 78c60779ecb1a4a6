"""cond, switch, while_loop, fori_loop, scan, map: eager and jitted against real JAX's recorded results; errors."""

import numpy as np
import pytest

import control_cases
import onax as jax
import onax.numpy as jnp
import oracle
from onax import lax
from tolerance import assert_same_bits, assert_within, finfo, is_float

RECORDED = oracle.load("control_cases")
# A case is a chain of at most sixteen operations, each within four units in the last place of its largest value.
CHAIN_ULPS = 64


def agree(got, answer, name):
    leaves = jax.tree_util.tree_leaves(got)
    assert len(leaves) == len(answer["ok"])
    for leaf, (dtype, shape, data, weak) in zip(leaves, answer["ok"]):
        want = np.frombuffer(data, np.dtype(getattr(jnp, dtype, dtype))).reshape(shape)
        assert leaf.weak_type == weak, f"{name}: weak type {leaf.weak_type}, expected {weak}"
        leaf = np.asarray(leaf)
        if is_float(want.dtype):
            size = np.max(np.abs(want.astype(np.float64)), initial=0.0)
            assert_within(leaf, want, CHAIN_ULPS * float(finfo(want.dtype).eps) * size, name)
        else:
            assert_same_bits(leaf, want, name)


@pytest.mark.parametrize("way", ["eager", "jit"])
@pytest.mark.parametrize("name", control_cases.cases(jax))
def test_agrees_with_jax(name, way):
    function, args = control_cases.cases(jax)[name]
    assert name in RECORDED, "not recorded: run `make record`"
    assert "ok" in RECORDED[name], RECORDED[name]
    agree((jax.jit(function) if way == "jit" else function)(*args), RECORDED[name], name)


def test_the_same_body_is_staged_once():
    calls = []

    def body(c, x):
        calls.append(1)
        return c + x, c

    for _ in range(3):
        lax.scan(body, 0.0, jnp.arange(4.0))
    assert len(calls) == 1


def test_concrete_loops_leave_no_tracer_behind():
    seen = []
    lax.fori_loop(0, 2, lambda i, c: (seen.append(c), c + i)[1], 0.0)
    with pytest.raises(jax.errors.UnexpectedTracerError):
        seen[0] + 1


X = jnp.arange(3.0)
ERRORS = {
    "carry dtype": (lambda: lax.scan(lambda c, x: (c.astype(int), x), 0.0, X), TypeError, "so the dtypes do not match"),
    "carry shape": (
        lambda: lax.scan(lambda c, x: ((c[0], jnp.ones(2)), x), (0.0, X), X),
        TypeError,
        "The input carry component c[1] has type float32[3] but the corresponding output carry component has type "
        "float32[2], so the shapes do not match.",
    ),
    "carry tree": (
        lambda: lax.scan(lambda c, x: ({"a": c}, x), 0.0, X),
        TypeError,
        "must have the same pytree structure",
    ),
    "no pair": (lambda: lax.scan(lambda c, x: c, 0.0, X), TypeError, "scan body output must be a pair, got"),
    "lengths": (
        lambda: lax.scan(lambda c, x: (c, x), 0.0, (X, jnp.ones(4))),
        ValueError,
        "scan got values with different leading axis sizes: 3, 4.",
    ),
    "length": (
        lambda: lax.scan(lambda c, x: (c, x), 0.0, X, length=4),
        ValueError,
        "scan got `length` argument of 4 which disagrees with leading axis sizes [3].",
    ),
    "no length": (lambda: lax.scan(lambda c, x: (c, x), 0.0, None), ValueError, "`length` not provided"),
    "scalar xs": (lambda: lax.scan(lambda c, x: (c, x), 0.0, 1.0), ValueError, "no leading axis to scan over"),
    "condition type": (
        lambda: lax.while_loop(lambda c: c, lambda c: c + 1, 0),
        TypeError,
        "must return a boolean scalar",
    ),
    "condition tree": (
        lambda: lax.while_loop(lambda c: (c < 3, c), lambda c: c + 1, 0),
        TypeError,
        "cond_fun must return a boolean scalar, but got pytree PyTreeDef((*, *)).",
    ),
    "while tree": (lambda: lax.while_loop(lambda c: c < 3, lambda c: (c, c), 0), TypeError, "same pytree structure"),
    "reverse mode": (
        lambda: jax.grad(lambda x: lax.while_loop(lambda c: c < 3, lambda c: c * 2, x))(1.0),
        ValueError,
        "Reverse-mode differentiation does not work for lax.while_loop",
    ),
    "fori bounds": (
        lambda: lax.fori_loop(0, 5.0, lambda i, c: c + i, 0),
        TypeError,
        "lower and upper arguments to fori_loop must have equal types, got int32 and float32",
    ),
    "predicate shape": (
        lambda: lax.cond(X, lambda x: x, lambda x: x, 2.0),
        TypeError,
        "Pred must be a scalar, got [0. 1. 2.] of shape (3,).",
    ),
    "branch trees": (
        lambda: lax.cond(True, lambda x: x, lambda x: (x, x), 2.0),
        TypeError,
        "cond branch outputs must have the same pytree structure",
    ),
    "branch types": (
        lambda: lax.cond(True, lambda x: x, lambda x: x.astype(int), 2.0),
        TypeError,
        "The output of true_fun has type float32[] but the corresponding output of false_fun has type int32[], so the "
        "dtypes do not match.",
    ),
    "index type": (
        lambda: lax.switch(1.0, [lambda x: x] * 2, 2.0),
        TypeError,
        "Index type must be an integer, got 1.0 as float32",
    ),
    "index shape": (
        lambda: lax.switch(jnp.arange(2), [lambda x: x] * 2, 2.0),
        TypeError,
        "Branch index must be scalar",
    ),
    "no branches": (lambda: lax.switch(1, [], 2.0), ValueError, "Empty branch sequence"),
    "several faults": (
        lambda: lax.scan(lambda c, x: ((c[0].astype(int), c[1][:1]), x), (0.0, X), X),
        TypeError,
        "  * the input carry component c[0] has type float32[] but the corresponding output carry component has type "
        "int32[], so the dtypes do not match;\n  * the input carry component c[1] has type float32[3] but the "
        "corresponding output carry component has type float32[1], so the shapes do not match.",
    ),
    "parts of a carry's tree": (
        lambda: lax.while_loop(lambda c: True, lambda c: (1.0, (None, 2.0), {"b": 1.0}), (1.0, (2.0, 3.0), {"a": 1.0})),
        TypeError,
        "  * the input carry component c[1][0] is a pytree leaf but the corresponding component of the carry output is "
        "None, so their Python types differ;\n  * the input carry component c[2] is a dict with key 'a' but the "
        "corresponding component of the carry output is a dict with key 'b', so the dictionary keys do not match.",
    ),
    "fori_loop's carry": (
        lambda: lax.fori_loop(0, 3, lambda i, v: {"a": v["a"][:1]}, {"a": X}),
        TypeError,
        "scan body function carry input and carry output must have equal types, but they differ:\n\nThe input carry "
        "component loop_carry[1]['a'] has type float32[3] but the corresponding",
    ),
    "switch's branches": (
        lambda: lax.switch(0, [lambda: 1.0, lambda: 2.0, lambda: X]),
        TypeError,
        "The output of branch 0 has type float32[] but the corresponding output of branch 2 has type float32[3], so "
        "the shapes do not match.",
    ),
    "a pair is named": (
        lambda: lax.scan(lambda c, x: {"a": c, "b": x}, 0.0, X),
        TypeError,
        "scan body output must be a pair, got {'a': ~float32[], 'b': float32[]}.",
    ),
    "predicate of a string": (
        lambda: lax.cond("a", lambda: 1, lambda: 2),
        TypeError,
        "Pred must be a scalar, got a of type <class 'str'>",
    ),
    "no predicate": (lambda: lax.cond(None, lambda: 1, lambda: 2), TypeError, "cond predicate is None"),
    "complex predicate": (
        lambda: lax.cond(1j, lambda: 1, lambda: 2),
        TypeError,
        "Pred type must be either boolean or number, got complex64.",
    ),
    "operands twice": (
        lambda: lax.cond(True, lambda x: x, lambda x: x, 3, operand=3),
        TypeError,
        "if 'operand' keyword is passed then no positional operands can be passed",
    ),
    "bounds of two types": (
        lambda: lax.fori_loop(jnp.int8(0), jnp.int32(3), lambda i, c: c, 0),
        TypeError,
        "lower and upper arguments to fori_loop must have equal types, got int8 and int32",
    ),
    "unrolled loop of traced length": (
        lambda: jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c, 0, unroll=2))(3),
        ValueError,
        "Can only use `unroll` in `fori_loop` if the loop bounds are statically known.",
    ),
    "reduce of two trees": (
        lambda: lax.reduce((X,), (0.0, 0.0), lambda a, b: a, (0,)),
        ValueError,
        "Operands must have the same tree structure as init_values",
    ),
    "reduce from an array": (
        lambda: lax.reduce(X, X, lax.add, (0,)),
        ValueError,
        "reduce found non-scalar initial value: [(3,)]",
    ),
    "reduce along an axis that is not there": (
        lambda: lax.reduce(X, 0.0, lax.add, (1,)),
        ValueError,
        "reduction axes (1,) contains out-of-bounds indices for float32[3].",
    ),
    "reduce along an axis twice": (
        lambda: lax.reduce(X, 0.0, lax.add, (0, 0)),
        ValueError,
        "duplicate value in 'axes' of reduction: (0, 0)",
    ),
    "reduce to another tree": (
        lambda: lax.reduce(X, 0.0, lambda a, b: (a, b), (0,)),
        TypeError,
        "the computation of reduce must return the structure of its operands",
    ),
    "associative_scan of two lengths": (
        lambda: lax.associative_scan(jnp.add, {"a": jnp.ones((4, 3)), "b": X}),
        ValueError,
        "Array inputs to associative_scan must have the same first dimension. (saw: [(4, 3), (3,)])",
    ),
    "associative_scan of no function": (
        lambda: lax.associative_scan(3, X),
        TypeError,
        "fn argument should be callable",
    ),
    "linear solve without transpose": (
        lambda: jax.grad(lambda b: lax.custom_linear_solve(lambda x: 2 * x, b, lambda mv, y: y / 2).sum())(X),
        TypeError,
        "transpose_solve required for backwards mode automatic differentiation of custom_linear_solve",
    ),
    "linear solve to another tree": (
        lambda: lax.custom_linear_solve(lambda x: (x,), X, lambda mv, y: y),
        TypeError,
        "matvec() output pytree structure must match b, got PyTreeDef((*,)) and PyTreeDef(*).",
    ),
    "linear solve to another shape": (
        lambda: lax.custom_linear_solve(lambda x: x, X, lambda mv, y: y[:1]),
        ValueError,
        "solve() output shapes must match b, got [(1,)] and [(3,)]",
    ),
    "root of another tree": (
        lambda: lax.custom_root(lambda x: (x,), 1.0, lambda f, x: x, lambda g, y: y),
        TypeError,
        "f() output pytree structure must match initial_guess, got PyTreeDef((*,)) and PyTreeDef(*).",
    ),
    "tangents of another tree": (
        lambda: jax.grad(lambda a: lax.custom_root(lambda x: x - a, 1.0, lambda f, x: x, lambda g, y: (y, y)))(1.0),
        TypeError,
        "tangent_solve() output pytree structure must match x",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


TRACED = {
    "scan": (lambda body: lax.scan(lambda c, x: (body(c), x), 1.0, X), "<lambda>", "scan"),
    "map": (lambda body: lax.map(body, X), "body", "map"),
    "fori_loop": (lambda body: lax.fori_loop(0, 3, lambda i, v: body(v), 1.0), "<lambda>", "fori_loop"),
    "fori_loop of traced length": (
        lambda body: jax.jit(lambda n: lax.fori_loop(0, n, lambda i, v: body(v), 1.0))(3),
        "<lambda>",
        "fori_loop",
    ),
    "while_loop": (lambda body: lax.while_loop(lambda v: True, body, 1.0), "body", "while_body"),
    "while_loop's condition": (lambda body: lax.while_loop(body, lambda v: v, 1.0), "body", "while_cond"),
    "cond": (lambda body: lax.cond(True, body, lambda v: v, 1.0), "body", "cond"),
    "switch": (lambda body: lax.switch(0, [body, lambda v: v], 1.0), "body", "switch"),
    "checkpoint": (lambda body: jax.checkpoint(body)(1.0), "body", "checkpoint / remat"),
}


@pytest.mark.parametrize("name", TRACED)
def test_a_traced_condition_names_function_construct_and_argument(name):
    def body(v):
        return v if v > 0 else -v

    run, function, construct = TRACED[name]
    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        run(body)
    text = str(caught.value)
    assert f"while tracing the function {function} at {__file__}:" in text
    assert f" for {construct}." in text
    assert "depends on the value of the argument" in text


def test_bodies_of_fori_loop_and_map_are_staged_once():
    calls = []
    body = lambda i, c: calls.append(1) or c + i
    for _ in range(3):
        lax.fori_loop(0, 4, body, 0.0)
    per_slice = lambda x: calls.append(1) or x * 2
    for _ in range(3):
        lax.map(per_slice, X)
    assert len(calls) == 2


def test_branches_with_operands_of_their_own():
    assert lax.cond(True, 3.0, lambda x: x * 2, 4.0, lambda x: x + 1) == 6.0
    assert lax.cond(False, 3.0, lambda x: x * 2, 4.0, lambda x: x + 1) == 5.0


def test_a_vanishing_reduction_is_no_operation():
    x = jnp.ones((2, 3))
    assert lax.reduce({"a": x}, {"a": 7.0}, lambda p, q: p, ())["a"] is x


def test_linear_parts_of_loops_run_forward_only():
    grow = lambda x: lax.while_loop(lambda c: jnp.sum(c) < 30, lambda c: c * 2, x)
    value, push = jax.linearize(grow, X)
    np.testing.assert_array_equal(push(X), value)
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        jax.linear_transpose(push, X)(X)
    # A loop whose result has no cotangent is not run backward.
    assert jax.grad(lambda x: (grow(x[None])[0], x * 3)[1])(1.0) == 3.0


WITHOUT_JIT = {
    "scan": (lambda: lax.scan(lambda c, x: (c * 2 if c > 1 else c + float(x), c), 0.0, X), (3.0, [0.0, 0.0, 1.0])),
    "scan backwards": (lambda: lax.scan(lambda c, x: (c + float(x), c), 0.0, X, reverse=True), (3.0, [3.0, 2.0, 0.0])),
    "while": (lambda: lax.while_loop(lambda c: bool(c < 3), lambda c: c + 1 if c > 1 else c + 2, 0), 3),
    "fori": (lambda: lax.fori_loop(0, jnp.int32(3), lambda i, c: c + int(i), 0), 3),
    "map": (lambda: lax.map(lambda x: x * 2 if x > 1 else x, X), [0.0, 1.0, 4.0]),
    "cond": (lambda: lax.cond(X[1] > 0, lambda x: x * 2 if x > 1 else x, lambda x: x, 3.0), 6.0),
    "switch": (lambda: lax.switch(7, [lambda x: x, lambda x: x * 2 if x > 1 else x], 3.0), 6.0),
    "grad of while": (lambda: jax.grad(lambda w: lax.while_loop(lambda c: c < 10, lambda c: c * w, 1.0))(2.0), 32.0),
    "vmap of while": (
        lambda: jax.vmap(lambda w: lax.while_loop(lambda c: c < 10, lambda c: c * (w + 1), 1.0))(X + 1),
        [16.0, 27.0, 16.0],
    ),
}


@pytest.mark.parametrize("name", WITHOUT_JIT)
def test_values_are_known_where_jit_is_disabled(name):
    call, wanted = WITHOUT_JIT[name]
    with jax.disable_jit():
        got = call()
    for a, b in zip(jax.tree_util.tree_leaves(got), wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        np.testing.assert_array_equal(a, b)
