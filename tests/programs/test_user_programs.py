"""Programs of many fields as users write them, as tapes without a session and through the runtime, beside JAX."""

import numpy as np
import pytest

import onax as jax
import oracle
import user_programs
from onax._ground.config import direct_tapes
from tolerance import assert_same_bits, assert_within, finfo, is_float

RECORDED = oracle.load("user_programs")
CASES = user_programs.cases(jax)
# A result comes out of some hundred roundings at most, each of an ulp of the result's largest element.
ROUNDINGS = 256
# Probabilities that are exponentials of logarithms of size 300: one ulp of those is 300 ulps of the probability.
AMPLIFYING = {"hidden Markov model: posterior": 4096}


def agree(got, answer, name):
    """The arrays are those recorded: integers exactly, floats within the roundings of the program."""
    wanted = list(oracle.decoded(answer))
    assert len(got) == len(wanted)
    for leaf, (want, weak) in zip(got, wanted):
        assert leaf.weak_type == weak, f"{name}: weak type {leaf.weak_type}, expected {weak}"
        leaf = np.asarray(leaf)
        if is_float(want.dtype) or want.dtype.kind == "c":
            size = np.max(np.abs(want), initial=0.0)
            allowed = AMPLIFYING.get(name, ROUNDINGS) * float(finfo(want.real.dtype).eps) * size
            assert_within(leaf, want, allowed, name)
        else:
            assert_same_bits(leaf, want, name)


@pytest.mark.parametrize("direct", [True, False], ids=["direct", "session"])
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name, direct):
    function, args = CASES[name]
    assert "ok" in RECORDED.get(name, {}), f"not recorded, run `make record`: {RECORDED.get(name)}"
    with direct_tapes(direct):
        agree(function(*args), RECORDED[name], name)


def test_programs_are_many():
    assert len(RECORDED) == len(CASES)
    assert len({name.split(":")[0] for name in CASES}) > 60
