"""onax.strict(): each silent difference raises with the offending value and the line, eagerly and under jit."""

import numpy as np
import pytest

import onax
from onax import errors, lax, random
from onax import numpy as jnp

X = jnp.arange(3.0)
BIG = jnp.array([1, 2**31 - 1], jnp.int32)

OUT_OF_BOUNDS = {
    "read": (lambda: X[7], "index 7 is out of bounds for axis 0 with size 3"),
    "negative": (lambda: X[-7], "index -4 (written -7 if it was counted from the end)"),
    "array": (lambda: X[jnp.array([0, 5])], "index 5 is out of bounds for axis 0 with size 3, at position [1]"),
    "set": (lambda: X.at[7].set(1.0), "write to an array of shape (3,): index 7"),
    "add": (lambda: X.at[jnp.array([1, 9])].add(1.0), "index 9"),
    "take": (lambda: jnp.take(X, 7), "index 7"),
    "dynamic_slice": (lambda: lax.dynamic_slice(X, (2,), (2,)), "index 2 (a window 2 wide starts there)"),
    "dynamic_update_slice": (lambda: lax.dynamic_update_slice(X, X[:2], (2,)), "write to"),
    "scan": (lambda: lax.scan(lambda c, i: (c + X[i], c), 0.0, jnp.arange(5)), "index 3"),
    "fori": (lambda: lax.fori_loop(0, jnp.int32(5), lambda i, c: c + X[i], 0.0), "index 3"),
    "cond": (lambda: lax.cond(True, lambda: X[jnp.int32(7)], lambda: 0.0), "index 7"),
    "vmap": (lambda: onax.vmap(lambda i: X[i])(jnp.arange(5)), "index 3"),
    "grad": (lambda: onax.grad(lambda x: x[jnp.int32(7)] ** 2)(X), "index 7"),
}
LOST = {
    "nan": (lambda: jnp.array([1.0, np.nan]).astype(jnp.int32), "nan at index [1]"),
    "large": (lambda: jnp.array([1.0, 3e9]).astype(int), "3000000000.0 at index [1]"),
    "narrow": (lambda: jnp.arange(300).astype(jnp.uint8), "256 at index [256]"),
    "negative": (lambda: jnp.array(-1).astype(jnp.uint8), "-1, of dtype int32, does not fit in uint8"),
    "float": (lambda: jnp.array(1e30).astype(jnp.float16), "does not fit in float16"),
    "complex": (lambda: jnp.array(1 + 2j).astype(jnp.float32), "(1+2j)"),
}
OUTSIDE = {
    "numpy": (lambda: jnp.asarray(np.array([2**40])), "1099511627776 at index [0]"),
    "operand": (lambda: X + np.array([1e300, 1, 2]), "1e+300 at index [0]"),
    "argument": (lambda: onax.jit(lambda v: v)(np.array([2**40])), "1099511627776"),
    "python": (lambda: jnp.array([1], jnp.uint8) + 300, "300"),
}
TRUNCATED = {
    "zeros": (lambda: jnp.zeros(3, jnp.float64), "dtype float64 requested in zeros"),
    "astype": (lambda: X.astype("float64"), "truncated to float32"),
    "arange": (lambda: jnp.arange(3, dtype=np.int64), "truncated to int32"),
}
OVERFLOW = {
    "add": (lambda: BIG + 1, "add: 2147483647 + 1 = 2147483648 does not fit in int32"),
    "mul": (lambda: BIG * 2, "2147483647 * 2 = 4294967294"),
    "sub": (lambda: -BIG - 3, "-2147483647 - 3 = -2147483650"),
    "sum": (lambda: jnp.sum(BIG), "reduce_sum: 2147483648"),
    "cumsum": (lambda: jnp.cumsum(BIG), "at index [1]"),
    "prod": (lambda: jnp.prod(jnp.array([2**20, 2**20])), "1099511627776"),
    "power": (lambda: BIG**2, "integer_pow of 2147483647"),
    "neg": (lambda: -jnp.array(-(2**31)), "neg of -2147483648"),
    "abs": (lambda: abs(jnp.array(-(2**31))), "abs of -2147483648"),
    "div": (lambda: jnp.array(-(2**31)) // -1, "-2147483648 / -1"),
    "uint8": (lambda: jnp.array([200], jnp.uint8) + jnp.uint8(100), "200 + 100 = 300 does not fit in uint8"),
}
TABLES = [
    (errors.OutOfBoundsError, IndexError, OUT_OF_BOUNDS),
    (errors.LostValueError, ValueError, LOST),
    (errors.TruncatedDtypeError, ValueError, TRUNCATED),
    (errors.IntegerOverflowError, OverflowError, OVERFLOW),
]
CASES = [
    pytest.param(kind, base, call, words, id=f"{kind.__name__}-{name}")
    for kind, base, table in TABLES
    for name, (call, words) in table.items()
]


@pytest.mark.parametrize(("kind", "base", "call", "words"), CASES)
@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_raises(kind, base, call, words, jitted):
    call = onax.jit(call) if jitted else call
    with pytest.raises(kind) as caught, onax.strict(overflow=kind is errors.IntegerOverflowError):
        call()
    assert isinstance(caught.value, base)
    assert isinstance(caught.value, errors.StrictError)
    assert words in str(caught.value)
    assert "test_strict.py:" in str(caught.value)


@pytest.mark.parametrize("name", OUTSIDE)
def test_values_from_outside(name):
    call, words = OUTSIDE[name]
    with pytest.raises(errors.LostValueError) as caught, onax.strict():
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("name", [*OUT_OF_BOUNDS, *LOST])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_is_silent_outside(name):
    for table in (OUT_OF_BOUNDS, LOST):
        if name in table:
            table[name][0]()


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_keys_are_used_once(jitted):
    def f(key):
        return random.normal(key) + random.normal(key)

    key = random.key(0)
    with pytest.raises(errors.KeyReuseError, match="used again by random_bits"), onax.strict():
        (onax.jit(f) if jitted else f)(key)
    f(random.key(1))


def test_what_is_meant_does_not_raise():
    key = random.key(0)
    m = jnp.arange(12.0).reshape(3, 4)
    with onax.strict(overflow=True):
        assert X[-3] == 0
        assert jnp.take(X, 7, mode="clip") == 2
        assert jnp.array(2.7).astype(int) == 2
        np.testing.assert_allclose(X + np.arange(3.0), [0, 2, 4])
        first, second, third = random.split(key, 3)
        random.randint(first, (3,), 0, 10), random.permutation(second, 5), random.normal(third, (2,))
        random.PRNGKey(-1)
        onax.jit(lambda k: random.randint(k, (3,), 0, 100))(random.key(1))
        jnp.sort(m), jnp.median(m), jnp.nonzero(m > 3, size=20), jnp.bincount(jnp.array([1, 2, 2]))
        jnp.pad(m, 1, mode="reflect"), jnp.unique(X, size=5), jnp.repeat(X, jnp.array([1, 2, 3]))
        onax.grad(lambda v: jnp.sort(v)[0, 0])(m)
    with onax.strict():
        BIG + 1


def test_results_are_the_same():
    def f(x):
        return lax.scan(lambda c, v: (c * v + 1, jnp.sin(c)), 1.0, x)[1].sum() + onax.jit(jnp.cos)(x).prod()

    wanted = f(X), onax.grad(f)(X), onax.vmap(onax.grad(onax.jit(f)))(jnp.ones((2, 3)))
    with onax.strict(overflow=True):
        found = f(X), onax.grad(f)(X), onax.vmap(onax.grad(onax.jit(f)))(jnp.ones((2, 3)))
    for a, b in zip(wanted, found):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_nothing_is_left_behind():
    before = onax.config.jax_debug_key_reuse, onax._ground.config.explicit_x64_dtypes.value
    with pytest.raises(errors.OutOfBoundsError), onax.strict(), onax.strict():
        X[7]
    assert X[7] == 2
    assert (onax.config.jax_debug_key_reuse, onax._ground.config.explicit_x64_dtypes.value) == before


def test_not_inside_a_traced_function():
    @onax.jit
    def f(x):
        with onax.strict():
            return x + 1

    with pytest.raises(errors.StrictError, match="while a function is being traced"):
        f(1)
