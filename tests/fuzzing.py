"""Draws applications of primitives to awkward operands, for `programs/test_fuzz.py`.

`draw(rng, primitive)` gives a Sample (see `laws/sampling.py`): dtype, shapes (with zeros, ones and rank 0), parameters
and operands full of edge values: NaN, infinities, -0, subnormal numbers, limits of types, places out of range.  `rng`
is a random.Random; hypothesis hands out one that it can shrink.

A primitive that has no drawer of its own is drawn from its samples for the laws, with operands replaced.
"""

import importlib
from pathlib import Path

import numpy as np

import fuzzing_linalg
from laws.samples.elementwise import BINARY, EXACT, UNARY
from laws.sampling import ALL, BOOL, COMPLEXES, FLOATS, INTEGERS, Sample
from onax import lax
from onax._core.facts import DATA_MOVEMENT
from onax._core.rules import add_any_p
from onax._ground.config import enable_x64
from onax._prims.dot_ragged import ragged_dot_general_p
from onax._prims.slicing import dim_as_value_p
from tolerance import finfo, is_float

SHAPES = ((), (1,), (0,), (3,), (2, 3), (1, 3), (2, 1), (0, 2), (2, 0, 3), (2, 1, 3), (7, 2), (33,))
REAL = INTEGERS + FLOATS + BOOL

# ---- operands ----


def edges(dtype):
    """The awkward values of a dtype, and some plain ones."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info, bits = np.iinfo(dtype), 8 * dtype.itemsize
        values = [info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2, 3, 7, 10, bits - 1, bits, bits + 1, 100]
        values += [-1, -2, -3, -7, -10] if dtype.kind == "i" else [info.max // 2, info.max // 2 + 1]
        return np.array(values, dtype)
    info = finfo(dtype)
    tiny, largest, least = float(info.tiny), float(info.max), float(info.smallest_subnormal)
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.49999997, 0.1, 0.9, 10.0, 100.0, 127.5, 128.0, 255.6, 300.7, 65536.0]
    values += [2.0**31, 2.0**32, 2.0**63, 2.0**64, 1e10, 1e-5, tiny, largest, least, np.inf, 1 + float(info.eps)]
    with np.errstate(all="ignore"):
        return np.array([np.nan, *values, *(-v for v in values)]).astype(dtype)


def moderate(dtype):
    """Values whose products and sums stay within range whatever the order, and the special ones."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return edges(dtype)
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, *(1.0, -1.0, 0.5, 2.0, -1.5, 0.7, 3.0) * 4])
    return values.astype(dtype)


def ordinary(dtype):
    """Of the moderate values those that are numbers."""
    values = moderate(dtype)
    return values[np.isfinite(values)] if is_float(dtype) else values


