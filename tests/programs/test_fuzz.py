"""Any primitive, on awkward operands: eager, jit (a tape), a session, the exported graph and real JAX say the same, and
nothing crashes.

Evaluation happens in a process of its own (`fuzzing_worker.py`): the runtime ends the process where it is handed, say,
INT_MIN / -1, and that must fail a test, not end the run.  What is compared with what, and how equal is equal:

    jit, session and portable with eager        by the table of `tolerance.py`; subnormal numbers among the operands
    eager with real JAX, where it is installed  the same, but no subnormal operands: XLA drops them, in most operations

EXEMPT has the differences that are left, with their reasons.
"""

import random
import sys
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fuzzing
import fuzzing_linalg
import onax as jax
import oracle
import oracle_requests
from fuzzing_programs import described, draw_program
from onax._ground.config import enable_x64
from onax.export.lower import registry
from tolerance import ULPS, assert_same_bits, assert_sum, assert_ulps, finfo, is_float

PRIMITIVES = fuzzing.primitives()
# igamma_grad_a(1, 1) is -0.43172971063489870: here ...710 (27 ulp off), in JAX ...156 (52 ulp off).
# JAX is 8 off in erfc(0.9) of float64, and 110 in the incomplete beta(0.5, 1e-5, 0.5): the true values are ours.
DRAWN_ULPS_OF_JAX = {**oracle.ULPS_OF_JAX, "erfc": 16, "igamma_grad_a": 160, "regularized_incomplete_beta": 160}


def _beyond(limit):
    return lambda x, *_, **__: np.abs(x.astype(np.float64)) > limit


def _anything(*operands, **_):
    return np.ones((), bool)


def _either_not_finite(*operands, **_):
    return np.array(not all(np.isfinite(x).all() for x in operands))


def _large_exponent(a, x, **_):
    a, x = np.abs(a.astype(np.float64)), np.abs(x.astype(np.float64))
    with np.errstate(all="ignore"):
        size = np.maximum(a * np.abs(np.log(np.where(x > 0, x, 1))), np.maximum(a * np.abs(np.log(a + 1)), x))
    return np.isfinite(size) & (size > 16)


def _large_beta(a, b, x, **_):
    a, b, x = (np.abs(v.astype(np.float64)) for v in (a, b, x))
    with np.errstate(all="ignore"):
        logs = a * np.log(np.where(x > 0, x, 1)), b * np.log1p(-np.where(x < 1, x, 0)), (a + b) * np.log(a + b)
    return (np.abs(logs) > 16).any(0) & np.isfinite(a + b)


def _no_power_of_0(a, b, x, **_):
    return (np.abs(a) < 1e-30) & (x == 0)


def _in_double(*operands, **_):
    return np.array(operands[0].dtype == np.float64)


def _has_negative_zero(x, **_):
    parts = (x.real, x.imag)
    return np.array(any(((v == 0) & np.signbit(v)).any() for v in parts))


def _far_from_1(x, **_):
    with np.errstate(all="ignore"):
        return np.array(not 1e-10 < np.max(np.abs(x), initial=0) < 1e10)


def _above_100000(a, x, **_):
    return (a.astype(np.float64) > 1e5) | (x.astype(np.float64) > 1e5)


