"""Dicts of a pytree: their keys are sorted, whatever they are."""

import numpy as np
import pytest

import onax as jax


@pytest.mark.parametrize("count", [0, 1, 5, 24, 25, 60])
def test_keys_are_sorted(count):
    order = np.random.default_rng(count).permutation(count)
    for make in (str, int, lambda i: (i % 3, str(i)), lambda i: chr(200 + 90 * i)):
        tree = {make(int(i)): int(i) for i in order}
        assert jax.tree.leaves(tree) == [tree[key] for key in sorted(tree)]
        assert jax.tree.structure(tree) == jax.tree.structure(dict(sorted(tree.items())))


def test_keys_that_do_not_compare():
    with pytest.raises(ValueError, match="sorting pytree dictionary keys"):
        jax.tree.leaves({"a": 1, 2: 3})
