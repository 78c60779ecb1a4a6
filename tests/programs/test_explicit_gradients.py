"""Gradients over explicit axes lie as their arguments, eagerly too; stated shardings stay in derived programs."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core.sharding import ShardingTypeError
from onax.sharding import AxisType, NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices


@pytest.fixture(autouse=True)
def mesh():
    with eight_devices():
        mesh = jax.make_mesh((2, 2), ("x", "y"), (AxisType.Explicit,) * 2)
        with jax.set_mesh(mesh):
            yield mesh


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def put(spec, *shape):
    return jax.device_put(numbers(*shape), spec)


BOTH, ROWS = P("x", "y"), P("x", None)
MULTIPLY = lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=ROWS)

# (function, its arguments): the gradient of the sum of its result has the sharding of the first argument
FUNCTIONS = {
    "sum": (jnp.sum, (BOTH, 8, 2)),
    "sum of columns": (lambda x: jnp.sum(x, 0), (P(("x", "y"), None), 8, 2)),
    "slice": (lambda x: lax.slice(x, (0, 0), (4, 3)), (ROWS, 4, 4)),
    "pad": (lambda x: lax.pad(x, 0.0, ((2, 2, 0),)), (P("x"), 8)),
    "new axis": (lambda x: x[None, ...], (P("x"), 8)),
    "concatenate": (lambda x, y: jnp.concatenate([x, y], 1), (BOTH, 4, 4), (BOTH, 4, 2)),
    "split": (lambda x: lax.split(x, (4, 4), 0)[1], (BOTH, 8, 2)),
    "stack": (lambda x: jnp.stack([x, x]), (BOTH, 4, 4)),
    "reshape": (lambda x: lax.reshape(x, (4, 2, 3, 8)), (P("x", None, "y"), 4, 6, 8)),
    "product": (jnp.multiply, (BOTH, 8, 2), (BOTH, 8, 2)),
    "loop": (lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2, x), (ROWS, 4, 4)),
    "scatter": (jax.vmap(lambda row: row.at[1].set(0.0)), (ROWS, 4, 4)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_lie_as_their_arguments(name):
    fun, *given = FUNCTIONS[name]
    args = [put(*one) for one in given]
    gradient = jax.grad(lambda *args: jnp.sum(fun(*args)))
    expected = gradient(*[numbers(*shape) for _, *shape in given])
    for run in (gradient, jax.jit(gradient)):
        out = run(*args)
        assert out.sharding == args[0].sharding and jax.typeof(out) == jax.typeof(args[0])
        np.testing.assert_array_equal(out, expected)


STATED = {
    "reshape": (lambda x: jnp.reshape(x, (1, 16, 1), out_sharding=P(None, "x", None)), (P("x", None, None), 8, 2, 1)),
    "ravel": (lambda x: jnp.ravel(x, out_sharding=P("x")), (P(None, "x"), 8, 2)),
    "einsum": (lambda x: MULTIPLY(x, put(BOTH, 2, 8)), (BOTH, 8, 2)),
}


@pytest.mark.parametrize("name", STATED)
def test_gradients_of_results_whose_sharding_is_stated(name):
    fun, given = STATED[name]
    x, gradient = put(*given), jax.grad(lambda x: jnp.sum(fun(x)))
    assert gradient(x).sharding == jax.jit(gradient)(x).sharding == x.sharding


# programs in which a product states where its result lies, though its operands leave that open
DERIVED = {
    "gradient of jit": lambda a, b: jax.grad(lambda a: jnp.sum(jax.jit(MULTIPLY)(a, b)))(a),
    "linearize": lambda a, b: jax.linearize(lambda a: jax.jit(MULTIPLY)(a, b), a)[1](a),
    "checkpoint": lambda a, b: jax.grad(lambda a: jnp.sum(jax.checkpoint(MULTIPLY)(a, b)))(a),
    "cond": lambda a, b: lax.cond(True, lambda a: MULTIPLY(a, b), lambda a: 2 * MULTIPLY(a, b), a),
    "evaluation": lambda a, b: jax.core.eval_jaxpr(jax.make_jaxpr(MULTIPLY)(a, b).jaxpr, [], a, b)[0],
    "scan": lambda a, b: jax.grad(lambda a: lax.scan(lambda c, _: (c + MULTIPLY(a, b).sum(), None), 0.0, None, 1)[0])(
        a
    ),
}


@pytest.mark.parametrize("name", DERIVED)
def test_programs_derived_from_stated_shardings(name):
    a, b = put(BOTH, 8, 2), put(BOTH, 2, 8)
    with pytest.raises(ShardingTypeError):
        jnp.matmul(a, b)
    out = DERIVED[name](a, b)
    x, y = np.asarray(a), np.asarray(b)
    np.testing.assert_allclose(out, x @ y if out.shape == (8, 8) else np.broadcast_to(y.sum(1), x.shape))
    assert out.sharding.spec[0] == "x"


def test_specs_of_results_name_each_dimension(mesh):
    x = put(BOTH, 8, 2)
    stated = jnp.einsum("ij,jk->ik", x, x.T, out_sharding=P("x"))
    for out, spec in [(stated, ROWS), (jax.reshard(x, P()), P(None, None)), (jax.reshard(x, P("x")), ROWS)]:
        assert out.sharding == NamedSharding(mesh, spec)
    assert jnp.sum(jax.reshard(x, P()), 0).sharding.spec == P(None)


def test_operands_without_a_sharding_in_a_concatenation():
    x = put(ROWS, 4, 4)
    for run in (jnp.concatenate, jax.jit(jnp.concatenate)):
        assert run([x, jnp.ones((4, 4))]).sharding.spec == ROWS
    with pytest.raises(ShardingTypeError, match="All operands should have the same sharding"):
        jnp.concatenate([x, put(BOTH, 4, 4)])


def test_cases_of_a_selection_have_one_sharding():
    x, y = put(BOTH, 8, 2), put(P("y", "x"), 8, 2)
    with pytest.raises(ShardingTypeError, match="select cases must have the same shardings"):
        lax.select(x > 3, x, y)


def test_dynamic_updates_and_sums_with_operands_that_are_not_split(mesh):
    x, y, z = put(P(), 8), put(P(), 4), put(P("x"), 8)
    gradients = jax.grad(lambda x, y, z: jnp.sum(lax.dynamic_update_slice(x, y, (1,)) + z), (0, 1, 2))
    out = jax.jit(gradients)(x, y, z)
    assert [jax.typeof(g).str_short() for g in out] == ["float32[8]", "float32[4]", "float32[8@x]"]
    update = jax.grad(lambda x, y: jnp.sum(lax.dynamic_update_slice(x, y, (3,))), (0, 1))
    for run in (update, jax.jit(update)):
        assert [g.sharding.spec for g in run(put(P("x"), 16), put(P("x"), 8))] == [P("x"), P("x")]


def test_map_with_batches_larger_than_its_argument():
    x = put(P(None, "x"), 5, 2, 4)
    assert lax.map(lambda v: jnp.sum(v, -1), x, batch_size=10).sharding.spec == P(None, "x")


def test_other_names_of_axes_for_a_part_of_a_program(mesh):
    def fun(x):
        x = jnp.sin(x)
        with jax.sharding.use_abstract_mesh(mesh.abstract_mesh.update(axis_sizes=(4, 1), axis_names=("a", "b"))):
            x = jax.reshard(x, P(("a", "b"), None)) * 2
        return jax.reshard(x, P("y", None))

    x = put(BOTH, 8, 2)
    assert jax.jit(fun)(x).sharding == NamedSharding(mesh, P("y", None))
    assert jax.jit(jax.grad(lambda x: jnp.sum(fun(x))))(x).sharding == x.sharding


AUTOMATIC = {
    "zeros": lambda spec: jnp.zeros(4, out_sharding=spec),
    "einsum": lambda spec: jnp.einsum("ij,jk->ik", numbers(4, 4), numbers(4, 4), out_sharding=spec),
    "uniform": lambda spec: jax.random.uniform(jax.random.key(0), (4,), out_sharding=spec),
    "reshape": lambda spec: jnp.reshape(numbers(2, 8), (16,), out_sharding=spec),
    "reshard": lambda spec: jax.reshard(numbers(4), spec),
}


@pytest.mark.parametrize("name", AUTOMATIC)
def test_results_are_stated_over_explicit_axes_alone(name):
    mixed = jax.make_mesh((2, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
    with jax.set_mesh(mixed):
        assert AUTOMATIC[name](P("x")).sharding.spec[0] == "x"
        for spec in (P("y"), NamedSharding(mixed, P("y"))):
            with pytest.raises(ValueError, match=f"passed to {name} cannot contain axis names .* type Auto or Manual"):
                AUTOMATIC[name](spec)


def test_structs_tell_shardings(mesh):
    (struct,) = jax.eval_shape(lambda x: [x * 2], put(ROWS, 4, 2))
    assert struct.sharding == NamedSharding(mesh.abstract_mesh, ROWS)
    assert jax.eval_shape(lambda: jnp.zeros(3)).sharding is None
    with pytest.raises(ValueError, match=r"cannot contain `P\.UNCONSTRAINED` when no mesh axis_types are `Auto`"):
        NamedSharding(mesh, P(P.UNCONSTRAINED))


def test_errors_of_shardings_of_jit_name_arguments_and_results():
    with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"), (AxisType.Auto,) * 2)):
        with pytest.raises(ValueError, match=r"One of pjit arguments with pytree key path x .*rank at least 2, but"):
            jax.jit(lambda x: x, in_shardings=BOTH)(jnp.arange(2))
        with pytest.raises(ValueError, match=r"One of pjit outputs with pytree key path result\['r'\] .*rank at least"):
            jax.jit(lambda x: {"r": x}, out_shardings=BOTH)(jnp.arange(2))
        for option in ("in_shardings", "out_shardings"):
            with pytest.raises(ValueError, match=f"A single {option} specification can map every mesh axis"):
                jax.jit(lambda x: x, **{option: P("x", ("y", "x"))})(jnp.ones((2, 2)))
