"""Every parameter and result of a public function has a type, but for those that a list names, which only shrinks."""

import pytest

import annotations
from public_members import public_modules


@pytest.mark.parametrize("module", public_modules())
def test_functions_have_types(module):
    listed = annotations.pending().get(module, [])
    found = annotations.incomplete(module)
    new = {n: annotations.missing(annotations.members(module)[n]) for n in found if n not in listed}
    assert not new, f"{module}: parameters without annotations: {new}"
    assert not {*listed} - {*found}, "complete functions are listed: run tests/annotations.py"


def test_pending_modules_exist():
    assert not {*annotations.pending()} - {*public_modules()}


def test_missing_annotations_are_found():
    def function(x, y: int, *rest, axis=0, _private=None):
        return x

    def typed(x: int, *rest: int, _private=None) -> int:
        return x

    assert annotations.missing(function) == ["x", "rest", "axis", "return"]
    assert annotations.missing(typed) == []