def array(rng, shape, dtype, values=edges):
    """An array of edge (or `moderate`) values of a dtype; complex numbers of two of them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        out = np.empty(shape, dtype)
        out.real, out.imag = (array(rng, shape, out.real.dtype, values) for _ in range(2))
        return out
    known = values(dtype)
    n = int(np.prod(shape, dtype=int))
    if rng.random() < 0.15:  # one value everywhere, as constants often are
        return np.full(shape, rng.choice((known[rng.randrange(len(known))], dtype.type(0), dtype.type(1))), dtype)
    return np.array([known[rng.randrange(len(known))] for _ in range(n)], dtype).reshape(shape)


# ---- elementwise ----


def shapes_of(rng, n):
    """Shapes of n operands: equal, some of rank 0, some with lengths 1."""
    shape = rng.choice(SHAPES)
    kinds = [rng.choice(("same", "same", "scalar", "ones")) for _ in range(n)]
    changed = {"same": shape, "scalar": (), "ones": tuple(1 if rng.random() < 0.5 else d for d in shape)}
    return [changed[k] for k in kinds]


def elementwise(p, dtypes, arity):
    """A drawer of an elementwise primitive without parameters."""

    def drawer(rng):
        dtype = rng.choice(dtypes)
        values = ordinary if dtype in COMPLEXES else edges  # NaN and infinities in complex numbers: not agreed
        operands = [array(rng, s, dtype, values) for s in shapes_of(rng, arity)]
        return Sample(p, operands, exact=p in EXACT or None)

    return drawer


def add_any(rng):
    """Tangents that are added have one shape."""
    dtype, shape = rng.choice(INTEGERS + FLOATS), rng.choice(SHAPES)
    return Sample(add_any_p, (array(rng, shape, dtype), array(rng, shape, dtype)))


def round_(rng):
    x = array(rng, rng.choice(SHAPES), rng.choice(FLOATS))
    return Sample(lax.round_p, (x,), {"rounding_method": rng.choice(list(lax.RoundingMethod))}, exact=True)


def integer_pow(rng):
    dtype = rng.choice(INTEGERS + FLOATS)
    y = rng.choice((0, 1, 2, 3, 4, 5, 7) if dtype in INTEGERS else (-3, -2, -1, 0, 1, 2, 3, 4, 5))
    return Sample(lax.integer_pow_p, (array(rng, rng.choice(SHAPES), dtype),), {"y": y})


def pow_(rng):
    dtype = rng.choice(FLOATS)
    first, second = shapes_of(rng, 2)
    exponent = rng.choice((dtype, np.dtype(np.int32)))
    return Sample(lax.pow_p, (array(rng, first, dtype), array(rng, second, exponent)))


def conj(rng):
    x = array(rng, rng.choice(SHAPES), rng.choice(COMPLEXES))
    return Sample(lax.conj_p, (x,), {"input_dtype": x.dtype}, exact=True)


def select_n(rng):
    dtype, shape = rng.choice(ALL), rng.choice(SHAPES)
    kind, n = rng.choice(((np.bool_, 2), (np.int32, 2), (np.int32, 3)))
    which = array(rng, rng.choice((shape, ())), kind)
    return Sample(lax.select_n_p, (which, *(array(rng, shape, dtype) for _ in range(n))), exact=True)


def clamp(rng):
    dtype, shape = rng.choice(REAL), rng.choice(SHAPES)
    limits = [array(rng, rng.choice((shape, ())), dtype) for _ in range(2)]
    return Sample(lax.clamp_p, (limits[0], array(rng, shape, dtype), limits[1]), exact=True)


def convert(rng):
    x = array(rng, rng.choice(SHAPES), rng.choice(REAL))
    params = {"new_dtype": rng.choice(REAL), "weak_type": False, "sharding": None}
    return Sample(lax.convert_element_type_p, (x,), params, exact=True)


def reduce_precision(rng):
    x = array(rng, rng.choice(SHAPES), rng.choice(FLOATS))
    exponent, mantissa = rng.choice(((5, 10), (8, 7), (4, 3), (8, 23), (5, 2), (11, 52), (8, 1), (2, 3)))
    return Sample(lax.reduce_precision_p, (x,), {"exponent_bits": exponent, "mantissa_bits": mantissa}, exact=True)


def bitcast(rng):
    source, target = rng.choice(INTEGERS + FLOATS), rng.choice(INTEGERS + FLOATS)
    ratio = max(target.itemsize // source.itemsize, 1)
    shape = rng.choice(SHAPES) + ((ratio,) if ratio > 1 else ())
    # In bits, so that a NaN is the same NaN everywhere.
    return Sample(lax.bitcast_convert_type_p, (array(rng, shape, source),), {"new_dtype": target}, exact=True)


# ---- reductions, products ----


def _axes(rng, shape):
    return tuple(a for a in range(len(shape)) if rng.random() < 0.6)


def finite_size(x):
    """Absolute values as float64, special ones as 0: what sums are measured against."""
    size = np.abs(x.astype(np.complex128))
    return np.where(np.isfinite(size), size, 0.0)


def extremum(p, dtypes):
    def drawer(rng):
        x = array(rng, rng.choice(SHAPES), rng.choice(dtypes))
        return Sample(p, (x,), {"axes": _axes(rng, x.shape)}, exact=True)

    return drawer


def total(p):
    """Sum or product: of values that stay in range in every order."""

    def drawer(rng):
        dtype = rng.choice(INTEGERS + FLOATS)
        shape = rng.choice(SHAPES)
        x, axes = array(rng, shape, dtype, moderate), _axes(rng, shape)
        terms = 2 * int(np.prod([shape[a] for a in axes], dtype=int))
        combine = np.sum if p is lax.reduce_sum_p else np.prod
        sums = (terms, lambda x: combine(finite_size(x), axis=axes)) if is_float(dtype) else None
        extra = {"out_sharding": None} if p is lax.reduce_sum_p else {}
        return Sample(p, (x,), {"axes": axes, **extra}, sums=sums)

    return drawer


def place(p):
    def drawer(rng):
        shape = rng.choice([s for s in SHAPES if s and all(s)])
        x = array(rng, shape, rng.choice(REAL))
        index = np.dtype(rng.choice(("int32", "int64", "uint8", "int8", "uint32")))
        return Sample(p, (x,), {"axes": (rng.randrange(len(shape)),), "index_dtype": index})

    return drawer


# ---- places in arrays ----


def _near(dtype):
    """Places in and around arrays of at most six elements an axis."""
    places = np.array([-9, -5, -2, -1, 0, 0, 1, 1, 2, 3, 4, 5, 6, 9, 100])
    return (places if dtype.kind == "i" else np.abs(places)).astype(dtype)


def indexed(p, first, last=None):
    """A law's layout with operands replaced; those from `first` to `last` are places, of any integer type."""

    def drawer(rng):
        base = rng.choice(real_samples(p))
        promised = getattr(base.params.get("mode"), "name", "") == "PROMISE_IN_BOUNDS"
        kind = np.dtype(rng.choice(("int32", "int64", "int8", "uint8", "uint32")))
        where = _near if rng.random() < 0.7 else edges
        operands = [array(rng, x.shape, x.dtype, moderate if p in SUMMING else edges) for x in base.operands]
        for i in range(first, len(operands) if last is None else last + 1):
            places = base.operands[i]
            operands[i] = places.astype(kind) if promised else array(rng, places.shape, kind, where)
        params = dict(base.params)
        if "unique_indices" in params:
            params["unique_indices"] = False
        return Sample(p, operands, params, exact=p not in SUMMING or None, sums=_scatter_sums(p, operands))

    return drawer


