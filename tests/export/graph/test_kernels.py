"""The table of operators: detours, refusals, and that the measured file is complete and read rightly."""

import numpy as np
import pytest

from onax._ground import onnx_runtime
from onax._ground.errors import LoweringError
from onax.export.graph import kernels
from onax.export.graph.kernels import DTYPES, OPERATORS, SHORT_NAMES, UNTYPED, variant

TABLE = kernels.kernels("cpu", 21)


def test_the_file_covers_every_operator():
    assert set(OPERATORS) <= set(TABLE.measured.ops)
    for name in set(TABLE.measured.ops) - set(OPERATORS) - UNTYPED:
        assert set().union(*TABLE.measured.ops[name].values()) <= {"f16", "bf16", "f32", "f64"}, f"{name} needs a row"
    assert TABLE.measured.opsets == tuple(range(18, 27))


def test_the_file_was_measured_with_the_installed_runtime():
    assert TABLE.measured.runtime.split(".")[:2] == onnx_runtime.find_runtime().version.split(".")[:2]


@pytest.mark.parametrize("operator, short, carrier", [
    ("Add", "f32", None), ("Add", "f16", None), ("Add", "bf16", "f32"), ("Sub", "u16", None), ("Neg", "u8", "i32"),
    ("Neg", "u32", "i32"), ("Neg", "u64", "i64"), ("MatMul", "i8", "i32"), ("MatMul", "u16", "i32"),
    ("Max", "i16", "i32"), ("Max", "u16", "i32"), ("ArgMax", "bool", "u8"), ("ArgMax", "u32", "i64"),
    ("Where", "bool", "u8"), ("Where", "u64", "i64"), ("Where", "i16", "i32"), ("Where", "bf16", "f32"),
    ("Pad:constant", "i16", "i32"), ("Expand", "bf16", "f32"), ("ScatterND:add", "bf16", "f32"),
    ("ScatterND:max", "bool", "u8"), ("ScatterElements:add", "f16", "f32"), ("CumSum", "u32", "i32"),
    ("ReduceSum", "i16", "i64"),
    ("Exp", "bf16", "f32"), ("Sign", "bf16", None), ("BitShift", "u16", "u32"), ("TopK", "u16", "i32"),
    ("Gather", "bool", None), ("Cast", "u64", None), ("If", "bf16", None),
], ids=str)  # fmt: skip
def test_plans(operator, short, carrier):
    assert TABLE.carrier(operator, DTYPES[short]) == (None if carrier is None else DTYPES[carrier])
    assert TABLE.runs(operator, DTYPES[short])
    assert TABLE.runs_directly(operator, DTYPES[short]) is (carrier is None)


@pytest.mark.parametrize("operator, short, message", [
    ("Exp", "i32", r"no kernel of Exp for int32 in opset 21, nor in any other; it runs on .*f32"),
    ("Tan", "f64", "nor in any other"),
    ("Add", "bool", "nor in any other"),
    ("TopK", "u64", "nor in any other"), ("ReduceSum", "u32", "nor in any other"),
    ("ReduceMax", "u32", "nor in any other"), ("ReduceMin", "u32", "nor in any other"),
    ("BitShift", "i32", "nor in any other"),
    ("CumProd", "f32", "in opset 21; the lowest opset that has one is 26"),
    ("Attention", "f32", "the lowest opset that has one is 23"),
    ("Bogus", "f32", "nor in any of 18 to 26"),
], ids=str)  # fmt: skip
def test_refusals(operator, short, message):
    assert not TABLE.runs(operator, DTYPES[short])
    with pytest.raises(LoweringError, match=message):
        TABLE.carrier(operator, DTYPES[short])


@pytest.mark.parametrize("operator, attributes, name", [
    ("Add", {}, "Add"), ("Mod", {}, "Mod:fmod=0"), ("Mod", {"fmod": 1}, "Mod:fmod=1"), ("Pad", {}, "Pad:constant"),
    ("Pad", {"mode": "edge"}, "Pad:edge"), ("ScatterND", {}, "ScatterND"),
    ("ScatterND", {"reduction": None}, "ScatterND"),
    ("ScatterND", {"reduction": "none"}, "ScatterND"), ("ScatterND", {"reduction": "add"}, "ScatterND:add"),
    ("ScatterElements", {"reduction": "min"}, "ScatterElements:min"),
], ids=str)  # fmt: skip
def test_variants(operator, attributes, name):
    assert variant(operator, attributes) == name


def test_a_ring_carrier_holds_all_bits_and_an_order_carrier_all_values():
    """What makes a detour exact."""
    for kind, table in kernels._CARRIERS.items():
        for short, carriers in table.items():
            narrow = DTYPES[short]
            for carrier in map(DTYPES.get, carriers):
                assert carrier is not None and carrier.itemsize >= narrow.itemsize
                if kind == "order":
                    assert np.can_cast(narrow, carrier, "safe") or narrow not in SHORT_NAMES or short == "bf16"
