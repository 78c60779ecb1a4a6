"""Which operators ONNX Runtime has kernels for, by element type, and which other type to compute in where it has none.

`kernels.json` holds measurements only (`scripts/measure_kernels.py` updates it).  An entry reads

    "Add": {"18-26": "i32 i64 u32 u64 f32 f64 +f16"}

operator, opsets, element types that run; `+` marks types for which the runtime itself casts to f32, `~` those for which
it expands the operator into its function body.  An operator whose types depend on an
attribute has one entry for each value (`ScatterND:add`).

`OPERATORS` below holds what cannot be measured: which operands and results have the element type that is looked up, and
which other types (carriers) preserve the operator's meaning.  An operator without a row is a real function.

    ring   sums and products modulo 2**n: any integer type at least as wide; the cast back wraps
    sum    sums, which the runtime computes in float64 and saturates: exact in int64 for at most 16 bits; the cast back
           wraps.  They are inexact for 32 and 64 bits, whatever the table says (multiply with ones instead)
    order  results depend on the values: types that represent every value of the narrower type
    lower  as order, but not int64, whose kernel is wrong beyond 32 bits (EXACT_BITS)
    move   results are operands: any type with an exact cast there and back
    real   real functions: 16-bit floats are computed in float32
    none   no other type
"""

import json
from pathlib import Path

import ml_dtypes
import numpy as np

from onax._ground.errors import LoweringError
from onax._native.protobuf import ELEMENT_TYPES  # noqa: F401

SHORT_NAMES = {
    np.dtype(t): s
    for t, s in (
        (np.bool_, "bool"), (np.int8, "i8"), (np.int16, "i16"), (np.int32, "i32"), (np.int64, "i64"),
        (np.uint8, "u8"), (np.uint16, "u16"), (np.uint32, "u32"), (np.uint64, "u64"),
        (np.float16, "f16"), (ml_dtypes.bfloat16, "bf16"), (np.float32, "f32"), (np.float64, "f64"),
    )
}  # fmt: skip
DTYPES = {short: dtype for dtype, short in SHORT_NAMES.items()}

_HALVES = {"f16": ("f32",), "bf16": ("f32",)}
_CARRIERS = {
    "ring": _HALVES | {
        "i8": ("i32", "i64"), "i16": ("i32", "i64"), "u8": ("i32", "u32", "i64"), "u16": ("i32", "u32", "i64"),
        "i32": ("i64",), "u32": ("i32", "i64"), "u64": ("i64",), "i64": ("u64",),
    },
    "order": _HALVES | {
        "bool": ("u8", "i32", "i64"), "i8": ("i16", "i32", "i64"), "i16": ("i32", "i64"), "i32": ("i64",),
        "u8": ("i16", "i32", "i64"), "u16": ("i32", "u32", "i64"), "u32": ("i64", "u64"),
    },
    "lower": _HALVES | {
        "bool": ("u8", "i32"), "i8": ("i16", "i32"), "i16": ("i32",), "u8": ("i16", "i32"), "u16": ("i32", "u32"),
    },
    "move": _HALVES | {
        "bool": ("u8", "i32", "i64"), "i8": ("u8", "i32", "i64"), "u8": ("i32", "i64"),
        "i16": ("i32", "i64"), "u16": ("i32", "i64"), "u32": ("i32", "i64"), "u64": ("i64",), "i64": ("u64",),
        "i32": ("i64",),
    },
    "sum": _HALVES | {"i8": ("i64",), "i16": ("i64",), "u8": ("i64",), "u16": ("i64",)},
    "shift": {"u16": ("u32",)},
    "real": _HALVES,
    "none": {},
}  # fmt: skip

_ALL = None  # every operand, or every result


def _rows(kind, names, operands=_ALL, results=_ALL):
    return dict.fromkeys(names.split(), (kind, operands, results))


