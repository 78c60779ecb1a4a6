"""Values that follow from whole ones alone are computed in the blocks that their readers want."""

import numpy as np
import pytest

import onax as jax
from onax._core.jaxpr import jaxprs_in_params
from sharded_programs import GRID, P, body_of, check, collectives, jnp, lax, partitioned

KEY = np.array([3, 4], np.uint32)
X = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)
WHOLE = 64  # elements of a whole value
draw = lambda sampler: lambda k: sampler(jax.random.wrap_key_data(k), (8, 8))
INITIALIZERS = {  # function of a key whose result is wanted in blocks; the key is all that a device holds
    "normal": draw(jax.random.normal),
    "uniform": draw(jax.random.uniform),
    "truncated_normal": draw(lambda key, shape: jax.random.truncated_normal(key, -2.0, 2.0, shape)),
    "bernoulli": draw(lambda key, shape: jax.random.bernoulli(key, 0.3, shape)),
    "bits 8": draw(lambda key, shape: jax.random.bits(key, shape, np.uint8)),
    "bits 16": draw(lambda key, shape: jax.random.bits(key, shape, np.uint16)),
    "bits 32": draw(jax.random.bits),
    "half normal": draw(lambda key, shape: jax.random.normal(key, shape, np.float16)),
    "zeros": lambda k: jnp.zeros((8, 8)),
    "a row": lambda k: jnp.broadcast_to(jnp.arange(8.0), (8, 8)),
    "identity": lambda k: jnp.eye(8),
    "iota": lambda k: lax.broadcasted_iota(np.int8, (8, 8), 0) * 2,
    "scaled": lambda k: draw(jax.random.normal)(k) * 0.1 + jnp.ones((8, 1)),
    "transposed": lambda k: draw(jax.random.normal)(k).T,
    "merged": lambda k: jax.random.normal(jax.random.wrap_key_data(k), (8, 4, 2)).reshape(8, 8),
    "split": lambda k: jax.random.normal(jax.random.wrap_key_data(k), (64,)).reshape(8, 8),
    "a library's initializer": lambda k: jax.nn.initializers.glorot_normal()(jax.random.wrap_key_data(k), (8, 8)),
    "an own rule": lambda k: jax.nn.relu(draw(jax.random.normal)(k)),
}


def sizes(jaxpr):
    """The numbers of elements of all values that a program computes, those of programs inside included."""
    found = []
    for eqn in jaxpr.eqns:
        inner = list(jaxprs_in_params(eqn.params))
        for program in inner:
            found += sizes(program)
        found += [] if inner else [v.aval.size for v in eqn.outvars]
    return found


def largest(program):
    return max(sizes(body_of(program)))


@pytest.mark.parametrize("spec", [P("x"), P(None, "y"), P("y", "x"), P(("x", "y"))], ids=str)
@pytest.mark.parametrize("name", INITIALIZERS)
def test_devices_compute_only_their_blocks(name, spec):
    program, _ = check(INITIALIZERS[name], KEY, in_specs=[P()], out_specs=[spec], rtol=1e-6)
    assert collectives(program) == []
    if (name, spec) not in WHOLE_VALUES:
        assert largest(program) < WHOLE


WHOLE_VALUES = [("split", P(None, "y"))]  # columns of what was a vector are no block of it


def test_64_bits():
    with jax.enable_x64(True):
        function = draw(lambda key, shape: jax.random.bits(key, shape, np.uint64))
        program, _ = check(function, KEY, in_specs=[P()], out_specs=[P("x", "y")], rtol=0)
    assert largest(program) < WHOLE


@pytest.mark.parametrize("option", ["original layout", "rbg"])
def test_bits_that_depend_on_the_whole_shape(option):
    if option == "rbg":
        function, key = lambda k: jax.random.bits(jax.random.wrap_key_data(k, impl="rbg"), (8, 8)), [*KEY, *KEY]
        program, _ = check(function, np.array(key), in_specs=[P()], out_specs=[P("x")], rtol=0)
    else:
        with jax.threefry_partitionable(False):
            program, _ = check(draw(jax.random.bits), KEY, in_specs=[P()], out_specs=[P("x")], rtol=0)
    assert largest(program) == WHOLE


READERS = {  # function of a key and of X, split P("x"): the mask is read with it alone
    "dropout": lambda k, x: jnp.where(draw(lambda key, shape: jax.random.bernoulli(key, 0.5, shape))(k), x, 0.0),
    "noise": lambda k, x: x + draw(jax.random.normal)(k) * 0.1,
    "noise in a call": lambda k, x: jax.jit(lambda k, x: x + draw(jax.random.normal)(k))(k, x),
    "noise made before a call": lambda k, x: jax.jit(lambda n, x: x + n)(draw(jax.random.normal)(k), x),
    "a stated sharding": lambda k, x: (
        lax.with_sharding_constraint(jnp.zeros((8, 8)) + k[0], jax.NamedSharding(GRID, P("x"))) + x
    ),
    "the first carry": lambda k, x: lax.fori_loop(0, 3, lambda i, y: y + x, jnp.zeros((8, 8))),
    "stacked steps": lambda k, x: lax.scan(lambda y, _: (y + x, None), jnp.zeros((8, 8)), None, length=3)[0],
}


@pytest.mark.parametrize("name", READERS)
def test_what_sharded_operands_meet(name):
    program, _ = check(READERS[name], KEY, X, in_specs=[P(), P("x")], out_specs=[P("x")])
    assert collectives(program) == []
    assert largest(program) < WHOLE


def test_a_value_with_another_reader_stays_whole():
    def function(k):
        x = draw(jax.random.normal)(k)
        return x * 2, jnp.sort(x, 0)

    program, _ = check(function, KEY, in_specs=[P()], out_specs=[P("x"), P()], rtol=1e-6)
    assert collectives(program) == []
    assert largest(program) == WHOLE


def test_readers_that_want_different_blocks():
    def function(k):
        x = draw(jax.random.normal)(k)
        return x * 2, x + 1

    program, _ = check(function, KEY, in_specs=[P()], out_specs=[P("x"), P(None, "y")], rtol=1e-6)
    assert collectives(program) == []


def test_products_of_whole_operands():
    function = lambda a, b: a @ b
    program, _ = check(function, X, X, in_specs=[P(), P()], out_specs=[P("x", "y")], rtol=1e-4)
    assert collectives(program) == []
    assert largest(program) < WHOLE


def test_loops_on_whole_operands_stay_whole():
    function = lambda a: lax.fori_loop(0, 3, lambda i, y: y @ a, a)
    program, _ = check(function, X, in_specs=[P()], out_specs=[P("x", "y")], rtol=1e-4)
    assert collectives(program) == []


def test_dimensions_that_do_not_divide():
    function = lambda k: jax.random.normal(jax.random.wrap_key_data(k), (6, 7))
    program, specs = partitioned(function, KEY, in_specs=[P()], out_specs=[P("y", "x")])
    assert specs == [P("y")]
    assert largest(program) == 21
