"""Tests of models of one node draw the same numbers in whatever order they run."""

import numpy as np
import pytest

import onnx_nodes


@pytest.fixture(autouse=True)
def same_numbers():
    """Begins the sequence of random numbers anew."""
    onnx_nodes.RNG = np.random.default_rng(2)
