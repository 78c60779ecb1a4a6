"""Arrays made directly by compiled code, and a stand-in for the dtype of random keys."""

import numpy as np

from onax._native.array import make_array
from onax._native.avals import OpaqueDType


class Key(OpaqueDType):
    """A stand-in for the dtype of random keys."""

    name = "key<fry>"
    itemsize = 8
    storage = np.dtype("V8")
    element_shape = (2,)
    element_dtype = np.dtype("uint32")

    def __repr__(self):
        return self.name


KEY = Key()


def keys(shape):
    """An array of extended dtype: storage of the logical shape."""
    words = np.arange(2 * int(np.prod(shape)), dtype=np.uint32)
    return make_array(words.view("V8").reshape(shape), KEY)


def arr(value, dtype=None, **placement):
    return make_array(np.array(value, dtype), **placement)
