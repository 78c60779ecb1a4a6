"""The eight laws, for every primitive with samples, every sample, every dtype and every batch axis.

    1  kernel and abstract_eval agree on shape, dtype and weak type
    2  the jvp agrees with differences in double precision; in narrower types, with the jvp in double precision
    3  the transpose is the adjoint: <ct, f(v)> = <f*(ct), v>
    4  batching equals a loop
    5  ONNX Runtime equals the kernel, unless ONNX cannot say the primitive
    6  evaluating the staged jaxpr equals evaluating the function
    7  the kernel, as a node of a graph that runs in this process, gives what it gives outside
    8  a tape of the one equation, fused or not, equals the kernel, and so does a loop of one step that is a tape

A test runs one law over all samples of one primitive.  A primitive of a family that has samples must have some itself.
"""

import importlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from laws.runtime import OPSETS, run_on_host, run_on_runtime, unsupported_reason
from laws.sampling import COMPLEXES, FLOATS, Sample
from onax import lax
from onax._core.evaluate import eval_jaxpr
from onax._core.facts import ELEMENTWISE
from onax._core.trace import as_array
from onax._core.zeros import UndefinedPrimal, Zero
from onax._ground.config import enable_x64
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims.creation import empty2_p
from onax._tape.build import build_tape
from onax._transforms.abstract import make_jaxpr
from tolerance import ULPS, assert_same_bits, assert_sum, assert_ulps, assert_within, finfo, is_float

FOLDER = Path(__file__).parent / "samples"
FAMILIES = sorted(p.stem for p in FOLDER.glob("*.py"))


def _collect():
    """Samples by primitive, in the order of the families."""
    found = {}
    with enable_x64(True):
        for family in FAMILIES:
            for sample in importlib.import_module(f"laws.samples.{family}").SAMPLES:
                found.setdefault(sample.primitive, []).append(sample)
    for primitive, samples in found.items():
        samples += _emptied(primitive, samples)
    return found


def _emptied(primitive, samples):
    """Elementwise primitives of no elements: a sample for each combination of dtypes and parameters."""
    if ELEMENTWISE not in primitive.facts:
        return []
    empty = {}
    for sample in samples:
        operands = [x[:, :0] if x.ndim == 2 else x for x in sample.operands]
        if any(x.size == 0 for x in operands):
            key = (tuple((x.shape, x.dtype) for x in operands), repr(sample.params))
            empty[key] = Sample(
                primitive, operands, sample.params, differentiable=sample.differentiable, linear=sample.linear
            )
    return list(empty.values())


SAMPLES = _collect()
over_primitives = pytest.mark.parametrize("primitive", list(SAMPLES), ids=lambda p: p.name)


@pytest.fixture(autouse=True)
def double_precision():
    """64-bit dtypes are sampled too."""
    with enable_x64(True):
        yield


# ---- helpers ----


def as_list(primitive, out):
    """Results as a list of Arrays, one or several."""
    return list(out) if primitive.multiple_results else [out]


def arrays(values):
    """Results as ndarrays."""
    return [np.asarray(v) for v in values]


def aval_of(x):
    """The aval of an ndarray."""
    return ShapedArray(x.shape, x.dtype)


def viewed(sample, results):
    """What of the results is determined, as ndarrays."""
    return results if sample.view is None else [np.asarray(x) for x in sample.view(*results)]


# In float64, where SciPy's error is itself above four units in the last place: how far it was found to be off.
ULPS_OF_KERNELS = {"lgamma": 32, "igamma_grad_a": 32, "random_gamma_grad": 32}


def assert_as_sampled(sample, got, want, operands, what, ulps=ULPS):
    """Compares by the table of tolerances, as the sample says."""
    if sample.exact:
        assert_same_bits(got, want, what)
    elif sample.sums is not None:
        terms, size = sample.sums
        assert_sum(got, want, terms, size(*operands), what)
    else:
        by_logarithm = sample.primitive.name == "pow" and got.dtype.kind == "c"
        assert_ulps(got, want, 4 * ULPS if by_logarithm else ulps, what=what)


