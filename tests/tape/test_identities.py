"""What only hands values on is no instruction."""

import numpy as np

from onax import lax
from onax.ad_checkpoint import checkpoint_name
from onax.experimental.shard_alike import shard_alike
from tape.harness import tape_of


def test_names_and_barriers():
    def fn(x, y):
        x, y = lax.optimization_barrier((checkpoint_name(x, "x"), y))
        y = shard_alike(y, y)[0]
        return lax.transpose(y, (1, 0)), x

    x, y = np.arange(3, dtype=np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
    tape, operands, _ = tape_of(fn, x, y)
    assert not tape.kernels
    for got, want in zip(tape(operands), fn(x, y)):
        np.testing.assert_array_equal(got, want)
