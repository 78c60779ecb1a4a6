"""Programs as users write them: `programs(jax)` works for onax and for real JAX, whose results are recorded."""

import importlib
import math
from pathlib import Path

FIELDS = sorted(path.stem for path in (Path(__file__).parent / "programs" / "fields").glob("*.py"))
KEPT = 32  # elements of a result that are recorded


def programs(jax):
    """'program: part' -> (function, arguments)."""
    found = {}
    for field in FIELDS:
        new = importlib.import_module(f"programs.fields.{field}").programs(jax)
        assert not found.keys() & new.keys(), f"names of programs in {field} are taken"
        found.update(new)
    return found


def cases(jax):
    """name -> (the compiled function's results, a part of the elements of large ones; arguments)."""
    return {name: (sampled(jax, jax.jit(function)), args) for name, (function, args) in programs(jax).items()}


def sampled(jax, function):
    """The function with its results as a list of arrays, of large ones a few elements and the sum."""

    def call(*args):
        return [part for leaf in jax.tree.leaves(function(*args)) for part in parts(jax, leaf)]

    return call


def parts(jax, leaf):
    """A result in as few numbers as a recording keeps."""
    jnp = jax.numpy
    leaf = jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf
    if leaf.size <= KEPT:
        return [leaf]
    flat = leaf.ravel()[:: math.ceil(leaf.size / KEPT)]
    return [flat, jnp.sum(jnp.abs(leaf.astype(jnp.float32)))]
