"""dot_general: random layouts against einsum, dtypes, words of errors, programs.  Expected words: JAX 0.10.2."""

import functools
import re

import ml_dtypes
import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._ground import dims
from onax._native.avals import ShapedArray
from onax._prims.dot import canonical_precision
from onax._transforms.abstract import make_jaxpr
from onax._transforms.autodiff import grad, vjp
from onax._transforms.vmap import vmap

X = np.arange(20, dtype=np.float32).reshape(4, 5)
W = np.ones((3, 4, 5), np.float32)
BF16 = ml_dtypes.bfloat16


def program(function, *args):
    """The jaxpr's text on one line."""
    text = re.sub(r"\s+", " ", str(make_jaxpr(function)(*args)))
    return text.replace("[ ", "[").replace(" ]", "]")


def layout(rng, least=0):
    """Random operands' shapes, dimension numbers, and the same as an einsum."""
    counts = rng.integers(0, 3, 4)  # batch, contracted, free left, free right
    names = iter("abcdefgh")
    batch, contracted, left, right = ([next(names) for _ in range(n)] for n in counts)
    size = {n: int(rng.integers(least, 4)) for n in "abcdefgh"}
    x, y = list(rng.permutation(batch + contracted + left)), list(rng.permutation(batch + contracted + right))
    contracted, batch = list(rng.permutation(contracted)), list(rng.permutation(batch))
    numbers = (
        (tuple(map(x.index, contracted)), tuple(map(y.index, contracted))),
        (tuple(map(x.index, batch)), tuple(map(y.index, batch))),
    )
    out = batch + [n for n in x if n in left] + [n for n in y if n in right]
    text = f"{''.join(x)},{''.join(y)}->{''.join(out)}"
    return [size[n] for n in x], [size[n] for n in y], numbers, text


DTYPES = ("float32", "float16", "complex64", "int8", "uint8", "int32", "bool", BF16)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_against_einsum(dtype):
    rng = np.random.default_rng(1)
    for _ in range(80):
        left, right, numbers, text = layout(rng)
        x, y = rng.integers(0, 3, left).astype(dtype), rng.integers(0, 3, right).astype(dtype)
        got = np.asarray(lax.dot_general(x, y, numbers))
        wide = bool if dtype == "bool" else complex
        want = np.einsum(text, x.astype(wide), y.astype(wide)).astype(complex)
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(got.astype(complex), want, text)


def test_gradients_and_batching_of_random_layouts():
    """The cotangents are the adjoints; a mapped axis is a loop."""
    rng = np.random.default_rng(2)
    for _ in range(25):
        left, right, numbers, _ = layout(rng, 1)
        x, y = (rng.integers(-3, 4, s).astype(np.float32) for s in (left, right))
        f = lambda x, y, numbers=numbers: lax.dot_general(x, y, numbers)
        ct = rng.integers(-3, 4, f(x, y).shape).astype(np.float32)
        gx, gy = grad(lambda x, y, f=f, ct=ct: (f(x, y) * ct).sum(), argnums=(0, 1))(x, y)
        value = float((np.asarray(f(x, y)) * ct).sum())
        assert float((np.asarray(gx) * x).sum()) == value == float((np.asarray(gy) * y).sum())
        for dx, dy in ((0, None), (None, len(right)), (len(left), 0)):
            xs = x if dx is None else np.stack([x, 2 * x, -x], dx)
            ys = y if dy is None else np.stack([y, y + 1, -y], dy)
            got = np.asarray(vmap(f, in_axes=(dx, dy))(xs, ys))
            for k in range(3):
                one = f(x if dx is None else np.take(xs, k, dx), y if dy is None else np.take(ys, k, dy))
                np.testing.assert_array_equal(got[k], np.asarray(one))


MATRIX = (((1,), (0,)), ((), ()))
RESULTS = (  # lhs dtype, rhs dtype, preferred, result dtype
    ("int8", "int8", "int32", "int32"),
    ("int8", "int8", "float32", "float32"),
    ("float32", "float32", "int32", "int32"),
    ("float32", "float32", "float16", "float16"),
    ("bfloat16", "bfloat16", "float32", "float32"),
    ("bfloat16", "float32", None, "float32"),
    ("int8", "float32", None, "float32"),
    ("complex64", "complex64", "float32", "float32"),
    ("float32", "float32", "complex64", "complex64"),
    ("int32", "int32", "uint32", "uint32"),
    ("bool", "bool", "int32", "int32"),
    ("bool", "bool", None, "bool"),
    ("float16", "bfloat16", None, "bfloat16"),
    ("bfloat16", "float16", None, "bfloat16"),
    ("int8", "uint8", None, "int8"),
    ("uint8", "int8", None, "int8"),
    ("uint8", "int16", None, "int16"),
    ("float8_e4m3fn", "float16", None, "float16"),
    ("float8_e5m2", "complex64", None, "complex64"),
    ("float16", "bfloat16", "float32", "float32"),
    ("bool", "int32", None, "int32"),
)


