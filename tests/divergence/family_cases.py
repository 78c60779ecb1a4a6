"""The cases of the families of a module: tests that they hold, and the cases of one family."""

import pytest

from onax._divergence.case import agrees
from onax._divergence.runners import Eager


def cases_of(module, family):
    """The cases of a family, by its name."""
    (found,) = [f for f in module.FAMILIES if f.name == family]
    return list(found.cases())


def family_tests(module):
    """A class of tests of each family of a module."""

    class Tests:
        @pytest.mark.parametrize("family", [f.name for f in module.FAMILIES])
        def test_cases_are_told_apart_and_hold(self, family):
            found = cases_of(module, family)
            keys = [(c.title, c.dtype, c.shape, c.x64) for c in found]
            assert keys and len(set(keys)) == len(keys)
            eager = Eager()
            for c in found[:: max(1, len(found) // 20)]:
                assert agrees(eager.run(c), c.wanted("eager"), c.ulp), c.title

    return Tests