# operator -> (kind of carrier, positions of the operands, of the results that have the element type looked up)
OPERATORS = {
    **_rows("ring", "Add Sub Mul Sum Neg MatMul Gemm Einsum"),
    **_rows("ring", "CumSum CumProd", (0,)),
    **_rows("sum", "ReduceSum", (0,)),
    **_rows("ring", "ScatterND:add ScatterND:mul ScatterElements:add ScatterElements:mul", (0, 2)),
    **_rows("order", "Div Mod:fmod=0 Mod:fmod=1 Abs Relu Range PRelu"),
    **_rows("lower", "Min Max Clip Sign"),
    **_rows("order", "Less Greater LessOrEqual GreaterOrEqual", _ALL, ()),
    **_rows("lower", "ReduceMax ReduceMin", (0,), (0,)),
    **_rows("order", "MaxPool TopK Unique", (0,), (0,)),
    **_rows("order", "ArgMax ArgMin", (0,), ()),
    **_rows("order", "ScatterND:min ScatterND:max ScatterElements:min ScatterElements:max", (0, 2)),
    **_rows("move", "Identity Concat"),
    **_rows("move", "Equal", _ALL, ()),
    **_rows("move", "NonZero Shape Size", (0,), ()),
    **_rows("move", "Reshape Flatten Transpose Expand Tile Slice Split Squeeze Unsqueeze", (0,)),
    **_rows("move", "Gather GatherElements GatherND Compress Trilu ReverseSequence DepthToSpace", (0,)),
    **_rows("move", "Pad:constant", (0, 2)),
    **_rows("move", "Pad:edge Pad:reflect Pad:wrap", (0,)),
    **_rows("move", "ScatterND ScatterElements", (0, 2)),
    **_rows("move", "TensorScatter", (0, 1)),
    **_rows("move", "Where", (1, 2)),
    **_rows("move", "OneHot", (2,)),
    **_rows("shift", "BitShift"),
    **_rows("none", "And Or Xor Not BitwiseAnd BitwiseOr BitwiseXor BitwiseNot"),
    **_rows("none", "ConstantOfShape EyeLike", ()),
    **_rows("none", "MatMulInteger", (0,), ()),
    **_rows("real", "Pow"),
    **_rows("real", "IsNaN IsInf", _ALL, ()),
    **_rows("real", "ReduceProd ReduceSumSquare ReduceMean ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp DFT", (0,)),
    **_rows("real", "Resize Col2Im", (0,)),
}
REAL = ("real", _ALL, _ALL)  # operators without a row: functions of floats, such as Exp, Softmax or Conv

# Operators without an element type to look up, or that accept all types (Cast: all pairs were measured to run).
UNTYPED = frozenset(
    "Cast BitCast Constant If Loop Scan SequenceEmpty SequenceInsert SequenceAt SequenceConstruct SequenceLength "
    "ConcatFromSequence SplitToSequence DFT".split()  # DFT: its lowering rule uses only lengths for which it is right
)

# Kernels that are exact only for numbers of so many bits, without the sign (measured on random numbers, 1.31.1):
# `Graph.node` refuses operands that may be larger.
EXACT_BITS = {(name, DTYPES["i64"]): 31 for name in ("Min", "Max", "Clip", "Sign", "ReduceMax", "ReduceMin")}
EXACT_BITS |= {("Mod:fmod=1", DTYPES[short]): 53 for short in ("i64", "u64")}

# Kernels that runtime 1.30 lacks, the version on npm: a carrier is used instead.
RECENT = {("Where", "i8")}

# Operators that recognition finds between casts from and to 16-bit floats, where the cast back must round. Without
# the casts the runtime keeps float32 between nodes of float16.
IN_FLOAT32 = frozenset(
    "ReduceSum ReduceMean MatMul Gemm Conv ConvTranspose AveragePool Sqrt Reciprocal Tanh Erf Softmax LogSoftmax "
    "Gelu".split()
)

# Operators whose types depend on an attribute: the attribute, its default value, the name in the table for that value.
_VARIANTS = {
    "Mod": ("fmod", 0, "Mod:fmod=0"),
    "Pad": ("mode", "constant", "Pad:constant"),
    "ScatterND": ("reduction", "none", "ScatterND"),
    "ScatterElements": ("reduction", "none", "ScatterElements"),
}


def variant(op_type, attributes):
    """The name in the table of an operator with these attributes."""
    entry = _VARIANTS.get(op_type)
    if entry is None:
        return op_type
    attribute, default, name = entry
    value = attributes.get(attribute)
    if value is None or value == default:
        return name
    return f"{op_type}:fmod={value}" if attribute == "fmod" else f"{op_type}:{value}"


