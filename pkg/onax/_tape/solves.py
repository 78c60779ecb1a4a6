"""custom_linear_solve on tapes: the program that finds the solution."""

from onax._control.solves import custom_linear_solve_p
from onax._tape.rules import tape


@tape.rule(custom_linear_solve_p)
def _custom_linear_solve(b, outs, *operands, const_lengths, jaxprs):
    before = const_lengths.matvec + const_lengths.vecmat
    constants = operands[before : before + const_lengths.solve]
    return b.program(jaxprs.solve, [*constants, *operands[sum(const_lengths) :]])
