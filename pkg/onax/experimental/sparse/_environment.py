"""Arrays as references into a list of buffers, so that sparse ones may share indices: as JAX's `sparsify` has them."""

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import Any, NamedTuple

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import typeof
from onax._ground.typing import AnyFunction
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.tree import tree_flatten, tree_map, tree_unflatten
from onax._transforms.abstract import ShapeDtypeStruct, stage
from onax.experimental.sparse import _rules
from onax.experimental.sparse.bcoo import BCOO
from onax.experimental.sparse.bcsr import BCSR
from onax.experimental.sparse.util import Shape


class SparsifyValue(NamedTuple):
    """An array, dense or sparse, whose buffers lie in a SparsifyEnv.

    Args:
      shape: the shape of the array.
      data_ref: the position of its data among the buffers.
      indices_ref: that of its indices; default None: the array is dense.
      indptr_ref: that of its starts of rows; default None: it is no BCSR.
      indices_sorted: whether the indices are sorted; default False.
      unique_indices: whether no index occurs twice; default False.

    Examples:
      >>> onax.experimental.sparse.transform.SparsifyValue((3,), 0).is_dense()
      True
    """

    shape: Shape
    data_ref: int | None
    indices_ref: int | None = None
    indptr_ref: int | None = None
    indices_sorted: bool | None = False
    unique_indices: bool | None = False

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def is_sparse(self) -> bool:
        """Whether the array is sparse."""
        return self.indices_ref is not None

    def is_dense(self) -> bool:
        """Whether the array is dense."""
        return self.indices_ref is None

    def is_bcoo(self) -> bool:
        """Whether the array is a BCOO."""
        return self.is_sparse() and self.indptr_ref is None

    def is_bcsr(self) -> bool:
        """Whether the array is a BCSR."""
        return self.is_sparse() and self.indptr_ref is not None


