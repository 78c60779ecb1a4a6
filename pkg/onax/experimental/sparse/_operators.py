"""Operators and methods of BCOO: functions of dense arrays, by the rules of `sparsify`."""

import functools
from typing import Any

from onax import numpy as jnp
from onax._core.trace import typeof, valid_jaxtype
from onax._ground.config import context
from onax._native.avals import ShapedArray
from onax._transforms.abstract import ShapeDtypeStruct, stage
from onax.experimental.sparse._rules import apart, evaluate, is_sparse
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.transform import sparsify
from onax.numpy._indexing import read


@functools.lru_cache(maxsize=4096)
def _staged(function, types, options):
    structs = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in types]
    return stage(function, structs, {})[0]


def apply_to_sparse(function, operands):
    """`sparsify(function)(*operands)` for functions of jnp with one result, whose programs are kept."""
    if not all(is_sparse(x) or valid_jaxtype(x) for x in operands):
        return sparsify(function)(*operands)  # which refuses
    types = tuple(ShapedArray(x.shape, x.dtype) if is_sparse(x) else typeof(x) for x in operands)
    program = _staged(function, types, context.option_word())
    return evaluate(program, program.consts, apart(operands))[0]


FUNCTIONS = {
    "__add__": jnp.add, "__sub__": jnp.subtract, "__mul__": jnp.multiply, "__truediv__": jnp.divide,
    "__matmul__": jnp.matmul, "__gt__": jnp.greater, "__ge__": jnp.greater_equal, "__lt__": jnp.less,
    "__le__": jnp.less_equal, "__eq__": jnp.equal, "__ne__": jnp.not_equal, "__abs__": jnp.abs, "__neg__": jnp.negative,
    "__pos__": jnp.positive,
}  # fmt: skip
REFLECTED = {
    "__radd__": jnp.add, "__rsub__": jnp.subtract, "__rmul__": jnp.multiply, "__rtruediv__": jnp.divide,
    "__rmatmul__": jnp.matmul, "__rpow__": jnp.power,
}  # fmt: skip


def astype(self: BCOO, *args: Any, **kwargs: Any) -> BCOO:
    """The array with its data converted."""
    return sparsify(lambda x: x.astype(*args, **kwargs))(self)


def reshape(self: BCOO, *args: Any, **kwargs: Any) -> BCOO:
    """The array in another shape with as many elements."""
    return sparsify(lambda x: x.reshape(*args, **kwargs))(self)


def total(self: BCOO, *args: Any, **kwargs: Any) -> Any:
    """Sums over axes: a dense scalar over all, else a sparse array."""
    return sparsify(lambda x: x.sum(*args, **kwargs))(self)


def _item(self, key):
    selected = sparsify(functools.partial(read, index=key))(self)
    # without elements the dense function makes an array of its own
    return selected if isinstance(selected, BCOO) else BCOO.fromdense(selected, nse=0)


def _items(self):
    return (self[i] for i in range(self.shape[0]))


def _power(self, exponent):
    return sparsify(lambda x: jnp.power(x, exponent))(self)


def _operator(function):
    return lambda *operands: apply_to_sparse(function, operands)


def _reflected(function):
    return lambda self, other: apply_to_sparse(function, (other, self))


def _methods():
    made = {name: _operator(f) for name, f in FUNCTIONS.items()} | {
        name: _reflected(f) for name, f in REFLECTED.items()
    }
    made |= {"__getitem__": _item, "__iter__": _items, "__pow__": _power}
    return made | {"astype": astype, "reshape": reshape, "sum": total}


for _name, _method in _methods().items():
    _method.__name__, _method.__qualname__ = _name, f"BCOO.{_name}"
    setattr(BCOO, _name, _method)