def is_inexact(dtype):
    """Whether tangents of this dtype exist."""
    return is_float(dtype) or np.dtype(dtype).kind == "c"


def in_double(sample):
    """The sample's operands and parameters in double precision."""
    operands = [_double(x) for x in sample.operands]
    params = {k: _double_dtype(v) if isinstance(v, np.dtype) else v for k, v in sample.params.items()}
    return operands, params


def _double_dtype(dtype):
    if dtype in FLOATS:
        return np.dtype("float64")
    return np.dtype("complex128") if dtype in COMPLEXES else dtype


def _double(x):
    return x.astype(_double_dtype(x.dtype))


def direction(x, seed):
    """A tangent for x: numbers of either sign, none of them small."""
    rng = np.random.default_rng(seed)
    out = rng.uniform(0.5, 1.5, x.shape) * rng.choice((-1.0, 1.0), x.shape)
    if x.dtype.kind == "c":
        out = out + 1j * rng.uniform(0.5, 1.5, x.shape)
    return np.asarray(out.astype(x.dtype))


def instantiated(x):
    """A tangent as an ndarray."""
    return np.zeros(x.aval.shape, x.aval.dtype) if type(x) is Zero else np.asarray(x)


# ---- the laws ----


@over_primitives
def test_kernel_and_abstract_eval_agree(primitive):
    for sample in SAMPLES[primitive]:
        want, _ = primitive.abstract(*map(aval_of, sample.operands), **sample.params)
        outs = as_list(primitive, sample.bind(*sample.operands))
        for out, aval in zip(outs, as_list(primitive, want), strict=True):
            assert (out.shape, out.dtype, out.weak_type) == (aval.shape, aval.dtype, aval.weak_type), sample
            assert np.asarray(out).dtype == aval.dtype, sample


def _jvp(primitive, operands, params, tangents):
    full = [tangents.get(i, Zero(aval_of(x).to_tangent_aval())) for i, x in enumerate(operands)]
    out, tangent = primitive.jvp(list(operands), full, **params)
    return as_list(primitive, out), as_list(primitive, tangent)


@over_primitives
def test_jvp_agrees_with_differences(primitive):
    if primitive.jvp is None:
        pytest.skip("has no derivative")
    for number, sample in enumerate(SAMPLES[primitive]):
        if not sample.differentiable:
            continue
        operands, params = in_double(sample)
        tangents = {i: direction(operands[i], number + i) for i in sample.differentiable}
        if sample.towards is not None:
            tangents = {i: sample.towards(i, t) for i, t in tangents.items()}
        outs, got = _jvp(primitive, operands, params, tangents)
        assert all(type(t) is Zero for out, t in zip(outs, got) if not is_inexact(out.dtype)), sample
        smooth = [i for i, out in enumerate(outs) if is_inexact(out.dtype)]
        step = 1e-6
        moved = [
            arrays(as_list(primitive, primitive.bind(*_moved(operands, tangents, h), **params))) for h in (step, -step)
        ]
        for i in smooth:
            g, w = got[i], (moved[0][i] - moved[1][i]) / (2 * step)
            # central differences: rounding gives eps / step = 2e-10 of the value, truncation step^2 = 1e-12
            assert_within(instantiated(g), w, 1e-7 * (1 + np.abs(w)), f"jvp of {sample}")
        _check_narrow_jvp(sample, tangents, got, smooth)


def _moved(operands, tangents, step):
    return [x + step * tangents[i] if i in tangents else x for i, x in enumerate(operands)]