#   primitives, which comparison, the elements (or places along the first axes) meant, the reason
EXEMPT = (
    (("tanh",), "runtime", lambda x, **_: np.abs(x.astype(np.float64)) < 1e-37,
     "the runtime's rational formula meets subnormal numbers next to the smallest normal one: 3e-6 off"),
    (("sinh", "cosh", "exp2"), "oracle", _beyond(8),
     "JAX multiplies by log 2 (or halves by adding -log 2) first, and is off by the size of the exponent"),
    (("pow",), "oracle", lambda x, y, **_: np.abs(y.astype(np.float64)) > 2.0**24,
     "JAX rounds integer exponents to the base's type: (-1) ** 2147483647 is 1"),
    (("lgamma", "digamma", "polygamma", "zeta"), "oracle", _anything,
     "JAX's formulas are less exact than ours, and NaN at poles and far arguments; test_oracle.py compares near 1"),
    (("lu", "qr", "geqrf"), "both", fuzzing_linalg.not_finite,
     "LAPACK's answer for NaN and infinities depends on the order of its operations; JAX documents none"),
    (("householder_product", "ormqr"), "both", fuzzing_linalg.reflections_not_finite,
     "zeros that are multiplied, or are not, by NaN and infinities"),
    (("eig", "schur"), "runtime", _anything,
     "eigenvalues in another order, or ill-conditioned: export/lower/test_linalg_forms.py puts matrices together"),
    (("eig",), "oracle", _far_from_1,
     "LAPACK's geev scales matrices far from 1, and JAX gives the eigenvalues scaled: 1e7 times too large for 1e-20"),
    (("hessenberg", "tridiagonal"), "runtime", fuzzing_linalg.not_finite,
     "which results become NaN depends on the order of operations"),
    (("hessenberg", "tridiagonal"), "runtime", _has_negative_zero,
     "LAPACK gives a reflection the sign of -0.0, the portable form that of 0"),
    (("zeta",), "runtime", lambda x, q, **_: np.abs(x.astype(np.float64)) > 1e4,
     "SciPy, as JAX, says NaN where every term is 0; the form says 0"),
    (("fft",), "both", _either_not_finite,
     "a sum with infinities: which of its parts become NaN depends on the algorithm"),
    (("tridiagonal_solve",), "both", fuzzing_linalg.hardly_solvable,
     "the solution amplifies rounding errors by more than 1000"),
    (("cholesky",), "both", fuzzing_linalg.hardly_definite,
     "the smallest eigenvalue is within 0.001 of the largest from 0: rounding decides whether the matrix is definite"),
    (("cholesky",), "both", fuzzing_linalg.infinite_beside_diagonal,
     "infinity over infinity is NaN, or 0 where it was multiplied by the reciprocal; JAX has both, as LAPACK has"),
    (("cholesky",), "oracle", fuzzing_linalg.lower_has_nan,
     "in JAX NaN spreads as it is met; here the whole factor is NaN"),
    (("eigh", "svd"), "oracle", fuzzing_linalg.not_finite,
     "JAX: LAPACK's answer, part NaN (svd: none, it does not return); here NaN everywhere"),
    (("schur", "cholesky_update"), "oracle", _either_not_finite,
     "JAX: zeros below the diagonal of a Schur form of NaN, NaN below that of an updated factor; here the reverse"),
    (("igamma",), "oracle", lambda a, x, **_: a == 0,
     "JAX gives NaN for a = 0 and x > 0, where SciPy gives 1, and JAX's own igammac 0"),
    (("igamma", "igammac"), "oracle", lambda a, x, **_: (a == np.inf) & (x >= 1),
     "JAX gives NaN where a alone is infinite, but for x < 1 the limit, as SciPy does everywhere"),
    (("igammac",), "oracle", lambda a, x, **_: x <= 1,
     "JAX subtracts igamma from 1: 1e-5 off in float32 at (0.1, 0.9)"),
    (("igamma_grad_a", "random_gamma_grad"), "oracle", lambda a, x, **_: np.abs(a) < 1e-30,
     "JAX gives 0 at the smallest a, where the slope is minus the exponential integral of x: -0.2194 at x = 1"),
    (("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"), "oracle", _large_exponent,
     "exp(a log x - x - log gamma(a)) loses the size of its terms: JAX is 4e-5 off in float32 at (127.5, 100), 1.5e-14 "
     "at (0.5, 127.5); SciPy is not.  At (1e10, 1e10) JAX says 0.93 for 0.5, and 0 for the slope of huge samples"),
    (("regularized_incomplete_beta",), "oracle", _large_beta,
     "exp(a log x + b log(1 - x) - log beta(a, b)) loses the size of its terms: JAX is 1e-4 off in float32 at "
     "(300, 2, 0.99), and says NaN where the square of a or b overflows; SciPy is and does not"),
    (("regularized_incomplete_beta",), "oracle", _no_power_of_0,
     "JAX takes the smallest a for 0, and 1 for the integral from 0 to 0"),
    (("lgamma", "digamma", "polygamma", "zeta", "igamma", "igammac", "igamma_grad_a", "random_gamma_grad",
      "regularized_incomplete_beta"), "runtime", _in_double,
     "SciPy is itself more than four units off: export/lower/test_special.py holds the forms to true values"),
    (("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"), "runtime", _above_100000,
     "the kernels' series are cut off: at (7.4e11, 5 deviations below), SciPy's P is 78 times too small"),
    (("approx_top_k",), "oracle", _anything,
     "JAX sorts without an order among equal numbers, and NaN anywhere; test_oracle.py compares distinct ones"),
    (("polygamma",), "runtime", lambda n, x, **_: (x < 0) | np.zeros(n.shape, bool),
     "SciPy is right to the size of the poles around only: at (10, -127.5) it says -1.3e-7 for -3.1e-16"),
    (("lu_pivots_to_permutation",), "oracle", fuzzing_linalg.outside,
     "pivots that name no row: JAX's answer is no permutation; here the nearest row is meant"),
)  # fmt: skip


