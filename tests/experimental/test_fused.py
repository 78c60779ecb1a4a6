"""fused leaves functions as they are."""

from onax.experimental.fused import fused


def test_functions_stay():
    f = lambda x: x
    assert fused(out_spaces=())(f) is f
