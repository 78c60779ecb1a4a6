"""What only hands values on is no instruction."""

import numpy as np
from tests.tape.harness import run_tape, tape_of

import onax as jax
from onax import lax
from onax.ad_checkpoint import checkpoint_name


def test_keys_are_their_words():
    def fn(words):
        keys = jax.random.wrap_key_data(words)
        return jax.random.key_data(jax.random.clone(keys)[::-1])

    words = np.arange(8, dtype=np.uint32).reshape(4, 2)
    np.testing.assert_array_equal(run_tape(fn, words)[0], words[::-1])


def test_names_and_barriers():
    def fn(x, y):
        x, y = lax.optimization_barrier((checkpoint_name(x, "x"), y))
        return lax.transpose(y, (1, 0)), x

    x, y = np.arange(3, dtype=np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
    tape, operands, _ = tape_of(fn, x, y)
    assert not tape.kernels
    for got, want in zip(tape(operands), fn(x, y)):
        np.testing.assert_array_equal(got, want)