class SparsifyEnv:
    """The buffers of arrays; sparse arrays that refer to the same indices are known to share them.

    Args:
      bufs: the first buffers; default none.

    Examples:
      >>> from onax.experimental.sparse.transform import SparsifyEnv, sparsify_raw, spvalues_to_arrays
      >>> env = SparsifyEnv([jnp.array([[1], [3]]), jnp.array([5.0, 6.0]), jnp.array([1.0, 2.0])])
      >>> x, y = (env.sparse((4,), data_ref=i, indices_ref=0) for i in (1, 2))
      >>> (total,), _ = sparsify_raw(jnp.add)(env, x, y)
      >>> spvalues_to_arrays(env, total)
      BCOO(float32[4], nse=2)
    """

    def __init__(self, bufs: Iterable[Any] = ()):
        self._buffers = list(bufs)

    def _push(self, x):
        self._buffers.append(jnp.asarray(x))
        return len(self._buffers) - 1

    def _buffer(self, value, name):
        position = getattr(value, f"{name}_ref")
        if position is None:
            raise RuntimeError(f"Internal: requested {name} from spvalue with {name}_ref=None")
        return self._buffers[position]

    def data(self, spvalue: SparsifyValue) -> Array:
        """The data of an array."""
        return self._buffer(spvalue, "data")

    def indices(self, spvalue: SparsifyValue) -> Array:
        """The indices of a sparse array."""
        return self._buffer(spvalue, "indices")

    def indptr(self, spvalue: SparsifyValue) -> Array:
        """The starts of rows of a BCSR."""
        return self._buffer(spvalue, "indptr")

    def dense(self, data: Any) -> SparsifyValue:
        """Adds a dense array."""
        return SparsifyValue(jnp.shape(data), self._push(data))

    def sparse(
        self,
        shape: Shape,
        data: Any = None,
        indices: Any = None,
        indptr: Any = None,
        *,
        data_ref: int | None = None,
        indices_ref: int | None = None,
        indptr_ref: int | None = None,
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> SparsifyValue:
        """Adds a sparse array, each of whose buffers is new or given by its position."""
        refs = [
            self._position(*given)
            for given in (("data", data, data_ref), ("indices", indices, indices_ref), ("indptr", indptr, indptr_ref))
        ]
        return SparsifyValue(
            shape, refs[0], refs[1], refs[2], indices_sorted=indices_sorted, unique_indices=unique_indices
        )

    def _position(self, name, buffer, position):
        if buffer is not None:
            if position is not None:
                raise ValueError(f"both {name} and {name}_ref are given")
            return self._push(buffer)
        if position is None and name != "indptr":
            raise ValueError(f"{name} or {name}_ref is needed")
        if position is not None and position >= len(self._buffers):
            raise ValueError(f"{name}_ref={position} is none of {len(self._buffers)} buffers")
        return position


def _is_value(x):
    return isinstance(x, SparsifyValue)


def arrays_to_spvalues(spenv: SparsifyEnv, args: Any) -> Any:
    """Adds the arrays of a tree to an environment.

    Args:
      spenv: a SparsifyEnv.
      args: a tree of arrays, BCOOs and BCSRs.

    Returns:
      The tree with a SparsifyValue in the place of each.

    Examples:
      >>> from onax.experimental.sparse.transform import SparsifyEnv, arrays_to_spvalues
      >>> arrays_to_spvalues(SparsifyEnv(), [jnp.ones(3)])[0].data_ref
      0
    """

    def add(x):
        if not isinstance(x, (BCOO, BCSR)):
            return spenv.dense(x)
        known = {"indices_sorted": x.indices_sorted, "unique_indices": x.unique_indices}
        return spenv.sparse(x.shape, *x._bufs, **known)

    return tree_map(add, args, is_leaf=_rules.is_sparse)


def spvalues_to_arrays(spenv: SparsifyEnv, spvalues: Any) -> Any:
    """The arrays that the values of a tree stand for.

    Args:
      spenv: a SparsifyEnv.
      spvalues: a tree of SparsifyValues.

    Returns:
      The tree with arrays, BCOOs and BCSRs.

    Examples:
      >>> from onax.experimental.sparse.transform import SparsifyEnv, spvalues_to_arrays
      >>> env = SparsifyEnv()
      >>> spvalues_to_arrays(env, env.dense(jnp.ones(3)))
      Array([1., 1., 1.], dtype=float32)
    """
    return tree_map(lambda value: _array(spenv, value), spvalues, is_leaf=_is_value)


def _array(spenv, value):
    if value.is_dense():
        return spenv.data(value)
    known = {"indices_sorted": value.indices_sorted, "unique_indices": value.unique_indices}
    buffers = (spenv.data(value), spenv.indices(value))
    if value.is_bcsr():
        return BCSR((*buffers, spenv.indptr(value)), shape=value.shape, **known)
    return BCOO(buffers, shape=value.shape, **known)


def spvalues_to_avals(spenv: SparsifyEnv, spvalues: Any) -> Any:
    """The types of the dense arrays that the values of a tree stand for.

    Args:
      spenv: a SparsifyEnv.
      spvalues: a tree of SparsifyValues.

    Returns:
      The tree with ShapedArrays.

    Examples:
      >>> from onax.experimental.sparse.transform import SparsifyEnv, spvalues_to_avals
      >>> env = SparsifyEnv()
      >>> spvalues_to_avals(env, env.dense(jnp.ones(3)))
      ShapedArray(float32[3])
    """

    def aval(value):
        data = typeof(spenv.data(value))
        return ShapedArray(value.shape, data.dtype, data.weak_type)

    return tree_map(aval, spvalues, is_leaf=_is_value)


def eval_sparse(
    jaxpr: Any, consts: Sequence[Array], spvalues: Sequence[SparsifyValue], spenv: SparsifyEnv
) -> list[SparsifyValue]:
    """Evaluates a program by the rules of `sparsify`.

    Args:
      jaxpr: a Jaxpr.
      consts: the values of its constants, arrays.
      spvalues: its arguments; those that refer to the same indices share them.
      spenv: the SparsifyEnv that holds their buffers.

    Returns:
      A list of SparsifyValues, whose buffers are in `spenv`.

    Examples:
      >>> from onax.experimental.sparse.transform import SparsifyEnv, eval_sparse
      >>> env, program = SparsifyEnv(), onax.make_jaxpr(jnp.sin)(1.0)
      >>> env.data(*eval_sparse(program.jaxpr, program.consts, [env.dense(0.0)], env))
      Array(0., dtype=float32, weak_type=True)
    """
    arrays, marks = _arrays_that_share(spenv, spvalues)
    return _add_shared(spenv, _rules.evaluate(jaxpr, consts, arrays), marks)


def _arrays_that_share(spenv, spvalues):
    """The arrays, where those with the same indices are known to share them; position of indices -> mark."""
    marks: dict[int, object] = {}
    arrays = [_array(spenv, value) for value in spvalues]
    for x, value in zip(arrays, spvalues):
        if isinstance(x, BCOO):
            x._mark = marks.setdefault(value.indices_ref, object())
    return arrays, marks


def _add_shared(spenv, arrays, marks):
    """The arrays as SparsifyValues; those with a mark refer to its indices."""
    positions = {mark: position for position, mark in marks.items()}

    def add(x):
        position = positions.get(x._mark) if isinstance(x, BCOO) else None
        if position is None:
            return arrays_to_spvalues(spenv, x)
        known = {"indices_sorted": x.indices_sorted, "unique_indices": x.unique_indices}
        return spenv.sparse(x.shape, x.data, indices_ref=position, **known)

    return [add(x) for x in arrays]


def sparsify_raw(f: AnyFunction) -> Callable[..., tuple[list[SparsifyValue], Any]]:
    """`sparsify` for arrays in an environment, which may share indices.

    Args:
      f: a function of trees of arrays.

    Returns:
      A function of a SparsifyEnv and trees of SparsifyValues; it returns (list of SparsifyValues, tree of the results).

    Examples:
      >>> from onax.experimental.sparse.transform import SparsifyEnv, sparsify_raw
      >>> env = SparsifyEnv()
      >>> (total,), _ = sparsify_raw(jnp.add)(env, env.dense(1.0), env.dense(2.0))
      >>> env.data(total)
      Array(3., dtype=float32, weak_type=True)
    """

    def wrapped(spenv, *spvalues, **params):
        leaves, tree = tree_flatten(spvalues, is_leaf=_is_value)
        types = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in spvalues_to_avals(spenv, leaves)]
        program, out_tree, _ = stage(lambda *flat: f(*tree_unflatten(tree, flat), **params), types, {})
        return eval_sparse(program, program.consts, leaves, spenv), out_tree

    return wrapped


