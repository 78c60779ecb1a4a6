"""The key reuse checker: what is a second use, what is not, and what the message tells."""

import gc

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax, random
from onax._transforms import key_reuse
from onax.errors import KeyReuseError

KEY = 3
LOOP = "repeatedly executed"


def twice_in_loop(key):
    return lax.fori_loop(0, 3, lambda i, t: t + random.normal(key), 0.0)


def carried(key):
    return lax.scan(lambda k, _: (k, random.bits(k)), key, None, length=3)


def rotated(key):
    def body(keys, _):
        first, second = keys
        return (second, first), random.bits(first)

    return lax.scan(body, tuple(random.split(key)), None, length=3)


def in_while(key):
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + random.normal(key)), (0, 0.0))


def after_cond(key):
    drawn = lax.cond(jnp.array(True), lambda k: random.normal(k), lambda k: 1.0, key)
    return drawn + random.normal(key)


def slices(key):
    keys = random.split(key, 3)
    return random.normal(keys[1]) + random.normal(keys[1:][0])


def all_then_one(key):
    keys = random.split(key, 3)
    return jax.vmap(random.normal)(keys), random.normal(keys[2])


def stacked_twice(key):
    return jax.vmap(random.normal)(jnp.stack([key, key]))


def through_scan(key):
    keys = random.split(key, 4)
    lax.scan(lambda c, k: (c + random.normal(k), None), 0.0, keys)
    return random.normal(keys[3])


def returned(key):
    key, _ = jax.jit(lambda k: (k, random.normal(k)))(key)
    return random.normal(key)


def two_arguments(key):
    return jax.jit(lambda a, b: random.normal(a) + random.normal(b))(key, key)


REUSED = {
    "two draws": (lambda k: random.normal(k) + random.uniform(k), "random_bits"),
    "split twice": (lambda k: (random.split(k), random.split(k)), "random_split"),
    "draw and split": (lambda k: (random.normal(k), random.split(k)), "random_split"),
    "loop": (twice_in_loop, LOOP),
    "carry": (carried, LOOP),
    "rotated carry": (rotated, ""),
    "while": (in_while, LOOP),
    "cond": (after_cond, ""),
    "slices": (slices, ""),
    "all, then one": (all_then_one, ""),
    "stack": (stacked_twice, "In stack, argument 1 is already consumed."),
    "stacked keys of a scan": (through_scan, ""),
    "returned": (returned, ""),
    "nested jit": (lambda k: jax.jit(random.normal)(k) + jax.jit(random.normal)(k), ""),
    "two arguments": (two_arguments, ""),
    "reshaped": (lambda k: random.normal(k) + random.normal(k.reshape(1)[0]), ""),
    "grad": (lambda k: jax.grad(lambda x: x * random.normal(k) * random.normal(k))(1.0), ""),
    "checkpoint": (lambda k: jax.checkpoint(lambda k: random.normal(k) + random.normal(k))(k), ""),
    "used key in where": (lambda k: (random.split(k), jnp.where(True, k, random.key(1)))[1], "select_n"),
}
both = pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])


@both
@pytest.mark.parametrize("use, text", REUSED.values(), ids=REUSED.keys())
def test_second_uses(use, text, compiled):
    run = jax.jit(use) if compiled else use
    run(random.key(KEY))
    with jax.debug_key_reuse(True), pytest.raises(KeyReuseError, match=r"consumed|key reuse") as caught:
        run(random.key(KEY))
    assert text in str(caught.value)


def in_test(key):
    return lax.while_loop(lambda c: c[0] < random.normal(c[1]), lambda c: (c[0] + 1, c[1]), (0, key))


CALLED = "Previously-consumed key passed to jit-compiled function at index 0"
LOOPED = "leads to key reuse when repeatedly executed"
FIRST_LINES = {  # as JAX has them, eagerly and in jit
    "draw": (REUSED["two draws"][0], CALLED, "In jit, argument 0 is already consumed."),
    "split": (
        REUSED["split twice"][0],
        "Previously-consumed key passed to random_split at index 0",
        "In random_split, argument 0 is already consumed.",
    ),
    "bits": (
        lambda k: random.bits(k) + random.bits(k),
        "Previously-consumed key passed to random_bits at index 0",
        "In random_bits, argument 0 is already consumed.",
    ),
    "cond": (after_cond, CALLED, "In jit, argument 0 is already consumed."),
    "scan": (
        twice_in_loop,
        *[f"scan body function {LOOPED}, because key constants are repeatedly consumed:"] * 2,
    ),
    "test": (in_test, *[f"while_loop cond function {LOOPED}:   cond_signature=KeyReuseSignature(Sink(1),)"] * 2),
    "body": (in_while, *[f"while_loop body function {LOOPED}:   body_signature=KeyReuseSignature(Sink(0),)"] * 2),
    "compiled": (
        lambda k: (jax.jit(random.bits)(k), jax.jit(random.bits)(k)),
        CALLED,
        "In jit, argument 0 is already consumed.",
    ),
}