# ---- asking ----

_worker = None


def ask(request):
    """The worker's answers; the test fails if the process dies."""
    global _worker
    if _worker is None:
        _worker = oracle.Oracle(sys.executable, "fuzzing_worker.py")
    try:
        return _worker.ask(request)
    except RuntimeError:
        _worker = None
        raise


def refusal_is_stated(sample, way, message):
    """Whether a lowering is known not to exist: for the primitive, or at opset 21."""
    if registry.refusal(sample.primitive) is not None:
        return True
    return way == "portable" and "from opset" in message


# ---- comparing ----


def exempt(sample, comparison, shape):
    """Which elements of a result of this shape are not compared."""
    out = np.zeros(shape, bool)
    for names, where, condition, _ in EXEMPT:
        if sample.primitive.name in names and where in (comparison, "both"):
            meant = np.asarray(condition(*sample.operands, **sample.params))
            out = out | np.broadcast_to(meant.reshape(meant.shape + (1,) * (len(shape) - meant.ndim)), shape)
    return out


def compare(sample, got, want, comparison, what):
    """By the table of tolerances, as the sample says."""
    assert len(got) == len(want), what
    if sample.view is not None:
        with np.errstate(all="ignore"):
            got, want = sample.view(*got), sample.view(*want)
    for g, w in zip(got, want):
        if g.shape == w.shape:
            g = np.where(exempt(sample, comparison, w.shape), w, g)
        if sample.exact:
            assert_same_bits(g, w, what)
        elif sample.sums is not None:
            terms, size = sample.sums
            assert_sum(g, w, terms, size(*sample.operands), what)
        else:
            ulps = DRAWN_ULPS_OF_JAX.get(sample.primitive.name, ULPS) if comparison == "oracle" else ULPS
            assert_ulps(g, w, ulps, what=what)


def arrays(answer):
    return [x for x, _ in oracle.decoded(answer)]


def shown(sample, constants):
    """A sample with its operands, for messages."""
    values = ", ".join(np.array2string(x, threshold=12) for x in sample.operands)
    return f"{sample!r} of {values}" + (f", known: {constants}" if constants else "")


def check(sample, constants, in_session=False):
    """Eager, jit and portable agree, and a session if it is asked."""
    request = {**oracle_requests.request_for(sample, "eager"), "constants": constants, "in_session": in_session}
    what = shown(sample, constants)
    try:
        answers = ask(request)
    except RuntimeError as error:
        raise AssertionError(f"{what}: {error}") from error
    assert "ok" in answers["eager"], f"{what}: {answers['eager']}"
    want = arrays(answers.pop("eager"))
    for way, answer in answers.items():
        if "error" in answer:
            assert refusal_is_stated(sample, way, answer["message"]), f"{way} of {what}: {answer}"
        else:
            compare(sample, arrays(answer), want, "runtime", f"{way} of {what}")


def without_subnormals(x):
    """x with signed zeros for subnormal numbers."""
    if not (is_float(x.dtype) or x.dtype.kind == "c"):
        return x
    if x.dtype.kind == "c":
        out = x.copy()
        out.real, out.imag = without_subnormals(x.real), without_subnormals(x.imag)
        return out
    return np.where(np.abs(x) < finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)


def check_with_jax(sample):
    """Eager agrees with real JAX, or JAX refuses."""
    operands = [without_subnormals(x) for x in sample.operands]
    sample = fuzzing.with_operands(sample, operands)
    if sample.primitive.name == "svd" and not all(np.isfinite(x).all() for x in operands):
        return  # JAX does not return from infinities
    answer = oracle.live().ask(oracle_requests.request_for(sample, "eager"))
    if "ok" in answer:
        out = sample.bind(*operands)
        got = [np.asarray(x) for x in (out if sample.primitive.multiple_results else [out])]
        compare(sample, got, arrays(answer), "oracle", f"eager of {shown(sample, ())}")


def known_operands(rng, n):
    """Which of n operands are constants of the function: some, if there are several."""
    return [i for i in range(n) if rng.random() < 0.2] if n > 1 else []


