"""Lists taken apart and put together."""

from onax._core.lists import merge_lists, partition_list, split_list

FLAGS = [True, False, False, True]


def test_splitting_by_sizes():
    assert split_list("abcdef", [1, 0, 3]) == [["a"], [], ["b", "c", "d"], ["e", "f"]]


def test_merging_undoes_partitioning():
    without, having = partition_list(FLAGS, "abcd")
    assert (without, having) == (["b", "c"], ["a", "d"])
    assert merge_lists(FLAGS, without, having) == list("abcd")