def _check_narrow_jvp(sample, tangents, wanted, smooth):
    """In the sample's own dtypes the tangent has their type, and differs by the rounding of a chain of operations."""
    own = {i: np.asarray(t.astype(sample.operands[i].dtype)) for i, t in tangents.items()}
    outs, got = _jvp(sample.primitive, sample.operands, sample.params, own)
    for i in smooth:
        out, g, w = outs[i], instantiated(got[i]), instantiated(wanted[i])
        assert (g.shape, g.dtype) == (out.shape, out.dtype), sample
        narrowest = max(float(finfo(x.real.dtype).eps) for x in (*own.values(), g))
        # at most eight roundings, in the tangents given among them, at points where derivatives are of order one
        # (where solving amplifies them the sample says how many, in units of the largest result)
        size = (
            32 * (1 + np.abs(w))
            if sample.roundings is None
            else sample.roundings * (1 + np.max(np.abs(w), initial=0.0))
        )
        assert_within(g.astype(w.dtype), w, narrowest * size, f"jvp of {sample}, in its own dtype")


@over_primitives
def test_transpose_is_the_adjoint(primitive):
    if not any(s.linear for s in SAMPLES[primitive]):
        pytest.skip("is not linear")
    for number, sample in enumerate(SAMPLES[primitive]):
        for group in sample.linear:
            _check_adjoint(sample, group, number)


def _check_adjoint(sample, group, number):
    p = sample.primitive
    vectors = {i: direction(sample.operands[i], number + i) for i in group}
    outs = arrays(as_list(p, sample.bind(*(vectors.get(i, x) for i, x in enumerate(sample.operands)))))
    cts = [direction(out, number + 7 + i) for i, out in enumerate(outs)]
    operands = [UndefinedPrimal(aval_of(x)) if i in group else x for i, x in enumerate(sample.operands)]
    back = p.transpose(cts if p.multiple_results else cts[0], *operands, **sample.params)
    left = sum(_inner(ct, out) for ct, out in zip(cts, outs))
    right = 0.0
    for i in group:
        ct = instantiated(back[i])
        assert (ct.shape, ct.dtype) == (vectors[i].shape, vectors[i].dtype), sample
        right += _inner(ct, vectors[i])
    if all(x.dtype in (np.float64, np.complex128) for x in (*outs, *vectors.values())):
        size = sum(float(np.sum(np.abs(ct) * np.abs(out))) for ct, out in zip(cts, outs))
        assert abs(left - right) <= 1e-13 * (size + 1), f"adjoint of {sample}: {left} and {right}"


def _inner(a, b):
    """The real part of the sum of products, without conjugation: the pairing that cotangents are defined by."""
    return float(np.sum(a.astype(np.complex128) * b.astype(np.complex128)).real)


@over_primitives
def test_batching_equals_a_loop(primitive):
    if primitive.batch is None:
        pytest.skip("has no batching rule")
    for sample in SAMPLES[primitive]:
        for dims in batch_patterns(sample.operands):
            _check_batch(sample, dims)