def _opsets(text):
    """The opsets of a range such as `18-21,24`."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


class Measured:
    """The measurements of one provider: operator -> opset -> element types."""

    __slots__ = ("ops", "opsets", "runtime")

    def __init__(self, path):
        raw = json.loads(path.read_text())
        self.runtime = raw["runtime"]
        self.opsets = tuple(raw["opsets"])
        self.ops = {}
        for name, entries in raw["ops"].items():
            per_opset = self.ops[name] = {}
            for opsets, types in entries.items():
                if opsets == "source":
                    continue
                types = types.split()
                runs = frozenset(t.lstrip("+~") for t in types)
                if "~f16" in types and "f32" in types:  # a kernel of float32 is better than steps that round to float16
                    runs -= {"f16"}
                for opset in _opsets(opsets):
                    per_opset[opset] = runs


class Kernels:
    """The table for one provider and opset: `carrier(operator, dtype)` says how to run it."""

    __slots__ = ("_carriers", "measured", "opset", "provider")

    def __init__(self, provider, opset):
        # CUDA kernels are not measured: the runtime assigns nodes without one to the CPU, so the CPU table applies.
        self.provider = provider
        self.opset = opset
        self.measured = _measured()
        self._carriers = {}

    def carrier(self, name, dtype):
        """The dtype to compute an operator in: None if it runs on `dtype` itself.

        Raises LoweringError if there is none; it names the lowest opset that has a kernel.
        """
        try:
            return self._carriers[name, dtype]
        except KeyError:
            has_kernel, carrier = self._search(name, dtype, self.opset)
            if not has_kernel:
                raise LoweringError(self._refusal(name, dtype)) from None
            self._carriers[name, dtype] = carrier
            return carrier

    def runs(self, name, dtype):
        """Whether the operator runs on `dtype` in this opset, directly or in another dtype."""
        return self._search(name, np.dtype(dtype), self.opset)[0]

    def runs_directly(self, name, dtype):
        """Whether the operator has a kernel for `dtype` itself."""
        return self._search(name, np.dtype(dtype), self.opset) == (True, None)

    def lowest_opset(self, name, dtype):
        """The lowest measured opset in which the operator runs on `dtype`, or None."""
        return next((o for o in self.measured.opsets if self._search(name, dtype, o)[0]), None)

    def _search(self, name, dtype, opset):
        types = self.measured.ops.get(name, {}).get(opset, ())
        short = SHORT_NAMES.get(dtype)
        if name in UNTYPED:
            return bool(types) or name not in self.measured.ops, None
        if short in types and (name, short) not in RECENT:
            return True, None
        kind, _, _ = OPERATORS.get(name, REAL)
        carrier = next((c for c in _CARRIERS[kind].get(short, ()) if c in types), None)
        return carrier is not None, DTYPES.get(carrier)

    def _refusal(self, name, dtype):
        lowest = self.lowest_opset(name, dtype)
        fault = f"ONNX Runtime's {self.provider} provider has no kernel of {name} for {dtype} in opset {self.opset}"
        if lowest is not None:
            return f"{fault}; the lowest opset that has one is {lowest}."
        lowest = next((o for o in self.measured.opsets if self.measured.ops.get(name, {}).get(o)), None)
        if lowest is None:
            return f"{fault}, nor in any of {self.measured.opsets[0]} to {self.measured.opsets[-1]}."
        per_opset = self.measured.ops[name]
        known = " ".join(sorted(per_opset.get(self.opset) or per_opset[lowest]))
        return f"{fault}, nor in any other; it runs on {known} (from opset {lowest})."


_cache: dict = {}


def _measured():
    """The measurements; the file is read once."""
    if "measured" not in _cache:
        _cache["measured"] = Measured(Path(__file__).with_name("kernels.json"))
    return _cache["measured"]


def kernels(provider, opset):
    """The table for a provider and an opset, cached."""
    table = _cache.get((provider, opset))
    if table is None:
        table = _cache[provider, opset] = Kernels(provider, opset)
    return table
