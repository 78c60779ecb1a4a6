"""Mutable array references: the primitives `new_ref`, `get`, `swap`, `addupdate`, `freeze` and `free_ref`.

`index` is a tuple with an entry for each leading dimension of the array, in NumPy's meaning:

    an int            one position
    Slice             positions start, start + stride, ...; a start of None is an operand
    ARRAY             an operand: an integer array, or an integer that is not known while tracing

The operands of `get` are the reference and those of the index; `swap` and `addupdate` have the value after the
reference.  `view` is a tuple of steps from the reference to a view of it, to which the index belongs; each is an index,
`Reshape`, `Transpose` or `Bitcast`, and the operands of its indices come before those of `index`.  `onax.numpy` reads
index expressions and has the rules for evaluation (slot `discharge`).
"""

import math
from dataclasses import dataclass

from onax._core.facts import ADDS_TO_REF, CREATES_REF, FREES_REF
from onax._core.printing import typed_results
from onax._core.refs import REF_EFFECTS, AbstractRef, discharge
from onax._ground import dtypes
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive

ARRAY = "array"


@dataclass(frozen=True, slots=True)
class Slice:
    """Positions of one dimension: `size` of them from `start` on (None: an operand), `stride` apart."""

    start: int | None
    size: int
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Reshape:
    """The step to a view of another shape."""

    shape: tuple

    def transform_aval(self, aval):
        """The type of the view of an array of a type."""
        if math.prod(self.shape) != math.prod(aval.shape):
            raise ValueError(f"cannot reshape ref of shape {aval.shape} into shape {self.shape}")
        return ShapedArray(self.shape, aval.dtype, aval.weak_type)

    def __str__(self):
        return f"{{reshape({list(self.shape)})}}"


@dataclass(frozen=True, slots=True)
class Transpose:
    """The step to a view whose dimensions are permuted."""

    permutation: tuple

    def transform_aval(self, aval):
        """The type of the view of an array of a type."""
        if len(self.permutation) != aval.ndim:
            raise ValueError(f"Permutation {self.permutation} does not match the rank of the type ({aval.ndim})")
        return ShapedArray(tuple(aval.shape[i] for i in self.permutation), aval.dtype, aval.weak_type)

    def __str__(self):
        return f"{{transpose({list(self.permutation)})}}"