@pytest.mark.parametrize("left, right, preferred, result", RESULTS)
def test_result_dtypes(left, right, preferred, result):
    x, y = np.ones((2, 3)).astype(left), np.ones((3, 2)).astype(right)
    out = lax.dot_general(x, y, MATRIX, preferred_element_type=preferred)
    assert out.dtype == np.dtype(result)
    assert np.asarray(out).astype(complex).tolist() == np.full((2, 2), 1 if result == "bool" else 3).tolist()


def test_cotangents_of_mixed_operands_have_the_dtypes_of_these():
    x, y = np.ones((2, 3), np.float16), np.ones((3, 2), BF16)
    out, pull = vjp(lax.dot, x, y)
    assert [str(ct.dtype) for ct in pull(out)] == ["float16", "bfloat16"]


def test_integers_wrap():
    assert np.asarray(lax.dot(np.uint8([[200, 2]]), np.uint8([[3], [200]]))).tolist() == [[232]]


def test_narrow_floats_are_summed_wide():
    """One rounding: 256 ones and then halves would stick in bfloat16."""
    x = np.ones((1, 1000), BF16)
    assert float(lax.dot(x, x.T)[0, 0]) == 1000


def test_weak_types():
    assert lax.dot_general(2.0, 3.0, (((), ()), ((), ()))).weak_type
    assert not lax.dot_general(2.0, 3.0, (((), ()), ((), ())), preferred_element_type=np.float32).weak_type


def general(numbers, **options):
    """dot_general of X with itself."""
    return lambda: lax.dot_general(X, X, numbers, **options)


INT = X.astype(np.int32)
WRONG = (
    (
        general((((0,), (1,)), ((), ()))),
        TypeError,
        r"contracting dimensions to have the same shape, got \(4,\) and \(5,\)",
    ),
    (
        general((((), ()), ((0,), (1,)))),
        TypeError,
        r"lhs batch dimensions and rhs batch dimensions to have the same shape",
    ),
    (general((((0,), (1, 0)), ((), ()))), TypeError, r"got \(4,\) and \(5, 4\)"),
    (general((((0, 0), (1, 1)), ((), ()))), TypeError, r"lhs contracting dimensions to be distinct"),
    (general((((3,), (1,)), ((), ()))), TypeError, "lhs dimension numbers to be nonnegative and less than the number"),
    (general((((-1,), (-1,)), ((), ()))), TypeError, "lhs dimension numbers to be nonnegative"),
    (general((((0,), (0,)), ((0,), (0,)))), TypeError, "batch dimensions to be disjoint from contracting dimensions"),
    (
        lambda: lax.dot_general(INT, INT, (((0,), (0,)), ((), ())), preferred_element_type=np.int8),
        TypeError,
        "`preferred_element_type` must not be narrower than the original type, got preferred_element_type of int8",
    ),
    (
        lambda: lax.dot(np.ones((2, 2), "complex64"), np.ones((2, 2), "complex64"), preferred_element_type=np.int16),
        TypeError,
        "`preferred_element_type` must not be narrower than the original type, got preferred_element_type of int16",
    ),
    (
        lambda: lax.dot(np.ones((2, 2), ml_dtypes.float8_e4m3), np.ones((2, 2), ml_dtypes.float8_e4m3fnuz)),
        TypeError,
        "lax.dot_general argument type error: float8_e4m3, float8_e4m3fnuz",
    ),
    (general((((0,), (0,)), ((), ())), precision="foo"), ValueError, "Precision argument must be one of"),
    (lambda: lax.dot(X, X), ValueError, r"dimension_numbers must be specified .* got lhs_shape=\(4, 5\) rhs_shape"),
    (lambda: lax.dot(np.float32(1), X), ValueError, "dimension_numbers must be specified"),
    (lambda: lax.batch_matmul(X[0], X[0]), ValueError, "Arguments to batch_matmul must be at least 2D, got 1, 1"),
    (lambda: lax.batch_matmul(W, np.ones((2, 5, 2), np.float32)), TypeError, r"same shape, got \(3,\) and \(2,\)"),
)


@pytest.mark.parametrize("call, error, words", WRONG, ids=range(len(WRONG)))
def test_errors(call, error, words):
    """The same words when evaluating and when staging."""
    with pytest.raises(error, match=words):
        call()
    with pytest.raises(error, match=words):
        make_jaxpr(call)()