@pytest.mark.parametrize("use, eager, compiled", FIRST_LINES.values(), ids=FIRST_LINES.keys())
def test_first_lines(use, eager, compiled):
    for run, line in ((use, eager), (jax.jit(use), compiled)):
        with jax.debug_key_reuse(True), pytest.raises(KeyReuseError) as caught:
            run(random.key(KEY))
        assert str(caught.value).split("\n")[0] == line


def in_turn(key):
    def body(key, _):
        key, sub = random.split(key)
        return key, random.normal(sub)

    return lax.scan(body, key, None, length=3)


def by_index(key):
    keys = random.split(key, 3)
    return lax.fori_loop(0, 3, lambda i, t: t + random.normal(keys[i]), 0.0)


def one_branch_each(key):
    return lax.cond(jnp.array(True), lambda k: random.normal(k), lambda k: random.uniform(k), key)


def remat(key):
    return jax.grad(jax.checkpoint(lambda x, k: x * random.normal(k)))(1.0, key)


def in_linear_call(key):
    """The function that is called and its transpose both hold the key; only the first runs."""
    draw = lambda k, x: x * random.normal(random.fold_in(k, 1))
    call = lambda: jax.custom_derivatives.linear_call(draw, draw, key, 2.0)
    return call(), call(), random.normal(key)


PROPER = {
    "fold_in": lambda k: (random.fold_in(k, 1), random.fold_in(k, 2), random.normal(k)),
    "clone": lambda k: random.normal(k) + random.normal(random.clone(k)),
    "raw words": lambda k: random.normal(k) + random.normal(random.wrap_key_data(random.key_data(random.clone(k)))),
    "carry split": in_turn,
    "traced index": by_index,
    "branches": one_branch_each,
    "recomputation": remat,
    "linear call": in_linear_call,
    "each slice once": lambda k: [random.normal(x) for x in random.split(k, 3)],
    "vmap": lambda k: jax.vmap(random.normal)(random.split(k, 3)),
    "looking": lambda k: (random.key_data(k), k == k, random.normal(k)),
    "indexed by array": lambda k: jax.vmap(random.normal)(random.split(k, 5)[jnp.array([1, 3])]),
    "taken": lambda k: jax.vmap(random.normal)(jnp.take(random.split(k, 5), jnp.array([1, 3]))),
    "stack of two": lambda k: jax.vmap(random.normal)(jnp.stack(list(random.split(k)))),
}


@both
@pytest.mark.parametrize("use", PROPER.values(), ids=PROPER.keys())
def test_proper_uses(use, compiled):
    run = jax.jit(use) if compiled else use
    plain = run(random.key(KEY))
    with jax.debug_key_reuse(True):
        checked = run(random.key(KEY))
    assert str(jax.tree.leaves(plain)) == str(jax.tree.leaves(checked))


def test_both_lines_are_named():
    def program(key):
        first = random.normal(key)
        return first + random.uniform(key)

    start = program.__code__.co_firstlineno
    for run in (program, jax.jit(program)):
        with jax.debug_key_reuse(True), pytest.raises(KeyReuseError) as caught:
            run(random.key(KEY))
        assert f"used first by random_bits at {__file__}:{start + 1}:" in str(caught.value)
        assert f" at {__file__}:{start + 2}:" in str(caught.value).split("used again by random_bits")[1]


def test_staging_finds_it_too():
    use = REUSED["two draws"][0]
    with jax.debug_key_reuse(True):
        for stage in (jax.make_jaxpr(use), jax.jit(use).lower, jax.jit(use).trace):
            with pytest.raises(KeyReuseError):
                stage(random.key(KEY))


def test_raw_keys_are_not_followed():
    with jax.debug_key_reuse(True):
        key = random.PRNGKey(KEY)
        assert random.normal(key) == random.normal(key)


def test_nothing_is_kept_for_arrays_that_are_gone():
    with jax.debug_key_reuse(True):
        in_turn(random.key(KEY))
        keys = random.split(random.key(KEY), 100)
        jax.vmap(random.normal)(keys)
        assert key_reuse._marks_of_arrays and key_reuse._marks_of_memory
    del keys
    gc.collect()
    assert not key_reuse._marks_of_arrays and not key_reuse._marks_of_memory
