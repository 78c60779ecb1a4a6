"""Random numbers from a generator with a state, as `numpy.random.Generator` has them."""

import operator
from dataclasses import dataclass

import numpy as np

from onax import random
from onax._core.refs import Ref
from onax._core.trees import register_dataclass
from onax._ground import dtypes
from onax._native import context
from onax._native.array import Array
from onax.numpy._creation import asarray, zeros
from onax.numpy._refs import addupdate, get, new_ref

__all__ = ["StatefulPRNG", "stateful_rng"]


def _shape(size, *parameters):
    """The shape that `size` means; that of the parameters together if it is None."""
    if size is None:
        return np.broadcast_shapes(*map(np.shape, parameters))
    return (operator.index(size),) if isinstance(size, (int, np.number)) else tuple(map(operator.index, size))


@register_dataclass
@dataclass(frozen=True, slots=True)
class StatefulPRNG:
    """A generator of random numbers whose state changes with each draw; made by `stateful_rng`.

    The state is a counter in a mutable array reference, so that functions which are compiled or transformed may draw,
    take a generator as an argument or close over it.  They cannot return it, nor can loops carry it.
    """

    _base_key: Array
    _counter: Ref

    def __post_init__(self):
        if type(self._base_key) is object:  # a tree's structure is being inspected
            return
        if not (isinstance(self._base_key, Array) and dtypes.issubdtype(self._base_key.dtype, dtypes.prng_key)):
            raise ValueError(f"Expected base_key to be a typed PRNG key; got {self._base_key}")
        if not isinstance(self._counter, Ref):
            raise ValueError(f"Expected counter to be a scalar integer ref; got {self._counter}")

    def key(self, shape=()):
        """A new random key, or an array of keys of a shape (or length), of the generator's kind.

        Raises ValueError for a generator that `split` made, unless it is mapped by `vmap`.
        """
        if self._base_key.shape:
            raise ValueError("cannot operate on split stateful generator")
        key = random.fold_in(self._base_key, get(self._counter))
        addupdate(self._counter, ..., 1)
        shape = _shape(shape)
        return random.split(key, shape) if shape else key

    def random(self, size=None, dtype=float):
        """Numbers distributed uniformly in [0, 1): an array of shape `size`, a scalar without one."""
        return random.uniform(self.key(), shape=_shape(size), dtype=dtype)

    def uniform(self, low=0, high=1, size=None, *, dtype=float):
        """Numbers distributed uniformly in [low, high), which broadcast to `size`."""
        return random.uniform(self.key(), _shape(size, low, high), minval=low, maxval=high, dtype=dtype)

    def normal(self, loc=0, scale=1, size=None, *, dtype=float):
        """Normally distributed numbers with a mean and a standard deviation, which broadcast to `size`."""
        drawn = random.normal(self.key(), _shape(size, loc, scale), dtype)
        return (asarray(loc) + asarray(scale) * drawn).astype(dtype)

    def integers(self, low, high=None, size=None, *, dtype=int):
        """Integers distributed uniformly in [low, high); in [0, low) without `high`."""
        if high is None:
            low, high = 0, low
        return random.randint(self.key(), _shape(size, low, high), minval=low, maxval=high, dtype=dtype)

    def split(self, num):
        """Independent generators as one object, for `vmap`: `num` is their number, or a shape of them."""
        return StatefulPRNG(self.key(num), new_ref(zeros(num, int)))

    def spawn(self, n_children):
        """A list of `n_children` independent generators."""
        return [StatefulPRNG(key, new_ref(0)) for key in self.key(n_children)]


def stateful_rng(seed=None, *, impl=None):
    """A generator of random numbers whose state changes with each draw.

    Args:
      seed: integer scalar; None takes one from the operating system.
      impl: the generator of keys, as in `onax.random.key`.

    Returns:
      A `StatefulPRNG`.

    Raises:
      TypeError: no seed, while a function is being traced.

    Examples:
      >>> from onax.experimental import random
      >>> rng = random.stateful_rng(42)
      >>> print(rng.integers(0, 10, 3).shape)
      (3,)
    """
    if seed is None:
        if context.get_trace() is not None:
            raise TypeError(
                "When used within transformed code, jax.experimental.random.stateful_rng() requires an explicit seed "
                "to be set."
            )
        seed = np.int64(np.random.SeedSequence().entropy & np.iinfo(np.int64).max)
    return StatefulPRNG(random.key(seed, impl=impl), new_ref(0))
