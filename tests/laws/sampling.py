"""Samples: a primitive applied to operands, as the laws need it.  `samples/<family>.py` holds SAMPLES, a list of them.

    Sample(primitive, operands, params)          operands: ndarrays (any dtype); params: the primitive's parameters
        differentiable=(i, ...)                  operands whose tangents are checked; default: the inexact ones
        linear=((i, ...), ...)                   groups of operands in which it is linear together; default: by LINEAR
        sums=(terms, function)                   for reductions: number of terms, function(*operands) -> sum of |terms|
        exact=True                               results must have the same bits everywhere
    view=function                            list of results -> what is determined of them (signs of vectors are not)
    roundings=n                              of the derivative in a narrow type, where more than a chain's 32
    towards=function                         (operand number, direction) -> direction in which it may be moved

`numbers` makes operands: deterministic, away from points where a function is not smooth.
"""

import zlib

import ml_dtypes
import numpy as np

from onax._core.facts import DATA_MOVEMENT, ELEMENTWISE, LINEAR

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = (np.dtype("float32"), np.dtype("float64"), np.dtype("float16"), BFLOAT16)
COMPLEXES = (np.dtype("complex64"), np.dtype("complex128"))
SIGNED = tuple(map(np.dtype, ("int8", "int16", "int32", "int64")))
UNSIGNED = tuple(map(np.dtype, ("uint8", "uint16", "uint32", "uint64")))
INTEGERS = SIGNED + UNSIGNED
BOOL = (np.dtype("bool"),)
ALL = FLOATS + COMPLEXES + INTEGERS + BOOL


class Sample:
    """One application of a primitive."""

    __slots__ = ("differentiable", "exact", "linear", "operands", "params", "primitive", "roundings", "sums", "towards",
                 "view")  # fmt: skip

    def __init__(
        self,
        primitive,
        operands,
        params=None,
        *,
        differentiable=None,
        linear=None,
        sums=None,
        exact=None,
        view=None,
        roundings=None,
        towards=None,
    ):
        self.primitive = primitive
        self.operands = tuple(np.asarray(x) for x in operands)
        self.params = params or {}
        inexact = tuple(i for i, x in enumerate(self.operands) if x.dtype in FLOATS + COMPLEXES)
        self.differentiable = inexact if differentiable is None else differentiable
        if linear is None:
            linear = (inexact,) if LINEAR in primitive.facts and inexact else ()
        self.linear = linear
        self.sums = sums
        if exact is None:
            exact = DATA_MOVEMENT in primitive.facts or not inexact
        self.exact = exact
        self.view = view
        self.roundings = roundings
        self.towards = towards

    @property
    def elementwise(self):
        """Whether the primitive works element by element."""
        return ELEMENTWISE in self.primitive.facts

    def bind(self, *operands):
        """The primitive, with the sample's parameters."""
        return self.primitive.bind(*operands, **self.params)

    def __repr__(self):
        shown = ", ".join(f"{x.dtype.name}[{','.join(map(str, x.shape))}]" for x in self.operands)
        params = ", ".join(f"{k}={v}" for k, v in self.params.items() if v is not None)
        return f"{self.primitive.name}({shown}; {params})" if params else f"{self.primitive.name}({shown})"


def numbers(name, shape, dtype, low=-2.0, high=2.0):
    """Numbers between low and high (integers: a small range; bool: both), the same for the same arguments."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(zlib.crc32(f"{name}{shape}{dtype.name}".encode()))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype)
    # float16 values in every float type, so that a sample means the same in all of them
    return rng.uniform(low, high, shape).astype(np.float16).astype(dtype)
