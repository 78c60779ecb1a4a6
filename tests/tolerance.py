"""How equal is equal: the one table by which results of kernels, runtime and oracle are compared.

    same bits       data movement, integers, bool, comparisons, casts, min and max, random bits
    4 ulp           other elementwise functions; in bfloat16, float16 the reference is a float32 result rounded once
    k * eps * S     reductions and dot: k terms, S the sum of the terms' absolute values

NaN equals NaN, whatever its payload; zeros are equal whatever their sign; a subnormal number equals zero (runtimes may
flush them).  Nothing else is forgiven.
"""

import ml_dtypes
import numpy as np

ULPS = 4


def finfo(dtype):
    """Limits of a real floating dtype, ml_dtypes' included."""
    dtype = np.dtype(dtype)
    return np.finfo(dtype) if dtype.kind == "f" and dtype.name.startswith("float") and dtype.itemsize > 1 else (
        ml_dtypes.finfo(dtype)
    )  # fmt: skip


def is_float(dtype):
    """Whether this is a real floating dtype, ml_dtypes' included."""
    dtype = np.dtype(dtype)
    return dtype.kind == "f" or (dtype.name.startswith(("bfloat", "float")) and dtype.name != "float0")


def assert_same_type(got, want, what=""):
    """Shape and dtype agree."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, expected {want.dtype}"


def _parts(x):
    """The real arrays that make up an array: itself, or real and imaginary part."""
    return (x.real, x.imag) if x.dtype.kind == "c" else (x,)


def _wide(x):
    return x.astype(np.float64) if is_float(x.dtype) else x


def _complain(what, bad, got, want, note):
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    raise AssertionError(
        f"{what}: {int(bad.sum())} of {bad.size} differ, first at {at}: got {got[at]!r}, expected {want[at]!r}{note}"
    )


def assert_same_bits(got, want, what=""):
    """Equal values: NaN equals NaN, 0.0 equals -0.0."""
    got, want = np.asarray(got), np.asarray(want)
    assert_same_type(got, want, what)
    for g, w in zip(_parts(got), _parts(want)):
        bad = (g != w) & ~((g != g) & (w != w))
        if bad.any():
            _complain(what, bad, g, w, "")


def assert_within(got, want, allowed, what=""):
    """|got - want| <= allowed, element by element; `allowed` is an array of want's shape, or a number."""
    got, want = np.asarray(got), np.asarray(want)
    assert_same_type(got, want, what)
    for g, w in zip(_parts(got), _parts(want)):
        info = finfo(g.dtype)
        g, w = _wide(g), _wide(w)
        with np.errstate(all="ignore"):
            good = (np.abs(g - w) <= allowed) | (g == w) | (np.isnan(g) & np.isnan(w))
            tiny = float(info.smallest_normal) if hasattr(info, "smallest_normal") else float(info.tiny)
            good |= (np.abs(g) < tiny) & (np.abs(w) < tiny)
        if not good.all():
            _complain(what, ~good, g, w, f" (allowed difference {np.max(allowed):.3g})")


def ulp(x):
    """The distance between neighbouring numbers of x's dtype at x; for complex x that at its absolute value."""
    info = finfo(x.real.dtype)
    size = np.abs(x.astype(np.complex128 if x.dtype.kind == "c" else np.float64))
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.where((size > 0) & np.isfinite(size), size, 1.0)))
    lowest = np.log2(float(info.tiny))
    return np.exp2(np.maximum(exponent, lowest)) * float(info.eps)


def assert_ulps(got, want, ulps=ULPS, what=""):
    """Floats within some units in the last place of what is wanted; everything else the same."""
    got, want = np.asarray(got), np.asarray(want)
    if not (is_float(want.dtype) or want.dtype.kind == "c"):
        return assert_same_bits(got, want, what)
    assert_same_type(got, want, what)
    return assert_within(got, want, ulps * ulp(want), what)


def assert_sum(got, want, terms, size, what=""):
    """Floats within terms * eps * size, where size is the sum of the absolute values of the terms summed."""
    got, want = np.asarray(got), np.asarray(want)
    if not (is_float(want.dtype) or want.dtype.kind == "c"):
        return assert_same_bits(got, want, what)
    eps = float(finfo(want.real.dtype).eps)
    return assert_within(got, want, max(terms, 1) * eps * np.asarray(size, np.float64), what)
