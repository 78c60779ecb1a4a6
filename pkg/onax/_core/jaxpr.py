"""The records of the language: variables, literals, equations and jaxprs.

    Jaxpr
      constvars, invars, outvars : Var (outvars may hold Literal)
      eqns : JaxprEqn ...
          invars : Var or Literal,  outvars : Var or DropVar,  primitive,  params,  effects,  source_info
      consts : values of constvars (empty for an open jaxpr)
      debug_info : DebugInfo

`ClosedJaxpr` is a `Jaxpr` whose constants are given; its `.jaxpr` is the open part.  Field names are those of JAX's
public classes, because libraries walk them.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._core.effects import join_effects, no_effects
from onax._core.printing import Printable, literal_text, print_eqn, print_jaxpr
from onax._ground.source import UNKNOWN, SourceInfo
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive


@dataclass(slots=True, eq=False, repr=False)
class Var:
    """A variable of a program; equal only to itself.

    Args:
      aval: its type.

    Examples:
      >>> onax.extend.core.Var(onax.typeof(1.0)).aval
      ShapedArray(float32[], weak_type=True)
    """

    aval: object

    def text(self, names):
        """The name the printer chose."""
        return names.of(self)

    def __repr__(self):
        return f"Var(id={id(self)}):{self.aval.str_short()}"


class DropVar(Var):
    """A result that is never read; printed as `_`.

    Args:
      aval: its type.

    Examples:
      >>> onax.extend.core.DropVar(onax.typeof(1.0))
      _
    """

    __slots__ = ()

    def __repr__(self):
        return "_"


class Literal:
    """A scalar operand that is written into the equation.

    Args:
      val: the number.
      aval: its type.

    Examples:
      >>> onax.extend.core.Literal(1.0, onax.typeof(1.0)).val
      1.0
    """

    __slots__ = ("_array", "_hash", "aval", "val")

    def __init__(self, val, aval):
        self.val = val
        self.aval = aval
        self._array = None
        self._hash = None

    @property
    def array(self):
        """The value as an Array of exactly this literal's type."""
        if self._array is None:
            value = np.asarray(self.val, dtype=self.aval.dtype)
            self._array = make_array(value, self.aval.dtype, self.aval.weak_type)
        return self._array

    @property
    def hash(self):
        """A hash of the value, or None when it has none."""
        if self._hash is None:
            self._hash = hash((str(self.val), self.aval))
        return self._hash

    def __hash__(self):
        raise TypeError("unhashable type: 'Literal'")

    def text(self, names):
        """The value and its type."""
        return literal_text(self.val, self.aval)

    def __repr__(self):
        return f"Literal({self.val})"


@dataclass(slots=True, eq=False)
class JaxprEqnContext:
    """The context of an equation's staging; whoever interprets the program enters it again.

    Attributes:
      automatic: whether explicit mesh axes counted as automatic (`explicit_axes.automatic_axes`).
      meshes: the meshes in context (`mesh_context.meshes_in_context`), or None: the interpreter's own.
    """

    automatic: bool = False
    meshes: Any = None


PLAIN_CONTEXT = JaxprEqnContext()


@functools.lru_cache(maxsize=256)
def context_of(automatic, meshes):
    """The context with these fields."""
    return JaxprEqnContext(automatic, meshes)


