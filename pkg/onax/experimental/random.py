"""Random generators with a state, under the names of jax.experimental.random."""

import dataclasses
import operator
import secrets

import numpy as np

from onax import numpy as jnp
from onax import random
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.refs import AbstractRef
from onax._core.trace import Tracer, typeof
from onax._core.trees import register_dataclass
from onax._ground import dtypes
from onax._ground.typing import ArrayLike
from onax._native import context
from onax._native.array import Array
from onax._prims.random_generators import PRNGImpl
from onax.numpy._refs import new_ref


def _shape_of(size, *args):
    if size is None:
        return np.broadcast_shapes(*map(np.shape, args))
    return (operator.index(size),) if np.ndim(size) == 0 else tuple(map(operator.index, size))


@register_dataclass
@dataclasses.dataclass(frozen=True, slots=True)
class StatefulPRNG:
    """A generator whose draws change its state; `stateful_rng` makes one.

    The state is a counter in a mutable array reference, which is folded into a key for each draw.  Functions under
    `jit` may use a generator from outside or take it as an argument, and cannot return it.

    Examples:
      >>> from onax.experimental import random
      >>> random.stateful_rng(42).uniform(size=(2,)).shape
      (2,)
    """

    _base_key: Array
    _counter: object

    def __post_init__(self):
        key, counter = self._base_key, self._counter
        if isinstance(key, (Array, Tracer)) and not dtypes.issubdtype(key.dtype, dtypes.prng_key):
            raise ValueError(f"Expected base_key to be a typed PRNG key; got {key}")
        if isinstance(counter, (Array, Tracer, np.ndarray, int)) and type(typeof(counter)) is not AbstractRef:
            raise ValueError(f"Expected counter to be a scalar integer ref; got {counter}")

    def key(self, shape=()):
        """A new key, or an array of keys of this shape; the state changes."""
        if self._base_key.shape:
            raise ValueError("cannot operate on split stateful generator")
        key = random.fold_in(self._base_key, self._counter[...])
        self._counter.addupdate(1)
        shape = _shape_of(shape)
        return random.split(key, shape) if shape else key

    def random(self, size=None, dtype=float):
        """Floats uniform in [0, 1), of shape `size`."""
        return random.uniform(self.key(), shape=_shape_of(size), dtype=dtype)

    def uniform(self, low=0, high=1, size=None, *, dtype=float):
        """Floats uniform in [low, high); the shape is `size`, or that of the bounds."""
        return random.uniform(self.key(), _shape_of(size, low, high), minval=low, maxval=high, dtype=dtype)

    def normal(self, loc=0, scale=1, size=None, *, dtype=float):
        """Normally distributed floats with this mean and standard deviation; the shape is `size`, or theirs."""
        normal = random.normal(self.key(), _shape_of(size, loc, scale), dtype)
        return (jnp.asarray(loc) + jnp.asarray(scale) * normal).astype(dtype)

    def integers(self, low, high=None, size=None, *, dtype=int):
        """Integers in [low, high), or in [0, low) without `high`; the shape is `size`, or that of the bounds."""
        low, high = (0, low) if high is None else (low, high)
        return random.randint(self.key(), _shape_of(size, low, high), minval=low, maxval=high, dtype=dtype)

    def split(self, num):
        """A generator of generators of shape `num`, for `vmap`, with states of their own."""
        return StatefulPRNG(self.key(num), new_ref(jnp.zeros(num, int)))

    def spawn(self, n_children):
        """A list of generators with states of their own."""
        return [StatefulPRNG(key, new_ref(0)) for key in self.key(n_children)]


def stateful_rng(seed: ArrayLike | None = None, *, impl: str | PRNGImpl | None = None) -> StatefulPRNG:
    """Returns a generator with a state.

    Args:
      seed: an integer; without it, which is for use outside of transformations only, the system's entropy.
      impl: the name of the generator of keys, as in `random.key`.

    Returns:
      A StatefulPRNG.

    Raises:
      TypeError: there is no seed within a transformed function.

    Examples:
      >>> from onax.experimental import random
      >>> rng = random.stateful_rng(42)
      >>> bool(rng.uniform() != rng.uniform())
      True
    """
    if seed is None:
        if context.get_trace() is not None:
            raise TypeError(
                "When used within transformed code, jax.experimental.random.stateful_rng() requires an explicit seed "
                "to be set."
            )
        seed = np.int64(secrets.randbits(63))
    return StatefulPRNG(random.key(seed, impl=impl), new_ref(0))


__all__ = ["StatefulPRNG", "stateful_rng"]

_wrap_api_functions(globals(), __name__)