PROGRAMS = (
    (lambda x: lax.dot(x, x.T), (X,), "c:f32[4,4] = dot_general[dimension_numbers=(([1], [0]), ([], []))] a b"),
    (
        lambda x: lax.dot(x, x.T, precision="highest", preferred_element_type=np.float32),
        (X,),
        "precision=(Precision.HIGHEST, Precision.HIGHEST) preferred_element_type=float32]",
    ),
    (lambda x: lax.dot(x, x.T, precision="BF16_BF16_F32"), (X,), "precision=BF16_BF16_F32]"),
    (
        grad(lambda x, y: lax.dot_general(x, y, (((1,), (2,)), ((0,), (1,)))).sum(), argnums=(0, 1)),
        (W, np.ones((2, 3, 4), np.float32)),
        "e:f32[3,2,4] = dot_general[dimension_numbers=(([1], [2]), ([0], [0]))] d a "
        "f:f32[2,3,4] = transpose[permutation=(1, 0, 2)] e "
        "g:f32[3,5,4] = dot_general[dimension_numbers=(([2], [0]), ([0], [1]))] d b "
        "h:f32[3,4,5] = transpose[permutation=(0, 2, 1)] g",
    ),
    (
        vmap(lambda x, y: lax.dot(x, y), in_axes=(0, 2)),
        (W, np.ones((5, 2, 3), np.float32)),
        "c:f32[3,4,2] = dot_general[dimension_numbers=(([2], [0]), ([0], [2]))] a b",
    ),
    (
        vmap(lambda x, y: lax.dot(x, y), in_axes=(None, 2)),
        (X, np.ones((5, 2, 7), np.float32)),
        "c:f32[4,2,7] = dot_general[dimension_numbers=(([1], [0]), ([], []))] a b "
        "d:f32[7,4,2] = transpose[permutation=(2, 0, 1)] c",
    ),
)


@pytest.mark.parametrize("function, args, part", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs(function, args, part):
    assert part in program(function, *args)


def test_precision():
    assert canonical_precision(None) is None
    for option, expected in {"bfloat16": "DEFAULT", "tensorfloat32": "HIGH", "float32": "HIGHEST"}.items():
        with onax.default_matmul_precision(option):
            for f in (lax.dot, onax.numpy.dot, onax.numpy.matmul):
                (eqn,) = onax.make_jaxpr(f)(X, X.T).eqns
                assert eqn.params["precision"] == (lax.Precision[expected],) * 2
                (eqn,) = onax.make_jaxpr(functools.partial(f, precision="high"))(X, X.T).eqns
                assert eqn.params["precision"] == (lax.Precision.HIGH,) * 2
    assert canonical_precision(("bfloat16", "highest")) == (lax.Precision.DEFAULT, lax.Precision.HIGHEST)
    assert repr(canonical_precision(lax.Precision.HIGH)[0]) == "Precision.HIGH"


def test_symbolic_dimensions():
    b, t = dims.parse_dims("b, t")
    x, y = ShapedArray((b, t), np.dtype("float32")), ShapedArray((t, 3), np.dtype("float32"))
    assert [a.shape for a in make_jaxpr(lax.dot)(x, y).out_avals] == [(b, 3)]
    with pytest.raises(TypeError, match="contracting dimensions to have the same shape"):
        make_jaxpr(lambda x, y: lax.dot_general(x, y, (((0,), (0,)), ((), ()))))(x, y)


def test_algorithms_say_what_they_take():
    presets = lax.DotAlgorithmPreset
    assert presets.DEFAULT.supported_lhs_types is None and presets.DEFAULT.accumulation_type is None
    assert presets.ANY_F8_ANY_F8_F32_FAST_ACCUM.accumulation_type is np.float32
    assert presets.ANY_F8_ANY_F8_ANY.accumulation_type is None
    assert presets.BF16_BF16_F32.supported_rhs_types == (jnp.bfloat16, np.float32)
    assert presets.BF16_BF16_F32_X6.supported_lhs_types == presets.TF32_TF32_F32.supported_lhs_types == (np.float32,)
    assert presets.F16_F16_F16.accumulation_type is presets.F16_F16_F32.supported_lhs_types[0] is np.float16
    algorithm = lax.DotAlgorithm(np.float32, np.float32, np.float32)
    assert algorithm.num_primitive_operations == 1 and not algorithm.allow_imprecise_accumulation
    x = jnp.arange(3.0)
    assert lax.dot(x, x, precision=algorithm) == onax.jit(lambda x: lax.dot(x, x, precision=algorithm))(x) == 5