@dataclass(frozen=True, slots=True)
class Bitcast:
    """The step to a view as another dtype; if that is wider or narrower, the last dimension but one changes."""

    dtype: object

    def transform_aval(self, aval):
        """The type of the view of an array of a type."""
        old, new, shape = dtypes.itemsize_bits(aval.dtype), dtypes.itemsize_bits(self.dtype), aval.shape
        if old == new:
            return ShapedArray(shape, self.dtype)
        if aval.ndim < 2:
            raise NotImplementedError("Bitcast 1D ref with bitwidth change is not supported.")
        if shape[-2] * old % new:
            raise ValueError(
                "Expected input and output shapes are the same after multiplying the second-minor dimension by the "
                "bitwidths."
            )
        return ShapedArray((*shape[:-2], shape[-2] * old // new, shape[-1]), self.dtype)

    def __str__(self):
        return f"{{bitcast({self.dtype})}}"


def _new_ref_abstract(init, *, kind=None, memory_space=None):
    return AbstractRef(init, memory_space), REF_EFFECTS


def item_shape(shape, index, operand_shapes):
    """The shape of the elements at an index, by NumPy's rules."""
    operands = iter(operand_shapes)
    advanced, slices, places = [], [], []
    for position, entry in enumerate(index):
        if isinstance(entry, Slice):
            slices.append(entry.size)
            if entry.start is None:
                next(operands)
        elif entry == ARRAY:
            advanced.append(next(operands))
            places.append(position)
        else:
            places.append(position)
    rest = [*slices, *shape[len(index) :]]
    if not any(advanced):
        return tuple(rest)
    together = places == list(range(places[0], places[-1] + 1))
    before = sum(isinstance(entry, Slice) for entry in index[: places[0]]) if together else 0
    return (*rest[:before], *_broadcast(advanced), *rest[before:])


def _broadcast(shapes):
    """The shape to which index arrays broadcast."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    sizes = []
    for column in zip(*padded):
        others = {n for n in column if n != 1}
        if len(others) > 1:
            raise IndexError(f"index arrays of shapes {', '.join(map(str, shapes))} do not broadcast")
        sizes.append(others.pop() if others else 1)
    return tuple(sizes)


def with_operands(steps, operands):
    """Pairs of a step of a view, or an index, and its operands."""
    rest, pairs = iter(operands), []
    for step in steps:
        n = sum(e == ARRAY or (isinstance(e, Slice) and e.start is None) for e in step) if type(step) is tuple else 0
        pairs.append((step, [next(rest) for _ in range(n)]))
    return pairs


def transform_aval(aval, step, operand_shapes):
    """The type of what a step of a view, or an index, leads to in an array of a type."""
    if type(step) is not tuple:
        return step.transform_aval(aval)
    return ShapedArray(item_shape(aval.shape, step, operand_shapes), aval.dtype, aval.weak_type) if step else aval


def _item_aval(ref, index, view, operands):
    if not isinstance(ref, AbstractRef):
        raise TypeError(f"expected a mutable array reference, got {ref.str_short()}")
    aval = ref.inner_aval
    for step, own in with_operands([*view, index], operands):
        aval = transform_aval(aval, step, [a.shape for a in own])
    return aval


def _get_abstract(ref, *operands, index, view=()):
    return _item_aval(ref, index, view, operands), REF_EFFECTS


def _check_value(name, ref, value, expected, whole):
    if value.shape != expected.shape:
        raise ValueError(
            f"Invalid shape for `{name}`. Ref shape: {ref.shape}. Expected shape: {expected.shape}. "
            f"Value shape: {value.shape}." + (" Transforms: ()." if whole else "")
        )
    if value.dtype != expected.dtype:
        raise ValueError(
            f"Invalid dtype for `{name}`. Ref dtype: {expected.dtype.name}. Value dtype: {value.dtype.name}."
        )


def _swap_abstract(ref, value, *operands, index, view=()):
    old = _item_aval(ref, index, view, operands)
    _check_value("swap", ref, value, old, not (view or index))
    return old, REF_EFFECTS


def _addupdate_abstract(ref, value, *operands, index, view=()):
    _check_value("addupdate", ref, value, _item_aval(ref, index, view, operands), not (view or index))
    return [], REF_EFFECTS


def _freeze_abstract(ref):
    return ref.inner_aval, REF_EFFECTS


def _item_text(ref, operands, names, params):
    """`ref[index]`; `operands` are the variables of the index."""
    text, aval = ref.text(names), ref.aval.inner_aval
    steps = [*params.get("view", ()), *([params["index"]] if params["index"] else [])]
    if not steps:
        return f"{text}[...]"
    for step, own in with_operands(steps, operands):
        text += _index_text(step, aval.shape, own, names) if type(step) is tuple else str(step)
        aval = transform_aval(aval, step, [a.aval.shape for a in own])
    return text


def _index_text(index, shape, operands, names):
    rest, texts = iter(operands), []
    for entry, size in zip(index, shape):
        if entry == ARRAY:
            texts.append(next(rest).text(names))
        elif isinstance(entry, Slice):
            texts.append(_slice_text(entry, size, rest, names))
        else:
            texts.append(f"{entry}")
    texts += [":"] * (len(shape) - len(index))
    return f"[{','.join(texts)}]"


def _slice_text(entry, size, operands, names):
    if entry.start is None:
        start = next(operands).text(names)
        return f"{start}:{start}+{entry.size}"
    end = entry.start + entry.size * entry.stride
    step = f":{entry.stride}" if entry.stride != 1 else ""
    return f"{entry.start or ''}:{end if end < size else ''}{step}"


def _get_line(eqn, names):
    ref, *operands = eqn.invars
    return [typed_results(eqn, names), " <- ", _item_text(ref, operands, names, eqn.params)]


def _swap_line(eqn, names):
    ref, value, *operands = eqn.invars
    target = _item_text(ref, operands, names, eqn.params)
    if eqn.outvars[0].text(names) == "_":
        return [target, " <- ", value.text(names)]
    return [typed_results(eqn, names), ", ", target, " <- ", target, ", ", value.text(names)]


def _addupdate_line(eqn, names):
    ref, value, *operands = eqn.invars
    return [_item_text(ref, operands, names, eqn.params), " += ", value.text(names)]


new_ref_p = Primitive("new_ref", facts={CREATES_REF})
new_ref_p.def_effectful_abstract_eval(_new_ref_abstract)
get_p = Primitive("get", pretty=_get_line)
get_p.def_effectful_abstract_eval(_get_abstract)
swap_p = Primitive("swap", pretty=_swap_line)
swap_p.def_effectful_abstract_eval(_swap_abstract)
addupdate_p = Primitive("addupdate", multiple_results=True, facts={ADDS_TO_REF}, pretty=_addupdate_line)
addupdate_p.def_effectful_abstract_eval(_addupdate_abstract)
freeze_p = Primitive("freeze")
freeze_p.def_effectful_abstract_eval(_freeze_abstract)


free_ref_p = Primitive("free_ref", multiple_results=True, facts={FREES_REF})
free_ref_p.def_effectful_abstract_eval(lambda ref: ([], REF_EFFECTS))


@discharge.rule(free_ref_p)
def _discharge_free(values, refs):
    return [], [None]


@discharge.rule(freeze_p)
def _discharge_freeze(values, refs):
    return values[0], [None]


__all__ = [
    "ARRAY",
    "Bitcast",
    "Reshape",
    "Slice",
    "Transpose",
    "addupdate_p",
    "free_ref_p",
    "freeze_p",
    "get_p",
    "item_shape",
    "new_ref_p",
    "swap_p",
    "transform_aval",
    "with_operands",
]
