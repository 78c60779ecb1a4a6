"""Models whose shapes have names: exported again for arrays of any size, they give what they give for "
"known sizes."""

import numpy as np
import onnx
import pytest
from onnx import parser

import onax as jax
from onax.onnx import sizes
from onnx_nodes import floats

HEAD = '<ir_version: 10, opset_import: ["" : %d]> g '
FIRST = "s = Shape (x) i = Constant <value_int = 0> () b = Gather (s, i) a = Constant <value_ints = [0]> () "
BATCH = FIRST + "bu = Unsqueeze (b, a) "
MINUS = "e = Constant <value = int64[1] {-1}> () "
# name -> (shapes of the inputs, the graph, the opset)
MODELS = {
    "Flatten": ("n,3,4", "(float[n,3,4] x) => (float[p,q] y) { y = Flatten <axis = 2> (x) }", 18),
    "a batch of rows": ("n,3,4", f"(float[n,3,4] x) => (float[p,q] y) {{ {BATCH} {MINUS} c = Concat "
    f"<axis = 0> (bu, e) y = Reshape (x, c) }}", 18),
    "a product of sizes": (
        "n,m,8",
        "(float[n,m,8] x) => (float[p,q] y) { s = Shape <start = 0, end = 1> (x) t = Shape <start = 1, "
        "end = 2> (x) "
        "u = Mul (s, t) h = Constant <value = int64[1] {8}> () c = Concat <axis = 0> (u, h) y = Reshape "
        "(x, c) }",
        18,
    ),
    "heads": (
        "n,m,8",
        "(float[n,m,8] x) => (float[p,q,r,s] y) { s = Shape <start = 2, end = 3> (x) t = Constant <value "
        "= int64[1] {2}> () "
        "h = Div (s, t) a = Shape <start = 0, end = 2> (x) c = Concat <axis = 0> (a, t, h) y = Reshape "
        "(x, c) }",
        18,
    ),
    "Expand": (
        "n,3",
        "(float[n,3] x) => (float[p,q] y) { w = Constant <value = float[1,3] {1.0, 2.0, 3.0}> () "
        f"t = Shape <start = 0, end = 1> (x) {MINUS} s = Concat <axis = 0> (t, e) z = Shape (s) "
        "o = ConstantOfShape <value = int64[1] {1}> (z) q = Equal (s, e) v = Where (q, o, s) d = Expand "
        "(w, v) y = Add (d, x) }",
        18,
    ),
    "ConstantOfShape": ("n,3", "(float[n,3] x) => (float[p,q] y) { s = Shape (x) c = ConstantOfShape (s) "
    "y = Add (c, x) }", 18),
    "Range": (
        "n,3",
        f"(float[n,3] x) => (float[p,q] y) {{ {FIRST} o = Constant <value_int = 2> () r = Range (i, b, "
        f"o) f = Cast <to = 1> (r) "
        "l = ReduceSum (f) y = Add (l, x) }",
        18,
    ),
    "a size as a number": (
        "n,m",
        "(float[n,m] x) => (float[p,q] y) { b = Size (x) f = Cast <to = 1> (b) y = Div (x, f) }",
        18,
    ),
    "a size compared with a number": (
        "n,3",
        f"(float[n,3] x) => (float[p,q] y) {{ {FIRST} k = Constant <value_int = 3> () c = Equal (b, k) "
        "y = If (c) <then_branch = t () => (float[n,3] v) { v = Neg (x) }, else_branch = f () => "
        "(float[n,3] w) { w = Abs (x) }> }",
        18,
    ),
    "a loop of n steps": (
        "n,3",
        f"(float[n,3] x) => (float[3] y) {{ {FIRST} t = Constant <value = bool {{1}}> () "
        "z = Constant <value = float[3] {0.0, 0.0, 0.0}> () y = Loop (b, t, z) <body = one (int64 j, "
        "bool c, float[3] v) => "
        "(bool d, float[3] w) { d = Identity (c) r = Gather (x, j) w = Add (v, r) }> }",
        18,
    ),
    "the last of an axis": (
        "n,m",
        f"(float[n,m] x) => (float[p,q] y) {{ {MINUS} k = Constant <value = int64[1] "
        f"{{9223372036854775807}}> () "
        "o = Constant <value = int64[1] {1}> () y = Slice (x, e, k, o) }",
        18,
    ),
    "all but the last": (
        "n,m",
        "(float[n,m] x) => (float[p,q] y) { s = Shape <start = 1, end = 2> (x) o = Constant <value = "
        "int64[1] {1}> () "
        "z = Constant <value = int64[1] {0}> () d = Sub (s, o) y = Slice (x, z, d, o) }",
        18,
    ),
    "Resize": (
        "n,1,2,2",
        f"(float[n,1,2,2] x) => (float[p,q,r,s] y) {{ {BATCH} t = Constant <value = int64[3] {{1, 4, 4}}> () "
        'z = Concat <axis = 0> (bu, t) y = Resize <mode = "linear"> (x, , , z) }',
        18,
    ),
    "indices": (
        "n",
        "(float[n] x) => (float[p,q] y) { j = Cast <to = 7> (x) k = Constant <value = int64 {3}> () "
        "v = Constant <value = float[2] {0.0, 1.0}> () y = OneHot (j, k, v) }",
        18,
    ),
    "Attention": ("n,2,m,4", "(float[n,2,m,4] x) => (float[p,q,r,s] y) { y = Attention (x, x, x) }", 23),
    "sizes that come out": ("n,3", "(float[n,3] x) => (int64[2] y) { y = Shape (x) }", 18),
}  # fmt: skip