SUMMING = (lax.scatter_add_p, lax.scatter_sub_p, lax.scatter_mul_p)


def _scatter_sums(p, operands):
    if p not in SUMMING or not is_float(operands[0].dtype):
        return None
    power = operands[2].size + 1
    largest = 3.0**power if p is lax.scatter_mul_p else 3.0 * power
    return 2 * power, lambda *xs: np.full(xs[0].shape, largest)


# ---- everything ----

_laws = {}


def laws():
    """Samples of the laws by primitive."""
    if not _laws:
        with enable_x64(True):
            for path in sorted((Path(__file__).parent / "laws" / "samples").glob("*.py")):
                for s in importlib.import_module(f"laws.samples.{path.stem}").SAMPLES:
                    _laws.setdefault(s.primitive, []).append(s)
    return _laws


def real_samples(p):
    """A primitive's samples for the laws; complex ones only where it knows nothing else, or only moves data."""
    real = [s for s in laws()[p] if not any(d in COMPLEXES for d in _dtypes(s))]
    return real if real and DATA_MOVEMENT not in p.facts else laws()[p]


def _dtypes(sample):
    yield from (x.dtype for x in sample.operands)
    yield sample.params.get("dtype")


# What these give for NaN and infinities is left to the implementation: padding is multiplied by the kernel or not, and
# which of two unordered numbers a window selects depends on the order in which it is walked.
UNSPECIAL = ("conv_general_dilated", "select_and_gather_add", "select_and_scatter_add")


def resampled(rng, base):
    """A law's sample with its operands replaced by awkward ones; what it sums stays within range."""
    values = edges if base.sums is None else moderate
    if base.primitive.name in UNSPECIAL:
        values = ordinary
    operands = [array(rng, x.shape, x.dtype, values) for x in base.operands]
    sums = base.sums and (2 * base.sums[0], lambda *xs: base.sums[1](*map(finite_size, xs)))
    return Sample(base.primitive, operands, base.params, exact=base.exact, sums=sums)


