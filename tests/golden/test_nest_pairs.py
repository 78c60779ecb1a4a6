"""Every transformation inside every other, as real JAX has it: eager, compiled, exported.

Pairs are `nest_pairs.py`'s.  Where JAX raises, onax raises the same class of error.
"""

import numpy as np
import pytest

import nest_pairs
import onax as jax
from onax.errors import ExportError, LoweringError
from onax.export import export

RECORDED = nest_pairs.read()
# Derivatives of derivatives in float32: rounding grows.
TOLERANCE = 2e-3


def compare(got, want, what):
    """Value, dtype and shape agree."""
    got = np.asarray(got)
    assert (got.dtype, got.shape) == (want.dtype, want.shape), what
    scale = max(1.0, float(np.max(np.abs(want))))
    np.testing.assert_allclose(got, want, rtol=TOLERANCE, atol=TOLERANCE * scale, err_msg=what)


def names(outer):
    """The pairs of one outer construct."""
    return [f"{outer} / {inner}" for inner in nest_pairs.CONSTRUCTS]


@pytest.mark.parametrize("outer", nest_pairs.CONSTRUCTS)
def test_eager(outer):
    table = nest_pairs.cases(jax)
    for name in names(outer):
        function, args = table[name]
        want = RECORDED[name]
        if name in nest_pairs.ACCEPTED:
            function(*args)
        elif isinstance(want, str):
            with pytest.raises(Exception) as caught:
                function(*args)
            assert type(caught.value).__name__ == want, name
        else:
            compare(function(*args), want, name)


def check_compiled(name):
    """jit and, where a file can hold it, the exported model."""
    function, (argument,) = nest_pairs.cases(jax)[name]
    want = RECORDED[name]
    if isinstance(want, str):
        return
    if nest_pairs.only_eager(*name.split(" / ")):
        with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
            jax.jit(function)(argument)
        return
    compare(jax.jit(function)(argument), want, f"jit of {name}")
    if nest_pairs.unexported(*name.split(" / ")):
        with pytest.raises((ExportError, LoweringError)):
            export(function)(argument)
        return
    compare(export(function)(argument).call(argument), want, f"export of {name}")


@pytest.mark.parametrize("outer", nest_pairs.CONSTRUCTS)
def test_compiled_and_exported(outer):
    for name in names(outer):
        check_compiled(name)


def test_refusals_are_those_of_jax():
    """The reasons in the generated table belong to the pairs that JAX refuses, and to no others."""
    found = {name for name, answer in RECORDED.items() if isinstance(answer, str)}
    assert found == {f"{o} / {i}" for o, i in nest_pairs.pairs() if nest_pairs.refused(o, i)}