def batch_patterns(operands):
    """Which operands are mapped, and where: all in front, all behind, alternately, and one at a time."""
    n = len(operands)
    if n == 0:
        return []
    front, behind = [0] * n, [x.ndim for x in operands]
    mixed = [x.ndim if i % 2 else 0 for i, x in enumerate(operands)]
    alone = [[(x.ndim + 1) // 2 if i == j else None for i, x in enumerate(operands)] for j in range(n)]
    return list({tuple(p): p for p in (front, behind, mixed, *alone)}.values())


SIZE = 3


def _check_batch(sample, dims):
    p = sample.primitive
    stacked = [
        x if d is None else np.stack([np.roll(x.reshape(-1), k).reshape(x.shape) for k in range(SIZE)], d)
        for x, d in zip(sample.operands, dims)
    ]
    axis = SimpleNamespace(name=None, size=SIZE, spmd_name=None)
    out, out_dims = p.batch(axis, list(stacked), list(dims), **sample.params)
    outs, out_dims = as_list(p, out), as_list(p, out_dims)
    for k in range(SIZE):
        operands = [x if d is None else np.asarray(np.take(x, k, d)) for x, d in zip(stacked, dims)]
        want = viewed(sample, arrays(as_list(p, sample.bind(*operands))))
        own = [x if d is None else np.asarray(np.take(x, k, d)) for x, d in zip(arrays(outs), out_dims, strict=True)]
        for got, w in zip(viewed(sample, own), want, strict=True):
            assert_as_sampled(sample, got, w, operands, f"{sample} mapped at {dims}, element {k}")


@pytest.mark.parametrize("opset", OPSETS)
@over_primitives
def test_runtime_equals_kernel(primitive, opset):
    reason = unsupported_reason(primitive)
    if reason:
        pytest.skip(reason)
    for sample, got in run_on_runtime(primitive, SAMPLES[primitive], opset):
        want = viewed(sample, arrays(as_list(primitive, sample.bind(*sample.operands))))
        for g, w in zip(viewed(sample, got), want, strict=True):
            ulps = ULPS_OF_KERNELS.get(primitive.name, ULPS) if w.dtype == np.float64 else ULPS
            assert_as_sampled(sample, g, w, sample.operands, f"{sample} in ONNX Runtime, opset {opset}", ulps)


@over_primitives
def test_kernel_in_a_graph_equals_kernel(primitive):
    if primitive.kernel is None:
        pytest.skip("has no kernel")
    for sample, got in run_on_host(primitive, SAMPLES[primitive]):
        want = arrays(as_list(primitive, sample.bind(*sample.operands)))
        for g, w in zip(got, want, strict=True):
            assert_same_bits(g, w, f"{sample} in a node of its own")


@over_primitives
def test_tape_equals_kernel(primitive):
    for sample in SAMPLES[primitive]:
        want = viewed(sample, arrays(as_list(primitive, sample.bind(*sample.operands))))
        ulps = {np.dtype(np.float64): ULPS_OF_KERNELS.get(primitive.name, ULPS)}
        for way, function in (("one tape", sample.bind), ("a loop that is one tape", _in_a_loop(sample))):
            got = viewed(sample, _run_as_tape(function, sample.operands))
            for g, w in zip(got, want, strict=True):
                assert_as_sampled(sample, g, w, sample.operands, f"{sample} as {way}", ulps.get(w.dtype, ULPS))


def _in_a_loop(sample):
    """A function that applies the sample's primitive in a loop of one step, to operands that the loop slices."""

    def step(_, operands):
        return None, sample.bind(*operands)

    def run(*operands):
        stacked = [x[None] for x in map(as_array, operands)]
        return [y[0] for y in as_list(sample.primitive, lax.scan(step, None, stacked, length=1)[1])]

    return run


def _run_as_tape(function, operands):
    """The results of a function, computed by one tape."""
    jaxpr = make_jaxpr(function)(*operands)
    tape, constants = build_tape(jaxpr)
    return tape([*operands, *constants])


@over_primitives
def test_staged_equals_evaluated(primitive):
    for sample in SAMPLES[primitive]:
        jaxpr = make_jaxpr(sample.bind)(*sample.operands)
        assert [e.primitive for e in jaxpr.eqns] == [primitive], sample
        want = as_list(primitive, sample.bind(*sample.operands))
        for var, w in zip(jaxpr.outvars, want, strict=True):
            assert var.aval == w.aval, sample
        for g, w in zip(eval_jaxpr(jaxpr, jaxpr.consts, *sample.operands), want, strict=True):
            assert_same_bits(np.asarray(g), np.asarray(w), f"{sample}, staged")


# ---- completeness ----


def test_every_primitive_of_a_sampled_family_has_samples():
    missing = []
    for family in FAMILIES:
        module = importlib.import_module(f"onax._prims.{family}")
        for value in vars(module).values():
            if (
                isinstance(value, Primitive) and value not in SAMPLES and value is not empty2_p
            ):  # its value means nothing
                missing.append(f"{family}: {value.name}")
    assert not missing, missing
