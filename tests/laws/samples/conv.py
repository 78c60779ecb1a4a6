"""conv_general_dilated: dtypes on one convolution; layouts, strides, padding, dilation and groups in float32."""

import numpy as np

from laws.sampling import ALL, BFLOAT16, COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax

F32 = np.dtype("float32")
NCH, OIH = "NCH", "OIH"
CASES = (  # lhs shape, rhs shape, and what differs from a plain convolution
    ((2, 3, 7), (4, 3, 3), {}),
    ((2, 3, 5, 4), (4, 3, 2, 3), {}),
    ((2, 3, 7), (4, 3, 3), {"strides": (2,), "padding": ((1, 2),)}),
    ((2, 3, 7), (4, 3, 2), {"lhs_dilation": (3,), "padding": ((-2, 1),)}),
    ((2, 3, 7), (4, 3, 2), {"rhs_dilation": (3,), "padding": ((3, 0),), "strides": (2,)}),
    ((2, 3, 7), (4, 3, 2), {"padding": ((-2, -3),)}),
    ((2, 3, 5), (4, 3, 2), {"padding": ((2, -1),), "lhs_dilation": (2,), "rhs_dilation": (2,), "strides": (3,)}),
    ((2, 4, 6), (6, 2, 3), {"features": 2, "padding": ((1, 1),)}),
    ((2, 3, 6), (6, 1, 3), {"features": 3, "strides": (2,)}),
    ((4, 3, 6), (6, 3, 3), {"batches": 2, "strides": (2,), "padding": ((1, 0),)}),
    ((2, 6, 5, 3), (2, 3, 3, 4), {"layout": ("NHWC", "HWIO", "NHWC"), "padding": ((1, 1), (0, 1))}),
    ((5, 3, 6, 2), (3, 4, 2, 3), {"layout": ("WCHN", "IOHW", "CWNH"), "strides": (2, 1)}),
    ((4, 6, 4), (3, 2, 6), {"layout": ("NHC", "HIO", "CHN"), "features": 2, "padding": ((2, 0),)}),
    ((6, 4, 5), (6, 4, 3), {"layout": ("NCH", "OIH", "HNC"), "batches": 3, "rhs_dilation": (2,)}),
    ((2, 3), (4, 3), {}),
    ((4, 2), (4, 2), {"batches": 2}),
    ((2, 3, 2, 3, 2), (2, 3, 2, 1, 2), {"padding": ((1, 0), (0, 0), (0, 1)), "strides": (1, 2, 1)}),
    ((2, 3, 4), (4, 3, 1), {}),
    ((2, 3, 4), (4, 3, 6), {}),  # no window fits
    ((0, 3, 4), (4, 3, 2), {}),
    ((2, 0, 4), (4, 0, 2), {}),
    ((2, 3, 0), (4, 3, 2), {"padding": ((2, 1),)}),
    ((1, 1, 9), (1, 1, 3), {"padding": ((1, 1),)}),
)
PREFERRED = (  # operand dtype, result dtype
    ("int8", "int32"),
    ("uint8", "float32"),
    ("bfloat16", "float32"),
    ("float16", "float32"),
    ("float32", "float64"),
)


def _sample(dtype, lhs, rhs, changes, preferred=None):
    rank = len(lhs) - 2
    params = {
        "window_strides": changes.get("strides", (1,) * rank),
        "padding": changes.get("padding", ((0, 0),) * rank),
        "lhs_dilation": changes.get("lhs_dilation", (1,) * rank),
        "rhs_dilation": changes.get("rhs_dilation", (1,) * rank),
        "dimension_numbers": lax.conv_dimension_numbers(lhs, rhs, changes.get("layout")),
        "feature_group_count": changes.get("features", 1),
        "batch_group_count": changes.get("batches", 1),
        "precision": None,
        "preferred_element_type": preferred,
        "out_sharding": None,
    }
    operands = numbers("conv", lhs, dtype), numbers("kernel", rhs, dtype)
    inexact = dtype in FLOATS + COMPLEXES
    spec = params["dimension_numbers"].rhs_spec
    terms = int(np.prod([rhs[i] for i in spec[1:]], dtype=int))
    return Sample(
        lax.conv_general_dilated_p,
        operands,
        params,
        linear=((0,), (1,)) if inexact else (),
        sums=(max(terms, 1), lambda x, y: _size(x, y, params)) if inexact else None,
    )


def _size(x, y, params):
    """The sums of the terms' absolute values: the convolution of absolute values, in double precision."""
    x, y = (np.abs(v.astype(np.complex128)) for v in (x, y))
    return np.asarray(lax.conv_general_dilated_p.bind(x, y, **{**params, "preferred_element_type": None}))


def convolutions():
    """Every dtype on the first case, every case in float32 and some in int32, results of another dtype."""
    for dtype in ALL:
        for case in (CASES[0], CASES[6]) if dtype in INTEGERS else CASES[:1]:
            yield _sample(dtype, *case)
    for i, case in enumerate(CASES[1:], 1):
        yield _sample(F32, *case)
        if i % 2:
            yield _sample(np.dtype("int32"), *case)
    for dtype in map(np.dtype, ("float64", "complex64")):
        yield _sample(dtype, *CASES[6])
        yield _sample(dtype, *CASES[12])
    for dtype, preferred in PREFERRED:
        dtype, preferred = (BFLOAT16 if d == "bfloat16" else np.dtype(d) for d in (dtype, preferred))
        yield _sample(dtype, *CASES[2], preferred)


SAMPLES = [*convolutions()]
