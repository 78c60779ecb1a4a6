"""The shape of what an index of a reference selects, against NumPy."""

import numpy as np
import pytest

from onax._prims.refs import ARRAY, Slice, item_shape

CASES = [
    ((), ()),
    ((0,), ()),
    ((Slice(0, 2), 1), ()),
    ((0, Slice(0, 2, 2)), ()),
    ((ARRAY,), ((5,),)),
    ((Slice(0, 2), ARRAY, ARRAY), ((5,), (1,))),
    ((0, Slice(0, 3), ARRAY), ((5,),)),
    ((ARRAY, Slice(0, 3), ARRAY), ((2, 1), (4,))),
    ((Slice(0, 2), 1, ARRAY), ((),)),
    ((ARRAY, 2), ((),)),
]


def as_numpy(index, shapes):
    """The index expression of an index in our form, with zeros in its arrays."""
    rest = iter(shapes)
    parts = []
    for entry in index:
        if entry == ARRAY:
            parts.append(np.zeros(next(rest), int))
        elif isinstance(entry, Slice):
            parts.append(slice(entry.start, entry.start + entry.size * entry.stride, entry.stride))
        else:
            parts.append(entry)
    return tuple(parts)


@pytest.mark.parametrize(("index", "shapes"), CASES)
def test_the_shape_of_an_item_is_numpys(index, shapes):
    x = np.zeros((2, 3, 4))
    assert item_shape(x.shape, index, shapes) == x[as_numpy(index, shapes)].shape


def test_index_arrays_must_broadcast():
    with pytest.raises(IndexError, match="do not broadcast"):
        item_shape((2, 3), (ARRAY, ARRAY), ((2,), (3,)))


def test_a_dynamic_slice_has_its_start_as_an_operand():
    assert item_shape((5, 3), (Slice(None, 2), ARRAY), ((), (4,))) == (2, 4)
