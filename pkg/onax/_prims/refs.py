"""Mutable array references: the primitives `new_ref`, `get`, `swap`, `addupdate`, `freeze` and `free_ref`.

`index` is a tuple with an entry for each leading dimension of the array, in NumPy's meaning:

    an int            one position
    Slice             positions start, start + stride, ...; a start of None is an operand
    ARRAY             an operand: an integer array, or an integer that is not known while tracing

The operands of `get` are the reference and those of the index; `swap` and `addupdate` have the value after the
reference.  `onax.numpy` reads index expressions and has the rules for evaluation (slot `discharge`).
"""

from dataclasses import dataclass

from onax._core.facts import CREATES_REF, FREES_REF
from onax._core.printing import typed_results
from onax._core.refs import REF_EFFECTS, AbstractRef, discharge
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive

ARRAY = "array"


@dataclass(frozen=True, slots=True)
class Slice:
    """Positions of one dimension: `size` of them from `start` on (None: an operand), `stride` apart."""

    start: int | None
    size: int
    stride: int = 1


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


def _item_aval(ref, index, operands):
    if not isinstance(ref, AbstractRef):
        raise TypeError(f"expected a mutable array reference, got {ref.str_short()}")
    inner = ref.inner_aval
    if not index:
        return inner
    return ShapedArray(item_shape(inner.shape, index, [a.shape for a in operands]), inner.dtype, inner.weak_type)


def _get_abstract(ref, *operands, index):
    return _item_aval(ref, index, operands), REF_EFFECTS


def _check_value(name, ref, value, expected):
    if value.shape != expected.shape:
        raise ValueError(
            f"Invalid shape for `{name}`. Ref shape: {ref.shape}. Expected shape: {expected.shape}. "
            f"Value shape: {value.shape}."
        )
    if value.dtype != expected.dtype:
        raise ValueError(
            f"Invalid dtype for `{name}`. Ref dtype: {expected.dtype.name}. Value dtype: {value.dtype.name}."
        )


def _swap_abstract(ref, value, *operands, index):
    old = _item_aval(ref, index, operands)
    _check_value("swap", ref, value, old)
    return old, REF_EFFECTS


def _addupdate_abstract(ref, value, *operands, index):
    _check_value("addupdate", ref, value, _item_aval(ref, index, operands))
    return [], REF_EFFECTS


def _freeze_abstract(ref):
    return ref.inner_aval, REF_EFFECTS


def _item_text(ref, index, operands, names):
    """`ref[index]`; `operands` are the variables of the index."""
    name = ref.text(names)
    if not index:
        return f"{name}[...]"
    rest, texts = iter(operands), []
    for entry, size in zip(index, ref.aval.shape):
        if entry == ARRAY:
            texts.append(next(rest).text(names))
        elif isinstance(entry, Slice):
            texts.append(_slice_text(entry, size, rest, names))
        else:
            texts.append(f"{entry}")
    texts += [":"] * (len(ref.aval.shape) - len(index))
    return f"{name}[{','.join(texts)}]"


def _slice_text(entry, size, operands, names):
    if entry.start is None:
        start = next(operands).text(names)
        return f"{start}:{start}+{entry.size}"
    end = entry.start + entry.size * entry.stride
    step = f":{entry.stride}" if entry.stride != 1 else ""
    return f"{entry.start or ''}:{end if end < size else ''}{step}"


def _get_line(eqn, names):
    ref, *operands = eqn.invars
    return [typed_results(eqn, names), " <- ", _item_text(ref, eqn.params["index"], operands, names)]


def _swap_line(eqn, names):
    ref, value, *operands = eqn.invars
    target = _item_text(ref, eqn.params["index"], operands, names)
    if eqn.outvars[0].text(names) == "_":
        return [target, " <- ", value.text(names)]
    return [typed_results(eqn, names), ", ", target, " <- ", target, ", ", value.text(names)]


def _addupdate_line(eqn, names):
    ref, value, *operands = eqn.invars
    return [_item_text(ref, eqn.params["index"], operands, names), " += ", value.text(names)]


new_ref_p = Primitive("new_ref", facts={CREATES_REF})
new_ref_p.def_effectful_abstract_eval(_new_ref_abstract)
get_p = Primitive("get", pretty=_get_line)
get_p.def_effectful_abstract_eval(_get_abstract)
swap_p = Primitive("swap", pretty=_swap_line)
swap_p.def_effectful_abstract_eval(_swap_abstract)
addupdate_p = Primitive("addupdate", multiple_results=True, pretty=_addupdate_line)
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


__all__ = ["ARRAY", "Slice", "addupdate_p", "free_ref_p", "freeze_p", "get_p", "item_shape", "new_ref_p", "swap_p"]
