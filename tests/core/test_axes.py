"""Named axes in scope, and the record of a mapped axis."""

import threading

import pytest

from onax._core.axes import (
    AxisData,
    axis_size,
    checked_axes,
    manual_axes,
    named_axes,
    named_axes_in_scope,
    named_axis,
    names_of,
    varying_is_checked,
)


def test_scopes_nest_and_end_with_an_exception():
    with pytest.raises(KeyError), named_axis("i", 3):
        with named_axes_in_scope(("j", "i"), (4, 5), checked=True):
            assert axis_size("i") == 5 and axis_size(("i", "j")) == 20
            assert named_axes() == (("i", 3, None), ("j", 4, True), ("i", 5, True))
            assert manual_axes() == {"i", "j"} and checked_axes() == ("j", "i") and varying_is_checked("i")
        assert axis_size("i") == 3 and not varying_is_checked("i") and not manual_axes()
        with named_axes_in_scope(("j",), (4,), checked=False):
            assert manual_axes() == {"j"} and not checked_axes()
        raise KeyError
    assert named_axes() == ()


def test_other_threads_do_not_see_them():
    seen = []
    with named_axis("i", 3):
        thread = threading.Thread(target=lambda: seen.append(named_axes()))
        thread.start()
        thread.join()
    assert seen == [()]


@pytest.mark.parametrize("operation, text", [
    (None, "unbound axis name: k"), ("psum", "please call psum under `jax.shard_map`"),
])  # fmt: skip
def test_a_name_that_is_not_in_scope(operation, text):
    with named_axis("i", 3), pytest.raises(NameError, match=text):
        axis_size(("i", "k"), operation)
    assert not varying_is_checked("k")


def test_names():
    assert names_of("i") == ("i",) and names_of(["i", "j"]) == ("i", "j") and axis_size(()) == 1


def test_records_compare_by_value():
    same = AxisData("i", 3)
    others = [AxisData("j", 3), AxisData("i", 4), AxisData("i", 3, "x"), AxisData("i", 3, of_devices=True)]
    assert same == AxisData("i", 3) and hash(same) == hash(AxisData("i", 3))
    assert all(same != other for other in others) and len({same, *others}) == 5 and same != ("i", 3)
    assert repr(same) == "AxisData(name='i', size=3, spmd_name=None)"
