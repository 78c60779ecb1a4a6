"""What cannot be evaluated is refused with its reason and the way out."""

import pytest
from onnx import defs

from onax.onnx.operators import find_operator
from onax.onnx.reasons import REASONS, reason_against


@pytest.mark.parametrize("domain, name, text", [
    ("", "StringConcat", "no arrays of strings"),
    ("", "SequenceAt", "no sequences"),
    ("ai.onnx.ml", "TreeEnsemble", "classical machine learning"),
    ("", "Unheard", "does not know the operator ai.onnx.Unheard"),
])  # fmt: skip
def test_reason(domain, name, text):
    assert text in reason_against(domain, name)
    assert f"onax.onnx.register({domain!r}, {name!r})" in reason_against(domain, name)


def test_every_operator_of_onnx_is_there_or_has_a_reason():
    newest = defs.onnx_opset_version()
    names = {schema.name for schema in defs.get_all_schemas() if schema.domain == ""}
    lacking = {name for name in names if find_operator("", name, newest) is None} - REASONS[""].keys()
    assert not lacking
    assert not {name for name in REASONS[""] if find_operator("", name, newest)}
