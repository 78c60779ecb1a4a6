"""Floating point: NaN, rounding, accumulation in narrow floats, gradients of where, accuracy of functions."""

import functools

import ml_dtypes
import numpy as np

import onax
import onax.numpy as jnp
from onax import lax
from onax._divergence.case import Case, Family
from onax._ground import lazy

_F32, _I32 = np.dtype(np.float32), np.dtype(np.int32)
_NARROW = tuple(map(np.dtype, (ml_dtypes.bfloat16, np.float16)))
_REAL = (*_NARROW, _F32)
_NAN, _INF = float("nan"), float("inf")


def _nanarg():
    for dtype in _REAL:
        for name in ("nanargmin", "nanargmax"):
            numpy, onax_fn = getattr(np, name), getattr(jnp, name)
            some = np.array([_NAN, 2, 1, 3], dtype)
            best = 2 if name == "nanargmin" else 3
            yield Case(f"{name}(all NaN)", numpy, onax_fn, (np.full(3, _NAN, dtype),), np.array(-1, np.int32),
                       dtype=dtype.name, shape="(3,)")  # fmt: skip
            yield Case(f"{name}(some NaN)", numpy, onax_fn, (some,), np.array(best, np.int32), dtype=dtype.name,
                       shape="(4,)")  # fmt: skip


_HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 0.49999997, 8388609.0]


def _rounding():
    for dtype in _REAL:
        x = np.array(_HALVES, dtype)
        wide = x.astype(np.float64)
        even = np.round(wide).astype(dtype)
        away = (np.sign(wide) * np.floor(np.abs(wide) + 0.5)).astype(dtype)
        yield Case("jnp.round", np.round, jnp.round, (x,), even, dtype=dtype.name, shape=str(x.shape))
        yield Case("lax.round", np.round, lax.round, (x,), away, dtype=dtype.name, shape=str(x.shape))
        yield Case("lax.round, TO_NEAREST_EVEN", np.round, _round_even, (x,), even, dtype=dtype.name,
                   shape=str(x.shape))  # fmt: skip


def _round_even(x):
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


def _ordering():
    for dtype in _REAL:
        x = np.array([2, _NAN, -_INF, 0, -1, _INF, _NAN, 1], dtype)
        finite = np.sort(x.astype(np.float64)).astype(dtype)  # NaN last, as NumPy
        shape, name = str(x.shape), dtype.name
        yield Case("sort", np.sort, jnp.sort, (x,), finite, dtype=name, shape=shape)
        yield Case("argmax", np.argmax, jnp.argmax, (x,), np.array(1, np.int32), dtype=name, shape=shape)
        yield Case("argmin", np.argmin, jnp.argmin, (x,), np.array(1, np.int32), dtype=name, shape=shape)
        yield Case("max", np.max, jnp.max, (x,), np.array(_NAN, dtype), dtype=name, shape=shape)
        yield Case("min", np.min, jnp.min, (x,), np.array(_NAN, dtype), dtype=name, shape=shape)
        y = x[::-1].copy()
        yield Case("maximum(x, y)", np.maximum, jnp.maximum, (x, y), _pairwise_max(x, y), dtype=name, shape=shape)
        lowest = np.array([v for v in finite if v == v][-2:][::-1], dtype)
        yield Case("top_k, k = 2: NaN counts as largest", _numpy_top, _onax_top, (x,), _with_nans(x, lowest),
                   dtype=name, shape=shape)  # fmt: skip


def _pairwise_max(x, y):
    """The maximum of each pair: NaN only where an operand is NaN."""
    return np.array([a if a != a else b if b != b else max(a, b) for a, b in zip(x, y)], x.dtype)


def _with_nans(x, best):
    nans = x[x != x]
    return np.concatenate([nans, best])[:2]


def _numpy_top(x):
    return np.sort(x)[::-1][:2]


def _onax_top(x):
    return lax.top_k(x, 2)[0]


# --- gradients of where -------------------------------------------------------------------------------------------


def _unsafe_sqrt(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)


def _safe_sqrt(x):
    return jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0)


def _unsafe_quotient(x):
    return jnp.where(x == 0, 1.0, jnp.sin(x) / x)


def _safe_quotient(x):
    safe = jnp.where(x == 0, 1.0, x)
    return jnp.where(x == 0, 1.0, jnp.sin(safe) / safe)


