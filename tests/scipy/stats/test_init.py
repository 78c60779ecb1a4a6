"""Functions of distributions are public functions: errors name them."""

import numpy as np
import pytest

from onax.scipy import stats


@pytest.mark.parametrize("name", ["norm.pdf", "beta.logpdf", "poisson.cdf", "mode"])
def test_errors_name_the_function(name):
    function = stats
    for part in name.split("."):
        function = getattr(function, part)
    with pytest.raises(TypeError) as caught:
        function([None], *[1.0] * (name.count("beta") * 2 + name.count("poisson")))
    assert name in str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))


def test_distributions_are_modules():
    assert stats.norm.__name__ == "onax.scipy.stats.norm" and float(stats.norm.cdf(0.0)) == 0.5
    assert np.isclose(stats.gaussian_kde(np.arange(5.0))(np.array([2.0]))[0], 0.2, atol=0.1)
