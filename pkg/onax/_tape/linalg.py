"""Linear algebra on tapes: factorisations and solvers of stacks of matrices."""

from onax._prims import linalg_instructions as instructions
from onax._prims.linalg import (
    cholesky_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    ormqr_p,
    qr_p,
    triangular_solve_p,
)
from onax._prims.linalg_spectral import eig_p, eigh_p, hessenberg_p, schur_p, svd_p, tridiagonal_p, tridiagonal_solve_p
from onax._tape.rules import Unsupported, tape


def _emit(b, primitive, outs, operands, instruction):
    """The results of a primitive that is one instruction."""
    if instruction is None:
        raise Unsupported(f"{primitive.name}: there is no instruction for these operands")
    results = [b.buffer(a) for a in (outs if primitive.multiple_results else [outs])]
    b.emit(instruction.name, results, operands, instruction.attributes)
    return results if primitive.multiple_results else results[0]


def _set_instruction(primitive, describe):
    """Has a primitive be the instruction that `describe` gives for its operands."""

    def rule(b, outs, *operands, **params):
        return _emit(b, primitive, outs, operands, describe(*operands, **params))

    tape.set(primitive, rule)


@tape.rule(qr_p)
def _qr(b, outs, x, **params):
    return _emit(b, qr_p, outs, [x], instructions.qr(x, **params, with_q=b.is_read(0)))


_set_instruction(cholesky_p, instructions.cholesky)
_set_instruction(lu_p, instructions.lu)
_set_instruction(lu_pivots_to_permutation_p, instructions.lu_pivots_to_permutation)
_set_instruction(triangular_solve_p, instructions.triangular_solve)
_set_instruction(geqrf_p, instructions.geqrf)
_set_instruction(householder_product_p, instructions.householder_product)
_set_instruction(ormqr_p, instructions.ormqr)
_set_instruction(tridiagonal_solve_p, instructions.tridiagonal_solve)
_set_instruction(eigh_p, instructions.eigh)
_set_instruction(svd_p, instructions.svd)
_set_instruction(eig_p, instructions.eig)
_set_instruction(schur_p, instructions.schur)
_set_instruction(hessenberg_p, instructions.hessenberg)
_set_instruction(tridiagonal_p, instructions.tridiagonal)