@functools.cache
def _gradient(function):
    return lambda x: onax.vmap(onax.grad(function))(x)


def _where_gradients():
    x = np.array([0.0, 1.0, 4.0], np.float32)
    slope = np.array([0.0, 0.5, 0.25], np.float32)
    nan_slope = np.array([_NAN, 0.5, 0.25], np.float32)
    cosine = (x.astype(float) * np.cos(x.astype(float)) - np.sin(x.astype(float))) / np.where(x == 0, 1, x) ** 2
    quotient = cosine.astype(np.float32)
    nan_quotient = quotient.copy()
    nan_quotient[0] = _NAN
    for title, function, documented in (
        ("grad of where(x > 0, sqrt(x), 0)", _unsafe_sqrt, nan_slope),
        ("grad of where(x > 0, sqrt(where(x > 0, x, 1)), 0)", _safe_sqrt, slope),
        ("grad of where(x == 0, 1, sin(x) / x)", _unsafe_quotient, nan_quotient),
        ("grad of the same with a safe x inside", _safe_quotient, quotient),
    ):
        yield Case(title, _no_gradient, _gradient(function), (x,), documented, dtype="float32", shape="(3,)", ulp=8)


def _no_gradient(x):
    raise TypeError("NumPy has no gradients")


# --- accumulation in narrow floats --------------------------------------------------------------------------------


def _accumulation():
    rng = np.random.default_rng(0)
    for dtype in _NARROW:
        eps = float(ml_dtypes.finfo(dtype).eps)
        cases = {
            "4096 ones": np.ones(4096, dtype),
            "1 and 4095 times eps/2": np.array([1.0] + [eps / 2] * 4095).astype(dtype),
            "uniform in [0, 1)": rng.uniform(size=4096).astype(dtype),
        }
        for name, x in cases.items():
            exact = x.astype(np.float64)
            yield Case(f"sum of {name}", np.sum, jnp.sum, (x,), _round_to(exact.sum(), dtype), dtype=dtype.name,
                       shape="(4096,)", ulp=1)  # fmt: skip
            yield Case(f"mean of {name}", np.mean, jnp.mean, (x,), _round_to(exact.mean(), dtype), dtype=dtype.name,
                       shape="(4096,)", ulp=1)  # fmt: skip
            yield Case(f"dot of {name} with itself", np.dot, jnp.dot, (x, x), _round_to(exact @ exact, dtype),
                       dtype=dtype.name, shape="(4096,)", ulp=1)  # fmt: skip


def _round_to(value, dtype):
    return np.asarray(value, np.float32).astype(dtype)


# --- order of summation -------------------------------------------------------------------------------------------

ORDER_ULP = 64  # for sums of up to 100,000 terms of one sign


def _orders():
    rng = np.random.default_rng(1)
    for n in (1_000, 100_000):
        x = rng.uniform(size=n).astype(np.float32)
        exact = x.astype(np.float64)
        grid = x[: n - n % 10].reshape(10, -1)
        for name, numpy, onax_fn, operand, wanted in (
            ("sum", np.sum, jnp.sum, x, exact.sum()),
            ("mean", np.mean, jnp.mean, x, exact.mean()),
            ("sum over axis 1", _sum_rows, _onax_sum_rows, grid, grid.astype(np.float64).sum(1)),
            ("sum over axis 0", _sum_columns, _onax_sum_columns, grid.T.copy(), grid.astype(np.float64).sum(1)),
            ("cumsum, last", _last_of_cumsum, _onax_last_of_cumsum, x[:1000], exact[:1000].sum()),
        ):
            yield Case(f"{name}, {n} terms", numpy, onax_fn, (operand,), np.asarray(wanted).astype(np.float32),
                       dtype="float32", shape=str(operand.shape), ulp=ORDER_ULP)  # fmt: skip


def _sum_rows(x):
    return np.sum(x, axis=1)


def _onax_sum_rows(x):
    return jnp.sum(x, axis=1)


def _sum_columns(x):
    return np.sum(x, axis=0)


def _onax_sum_columns(x):
    return jnp.sum(x, axis=0)


def _last_of_cumsum(x):
    return np.cumsum(x)[-1]


def _onax_last_of_cumsum(x):
    return jnp.cumsum(x)[-1]


# --- accuracy -----------------------------------------------------------------------------------------------------

