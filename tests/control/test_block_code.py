"""The rules that make block code: each primitive alone, on the samples of the laws, is its kernel."""

import importlib

import numpy as np
import pytest

import onax as jax
from native_passes import runner_of
from onax._control.block_code import Unfit, codes, folds, views
from onax._control.fused import assemble, fused_p
from onax._ground.config import enable_x64
from tolerance import assert_same_bits, assert_ulps


def family_samples():
    with enable_x64(True):
        modules = [
            importlib.import_module(f"laws.samples.{f}")
            for f in ("convert", "elementwise", "elementwise_polynomial", "reductions", "shaping", "special")
        ]
        return [s for module in modules for s in module.SAMPLES]


CODED = sorted({s.primitive for s in family_samples() if s.primitive in codes}, key=lambda p: p.name)


def test_every_rule_has_samples():
    assert {p.name for p in codes} == {p.name for p in CODED}


ULPS_OF = {"lgamma": 32}  # SciPy's is that inexact; tests/native/test_blocks.py compares ours with true values


def _program_of(jaxpr):
    """The program of one equation, or what runs it in another way; None if nothing does without the runtime."""
    if len(jaxpr.eqns) != 1 or jaxpr.eqns[0].primitive in (*folds, *views):
        return runner_of(jaxpr)
    try:
        assemble(jaxpr)
    except Unfit:
        return None
    return lambda operands: fused_p.kernel(*operands, jaxpr=jaxpr)


@pytest.mark.parametrize("primitive", CODED, ids=lambda p: p.name)
def test_a_rule_is_the_kernel(primitive):
    with enable_x64(True), np.errstate(all="ignore"):
        count = 0
        for sample in family_samples():
            if sample.primitive is not primitive:
                continue
            program = _program_of(jax.make_jaxpr(sample.bind)(*sample.operands))
            if program is None:
                continue
            count += 1
            (got,) = program([np.asarray(x) for x in sample.operands])
            want = np.asarray(sample.bind(*sample.operands))
            if sample.exact:
                assert_same_bits(got, want, what=str(sample))
            else:
                assert_ulps(got, want, ULPS_OF.get(primitive.name, 4), what=str(sample))
        assert count
