"""Conversions between all pairs of dtypes, bitcasts between all widths, reduce_precision."""

import numpy as np

from laws.sampling import ALL, COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax


def conversions():
    """Every dtype to every other."""
    for source in ALL:
        x = numbers("convert", (2, 3), source)
        for target in ALL:
            params = {"new_dtype": target, "weak_type": False, "sharding": None}
            smooth = source in FLOATS + COMPLEXES and target in FLOATS + COMPLEXES
            yield Sample(
                lax.convert_element_type_p,
                (x,),
                params,
                exact=True,
                differentiable=None if smooth else (),
                linear=((0,),) if smooth else (),
            )


def edges():
    """No elements, rank 0."""
    for shape in ((0, 3), ()):
        for source, target in (("float32", "int8"), ("int32", "bool"), ("bool", "bfloat16"), ("uint64", "float16")):
            params = {"new_dtype": np.dtype(target), "weak_type": False, "sharding": None}
            x = numbers("convert", shape, source)
            yield Sample(lax.convert_element_type_p, (x,), params, exact=True, differentiable=(), linear=())
        yield Sample(
            lax.bitcast_convert_type_p,
            (numbers("bitcast", shape, "float32"),),
            {"new_dtype": np.dtype("uint8")},
            differentiable=(),
            exact=True,
        )
        precision = {"exponent_bits": 5, "mantissa_bits": 10}
        x = numbers("reduce_precision", shape, "float32")
        yield Sample(lax.reduce_precision_p, (x,), precision, differentiable=(), exact=True)


def bitcasts():
    """Equal, narrower and wider types."""
    for source in INTEGERS + FLOATS:
        for target in INTEGERS + FLOATS:
            if source == target:
                continue
            ratio = max(target.itemsize // source.itemsize, 1)
            x = numbers("bitcast", (2, 3, ratio) if ratio > 1 else (2, 3), source)
            yield Sample(lax.bitcast_convert_type_p, (x,), {"new_dtype": target}, differentiable=(), exact=True)


def precisions():
    """Several formats; differentiable as the identity rounded, which differences do not see."""
    for dtype in FLOATS:
        x = numbers("reduce_precision", (2, 3), dtype)
        for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (8, 23)):
            params = {"exponent_bits": exponent, "mantissa_bits": mantissa}
            yield Sample(lax.reduce_precision_p, (x,), params, differentiable=(), exact=True)
    yield Sample(
        lax.reduce_precision_p,
        (np.array([1e-6, 3e4, 7e4, -1e-9], np.float32),),
        {"exponent_bits": 5, "mantissa_bits": 10},
        differentiable=(),
        exact=True,
    )


SAMPLES = [*conversions(), *edges(), *bitcasts(), *precisions()]