@dataclass(slots=True, eq=False, repr=False)
class JaxprEqn:
    """One operation of a program: ``outvars = primitive[params] invars``.

    Args:
      invars: operands, Vars and Literals.
      outvars: Vars.
      primitive: a Primitive.
      params: a dict.
      effects: its effects; default none.
      source_info: its place in the source; default an unknown one.
      ctx: options under which it was staged.

    Examples:
      >>> onax.make_jaxpr(jnp.sin)(1.0).eqns[0].primitive
      sin
    """

    invars: list
    outvars: list
    primitive: object
    params: dict
    effects: object = no_effects
    source_info: SourceInfo = UNKNOWN
    ctx: JaxprEqnContext = PLAIN_CONTEXT

    def replace(self, **changes):
        """A copy with some fields replaced."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields.update(changes)
        return JaxprEqn(**fields)

    def __repr__(self):
        return print_eqn(self)


def new_jaxpr_eqn(
    invars: Iterable[Var | Literal],
    outvars: Iterable[Var],
    primitive: Primitive,
    params: dict[str, Any],
    effects: Any = no_effects,
    source_info: Any = None,
    ctx: JaxprEqnContext | None = None,
) -> JaxprEqn:
    """Returns an equation, from any sequences of variables.

    Args:
      invars: operands, Vars and Literals.
      outvars: Vars.
      primitive: a Primitive.
      params: a dict.
      effects: its effects; default none.
      source_info: its place in the source; default None.
      ctx: options under which it was staged; default None, the current ones.

    Returns:
      A JaxprEqn.

    Examples:
      >>> x = onax.extend.core.Var(onax.typeof(1.0))
      >>> onax.extend.core.new_jaxpr_eqn([x], [x], lax.sin_p, {}).primitive
      sin
    """
    return JaxprEqn(
        list(invars), list(outvars), primitive, params, effects, source_info or UNKNOWN, ctx or PLAIN_CONTEXT
    )


@dataclass(slots=True, eq=False, repr=False)
class DebugInfo:
    """What messages say of a program: the transformation, the function, and the names of arguments and results.

    Args:
      traced_for: the transformation.
      func_src_info: the function and its place.
      arg_names: names of the arguments; default none.
      result_paths: paths of the results; default none.

    Examples:
      >>> onax.extend.core.DebugInfo("jit", "f at file.py:1").traced_for
      'jit'
    """

    traced_for: str
    func_src_info: str
    arg_names: tuple | None = ()
    result_paths: tuple | None = ()

    @property
    def func_name(self):
        """The function's name alone."""
        return self.func_src_info.split(" at ", 1)[0]

    @property
    def func_filename(self):
        """The file that defines the function; None if it is not known."""
        location = self.func_src_info.partition(" at ")[2]
        return location.rpartition(":")[0] or None

    @property
    def func_lineno(self):
        """The line where the function begins; None if it is not known."""
        line = self.func_src_info.rpartition(":")[2]
        return int(line) if line.isdecimal() else None

    def safe_arg_names(self, expected):
        """The arguments' names, or as many empty ones as are expected if there are not that many."""
        return tuple(self.arg_names) if len(self.arg_names) == expected else ("",) * expected

    def safe_result_paths(self, expected):
        """The results' paths, or as many empty ones as are expected if there are not that many."""
        return tuple(self.result_paths) if len(self.result_paths) == expected else ("",) * expected

    def __repr__(self):
        return (
            f"DebugInfo(traced_for={self.traced_for!r}, func_src_info={self.func_src_info!r}, "
            f"arg_names={self.arg_names!r}, result_paths={self.result_paths!r})"
        )


UNKNOWN_DEBUG_INFO = DebugInfo("unknown", "<unknown>")


class Jaxpr(Printable):
    """A typed program of first order: equations in sequence.

    Args:
      constvars: Vars of constants.
      invars: Vars of arguments.
      outvars: results, Vars and Literals.
      eqns: JaxprEqns.
      effects: its effects; default None, those of the equations.
      debug_info: a DebugInfo.
      consts: values of the constants; default none.

    Examples:
      >>> x = onax.extend.core.Var(onax.typeof(1.0))
      >>> onax.extend.core.Jaxpr([], [x], [x], [])
      { lambda ; a:f32[]. let  in (a,) }
    """

    __slots__ = (
        "__weakref__",
        "_cache",
        "consts",
        "constvars",
        "debug_info",
        "effects",
        "eqns",
        "invars",
        "outvars",
    )

    def __init__(self, constvars, invars, outvars, eqns, effects=None, debug_info=UNKNOWN_DEBUG_INFO, consts=()):
        self.constvars = list(constvars)
        self.invars = list(invars)
        self.outvars = list(outvars)
        self.eqns = list(eqns)
        self.effects = join_effects(*(e.effects for e in self.eqns)) if effects is None else effects
        self.debug_info = debug_info
        self.consts = list(consts)
        self._cache = None

    @property
    def jaxpr(self):
        """The program without its constants; an open jaxpr is its own."""
        return self

    @property
    def is_high(self):
        """Whether it holds values that are not arrays, or operations that programs define as classes (hijax)."""
        groups = (self.constvars, self.invars, self.outvars)
        return any(v.aval.is_high for group in groups for v in group) or any(map(_is_high_equation, self.eqns))

    @property
    def in_avals(self):
        """Types of the arguments."""
        return [v.aval for v in self.invars]

    @property
    def out_avals(self):
        """Types of the results."""
        return [v.aval for v in self.outvars]

    @property
    def literals(self):
        """The constants' values, under their older name."""
        return self.consts

    @property
    def cache(self):
        """A dictionary that lives as long as this jaxpr and holds derived programs by their kind."""
        if self._cache is None:
            self._cache = {}
        return self._cache

    def replace(self, **changes):
        """A copy with some fields replaced."""
        fields = {
            name: changes.pop(name, getattr(self, name))
            for name in ("constvars", "invars", "outvars", "eqns", "debug_info", "consts")
        }
        fields["effects"] = changes.pop("effects", None if fields["eqns"] is not self.eqns else self.effects)
        if changes:
            raise TypeError(f"a jaxpr has no field named {', '.join(changes)}")
        return Jaxpr(**fields)

    def __str__(self):
        return self.pretty_print()

    __repr__ = __str__

    def pretty_print(self, **options):
        """The text of the program; see `printing.print_jaxpr` for the options."""
        return print_jaxpr(self, **options)

    def map_jaxpr(self, function):
        """Applies a function to the open program and closes the result over the same constants."""
        return ClosedJaxpr(function(self.jaxpr), self.consts)


