"""Kernels that are one instruction of a tape."""

import numpy as np
import pytest

from onax import lax
from onax._native.tape import TYPES
from onax._prims._instructions import Instruction, instruction_kernel


def permutation(pivots, *, rows):
    *lead, count = pivots.shape
    if count == 0:
        return None
    return Instruction("permutation", (0, lead[0], rows, count, 0, 0), (((lead[0], rows), np.dtype(np.int32)),))


def test_the_tape_of_operands_is_made_once():
    described = []

    def describe(*operands, **params):
        described.append(params)
        return permutation(*operands, **params)

    kernel = instruction_kernel(describe, None)
    pivots = np.array([[1, 1], [0, 2]], np.int32)
    for _ in range(3):
        np.testing.assert_array_equal(kernel(pivots, rows=3), [[1, 0, 2], [0, 2, 1]])
        assert kernel(pivots[:1], rows=4).shape == (1, 4)
    assert described == [{"rows": 3}, {"rows": 4}]


def test_operands_without_an_instruction_go_to_the_other_kernel():
    kernel = instruction_kernel(permutation, lambda pivots, rows: rows, multiple_results=False)
    assert kernel(np.zeros((2, 0), np.int32), rows=5) == 5


def test_operands_are_read_in_any_layout():
    x = np.arange(1.0, 17, dtype=np.float32).reshape(4, 4) + 20 * np.eye(4, dtype=np.float32)

    def describe(x):
        types = [(x.shape, x.dtype), (x.shape[:1], np.dtype(np.int32)), (x.shape[:1], np.dtype(np.int32))]
        return Instruction("lu", (TYPES[x.dtype], 1, *x.shape, 0, 0), tuple(types))

    kernel = instruction_kernel(describe, None, multiple_results=True)
    for one, other in zip(kernel(x.T), kernel(np.ascontiguousarray(x.T))):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("shapes", [((2, 3, 3), (3, 2, 1)), ((3, 3), (2, 1)), ((3, 2), (3, 1))])
def test_shapes_that_do_not_fit_are_refused(shapes):
    a, b = (np.ones(s, np.float32) for s in shapes)
    lax.linalg.triangular_solve(np.eye(3, dtype=np.float32), np.ones((3, 1), np.float32), left_side=True)
    with pytest.raises((TypeError, ValueError)):
        lax.linalg.triangular_solve(a, b, left_side=True)
