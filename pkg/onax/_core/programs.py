"""The programs that equations hold, and what each of them is to its equation.

A primitive whose parameters contain jaxprs has a description in the slot `programs`, attached beside the primitive.
Every pass that looks into equations reads it (inlining, dead-code elimination, partial evaluation with policies, key
lineage, sharding propagation, drawing, explaining), so none of them knows primitives by name.  Searches that only ask
whether any program has some property (effects, axis names, keys) use `jaxprs_in_params`.

    programs.set(closed_call_p, Call("call_jaxpr"))       a call
    programs.set(cond_p, describe)                        describe(eqn) -> [HeldProgram, ...]

Kinds of programs:

    CALL         all operands are its arguments, its results are the equation's
    CUSTOM_RULE  a call whose primitive carries rules of the user's for derivatives or batching
    BRANCH       one of several programs on the same operands
    LOOP         a step of a loop: its arguments are (constants, carry, slices), its results (carry, stacked values)
    CONDITION    the condition of a loop: its arguments are (constants, carry)
    REGION       a call on shards of the operands, one on each device
    FUNCTION     a function that the primitive applies to values of its own, such as the scalars of a reduction
    KERNEL       what a compiled kernel computes; it is not to be taken apart
    UNKNOWN      the primitive has no description
"""

from collections.abc import Callable
from dataclasses import dataclass

from onax._core.effects import join_effects
from onax._core.jaxpr import ClosedJaxpr, Jaxpr
from onax._core.slots import Slot

CALL, CUSTOM_RULE, BRANCH, LOOP, CONDITION = "call", "custom rule", "branch", "loop", "condition"
REGION, FUNCTION, KERNEL, UNKNOWN = "region", "function", "kernel", "unknown"

programs = Slot(
    "programs",
    "describe(eqn) -> [HeldProgram, ...]",
    "Jaxprs among the parameters are listed, but nothing is known about how the equation uses them.",
    "onax",
)


@dataclass(slots=True, eq=False)
class HeldProgram:
    """One program that an equation holds.

    Attributes:
      program: the jaxpr.
      kind: one of the constants above.
      parameter: the name of the parameter; `index`: the position in it if that is a tuple of programs, else None.
      operands: for each argument of the program the position of the operand that it gets (of its first step, in a
        loop), or None where the arguments are not operands.
      results: for each result of the program the position of the equation's result, or None where they are none.
      num_consts, num_carry: in a loop or a condition, how many arguments are constants, and how many are carried.
    """

    program: ClosedJaxpr
    kind: str
    parameter: str
    index: int | None = None
    operands: range | tuple | None = None
    results: range | tuple | None = None
    num_consts: int = 0
    num_carry: int = 0

    @property
    def label(self):
        """The parameter, with the position in it if there is one."""
        return self.parameter if self.index is None else f"{self.parameter}[{self.index}]"


@dataclass(slots=True, eq=False)
class Call:
    """The description of a primitive that calls the program which is its parameter of that name.

    Attributes:
      divisible: whether partial evaluation makes two calls of one.
      resize: `(params, used_inputs, used_outputs) -> params` where other parameters have an entry for each argument or
        result, of which only some are left; flags None: other arguments and results take their place.
    """

    parameter: str
    kind: str = CALL
    divisible: bool = False
    resize: Callable | None = None

    def __call__(self, eqn):
        operands, results = range(len(eqn.invars)), range(len(eqn.outvars))
        if eqn.params[self.parameter] is None:  # which an operation on values that are not arrays does not have yet
            return []
        return [HeldProgram(eqn.params[self.parameter], self.kind, self.parameter, None, operands, results)]

    def with_program(self, params, program, used_inputs=None, used_outputs=None):
        """The parameters of a call of another program, with some of the arguments and results or with others."""
        if self.resize is not None:
            params = self.resize(params, used_inputs, used_outputs)
        return {**params, self.parameter: program}


def called_program(eqn):
    """The program of an equation that is exactly a call, else None.

    All operands are its arguments and its results are the equation's.  Calls with custom rules are calls too: who
    transforms further has to keep the equation, who only computes does not.
    """
    return program_of_call(eqn.primitive, eqn.params)


def program_of_call(primitive, params):
    """`called_program` of an equation that is not written yet."""
    description = programs.get(primitive)
    if type(description) is not Call or description.kind is KERNEL:
        return None
    return params[description.parameter]


def held_programs(eqn):
    """A HeldProgram for each program among the parameters of an equation."""
    description = programs.get(eqn.primitive)
    return _among_parameters(eqn, UNKNOWN) if description is None else description(eqn)


def functions(eqn):
    """The description of a primitive that applies its programs to values which are not its operands."""
    return _among_parameters(eqn, FUNCTION)


def _among_parameters(eqn, kind):
    result = []
    for name, value in eqn.params.items():
        if isinstance(value, Jaxpr):
            result.append(HeldProgram(value, kind, name))
        elif isinstance(value, (tuple, list)):
            result += [HeldProgram(x, kind, name, i) for i, x in enumerate(value) if isinstance(x, Jaxpr)]
    return result


def replace_programs(eqn, function):
    """The equation with each of its programs replaced by `function(program)`; itself if none changes.

    The new programs take and give what the old ones did; the equation's effects follow theirs.
    """
    held = held_programs(eqn)
    new = [function(h.program) for h in held]
    if all(program is h.program for program, h in zip(new, held)):
        return eqn
    params = dict(eqn.params)
    for h, program in zip(held, new):
        if h.index is None:
            params[h.parameter] = program
        else:
            several = list(params[h.parameter])
            several[h.index] = program
            params[h.parameter] = _sequence_like(params[h.parameter], several)
    own = eqn.effects.difference(*[h.program.effects for h in held])
    return eqn.replace(params=params, effects=join_effects(own, *[program.effects for program in new]))


def _sequence_like(value, items):
    """A list or tuple of the type of another; a named tuple takes its items one by one."""
    kind = type(value)
    return kind(items) if kind in (list, tuple) else kind(*items)
