"""`python -m onax.primitives`: every rule of a primitive with its location, and what each missing one means."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from onax import primitives
from onax._core.slots import declared_slots
from onax._native.dispatch import Primitive

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def definition_of():
    primitives.import_everything()
    return primitives.definitions()


def shown(capsys, *names):
    assert primitives.main(list(names)) == 0
    return capsys.readouterr().out


def location_of(text, rule):
    """The file of a rule and the line of source there."""
    path, line = re.search(rf"^  {rule} +(\S+):(\d+)$", text, re.MULTILINE).groups()
    root = os.path.dirname(primitives.__file__)
    folders = {"onax/export": primitives.export.__path__[0], "onax": root}
    prefix = next(p for p in folders if path.startswith(p + "/"))
    with open(os.path.join(folders[prefix], path[len(prefix) + 1 :])) as file:
        return path, file.read().splitlines()[int(line) - 1]


def test_rules_of_a_row_are_shown_where_the_row_is(capsys):
    text = shown(capsys, "sinh")
    for rule in ("kernel", "abstract_eval", "jvp", "batch"):
        assert location_of(text, rule) == ("onax/_prims/elementwise.py", "sinh, sinh_p = unary(")
    assert "made by defjvp (onax/_core/rules.py:" in text
    assert "numpy.sinh" in text
    assert location_of(text, "lowering") == (
        "onax/export/lower/elementwise.py",
        '_kernel_or(prims.sinh_p, "Sinh", sinh_double)',
    )
    assert location_of(text, "block_code") == ("onax/_control/block_code.py", "row(e.sinh_p)")
    assert location_of(text, "native_kernel")[0] == "onax/export/lower/elementwise.py"
    assert location_of(text, "component_lowering")[0] == "onax/export/lower/elementwise_complex.py"


def test_rules_that_a_maker_gives_later_are_shown_where_it_is_called(capsys):
    text = shown(capsys, "neg")
    for rule in ("jvp", "transpose"):
        assert location_of(text, rule) == ("onax/_prims/elementwise.py", "deflinear(neg_p, lambda ct, x: [neg(ct)])")
    text = shown(capsys, "dot_general")
    assert location_of(text, "transpose")[1].startswith("defbilinear(dot_general_p")


def test_rules_written_out_are_shown_where_they_are_written(capsys):
    text = shown(capsys, "select_n")
    assert location_of(text, "batch") == ("onax/_prims/elementwise.py", "def _select_batch(axis_data, operands, dims):")


def test_what_is_missing_says_what_happens(capsys):
    text = shown(capsys, "argmax")
    assert re.search(r"^  transpose +none: Reverse mode transposes the operations of the jvp rule", text, re.MULTILINE)
    assert re.search(r"^  strict_operands +none: strict\(\) does not check the operands", text, re.MULTILINE)


def test_reasons_of_refusals_are_shown(capsys):
    assert "it names an axis that no vmap, pmap or shard_map around it binds" in shown(capsys, "all_gather")


def test_every_field_and_slot_of_every_primitive_is_shown(definition_of):
    expected = [*primitives.FIELDS, *(slot.name for slot in declared_slots())]
    assert len(definition_of) > 180 and len(expected) > 20
    for p, definition in definition_of.items():
        rules = list(primitives.rules_of(p, definition))
        assert [name for name, _, _ in rules] == expected
        assert all(text for _, _, text in rules)


def test_every_field_of_primitives_is_listed():
    text = (ROOT / "cython_src" / "onax" / "_native" / "dispatch.pyx").read_text()
    signature = re.search(r"def __init__\(self, str name(.*?)\):", text, re.DOTALL).group(1)
    assert list(primitives.FIELDS) == re.findall(r"(\w+)=None", signature)


def test_every_slot_names_where_its_rules_are_written(definition_of):
    """A slot's package is where its rules stand, but for primitives that tests make."""
    for slot in declared_slots():
        folder = os.path.join(*slot.package.split("."))
        for p in slot:
            if p in definition_of:
                path = primitives._location(*slot.location(p))
                assert path.startswith((folder + os.sep, folder + ".py")), (slot.name, p, path)


def test_families(capsys, definition_of):
    families = {p.name: family for family, members in primitives.families(definition_of).items() for p in members}
    assert families["dot_general"] == "dot" and families["pad"] == "padding" and families["sinh"] == "elementwise"
    assert families["schur"] == "linalg" and families["approx_top_k"] == "sorting" and families["while"] == "while_loop"
    text = shown(capsys)
    assert "sinh" in text.split() and "elementwise (onax._prims.elementwise)" in text
    assert {p.name for p in definition_of} <= set(text.split())


def test_a_primitive_is_found_by_its_variable_too(capsys):
    assert shown(capsys, "sinh_p") == shown(capsys, "sinh")


def test_an_unknown_name_lists_those_that_are_close():
    done = subprocess.run([sys.executable, "-m", "onax.primitives", "sinhh"], capture_output=True, text=True)
    assert done.returncode == 2 and not done.stdout
    assert "there is no primitive 'sinhh'; close: sinh" in done.stderr


def test_all_of_one_name_are_shown(capsys, definition_of, monkeypatch):
    mine = Primitive("sinh")
    definition = primitives.Definition("onax._prims.elementwise", "mine_p", 1, {"mine_p"})
    monkeypatch.setattr(primitives, "definitions", lambda: {**definition_of, mine: definition})
    text = shown(capsys, "sinh")
    assert "sinh: sinh_p, defined at" in text and "sinh: mine_p, defined at" in text
