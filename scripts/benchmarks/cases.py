"""What a benchmark times: calls of a function, or first calls of a fresh one."""

import contextlib
import time
from dataclasses import dataclass

import numpy as np

BATCH = 1e-3  # seconds of a batch of calls: short, so that some batches run undisturbed by other programs


def best(function, seconds=0.15, repeats=5):
    """The least time of one call, in microseconds, over batches that fill `seconds`, at least `repeats` of them."""

    def batch(number):
        started = time.perf_counter()
        for _ in range(number):
            function()
        return time.perf_counter() - started

    function()
    number, elapsed = 1, batch(1)
    while elapsed < BATCH:
        number *= 2
        elapsed = batch(number)
    least, total, done = elapsed, elapsed, 1
    while done < repeats or total < seconds:
        elapsed = batch(number)
        least, total, done = min(least, elapsed), total + elapsed, done + 1
    return least / number * 1e6


def once(make, repeats=5):
    """The least time of one first call, in microseconds: `make()` gives a fresh function to call."""
    times = []
    for _ in range(repeats):
        function = make()
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times) * 1e6


def numbers(*shape, dtype="float32"):
    """A NumPy array of normal numbers, the same in every library."""
    return np.random.default_rng(len(shape) + sum(shape)).normal(size=shape).astype(dtype)


@dataclass(frozen=True)
class Case:
    """Repeated calls of a function.

    Attributes:
      name: its row in the table.
      function: jitted before it is called, if `jit` is true.
      args: pytrees of arrays; NumPy arrays are placed on the device before.
      jit: whether the function is jitted; if not, its operations run eagerly.
      wait: whether a call includes waiting for its results.
      x64: whether 64-bit types are enabled.
      seconds: spent on measuring.
      repeats: the least number of batches of calls.
    """

    name: str
    function: object
    args: tuple = ()
    jit: bool = True
    wait: bool = True
    x64: bool = False
    seconds: float = 0.15
    repeats: int = 5

    def time(self, jax):
        """Microseconds of a call."""
        with jax.enable_x64(True) if self.x64 else contextlib.nullcontext():
            function, args, ready = self.function, self.placed_args(jax), jax.block_until_ready
            function = jax.jit(function) if self.jit else function
            call = (lambda: ready(function(*args))) if self.wait else (lambda: function(*args))
            return best(call, self.seconds, self.repeats)

    def explain(self, onax):
        """Text that says where a call of the compiled function spends its time; onax alone can."""
        if not self.jit:
            return "it runs eagerly; scripts/profile_eager.py measures what eager operations cost"
        with onax.enable_x64(True) if self.x64 else contextlib.nullcontext():
            return onax.explain(self.function)(*self.placed_args(onax)).summary()

    def placed_args(self, jax):
        """The arguments with arrays of the library instead of NumPy's."""
        place = lambda leaf: jax.numpy.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf
        return jax.tree_util.tree_map(place, self.args)


@dataclass(frozen=True)
class FirstCall:
    """First calls of a fresh function: tracing, lowering, compiling, and one run."""

    name: str
    function: object
    args: tuple
    repeats: int = 5

    def time(self, jax):
        """Microseconds of a first call."""

        def fresh():
            jitted = jax.jit(lambda *args: self.function(*args))
            return lambda: jax.block_until_ready(jitted(*self.args))

        return once(fresh, self.repeats)

    def explain(self, onax):
        """Text that says what a first call consists of."""
        return "tracing, lowering and compiling; scripts/benchmark.py times them together"