@pytest.mark.parametrize("shape, text, opset", MODELS.values(), ids=MODELS)
def test_exported_again_for_any_size(shape, text, opset):
    message = parser.parse_model(HEAD % opset + text)
    onnx.checker.check_model(message)
    model = jax.onnx.load(message)
    argument = jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape), np.float32)
    exported = jax.export.export(jax.jit(lambda x: model(model.params, x)))(argument)
    again = jax.onnx.load(exported.onnx_model_serialized)
    for n, m in ((1, 3), (3, 2), (5, 4)):
        x = floats(*({"n": n, "m": m}.get(size) or int(size) for size in shape.split(",")))
        known = np.asarray(model(model.params, x))
        for result in (exported.call(x), again(again.params, x)):
            assert result.dtype == known.dtype
            np.testing.assert_allclose(np.asarray(result), known, rtol=1e-5, atol=1e-6)


def test_a_size_that_must_fit_is_refused_with_the_node():
    text = (
        "(float[m] x) => (float[p] y) { w = Constant <value = float[2] {1.0, 2.0}> () s = Shape (x) "
        "z = Constant <value = int64[1] {0}> () c = Slice (w, z, s) y = Add (x, c) }"
    )
    model = jax.onnx.load(parser.parse_model(HEAD % 18 + text))
    export = jax.export.export(jax.jit(lambda x: model(model.params, x)))
    with pytest.raises(jax.errors.InconclusiveDimensionOperation) as caught:
        export(jax.ShapeDtypeStruct(jax.export.symbolic_shape("m"), np.float32))
    assert any("Slice" in note for note in caught.value.__notes__)
    fits = jax.export.symbolic_shape("m", constraints=("m <= 2",))
    assert export(jax.ShapeDtypeStruct(fits, np.float32)).call(np.ones(2, np.float32)).tolist() == [2, 3]


def test_arrays_of_dimensions():
    n, _ = jax.export.symbolic_shape("n,3")
    named = sizes.as_sizes((n, 3))
    assert sizes.are_named(named) and named.dtype == object and sizes.as_size(n) is n
    assert sizes.as_sizes((2, 3)).dtype == np.int64 and not sizes.are_named(np.array(["a"], object))
    assert sizes.as_size(np.int64(3)) == 3 and sizes.as_numbers(3) == 3
