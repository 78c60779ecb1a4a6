"""onax against real JAX, primitive by primitive: eager, under jit, under vmap, and pulled back.

The recorded answers are replayed for every sample; a random part of the samples, on operands shuffled anew, goes to
real JAX live where it is installed (`make oracle`).  A run without it says so.
"""

import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import onax as jax
import oracle
import oracle_requests
from onax._ground.config import enable_x64
from onax.export.lower import registry
from tolerance import ULPS, assert_same_bits, assert_sum, assert_ulps, assert_within, finfo, is_float, ulp

FAMILIES = sorted(p.stem for p in (Path(__file__).parents[1] / "laws" / "samples").glob("*.py"))
LIVE_SAMPLES = [20, pytest.param(100, marks=pytest.mark.slow)]
# A gradient is a chain of at most eight elementwise operations, each within four units in the last place.
GRADIENT_ULPS = 32
ERROR_OF_JAX = {"lgamma": 3e-6, "digamma": 3e-6}


@pytest.fixture(autouse=True)
def double_precision():
    """64-bit dtypes are sampled too."""
    with enable_x64(True):
        yield


def by_primitive():
    """(family, primitive name) of everything that has samples."""
    with enable_x64(True):
        for family in FAMILIES:
            for name in dict.fromkeys(s.primitive.name for s in oracle_requests.samples(family)):
                yield pytest.param(family, name, id=name)


def flat(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def run(sample, mode, operands):
    """Eager results of onax in a mode."""
    if mode == "vmap":
        return flat(jax.vmap(sample.bind)(*oracle_requests.operands_for(sample, mode, operands)))
    if mode == "eager":
        return flat(sample.bind(*operands))
    active = [i for i, x in enumerate(operands) if is_float(x.dtype) or x.dtype.kind == "c"]

    def of_active(*xs):
        full = list(operands)
        for i, x in zip(active, xs):
            full[i] = x
        return sample.bind(*full)

    out, pull = jax.vjp(of_active, *(operands[i] for i in active))
    return pull(jax.tree.map(lambda o: np.ones(o.shape, o.dtype), out))


def compare(sample, mode, operands, got, answer, what):
    """By the table of tolerances."""
    wanted = list(oracle.decoded(answer))
    assert len(got) == len(wanted), what
    if mode == "eager":
        for g, (_, weak) in zip(got, wanted):
            assert g.weak_type == weak, f"{what}: weak type {g.weak_type}, expected {weak}"
    got, wanted = [np.asarray(g) for g in got], [w for w, _ in wanted]
    if sample.view is not None and mode != "grad":
        got, wanted = ([np.asarray(x) for x in sample.view(*results)] for results in (got, wanted))
    for g, w in zip(got, wanted):
        if sample.exact and mode != "grad":
            assert_same_bits(g, w, what)
        elif mode == "grad":
            assert_gradient(sample, operands, g, w, what)
        elif sample.sums is not None:
            terms, size = sample.sums
            sizes = [size(*operands)]
            if mode == "vmap":
                sizes.append(size(*(np.flip(x) for x in operands)))
            assert_sum(g, w, terms, np.max([np.max(s, initial=0) for s in sizes]), what)
        else:
            assert_elementwise(sample, g, w, what)


def assert_elementwise(sample, got, want, what):
    """Within four units in the last place, or as near as JAX itself is to the true value."""
    name = sample.primitive.name
    if name in ERROR_OF_JAX:
        assert_within(got, want, np.maximum(ULPS * ulp(want), ERROR_OF_JAX[name]), what)
    elif name == "pow" and all(x.dtype.kind != "c" for x in sample.operands):
        assert_ulps(got, want, what=what)
    else:
        assert_ulps(got, want, oracle.ULPS_OF_JAX.get(name, ULPS), what)


def assert_gradient(sample, operands, got, want, what):
    if not (is_float(want.dtype) or want.dtype.kind == "c"):
        return assert_same_bits(got, want, what)
    terms = GRADIENT_ULPS + (0 if sample.sums is None else sample.sums[0])
    size = np.max(np.abs(want.astype(np.float64)), initial=0.0)
    assert_within(got, want, terms * float(finfo(want.dtype).eps) * size, what)


@pytest.mark.parametrize("family, name", list(by_primitive()))
def test_recorded(family, name):
    answers = oracle.load(family)
    for sample in (s for s in oracle_requests.samples(family) if s.primitive.name == name):
        for mode in oracle_requests.modes_of(sample):
            key = oracle.key_of(oracle_requests.request_for(sample, mode))
            assert key in answers, f"{sample!r} {mode} is not recorded: run `make record`"
            answer, what = answers[key], f"{sample!r} {mode}"
            if "error" in answer:
                continue  # real JAX refuses it
            compare(sample, mode, sample.operands, run(sample, mode, sample.operands), answer, what)
            if mode == "eager" and registry.refusal(sample.primitive) is None:
                try:
                    got = flat(jax.jit(sample.bind)(*sample.operands))
                except jax.errors.LoweringError:
                    assert family == "special" and sample.operands[0].dtype == np.float64, what
                    continue
                compare(sample, mode, sample.operands, got, answer, f"{what} under jit")


@pytest.mark.oracle
@pytest.mark.parametrize("count", LIVE_SAMPLES)
def test_live(count, seed):
    if oracle.python() is None:
        warnings.warn("real JAX was NOT asked live: it is not installed (make oracle)", stacklevel=1)
        pytest.skip("real JAX is not installed (make oracle)")
    rng, shuffle = random.Random(seed), np.random.default_rng(seed)
    families = [family for family in FAMILIES if oracle_requests.version_for(family) == oracle.live().version]
    everything = [s for family in families for s in oracle_requests.samples(family)]
    for sample in rng.sample(everything, count):
        operands = tuple(
            shuffle.permutation(x.ravel()).reshape(x.shape) if is_float(x.dtype) else x for x in sample.operands
        )
        for mode in oracle_requests.modes_of(sample):
            answer = oracle.live().ask(oracle_requests.request_for(sample, mode, operands))
            if "ok" in answer:
                what = f"{sample!r} {mode}, seed {seed}"
                compare(sample, mode, operands, run(sample, mode, operands), answer, what)
