"""Classes of jax._src.literals: numbers and arrays with a dtype, which JAX puts into programs and onax does not."""

import numpy as np


def _define(name, base):
    """A subclass of a Python number whose instances carry a dtype."""

    def __new__(cls, value, dtype):
        self = base.__new__(cls, value)
        self.dtype = np.dtype(dtype)
        return self

    def __getnewargs__(self):
        return base(self), self.dtype

    doc = f"A Python {base.__name__} that carries a dtype."
    return type(name, (base,), {"__new__": __new__, "__getnewargs__": __getnewargs__, "__doc__": doc})


TypedInt = _define("TypedInt", int)
TypedFloat = _define("TypedFloat", float)
TypedComplex = _define("TypedComplex", complex)
for _class in (TypedInt, TypedFloat, TypedComplex):
    _class.__module__ = __name__


class TypedNdArray:
    """The class of constant arrays in JAX's programs; in onax they are Arrays, so nothing is one of these."""