class _RulesOnValues(MutableMapping[Any, Callable[..., Any]]):
    """The rules of `sparsify` in JAX's form, rule(spenv, *spvalues, **params) -> SparsifyValues, by primitives."""

    def __getitem__(self, primitive):
        if primitive not in _rules.sparse:
            raise KeyError(primitive)

        def on_values(spenv, *spvalues, **params):
            arrays, marks = _arrays_that_share(spenv, spvalues)
            out = _rules.apply(primitive, arrays, params)
            return _add_shared(spenv, out if primitive.multiple_results else [out], marks)

        return on_values

    def __setitem__(self, primitive, rule):
        def on_arrays(primitive, *operands, **params):
            spenv, positions = SparsifyEnv(), {}
            values = []
            for x in operands:
                mark = getattr(x, "_mark", None) or object()
                position = positions.get(mark)
                value = (
                    arrays_to_spvalues(spenv, x) if position is None else _add_shared(spenv, [x], {position: mark})[0]
                )
                positions.setdefault(mark, value.indices_ref)
                values.append(value)
            out = spvalues_to_arrays(spenv, list(rule(spenv, *values, **params)))
            return out if primitive.multiple_results else out[0]

        _rules.sparse.set(primitive, on_arrays, replace=True)

    def __delitem__(self, primitive):
        if primitive not in _rules.sparse:
            raise KeyError(primitive)
        _rules.sparse.remove(primitive)

    def __iter__(self):
        return iter(_rules.sparse)

    def __len__(self):
        return len(_rules.sparse)


# A library adds a rule with `sparse_rules_bcoo[primitive] = rule`; BCSR operands are BCOOs there.
sparse_rules_bcoo = _RulesOnValues()

__all__ = [
    "SparsifyEnv",
    "SparsifyValue",
    "arrays_to_spvalues",
    "eval_sparse",
    "sparse_rules_bcoo",
    "sparsify_raw",
    "spvalues_to_arrays",
    "spvalues_to_avals",
]

_wrap_api_functions(globals(), "onax.experimental.sparse.transform")
