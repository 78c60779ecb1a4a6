"""Programs that are one tape, and parts of programs that are."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import after_passes, names
from native_passes import check as check_passes
from onax import lax
from onax._compile.passes.form_tapes import form_tapes
from onax._ground import config

X = np.linspace(0.1, 1, 6, dtype=np.float32).reshape(2, 3)
YS = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)
CLOSED = jnp.array([1.0, 2.0, 3.0])


def check(function, *args, **options):
    return check_passes(function, *args, passes=after_passes, **options)


def assert_close(got, want, what=""):
    np.testing.assert_allclose(got, want, rtol=1e-4, err_msg=what)


LOOPS = {
    "carry and slices": (lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c - y), x[0], YS)),
    "backwards": (lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c - y), x[0], YS, reverse=True)),
    "several carries": (
        lambda x: lax.scan(lambda c, y: ((c[0] * y + c[2], c[1] + 1, c[0]), c[1] * 2), (x[0], 0, x[1]), YS)
    ),
    "a carry handed through": (lambda x: lax.scan(lambda c, y: ((c[1], c[0]), c[0]), (x[0], x[1]), None, 4)),
    "constant results": (lambda x: lax.scan(lambda c, y: (c, (1.0, c)), x[0], YS)),
    "an array closed over": (lambda x: lax.scan(lambda c, y: (c + jnp.array(YS[0]) * CLOSED, None), x[0], YS)[0]),
    "numbers beside arrays": (lambda x: lax.scan(lambda c, y: (c * 2 + 1, c * y), jnp.float32(1), YS)),
    "a bool": (lambda x: lax.scan(lambda c, y: (jnp.logical_not(c), jnp.where(c, y, -y)), True, YS)),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 7, lambda c: (c[0] + 1, c[1] * 0.5 + c[0]), (0, x[0]))),
    "while, no step": (lambda x: lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, c[1]), (0, x[0]))),
    "fori, bound unknown": (lambda x: lax.fori_loop(0, x[0, 0].astype(int) + 3, lambda i, c: c * 0.5 + i, x)),
    "no trips": (lambda x: lax.scan(lambda c, y: (c + 1, c), x, None, 0)),
    "a sum in the step": (lambda x: lax.scan(lambda c, y: (c + 4 * jnp.sum(jnp.round(y * 8)), None), x, YS)),
    "slices in the step": (lambda x: lax.scan(lambda c, y: (c + y[1:] * c[0], c[1] * y[0]), x[0, 1:], YS)),
    "a sort in the step": (lambda x: lax.scan(lambda c, y: (c + jnp.sort(y), None), x, YS[:, :3])),
    "large": (lambda x: lax.scan(lambda c, y: (c + 1, None), jnp.zeros((40, 50)) + x[0, 0], None, 3)),
    "a condition for each example": (
        jax.vmap(lambda r: lax.while_loop(lambda c: c[0] < 1, lambda c: c + r * r + 0.2, r))
    ),
    "loops in loops": (lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, 2, lambda j, d: d * 0.5 + i, c), x)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_part_of_a_tape(name):
    function = LOOPS[name]
    assert names(check(function, X)) == ["tape"]
    check(lambda x: (function(x), jnp.sort(x)), X)  # in a session


MOVEMENTS = {
    "transpose": lambda x: x.T,
    "rev": lambda x: x[:, ::-1],
    "strided slice": lambda x: x[::2, ::3],
    "concatenate": lambda x: jnp.concatenate([x, x], 1),
    "pad": lambda x: jnp.pad(x, 1),
    "columns": lambda x: x[:, np.array([3, 1, 2])],
}


@pytest.mark.parametrize("name", MOVEMENTS)
def test_large_movements_of_elements_are_instructions(name):
    x = np.arange(10_000, dtype=np.float32).reshape(100, 100)
    assert names(check(MOVEMENTS[name], x)) == ["tape"]


def test_large_products_are_instructions_and_convolutions_that_threads_share_stay_nodes():
    w = np.ones((256, 256), np.float32)
    program = check(lambda w, x: jnp.sum(jnp.sort(x) * 2) + jnp.tanh(w @ w * 0.01) @ w, w, X[0], compare=assert_close)
    assert names(program) == ["tape"]
    image, kernel = np.ones((1, 64, 64, 64), np.float32), np.ones((64, 64, 3, 3), np.float32)
    convolve = lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME") + lax.fori_loop(0, 2, jnp.add, x[0, 0, 0, 0])
    program = check(convolve, image, kernel, compare=assert_close)
    assert set(names(program)) >= {"tape", "conv_general_dilated"}


def test_bodies_that_stay_hold_tapes():
    w = np.ones((600, 600), np.float32)
    program = check(lambda w: lax.scan(lambda c, _: (c @ w * 0.001 + 1, None), w, None, 2)[0], w, compare=assert_close)
    (scan,) = [eqn for eqn in program.eqns if eqn.primitive is lax.scan_p]
    assert names(scan.params["jaxpr"]) == ["tape"]


def test_a_program_is_rewritten_once():
    jaxpr = jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(X)
    assert form_tapes(jaxpr) is form_tapes(jaxpr)


@pytest.mark.parametrize("name", LOOPS)
def test_in_a_session(name):
    with config.direct_tapes(False):
        check(LOOPS[name], X)


def test_loops_with_effects_stay():
    seen = []

    def step(c, y):
        jax.debug.callback(lambda v: seen.append(float(v)), c)
        return c + y, None

    assert float(jax.jit(lambda x: lax.scan(step, x, np.arange(3, dtype=np.float32))[0])(1.0)) == 4.0
    jax.effects_barrier()
    assert sorted(seen) == [1.0, 1.0, 2.0]


def test_gradients_through_loops():
    def loss(x):
        return jnp.sum(lax.scan(lambda c, y: (jnp.tanh(c * y) + 0.1, c), x, YS)[1])

    np.testing.assert_allclose(jax.jit(jax.grad(loss))(X[0]), jax.grad(loss)(X[0]), rtol=1e-5)


@pytest.mark.parametrize("fn, shape", [(lambda x: x.sum(0), (512, 512)), (lambda x: x @ x[0], (2048, 1024))])
def test_sums_and_products_with_a_vector_are_tapes(fn, shape):
    """The runtime takes 2 to 80 times as long for them."""
    x = jnp.ones(shape, jnp.float32)
    program = jax.jit(fn).lower(x).passes()[-1][1]
    assert {eqn.primitive.name for eqn in program.eqns} == {"tape"}
    np.testing.assert_array_equal(jax.jit(fn)(x), fn(x))
