"""Small functions."""

import functools

import pytest

from onax._ground import util


def test_lists():
    assert util.unzip2([(1, "a"), (2, "b")]) == ((1, 2), ("a", "b"))
    assert util.split_list([1, 2, 3, 4], [1, 2]) == [[1], [2, 3], [4]]
    parts = util.partition_list([True, False, True], "abc")
    assert parts == (["b"], ["a", "c"])
    assert util.merge_lists([True, False, True], *parts) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="2 flags for 1 items"):
        util.partition_list([True, False], "a")
    assert util.subvals("abc", [(1, "x")]) == ("a", "x", "c")
    assert util.tuple_insert((1, 3), 1, 2) == (1, 2, 3) and util.tuple_delete((1, 2, 3), 1) == (1, 3)
    assert util.concatenate([[1], [], [2]]) == [1, 2]
    assert util.first_duplicate("abcb") == "b" and util.first_duplicate("abc") is None


@pytest.mark.parametrize("axes, ndim, wanted", [(None, 2, (0, 1)), (-1, 3, (2,)), ((0, -1), 2, (0, 1)), ([], 2, ())])
def test_axes(axes, ndim, wanted):
    assert util.canonicalize_axes(axes, ndim) == wanted


def test_axis_faults():
    with pytest.raises(ValueError, match="axis 2 is out of bounds for array of dimension 2"):
        util.canonicalize_axis(2, 2)
    with pytest.raises(ValueError, match="duplicate"):
        util.canonicalize_axes((0, -2), 2)


def test_names():
    def f():
        """Doc."""

    assert util.function_name(functools.partial(functools.partial(f), 1)) == "f"

    @util.wraps(f, name="jit({fun})")
    def g():
        pass

    assert (g.__name__, g.__doc__, g.__wrapped__) == ("jit(f)", "Doc.", f)
    assert [util.ordinal(n) for n in (1, 2, 3, 4, 11, 21)] == ["1st", "2nd", "3rd", "4th", "11th", "21st"]