_FUNCTIONS = {
    "exp": (np.exp, jnp.exp, (-80, 80)),
    "log": (np.log, jnp.log, (1e-30, 1e30)),
    "log1p": (np.log1p, jnp.log1p, (-0.999, 1e6)),
    "expm1": (np.expm1, jnp.expm1, (-20, 80)),
    "sin": (np.sin, jnp.sin, (-100, 100)),
    "cos": (np.cos, jnp.cos, (-100, 100)),
    "tan": (np.tan, jnp.tan, (-1.5, 1.5)),
    "tanh": (np.tanh, jnp.tanh, (-10, 10)),
    "sinh": (np.sinh, jnp.sinh, (-20, 20)),
    "atan": (np.arctan, jnp.arctan, (-100, 100)),
    "asin": (np.arcsin, jnp.arcsin, (-1, 1)),
    "sqrt": (np.sqrt, jnp.sqrt, (0, 1e30)),
    "cbrt": (np.cbrt, jnp.cbrt, (-1e6, 1e6)),
    "erf": (None, onax.lax.erf, (-4, 4)),
}
ACCURACY = 4  # units in the last place


def _points(low, high, dtype):
    """256 points of a range: dense near zero if it contains zero, else spread over its magnitudes."""
    if low > 0:
        return np.geomspace(low, high, 256).astype(dtype)
    even = np.linspace(low, high, 192)
    small = np.geomspace(1e-6, 1, 64) * min(abs(high), 1)
    return np.concatenate([even, small]).astype(dtype)


def _accuracy():
    reference = lazy.mpmath.mp
    with reference.workdps(40):
        for name, (numpy, onax_fn, (low, high)) in _FUNCTIONS.items():
            exact = getattr(reference, name)
            for dtype in map(np.dtype, (np.float32, np.float64)):
                x = _points(low, high, dtype)
                values = [exact(float(v)) if name != "cbrt" else _cbrt(reference, float(v)) for v in x]
                documented = np.array([float(v.real) for v in values]).astype(dtype)
                yield Case(name, numpy or _no_function, onax_fn, (x,), documented, dtype=dtype.name,
                           shape=str(x.shape), ulp=ACCURACY, x64=dtype.itemsize == 8)  # fmt: skip


def _cbrt(reference, v):
    return reference.mpf(0) if v == 0 else reference.sign(v) * reference.cbrt(abs(v))


def _no_function(x):
    raise AttributeError("NumPy has no such function")


FAMILIES = (
    Family(
        "nan-arg",
        "nanargmin and nanargmax of NaN alone",
        "The result is -1. NumPy raises ValueError.",
        "Test jnp.isnan(x).all() where this can happen.",
        _nanarg,
    ),
    Family(
        "rounding",
        "Rounding of halves",
        "jnp.round rounds halves to even, as NumPy does; lax.round rounds them away from zero unless asked otherwise.",
        "Name the method: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN).",
        _rounding,
    ),
    Family(
        "nan-order",
        "Order with NaN",
        "sort puts NaN last; max, min and maximum give NaN where an operand is NaN; argmax and argmin give the "
        "position of the first NaN; top_k treats NaN as the largest.",
        "Replace NaN first: jnp.nan_to_num(x), or use the nan- forms.",
        _ordering,
    ),
    Family(
        "where-gradients",
        "Gradients through where",
        "Both branches of where are differentiated: a NaN or an infinite slope in the branch that is not taken gives "
        "NaN.",
        "Make the argument safe inside too: where(ok, f(where(ok, x, 1)), 0).",
        _where_gradients,
    ),
    Family(
        "narrow-sums",
        "Sums in float16 and bfloat16",
        "sum, mean and dot of narrow floats accumulate in float32 and round once.",
        "For more digits, sum in float32: jnp.sum(x, dtype=jnp.float32).",
        _accumulation,
        measured=True,
    ),
    Family(
        "sum-order",
        "Order of float32 sums",
        f"The order in which terms are added is not specified and differs between backends: results agree within "
        f"{ORDER_ULP} units in the last place for 100,000 terms of one sign, not bit by bit.",
        "Compare sums with a tolerance; sum in float64 where the last digits matter.",
        _orders,
        measured=True,
    ),
    Family(
        "accuracy",
        "Accuracy of elementary functions",
        f"Within {ACCURACY} units in the last place of the exact value (by mpmath) on the ranges tried.",
        "Compute in float64 where more accuracy is needed.",
        _accuracy,
        measured=True,
    ),
)
