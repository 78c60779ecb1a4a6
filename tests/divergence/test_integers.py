"""Integer arithmetic: the documented rules on numbers known by hand, and cases that hold."""

import numpy as np
import pytest

from divergence.family_cases import family_tests
from onax._divergence import integers

INT8 = np.dtype("int8")

TestFamilies = family_tests(integers)


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        (integers._div, [(7, 2, 3), (-7, 2, -3), (7, 0, -1), (0, 0, -1)]),
        (integers._rem, [(7, 2, 1), (-7, 2, -1), (7, 0, 7)]),
        (integers._floor_divide, [(7, 2, 3), (-7, 2, -4), (7, -2, -4)]),
        (integers._remainder, [(7, 2, 1), (-7, 2, 1), (7, -2, -1), (7, 0, 0)]),
        (integers._shift_left, [(1, 3, 8), (1, 8, 0), (1, -1, 0)]),
        (integers._shift_right_arithmetic, [(-8, 1, -4), (-8, 9, -1), (8, 9, 0)]),
        (integers._shift_right_logical, [(-8, 1, 124), (8, 8, 0)]),
    ],
)
def test_rules(rule, rows):
    assert [rule(a, b, INT8) for a, b, _ in rows] == [wanted for *_, wanted in rows]
