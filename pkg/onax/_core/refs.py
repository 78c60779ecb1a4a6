"""Mutable array references: their type, the object that holds a value, and operations on them under any trace.

A `Ref` is created by `new_ref`, read by `ref[i]` and written by `ref[i] = x`.  While a program is staged these are
equations (`_prims/refs.py`), and programs that loops and branches hold may read and write references of the programs
around them.  Everywhere else an operation on references is *discharged*: the values are read, the primitive's rule in
the slot `discharge` computes from them, as a pure function, its results and the values that references have afterwards,
and these are written back.  So no transformation and no loop needs a rule for references: a trace only has to create,
read and write one (`Trace.make_ref`, `read_ref`, `write_ref`), which under `jvp` is a pair of references, and under
`vmap` a reference with one more axis.  The compiler discharges whole programs (`_transforms/discharge.py`).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from onax._core.effects import Effect
from onax._core.facts import ADDS_TO_REF, CREATES_REF
from onax._core.slots import Slot
from onax._native.array import ArrayImpl
from onax._native.avals import AbstractValue

discharge = Slot(
    "discharge",
    "rule(values, refs, **params) -> (results, new values of the operands that are references, None where unchanged)",
    "An equation that has a reference among its operands cannot be evaluated.",
    "onax",
)


@dataclass(frozen=True, repr=False)
class AbstractRef(AbstractValue):
    """The type of a reference to an array.

    Args:
      inner_aval: the type of the array.
      memory_space: the memory that `new_ref` was asked for, which is only shown; default None.

    Examples:
      >>> onax.typeof(onax.new_ref(jnp.ones(3))).shape
      (3,)
    """

    inner_aval: object
    memory_space: object = None

    shape = property(lambda self: self.inner_aval.shape)
    dtype = property(lambda self: self.inner_aval.dtype)
    ndim = property(lambda self: self.inner_aval.ndim)
    size = property(lambda self: self.inner_aval.size)
    weak_type = property(lambda self: self.inner_aval.weak_type)
    sharding = property(lambda self: self.inner_aval.sharding)
    stated_sharding = property(lambda self: self.inner_aval.stated_sharding)

    def update(self, **changes):
        """The type of a reference to an array of a changed type."""
        return AbstractRef(self.inner_aval.update(**changes), self.memory_space)

    def to_tangent_aval(self):
        """The type of a reference to the tangent."""
        return AbstractRef(self.inner_aval.to_tangent_aval(), self.memory_space)

    def str_short(self, short_dtypes=False, mesh_axis_types=False):
        """`Ref{float32[3]}`."""
        space = "" if self.memory_space is None else f"<{self.memory_space}>"
        return f"Ref{space}{{{self.inner_aval.str_short(short_dtypes)}}}"

    def __repr__(self):
        return self.str_short()


class RefEffect(Effect):
    """The effect of creating, reading or writing a reference."""

    __slots__ = ()

    def __str__(self):
        return "Ref"


REF_EFFECTS = frozenset({RefEffect()})


def uses_refs(effects):
    """Whether equations with these effects create, read or write references."""
    return bool(effects) and not REF_EFFECTS.isdisjoint(effects)


class _RefType(type):
    """Makes `isinstance(x, Ref)` hold for tracers of references too."""

    def __instancecheck__(cls, x):
        return type(x) is Ref or type(getattr(x, "aval", None)) is AbstractRef


class RefItems:
    """Elements by index: what references and views of them have in common."""

    __slots__ = ()

    def addupdate(self, x, idx=()):
        """Adds x to the elements at an index, without one to all."""
        Ref.add_item(self, _index_or_all(idx), x)

    def __getitem__(self, index):
        return Ref.read_item(self, index)

    def __setitem__(self, index, value):
        Ref.write_item(self, index, value)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]


def is_view(x):
    """Whether x is a view of a reference, which some transformations do not take."""
    return isinstance(x, RefItems) and type(x) is not Ref


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class Ref(RefItems, metaclass=_RefType):
    """A reference to an array that can be overwritten, made by `onax.new_ref`.

    Examples:
      >>> ref = onax.new_ref(jnp.zeros(3))
      >>> ref[1] = 5.0
      >>> ref[...]
      Array([0., 5., 0.], dtype=float32)
    """

    _value: object

    aval = property(lambda self: AbstractRef(self._value.aval))
    shape = property(lambda self: self._value.shape)
    dtype = property(lambda self: self._value.dtype)
    ndim = property(lambda self: self._value.ndim)
    size = property(lambda self: self._value.size)
    weak_type = property(lambda self: self._value.weak_type)
    sharding = property(lambda self: self._value.sharding)

    committed = property(lambda self: self._value.committed)
    format = property(lambda self: self._value.format)

    @property
    def at(self):
        """Views of a reference: not supported, as in JAX."""
        raise NotImplementedError("views of mutable array references (ref.at) are not supported; use ref[index].")

    def unsafe_buffer_pointer(self):
        """The address of the present value's elements."""
        return self._value.unsafe_buffer_pointer()

    def __repr__(self):
        return "Ref" + repr(self._value).removeprefix("Array")

    # `ref[index]`, `ref[index] = value` and the like, on references and their tracers; set by `onax.numpy`, which knows
    # how to read index expressions.
    read_item: ClassVar[Any] = None
    write_item: ClassVar[Any] = None
    add_item: ClassVar[Any] = None
    swap_item: ClassVar[Any] = None
    view_of: ClassVar[Any] = None


