"""Facts: what modules may rely on without knowing the primitive.  A primitive's field `facts` is a set of them.

A fact is a property that a consumer reads by one test (`DATA_MOVEMENT in p.facts`); what needs a function or a value
for each primitive is a slot (`_core/slots.py`).
"""

from onax._native.dispatch import ELEMENTWISE

LINEAR = "linear"  # linear in all its array operands taken together
DATA_MOVEMENT = "data_movement"  # moves elements and never looks at them: any dtype, keys too
MAKES_NAN = "makes_nan"  # can make a NaN from operands without one; checkify's nan_checks look at its results
BRINGS_VALUES = "brings_values"  # brings values from outside: debug_nans and debug_infs do not blame it for them
NAMED_AXIS = "named_axis"  # names axes, in its parameter `axes` or `axis_name`
CALLS_PYTHON = "calls_python"  # calls a function of the user
CREATES_REF = "creates_ref"  # its result is a new mutable array reference
FREES_REF = "frees_ref"  # its operand must not be used afterwards
STATES_TYPES = "states_types"  # its parameters state the types of its results, shardings over explicit axes included
RULES_TAKE_REFS = "rules_take_refs"  # calls a function whose rules may take references: it has `call_with_refs`

LINEAR_MOVEMENT = frozenset({LINEAR, DATA_MOVEMENT})

__all__ = [
    "BRINGS_VALUES",
    "CALLS_PYTHON",
    "CREATES_REF",
    "DATA_MOVEMENT",
    "ELEMENTWISE",
    "FREES_REF",
    "LINEAR",
    "MAKES_NAN",
    "NAMED_AXIS",
    "RULES_TAKE_REFS",
    "STATES_TYPES",
]
