"""The choice of the opset, and what a higher one would save."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax.errors import LoweringError
from onax.export import export, opsets

X = onax.ShapeDtypeStruct((2, 4, 8, 16), np.float32)


def _attention(q, k, v):
    return onax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 4, axis=-1) @ v


def test_the_default_stays_and_the_higher_opset_is_told():
    exported = export(_attention)(X, X, X)
    assert exported.opset == opsets.DEFAULT_OPSET
    (saving,) = exported.opset_savings()
    assert saving.opset == 23 and saving.added == {"Attention": 1} and saving.removed > 1
    assert str(saving) == f"opset 23 would replace {saving.removed} nodes by 1 Attention"
    higher = export(_attention, opset=23)(X, X, X)
    there = len(exported.onnx_model.graph.node) - saving.removed + 1
    assert len(higher.onnx_model.graph.node) == there
    assert higher.opset_savings() == []


def test_bitcasts_save_nodes_at_26():
    (saving,) = export(lambda x: lax.bitcast_convert_type(x, np.int32))(X).opset_savings()
    assert saving.opset == 26 and saving.added == {"BitCast": 1}


def test_what_is_the_same_at_all_opsets_wishes_nothing():
    exported = export(lambda x: jnp.sin(x) @ x.swapaxes(2, 3))(X)
    assert exported.opset_savings() == []
    assert onax.export.deserialize(exported.serialize()).opset_savings() == []


def test_the_lowest_opset_that_the_program_needs():
    (n,) = onax.export.symbolic_shape("n")
    counts = onax.ShapeDtypeStruct((n,), np.int32)
    exported = export(jnp.prod)(counts)  # integers, of unknown number: CumProd
    assert exported.opset == 26
    np.testing.assert_array_equal(exported.call(np.array([2, -3, 7], np.int32)), -42)
    with pytest.raises(LoweringError, match="opset 21"):
        export(jnp.prod, opset=21)(counts)


def test_the_first_opset_that_lowers_is_taken():
    def lower(opset):
        if opset < 24:
            raise LoweringError("not yet")
        return f"graph {opset}"

    assert opsets.lower_at_lowest(lower) == ("graph 24", 24)


def test_the_reason_of_the_newest_opset_is_raised():
    def lower(opset):
        raise LoweringError(f"never in {opset}")

    with pytest.raises(LoweringError, match="never in 26"):
        opsets.lower_at_lowest(lower)
