"""How two versions of JAX are compared: which differences are seen, and how the document shows them."""

import numpy as np
import pytest

import recorded_versions
import script_modules

with script_modules.imported("", "compare_jax_versions") as modules:
    script = modules.compare_jax_versions


def array(values, dtype="float32", weak=False):
    values = np.asarray(values, dtype)
    return dtype, values.shape, values.tobytes(), weak


SAME = {"ok": [array([1.0, 2.0])]}
REFUSED = {"error": "TypeError", "message": "no\nmore"}


@pytest.mark.parametrize(
    "old, new, kind",
    [
        (SAME, SAME, None),
        (SAME, {"ok": [array([1.0, np.nextafter(np.float32(2), 3)])]}, None),
        (SAME, {"ok": [array([1.0, 2.1])]}, "values"),
        (SAME, {"ok": [array([1.0, 2.0], weak=True)]}, "weak type"),
        (SAME, {"ok": [array([1.0, 2.0], "float64")]}, "dtype"),
        (SAME, {"ok": []}, "number of results"),
        ({"ok": [array([2], "int32")]}, {"ok": [array([3], "int32")]}, "values"),
        (SAME, REFUSED, "refused now"),
        (REFUSED, SAME, "accepted now"),
        (REFUSED, REFUSED | {"message": "not"}, None),
        (REFUSED, REFUSED | {"error": "ValueError"}, "class of error"),
    ],
)
def test_answers(old, new, kind):
    difference = script.compare(old, new)
    assert (difference and difference[0]) == kind


def test_programs_differ_by_their_operations_and_parameters():
    old = "{ lambda ; a:f32[]. let b:f32[] = while[cond=1 body=2] a in (b,) }"
    new = "{ lambda ; c:f32[]. let d:f32[] = while[cond=1 body=2 limit=3] c in (d,) }"
    assert script.compare({"ok": old}, {"ok": new}) == ("printed programs", "", "limit=")
    assert script.compare({"ok": old}, {"ok": old.replace("a:", "q:").replace(" a ", " q ")}) is None


def test_trees_are_compared_leaf_by_leaf():
    old = {"f": [["x", "POSITIONAL", ""]], "g": {"value": "!! TypeError: a"}, "gone": 1}
    new = {"f": [["x", "POSITIONAL", "2"]], "g": {"value": "!! TypeError: b"}, "new": 1}
    found = dict(script.compare_trees(old, new, ()))
    assert {case: d and d[0] for case, d in found.items()} == {
        "f": "text",
        "g value": None,
        "gone": "gone",
        "new": "new",
    }


def test_the_document_groups_equal_differences():
    change = "printed programs", "square sub", "one_minus_square"
    found = {"table": [("a", change), ("b", change), ("c", None), ("d", ("dtype", "int32", "int64"))]}
    text = script.text(found)
    assert "| table | 4 | 3 |" in text and "| 2 | square | – | table: a; table: b |" in text
    assert "| 1 | int32 | int64 | table: d |" in text


def test_the_document_is_of_these_versions():
    text = script.TARGET.read_text()
    head = f"# JAX {recorded_versions.REFERENCE} and JAX {recorded_versions.NEWEST}\n"
    assert text.startswith(head) and text.endswith(script.names_text())
