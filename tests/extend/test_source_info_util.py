"""Locations of user code under the names of jax.extend.source_info_util."""

from onax.extend import source_info_util


def test_the_current_location_is_that_of_the_caller():
    here = source_info_util.current()
    assert isinstance(here, source_info_util.SourceInfo)
    text = source_info_util.summarize(here, num_frames=3)
    assert text.startswith(f"{__file__}:7:") and text.endswith("(test_the_current_location_is_that_of_the_caller)")
