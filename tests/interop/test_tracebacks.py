"""Files that are left out of tracebacks."""

import sys

import pytest

from onax.interop.tracebacks import excluded_paths, include_frame


def test_a_file_is_left_out_and_shown_again():
    frame = sys._getframe()
    assert __file__ not in excluded_paths and include_frame(frame)
    excluded_paths.append(__file__)
    try:
        assert __file__ in excluded_paths and not include_frame(frame)
    finally:
        excluded_paths.remove(__file__)
    assert include_frame(frame)
    with pytest.raises(ValueError, match="not excluded"):
        excluded_paths.remove(__file__)
