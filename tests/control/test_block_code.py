"""The rules that make block code: each primitive alone, on the samples of the laws, is its kernel."""

import importlib

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from native_passes import runner_of
from onax._control.block_code import Code, Unfit, codes, folds, views
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


BY_PARTS = {
    "sum": lambda z, x: z + x,
    "product with a number": lambda z, x: (x + 1j) * (x - 2j),
    "product with an array": lambda z, x: (x - 1j) * z,
    "minus a conjugate": lambda z, x: -((x * 1j).conj() - z),
    "parts": lambda z, x: ((x + 2j).real, (x * z).imag),
    "read as a whole": lambda z, x: (jnp.sin(x + 1j), x + 1j, jnp.abs((x + 1j) * z)),
    "chosen": lambda z, x: jax.lax.select(x > 0, x * 1j, z),
    "logarithm to the base 2": lambda z, x: jnp.log2(z) * x,
}


def _one_by_one(jaxpr, operands):
    """The results of a program, each equation a program of its own: complex operands come from memory as they are."""
    env = dict(zip((*jaxpr.jaxpr.constvars, *jaxpr.jaxpr.invars), (*jaxpr.consts, *operands)))
    value = lambda x: x.val if hasattr(x, "val") else env[x]
    for eqn in jaxpr.eqns:
        arrays = [np.asarray(value(x), x.aval.dtype) for x in eqn.invars]
        alone = jax.make_jaxpr(lambda *some, eqn=eqn: eqn.primitive.bind(*some, **eqn.params))(*arrays)
        env.update(zip(eqn.outvars, fused_p.kernel(*arrays, jaxpr=alone)))
    return [env[v] for v in jaxpr.jaxpr.outvars]


@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
@pytest.mark.parametrize("name", BY_PARTS)
def test_complex_numbers_part_by_part_are_those_of_the_kernels(name, dtype):
    """Whichever parts are real, infinite, NaN or zeros; the kernels leave one product of each part unrounded."""
    with enable_x64(True), np.errstate(all="ignore"):
        numbers = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e30, -1e-30, 3.0])
        x, y = (a.reshape(-1).astype(np.empty(0, dtype).real.dtype) for a in np.meshgrid(numbers, numbers))
        z = np.empty(x.shape, dtype)
        z.real, z.imag = x, y
        jaxpr = jax.make_jaxpr(BY_PARTS[name])(z, x[::-1])
        operands = z, np.ascontiguousarray(x[::-1])
        want = _one_by_one(jaxpr, operands)
        for a, b in zip(fused_p.kernel(*operands, jaxpr=jaxpr), want, strict=True):
            usual = np.isfinite(a) & np.isfinite(b)
            assert usual.sum() > 20
            for p, q in ((np.real(a), np.real(b)), (np.imag(a), np.imag(b))):
                zeros = (p == 0) & (q == 0)
                assert np.array_equal(np.signbit(p)[zeros], np.signbit(q)[zeros]), name
            assert np.all(np.abs(a - b)[usual] <= 4 * np.finfo(a.dtype).eps * np.abs(b)[usual]), name


@pytest.mark.parametrize("dtype", ("int8", "uint32", "int32"))
def test_powers_of_complex_numbers_by_integers(dtype):
    z, n = np.array([1 + 2j, 0.5 - 1j, -2, 3j], np.complex64), np.array([1, 2, 3, 0], dtype)
    np.testing.assert_allclose(jax.jit(jax.lax.pow)(z, n), z**n, rtol=1e-5, atol=1e-5)


def test_nothing_is_computed_twice_or_in_vain():
    code = Code()
    x = code.register(np.dtype(np.int32))
    five = code.constant(5, np.dtype(np.int32))
    quotient = code.emit("div", x, five)
    assert code.emit("div", x, five) == quotient != code.emit("div", five, x)
    kept = code.emit("neg", quotient)
    code.drop_unread([kept])
    assert [operation.name for operation, *_ in code.steps] == ["div", "neg"]


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint32"])
def test_floor_division_and_remainder_by_numbers(dtype):
    """Their quotient is computed once, and whether a number is not positive by one comparison."""
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max, 3000, dtype, endpoint=True)
    x[:5] = info.min, info.max, 0, 1, info.max - 1
    for divisor in [1, 2, 7, 11] + [-1, -3] * (info.min < 0):
        divisor = np.dtype(dtype).type(divisor)
        with enable_x64(True), np.errstate(all="ignore"):
            quotient, rest = jax.jit(lambda x, divisor=divisor: (x // divisor, x % divisor))(x)
            assert_same_bits(np.asarray(quotient), np.floor_divide(x, divisor), what=divisor)
            assert_same_bits(np.asarray(rest), np.remainder(x, divisor), what=divisor)
