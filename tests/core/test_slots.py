"""Slots: rules attached to primitives from outside, enumerable, with the location of each."""

import threading

import pytest

from onax._core import slots
from onax._core.slots import Slot, declared_slots
from onax._native.dispatch import Primitive
from onax._prims.elementwise import cosh_p, sinh_p


@pytest.fixture
def slot():
    yield Slot("test_slots", "rule(x)", "nothing happens", "tests")
    del slots._declared["test_slots"]


def test_a_rule_is_attached_found_and_taken_away(slot):
    @slot.rule(sinh_p, cosh_p)
    def rule(x):
        return x

    assert slot.get(sinh_p) is slot[cosh_p] is rule
    assert sinh_p in slot and len(slot) == 2 and list(slot) == [sinh_p, cosh_p]
    slot.remove(sinh_p)
    slot.remove(sinh_p)
    assert sinh_p not in slot and slot.get(sinh_p) is None and slot.get(sinh_p, 3) == 3
    with pytest.raises(KeyError):
        slot[sinh_p]


def test_a_second_rule_is_an_error_unless_it_replaces(slot):
    assert slot.set(sinh_p, "one") == "one"
    with pytest.raises(ValueError, match="sinh has a rule for test_slots already"):
        slot.set(sinh_p, "two")
    slot.set(sinh_p, "two", replace=True)
    assert slot[sinh_p] == "two"


def test_two_primitives_of_one_name_are_two(slot):
    mine = Primitive("sinh")
    slot.set(mine, "mine")
    assert sinh_p not in slot


def test_names_are_unique_and_all_slots_are_listed(slot):
    assert slot in declared_slots()
    with pytest.raises(ValueError, match="there is a slot named 'test_slots' already"):
        Slot("test_slots", "", "", "")


def test_the_location_of_a_rule_is_the_row_in_the_module(slot, tmp_path, monkeypatch):
    """Whatever makers of rules the row goes through."""
    (tmp_path / "slot_rows.py").write_text(
        "def maker(slot, p):\n"
        "    def inner():\n"
        "        slot.set(p, 1)\n"
        "    inner()\n"
        "from onax._core.slots import declared_slots\n"
        "from onax._prims.elementwise import cosh_p, sinh_p\n"
        "slot = declared_slots()[-1]\n"
        "maker(slot, sinh_p)\n"
        "@slot.rule(cosh_p)\n"
        "def rule(): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import slot_rows  # noqa: F401  attaches rules

    assert slot.location(sinh_p) == (str(tmp_path / "slot_rows.py"), 8)
    assert slot.location(cosh_p) == (str(tmp_path / "slot_rows.py"), 9)


def test_the_location_of_a_rule_that_a_running_function_attaches_is_its_line(slot):
    thread = threading.Thread(target=lambda: slot.set(sinh_p, 1))  # in which no module is being imported
    thread.start()
    thread.join()
    assert slot.location(sinh_p)[0] == __file__
