"""The text form of arguments, and the caret under a fault."""

import numpy as np
import pytest

from onax._ground.config import enable_x64
from onax._native.tree import tree_flatten
from onax.export.specs import SpecError, parse_spec


@pytest.mark.parametrize(
    "text, types, structure",
    [
        ("f32[batch,8,8]", ["float32(batch, 8, 8)"], "*"),
        ("f32", ["float32()"], "*"),
        ("i32[]", ["int32()"], "*"),
        ("bfloat16[2*b + 1]", ["bfloat16(2*b + 1,)"], "*"),
        ("{w: f32[64,32], b: f32[32]}", ["float32(32,)", "float32(64, 32)"], "{'b': *, 'w': *}"),
        ("[{w: f32[2]}, (u8[3], None),]", ["float32(2,)", "uint8(3,)"], "[{'w': *}, (*, None)]"),
        ("()", [], "()"),
        ("{}", [], "{}"),
        ("{'a b': bool, \"c\": c64[0]}", ["bool()", "complex64(0,)"], "{'a b': *, 'c': *}"),
        ("{0: f16, 1: f16}", ["float16()", "float16()"], "{0: *, 1: *}"),
        ("( f32[ 3 ] , )", ["float32(3,)"], "(*,)"),
    ],
)
def test_reading(text, types, structure):
    leaves, tree = tree_flatten(parse_spec(text))
    assert [f"{leaf.dtype.name}{leaf.shape}" for leaf in leaves] == types
    assert repr(tree) == f"PyTreeDef({structure})"


@pytest.mark.parametrize(
    "text, position, fault",
    [
        ("", 0, "missing"),
        ("f33[2]", 0, "f33 is not a dtype"),
        ("f32[b", 3, "not closed"),
        ("f32[b,2*]", 8, "invalid shape"),
        ("f32[b 3]", 6, "invalid shape"),
        ("f32[3, -1]", 4, "cannot be -1"),
        ("f32[2] x", 7, "unexpected text after"),
        ("{w f32}", 3, "expected ':'"),
        ("{w: f32 b: f32}", 8, "expected ',' or '}'"),
        ("{w: f32, w: f32}", 9, "occurs twice"),
        ("{'w: f32}", 1, "not closed"),
        ("{: f32}", 1, "expected a key"),
        ("[f32", 4, "expected ',' or ']'"),
        ("(f32, ", 6, "expected a dtype"),
        ("f64[2]", 0, "64-bit"),
        ("3", 0, "expected a dtype"),
    ],
)
def test_faults(text, position, fault):
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    lines = str(caught.value).split("\n")
    assert fault in lines[0] and lines[1] == f"    {text}" and lines[2] == "    " + " " * position + "^"


def test_one_scope_for_all():
    from_one = parse_spec("[f32[b], f32[b]]")
    assert from_one[0].shape == from_one[1].shape
    with enable_x64(True):
        assert parse_spec("f64[2]").dtype == np.float64
