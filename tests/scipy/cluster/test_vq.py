"""The nearest row of a code book, against SciPy."""

import numpy as np
import pytest
from scipy.cluster import vq as theirs

import onax as jax
from agreement import assert_agrees
from onax.scipy.cluster import vq

POINTS, CODES = np.random.default_rng(0).normal(size=(9, 3)), np.random.default_rng(1).normal(size=(4, 3))


def test_as_in_scipy():
    assert_agrees(vq.vq, theirs.vq, POINTS, CODES, dtypes=False)
    numbers, distances = jax.jit(vq.vq)(POINTS[:, 0], CODES[:, 0])
    want = np.abs(POINTS[:, :1] - CODES[:, 0])
    assert numbers.tolist() == want.argmin(1).tolist()
    np.testing.assert_allclose(distances, want.min(1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("args", "words"),
    [((POINTS, CODES[:, 0]), "rank|dim"), ((POINTS, CODES[:, :2]), "columns|shape|match|incompatible|dimension")],
)
def test_refusals(args, words):
    with pytest.raises((TypeError, ValueError), match=words):
        vq.vq(*args)
