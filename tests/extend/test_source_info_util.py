"""Locations of user code under the names of jax.extend.source_info_util."""

import onax
from onax.extend import source_info_util


def test_the_current_location_is_that_of_the_caller():
    here = source_info_util.current()
    assert isinstance(here, source_info_util.SourceInfo)
    text = source_info_util.summarize(here, num_frames=3)
    assert text.startswith(f"{__file__}:8:") and text.endswith("(test_the_current_location_is_that_of_the_caller)")


def test_user_context():
    jaxpr = onax.make_jaxpr(lambda x: onax.numpy.sin(x))(1.0)
    (outer,) = jaxpr.eqns

    def again(x):
        with source_info_util.user_context(outer.source_info.traceback):
            x = outer.primitive.bind(x, **outer.params)
        with source_info_util.user_context(None):
            return onax.numpy.cos(x)

    first, second = onax.make_jaxpr(again)(1.0).eqns
    assert str(first.source_info.traceback) == str(outer.source_info.traceback)
    assert str(second.source_info.traceback) != str(outer.source_info.traceback)
