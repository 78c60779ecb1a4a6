"""The base class of sparse arrays."""

import math

from onax._core.trace import Tracer


class JAXSparse:
    """What sparse arrays have in common: `data`, a shape and what follows from it."""

    data = None
    shape = ()
    __array_priority__ = 100  # NumPy leaves operators to us
    __hash__ = None  # type: ignore[assignment]

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    dtype = property(lambda self: self.data.dtype)
    nse = property(lambda self: self.data.shape[-1], doc="The number of stored elements, padding included.")
    T = property(lambda self: self.transpose())

    def __repr__(self):
        text = f"{type(self).__name__}({self.dtype}{list(self.shape)}, nse={self.nse})"
        return f"{type(self.data).__name__}[{text}]" if isinstance(self.data, Tracer) else text

    def __len__(self):
        return self.shape[0]

    def block_until_ready(self):
        """Itself, once its arrays are computed."""
        for x in self.tree_flatten()[0]:
            x.block_until_ready()
        return self


def _missing(name):
    def method(self, *args, **kwargs):
        raise NotImplementedError(
            f"{type(self)}.{name}: this format has no such operation; use BCOO, or todense() for a dense array"
        )

    method.__name__ = name
    return method


for _name in "sum __neg__ __pos__ __mul__ __rmul__ __add__ __radd__ __sub__ __rsub__ __truediv__ __getitem__".split():
    setattr(JAXSparse, _name, _missing(_name))
