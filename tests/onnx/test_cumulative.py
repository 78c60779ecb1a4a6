"""Cumulative operations agree with ONNX Runtime."""

import numpy as np
import pytest

from onnx_nodes import check, combinations, floats


@pytest.mark.parametrize("attributes", combinations(exclusive=[0, 1], reverse=[0, 1]))
def test_cumsum(attributes):
    check("CumSum", floats(3, 4), np.array(1), **attributes)
    check("CumSum", floats(3, 4), np.array(-2), grad=False, **attributes)
