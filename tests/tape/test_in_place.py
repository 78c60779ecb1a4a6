"""Temporary values lie in the memory of what is made of them: less memory, the same bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onax as jax
import onax.numpy as jnp
from onax._native.tape import BLOCK_OPERATIONS, INPUT, OPERATIONS, OUTPUT, TYPES, RegisterKind, Tape, instruction_tape
from onax._native.tape import BLOCKS_MAGIC as MAGIC
from onax._native.tape import MAGIC as TAPE
from onax._tape.in_place import _is_done_before
from tape.harness import run_tape, tape_of

X = np.random.default_rng(0).standard_normal(1 << 16, np.float32)

# What each needs for temporary values, in arrays of the size of X.  A cumulative sum is not computed over blocks.
PROGRAMS = {
    "update of a weight": (lambda w, x: w - 0.1 * jnp.cumsum(x), 0),
    "updates of two weights": (lambda w, x: (w - jnp.cumsum(x), w + 2 * jnp.cumprod(x)), 0),
    "read again after it": (lambda w, x: ((g := jnp.cumsum(x)) * 2 + w, jnp.cumsum(g)), 1),
    "of another dtype": (lambda w, x: jnp.cumsum(x).astype(jnp.int32), 1),
    "repeated": (lambda w, x: jnp.cumsum(x)[:, None] * jnp.array([1.0, 2.0]), 1),
    "a chain": (lambda w, x: jnp.cumsum(jnp.cumsum(x) * 2) * 3, 1),
    "two results": (lambda w, x: ((u := jnp.maximum(jnp.cumsum(x) + w, 0)), u > 0), 0),
    "read by two steps": (lambda w, x: ((g := jnp.cumsum(x)) + w, g * w), 0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_memory(name):
    function, wanted = PROGRAMS[name]
    assert tape_of(function, X, X)[0].memory // X.nbytes == wanted


@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name):
    function, _ = PROGRAMS[name]
    for got, want in zip(run_tape(function, X, X), jax.tree.leaves(function(X, X)), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-4, atol=1e-3)


# ---- random programs of one loop: if an input may be overwritten by a result, overwriting it changes nothing

BINARY, UNARY = ["add", "sub", "mul", "max"], ["neg", "exp", "sqrt", "move"]
R = RegisterKind


@st.composite
def programs(draw):
    """(steps, result): names, targets and operands of registers, 0 and 1 being the inputs."""
    count = draw(st.integers(1, 6))
    steps = []
    for i in range(count):
        name = draw(st.sampled_from(BINARY + UNARY))
        operands = draw(st.lists(st.integers(0, 1 + i), min_size=2, max_size=2))
        steps.append((name, 2 + i, operands[: 2 if name in BINARY else 1]))
    return steps, draw(st.integers(2, 1 + count))


def words_of(steps, kept, n, result):
    """The program that writes `kept` registers, the first of which is the result."""
    words = [MAGIC, 2, len(kept), 0, 1, 1]
    words += [TYPES[np.dtype(np.float32)], n] * (2 + len(kept))
    words += [1, 1, 1, 2 + len(steps), len(steps), n]
    for register in range(2 + len(steps)):
        place = register if register < 2 else 2 + kept.index(register) if register in kept else None
        words += [TYPES[np.dtype(np.float32)], R.BLOCK if place is None else R.DIRECT, place or 0]
    for name, target, operands in steps:
        words += [BLOCK_OPERATIONS[name].number, target, *operands, *(0,) * (3 - len(operands))]
    return words


@settings(max_examples=150, deadline=None)
@given(programs(), st.sampled_from([3, 700, 5000]))
def test_overwriting_what_is_done_changes_nothing(program, n):
    steps, result = program
    if not _is_done_before([(target, operands) for _, target, operands in steps], 0, result):
        return
    kept = [result, *[2 + i for i in range(len(steps)) if 2 + i != result][-1:]]
    words = words_of(steps, kept, n, result)
    port = ((n,), np.dtype(np.float32))
    x, y = np.linspace(-1, 1, n, dtype=np.float32), np.linspace(2, 3, n, dtype=np.float32)
    apart = instruction_tape("blocks", [port] * 2, [port] * len(kept), [len(kept), *words])([x, y])
    for got, want in zip(overwriting(words, kept, port)(x, y), apart, strict=True):
        assert np.array_equal(got, want, equal_nan=True), (steps, result)


def overwriting(words, kept, port):
    """The tape that copies the first input to where the first result goes, and reads it there."""
    size = port[0][0] * 4
    outputs = len(kept)
    head = [TAPE, 2, outputs, 2 + outputs, 1, 0, 0]
    table = [INPUT, 0, size, INPUT, 1, size, *[w for i in range(outputs) for w in (OUTPUT, i, size)]]
    move = [OPERATIONS["move"], 2, 0, 2, 0]
    blocks = [OPERATIONS["blocks"], outputs + 2, 1 + len(words), *range(2, 2 + outputs), 2, 1, outputs, *words]
    tape = Tape([*head, *table, 2, *move, *blocks], [port] * 2, [port] * outputs, (), "overwriting")
    return lambda x, y: tape([x, y])


def test_results_of_one_program_keep_their_own_memory():
    # The matrix of the system is a result that nothing reads: the solver reads its copy (`stop_gradient`) alone.
    rng = np.random.default_rng(0)
    a, b, c, d, e, x = (rng.standard_normal((32, 32), np.float32) for _ in range(6))

    def function(a, b, c, d, e, x):
        first, second = a @ c, b @ c
        both = second + a @ d
        matrix = 10 * np.eye(32, dtype=np.float32) + 0.01 * x - 0.01 * first
        factor = e - both
        return jnp.linalg.solve(matrix, x) @ factor

    with jax.disable_jit():
        want = function(a, b, c, d, e, x)
    np.testing.assert_allclose(jax.jit(function)(a, b, c, d, e, x), want, rtol=1e-3, atol=1e-3)