def _index_or_all(idx):
    return ... if isinstance(idx, tuple) and not idx else idx


class RefTracerMethods:
    """The methods that tracers of references have besides those of arrays; a `Ref` itself has the last one."""

    def get(self, idx=()):
        """The elements at an index, without one all."""
        return Ref.read_item(self, _index_or_all(idx))

    def set(self, value, idx=()):
        """Writes the elements at an index."""
        Ref.write_item(self, _index_or_all(idx), value)

    def swap(self, value, idx=()):
        """Writes the elements at an index; returns what was there."""
        return Ref.swap_item(self, _index_or_all(idx), value)

    def bitcast(self, dtype):
        """A view of the elements with their bits read as another dtype."""
        return Ref.view_of(self).bitcast(dtype)

    addupdate = Ref.addupdate


class RefWriteError(Exception):
    """A reference from outside a transformation was given a value that the transformation tracks."""

    def __init__(self, value, target, where, ref, operation="a set/swap"):
        super().__init__(
            f"performing {operation} operation with {value} value on {target} array reference of type "
            f"{ref.aval.str_short()}. Move the array reference to be an argument {where} function?"
        )
        self._parts = (value, target, where, ref)

    def of_operation(self, words):
        """The error with other words for what was done to the reference."""
        return RefWriteError(*self._parts, words)


def check_distinct(info, leaves, closed_over=()):
    """Raises ValueError if a traced function is passed the same reference twice, or one that it closes over."""
    first = {}
    for i, x in enumerate(leaves):
        if not is_ref(x):
            continue
        kind = f"mutable array reference of type {x.aval.str_short()}"
        if first.setdefault(id(x), i) != i:
            names = [info.arg_names[k] for k in (first[id(x)], i)]
            raise ValueError(
                "only one reference to a mutable array may be passed as an argument to a function, but when tracing "
                f"{info.func_src_info} for {info.traced_for} the {kind} appeared at both {names[0]} and {names[1]}."
            )
        if any(x is c for c in closed_over):
            raise ValueError(
                f"when tracing {info.func_src_info} for {info.traced_for}, a {kind} was both closed over and passed as "
                f"the argument {info.arg_names[i]}"
            )


def is_ref(x):
    """Whether a value is a reference, or a tracer of one."""
    kind = type(x)
    return kind is Ref or (kind is not ArrayImpl and type(getattr(x, "aval", None)) is AbstractRef)


def apply_with_refs(trace, primitive, args, params):
    """Interprets an operation that creates a reference or has some among its operands, under the current trace."""
    if trace.records_refs(args):
        return trace.process_primitive(primitive, args, params)
    if CREATES_REF in primitive.facts:
        return trace.make_ref(*args)
    rule = discharge.get(primitive)
    if rule is None:
        raise NotImplementedError(f"{primitive.name} does not take mutable array references as operands")
    refs = [x if is_ref(x) else None for x in args]
    values = [x if ref is None else trace.read_ref(ref) for x, ref in zip(args, refs)]
    results, changed = rule(values, refs, **params)
    for ref, value in zip(refs, changed):
        if value is not None:
            try:
                trace.write_ref(ref, value)
            except RefWriteError as error:
                words = f"an {primitive.name}" if ADDS_TO_REF in primitive.facts else "a set/swap"
                raise error.of_operation(words) from None
    return results


def creates_or_takes_ref(primitive, operands):
    """Whether an operation has to go through `apply_with_refs`."""
    return CREATES_REF in primitive.facts or any(map(is_ref, operands))