def ragged(p):
    """A law's sample with its factors replaced by finite ones (of others, 0 times them is NaN); group sizes stay."""

    def drawer(rng):
        base = rng.choice(real_samples(p))
        lhs, rhs, sizes = base.operands
        factors = [array(rng, x.shape, x.dtype, ordinary) for x in (lhs, rhs)]
        sums = base.sums and (2 * base.sums[0], lambda x, y, n: base.sums[1](finite_size(x), finite_size(y), n))
        return Sample(p, (*factors, sizes), base.params, exact=base.exact, sums=sums)

    return drawer


def factored(p):
    """Of linear algebra (`fuzzing_linalg.py`)."""

    def drawer(rng):
        base = rng.choice(real_samples(p))
        operands, sums = fuzzing_linalg.drawn(rng, base, array, ordinary, moderate)
        return Sample(p, operands, base.params, sums=sums, view=fuzzing_linalg.VIEWS.get(p.name))

    return drawer


DRAWERS = {
    **{p: elementwise(p, dtypes, 1) for p, dtypes, _ in UNARY},
    **{p: elementwise(p, dtypes, 2) for p, dtypes, _ in BINARY},
    lax.atan2_p: elementwise(lax.atan2_p, FLOATS, 2),
    add_any_p: add_any,
    lax.round_p: round_,
    lax.integer_pow_p: integer_pow,
    lax.pow_p: pow_,
    lax.conj_p: conj,
    lax.select_n_p: select_n,
    lax.clamp_p: clamp,
    lax.convert_element_type_p: convert,
    lax.reduce_precision_p: reduce_precision,
    lax.bitcast_convert_type_p: bitcast,
    lax.reduce_max_p: extremum(lax.reduce_max_p, REAL),
    lax.reduce_min_p: extremum(lax.reduce_min_p, REAL),
    lax.reduce_and_p: extremum(lax.reduce_and_p, INTEGERS + BOOL),
    lax.reduce_or_p: extremum(lax.reduce_or_p, INTEGERS + BOOL),
    lax.reduce_xor_p: extremum(lax.reduce_xor_p, INTEGERS + BOOL),
    lax.reduce_sum_p: total(lax.reduce_sum_p),
    lax.reduce_prod_p: total(lax.reduce_prod_p),
    lax.argmax_p: place(lax.argmax_p),
    lax.argmin_p: place(lax.argmin_p),
    lax.dynamic_slice_p: indexed(lax.dynamic_slice_p, 1),
    lax.dynamic_update_slice_p: indexed(lax.dynamic_update_slice_p, 2),
    lax.gather_p: indexed(lax.gather_p, 1, 1),
    lax.scatter_p: indexed(lax.scatter_p, 1, 1),
    lax.scatter_add_p: indexed(lax.scatter_add_p, 1, 1),
    lax.scatter_sub_p: indexed(lax.scatter_sub_p, 1, 1),
    lax.scatter_mul_p: indexed(lax.scatter_mul_p, 1, 1),
    lax.scatter_min_p: indexed(lax.scatter_min_p, 1, 1),
    lax.scatter_max_p: indexed(lax.scatter_max_p, 1, 1),
    ragged_dot_general_p: ragged(ragged_dot_general_p),
    **{p: factored(p) for p in fuzzing_linalg.DRAWN},
}


def primitives():
    """Every primitive that is drawn, in the order of the laws' samples."""
    return [p for p in laws() if p is not dim_as_value_p]


def draw(rng, primitive):
    """A sample of a primitive."""
    drawer = DRAWERS.get(primitive)
    return drawer(rng) if drawer else resampled(rng, rng.choice(real_samples(primitive)))


def with_operands(sample, operands):
    """A sample with other operands."""
    return Sample(sample.primitive, operands, sample.params, exact=sample.exact, sums=sample.sums, view=sample.view)