class ClosedJaxpr(Jaxpr):
    """A program together with the values of its constants.

    Args:
      jaxpr: a Jaxpr.
      consts: the values; default none.

    Examples:
      >>> onax.make_jaxpr(lambda x: x)(1.0)
      { lambda ; a:f32[]. let  in (a,) }
    """

    __slots__ = ()

    def __init__(self, jaxpr, consts=()):
        consts = list(consts)
        if len(consts) != len(jaxpr.constvars):
            raise ValueError(f"expected {len(jaxpr.constvars)} constants, got {len(consts)}")
        super().__init__(
            jaxpr.constvars, jaxpr.invars, jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info, consts
        )

    @property
    def jaxpr(self):
        """The program without its constants."""
        open_jaxpr = self.cache.get("open")
        if open_jaxpr is None:
            open_jaxpr = Jaxpr(self.constvars, self.invars, self.outvars, self.eqns, self.effects, self.debug_info)
            self.cache["open"] = open_jaxpr
        return open_jaxpr

    def replace(self, *, jaxpr=None, consts=None):
        """A copy with another program or other constants."""
        return ClosedJaxpr(self.jaxpr if jaxpr is None else jaxpr, self.consts if consts is None else consts)


def close_jaxpr(jaxpr):
    """The jaxpr, closed over no constants."""
    return jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr, ())


def last_uses(jaxpr):
    """variable -> number of the equation that reads it last; results are read after all."""
    last = {x: i for i, eqn in enumerate(jaxpr.eqns) for x in eqn.invars if type(x) is not Literal}
    last.update(dict.fromkeys([x for x in jaxpr.outvars if type(x) is not Literal], len(jaxpr.eqns)))
    return last


def jaxprs_in_params(params: Mapping[str, Any]) -> Iterator[Jaxpr]:
    """Returns the programs among an equation's parameters, also inside of tuples and lists.

    Args:
      params: a dict.

    Returns:
      An iterator of Jaxprs.

    Examples:
      >>> program = onax.make_jaxpr(onax.jit(jnp.sin))(1.0)
      >>> len(list(onax.extend.core.jaxprs_in_params(program.eqns[0].params)))
      1
    """
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, Jaxpr):
                yield item


def _is_high_equation(eqn):
    is_high = getattr(eqn.primitive, "is_high", None)
    if is_high is not None:
        return is_high(*[a.aval for a in eqn.invars], **eqn.params)
    return any(v.aval.is_high for v in eqn.outvars) or any(inner.is_high for inner in jaxprs_in_params(eqn.params))


def effects_of(effects, params):
    """An equation's effects: those its primitive states, and those of the programs in its parameters."""
    return join_effects(effects, *[inner.effects for inner in jaxprs_in_params(params)])


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """Returns the programs one level below a program.

    Args:
      jaxpr: a Jaxpr.

    Returns:
      An iterator of Jaxprs.

    Examples:
      >>> program = onax.make_jaxpr(onax.jit(jnp.sin))(1.0)
      >>> len(list(onax.extend.core.subjaxprs(program.jaxpr)))
      1
    """
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


def convert_constvars_jaxpr(jaxpr):
    """The open program that takes the constants as its first arguments."""
    return Jaxpr((), [*jaxpr.constvars, *jaxpr.invars], jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)


__all__ = [
    "ClosedJaxpr",
    "DebugInfo",
    "DropVar",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "ShapedArray",
    "Var",
    "close_jaxpr",
    "convert_constvars_jaxpr",
    "effects_of",
    "jaxprs_in_params",
    "new_jaxpr_eqn",
    "subjaxprs",
]
