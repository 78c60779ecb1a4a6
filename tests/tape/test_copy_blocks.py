"""Programs over blocks together with the transposition of one of their operands, against the eager functions."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._compile.passes.inline_calls import inline_calls
from onax._native.tape import OPERATIONS
from onax._tape import build  # noqa: F401  it attaches the rules
from onax._tape.builder import Builder
from onax._tape.layout import make_tape

NAMES = {number: name for name, number in OPERATIONS.items()}
JOINED = {
    "one operation": (lambda v: v.T + 1, (401, 403)),
    "rows alone": (lambda v: jnp.swapaxes(v, 1, 2) * 2, (70, 50, 60)),
    "the last axis first": (lambda v: jnp.transpose(v, (2, 0, 1)) + 1, (100, 31, 43)),
    "with its source": (lambda v: v.T + v, (401, 401)),
    "two transposed operands": (lambda v, w: v.T - w.T, (401, 403), (401, 403)),
    "with a row": (lambda v, w: jnp.exp(v.T * 0.1) + w, (401, 403), (401,)),
    "with a column": (lambda v, w: v.T + w[:, None], (401, 403), (403,)),
    "two results": (lambda v: (lambda y: (y, y * 3))(v.T + 1), (401, 403)),
    "reshaped afterwards": (lambda v: (v.T + 1).reshape(-1), (401, 403)),
    "axes of length 1": (lambda v: jnp.transpose(v, (2, 1, 0)) + 1, (401, 1, 403)),
}
SEPARATE = {
    "small": (lambda v: v.T + 1, (40, 30)),
    "the transposed is a result": (lambda v: (lambda y: (y, y + 1))(v.T), (401, 403)),
    "long rows": (lambda v: jnp.transpose(v, (1, 0, 2)) + 1, (90, 10, 1000)),
    "no program": (lambda v: v.T, (401, 403)),
    "a sum over rows": (lambda v: jnp.sum(jnp.sin(v.T), 1), (401, 403)),
}


def run(function, *args):
    """(the names of a program's instructions, its results as one tape)."""
    builder = Builder()
    program = inline_calls(jax.make_jaxpr(function)(*args))
    builder.outputs(builder.program(program, builder.inputs(program.in_avals)), program.out_avals)
    names = [NAMES[number] for number, _, _ in builder.parts[0].instructions]
    return names, make_tape(builder)([*args, *builder.hoisted])


def check(got, want):
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
@pytest.mark.parametrize("name", [*JOINED, *SEPARATE])
def test_forms(name, dtype):
    function, *shapes = (JOINED | SEPARATE)[name]
    rng = np.random.default_rng(0)
    with jax.enable_x64(dtype == "float64"):
        args = [(rng.normal(size=shape) * 3).astype(dtype) for shape in shapes]
        names, results = run(function, *args)
        with jax.disable_jit():
            want = function(*map(jnp.asarray, args))
        check(results, want)
        check(jax.jit(function)(*args), want)
    assert ("copy_blocks" in names) is (name in JOINED)