def check_program(program, constants):
    """Eager, jit, session and portable give the same bits."""
    request = {
        "kind": "program",
        "operands": [oracle.encode(x) for x in program["operands"]],
        "steps": [(p.name, {k: oracle.encode(v) for k, v in ps.items()}, at) for p, ps, at in program["steps"]],
        "results": program["results"],
        "constants": constants,
        "in_session": True,
    }
    what = f"{described(program)}\nknown: {constants}"
    try:
        answers = ask(request)
    except RuntimeError as error:
        raise AssertionError(f"{what}: {error}") from error
    for way, answer in answers.items():
        assert "ok" in answer, f"{way}: {answer}\n{what}"
        for g, w in zip(arrays(answer), arrays(answers["eager"]), strict=True):
            assert_same_bits(g, w, f"{way} of\n{what}\n")


# ---- the tests ----


QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}
DRAWN_BY = {"rng": st.randoms(use_true_random=False)}


def one_meaning(rng, which):
    """Of one application of a primitive."""
    with enable_x64(True):
        sample = fuzzing.draw(rng, which)
        check(sample, known_operands(rng, len(sample.operands)), in_session=rng.random() < 0.2)


def one_result(rng):
    """Of one program."""
    with enable_x64(True):
        program = draw_program(rng)
        check_program(program, known_operands(rng, len(program["operands"])))


#   law, what it is given, examples: always the same ones, and of the deep search
LAWS = (
    (one_meaning, {**DRAWN_BY, "which": st.sampled_from(PRIMITIVES)}, 1200, 20000),
    (one_result, DRAWN_BY, 400, 10000),
)
over_laws = pytest.mark.parametrize("law, drawn, few, many", LAWS, ids=[law.__name__ for law, *_ in LAWS])


@over_laws
def test_drawn(law, drawn, few, many):
    settings(max_examples=few, derandomize=True, database=None, **QUIET)(given(**drawn)(law))()


@pytest.mark.slow
@over_laws
def test_drawn_deeply(law, drawn, few, many):
    settings(max_examples=many, database=None, **QUIET)(given(**drawn)(law))()


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_every_primitive(primitive):
    rng = random.Random(primitive.name)
    with enable_x64(True):
        for i in range(10):
            sample = fuzzing.draw(rng, primitive)
            check(sample, known_operands(rng, len(sample.operands)), in_session=i == 0)


@pytest.mark.oracle
@pytest.mark.parametrize("draws", (40, pytest.param(2000, marks=pytest.mark.slow)))
def test_real_jax(draws, seed):
    if oracle.python() is None:
        warnings.warn("real JAX was NOT asked live: it is not installed (make oracle)", stacklevel=1)
        pytest.skip("real JAX is not installed (make oracle)")
    rng = random.Random(seed)
    with enable_x64(True):
        for _ in range(draws):
            check_with_jax(fuzzing.draw(rng, rng.choice(PRIMITIVES)))


# Draws that once ended the process or disagreed: primitive, operands, parameters, the operands that are known.
FOUND = (
    ("div", (np.full(3, np.iinfo(np.int32).min), np.full(3, -1)), "int32", {}),
    ("rem", (np.full(3, np.iinfo(np.int32).min), np.full(3, -1)), "int32", {}),
    ("div", (np.full(3, np.iinfo(np.int64).min), np.full(3, -1)), "int64", {}),
    ("rem", (np.full(3, np.iinfo(np.int64).min), np.full(3, -1)), "int64", {}),
    ("div", (np.full(3, 200), np.full(3, 0)), "uint8", {}),
    ("rem", (np.full(3, -7), np.full(3, 0)), "int16", {}),
    ("rem", (np.array(1), np.array([7, -7, 0, 1, -1])), "int64", {}),
    ("div", (np.array(1), np.array([7, 0, 1])), "uint32", {}),
    ("pow", (np.array([-np.inf, np.inf, 4.0, -4.0]), np.array(0.5)), "float32", {}),
    ("acosh", (np.array([-1e10, -2.0, -1.0, 0.5, 1.0, 1e200]),), "float64", {}),
    ("reduce_precision", (np.array([1e-5, -6e-8, 6e4, np.inf]),), "float16", {"exponent_bits": 5, "mantissa_bits": 2}),
    ("bitcast_convert_type", (np.zeros((0, 2, 2)),), "int32", {"new_dtype": np.dtype("uint64")}),
    ("top_k", (np.array([0, 100, 2**31, 2**32 - 1]),), "uint32", {"axis": 0, "k": 4}),
)


@pytest.mark.parametrize("name, operands, dtype, params", FOUND)
@pytest.mark.parametrize("constants", ([], [0], [1]))
def test_what_was_found(name, operands, dtype, params, constants):
    primitive = getattr(jax.lax, f"{name}_p")
    with enable_x64(True):
        check(fuzzing.Sample(primitive, [x.astype(dtype) for x in operands], params), constants)
