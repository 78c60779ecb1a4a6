"""Words of the counter-based generators, and what real JAX draws: recorded values.

Run by the Python that has real JAX, this file renews the recording:

    .venv-oracle/bin/python tests/counter_words.py
"""

import importlib
import json
from pathlib import Path

import numpy as np

import recorded_versions

IMPLS = ("philox2x32", "philox4x32", "threefry4x32")


def results(jax, impl):
    """name -> words drawn with a generator, as lists of integers."""
    random, jnp = importlib.import_module(f"{jax.__name__}.random"), jax.numpy
    data = lambda keys: np.asarray(random.key_data(keys)).tolist()
    words = np.array([7, 2**31, 2**32 - 1, 12345], np.uint32)
    key = random.wrap_key_data(jnp.asarray(words[: random.key_data(random.key(0, impl=impl)).size]), impl=impl)
    keys = random.split(key, 3)
    found = {
        "dtype": str(key.dtype),
        "seeds": [data(random.key(seed, impl=impl)) for seed in (0, 5, -7, 2**31 - 1)],
        "split": data(random.split(key, (2, 1))),
        "fold_in": [data(random.fold_in(key, i)) for i in (0, 9, 2**32 - 1)],
        "bits": random.bits(key, (2, 3)).tolist(),
        "bits of 8": random.bits(key, (5,), jnp.uint8).tolist(),
        "bits of 16": random.bits(key, (5,), jnp.uint16).tolist(),
        "bits of mapped keys": jax.vmap(lambda k: random.bits(k, (2,)))(keys).tolist(),
        "split of mapped keys": data(jax.vmap(random.split)(keys)),
        "fold_in of mapped keys": data(jax.vmap(lambda k: random.fold_in(k, 3))(keys)),
        "fold_in of mapped data": data(jax.vmap(lambda i: random.fold_in(key, i))(jnp.arange(3))),
        "fold_in of both": data(jax.vmap(random.fold_in)(keys, jnp.arange(3))),
        "mapped seeds": data(jax.vmap(lambda seed: random.key(seed, impl=impl))(jnp.arange(3))),
        "permutation": random.permutation(key, 9).tolist(),
        "uniform": np.asarray(random.uniform(key, (3,))).view(np.int32).tolist(),
    }
    with jax.enable_x64(True):
        found["bits of 64"] = [int(x) for x in np.asarray(random.bits(key, (3,), jnp.uint64))]
        found["seeds of 64"] = [data(random.key(seed, impl=impl)) for seed in (2**40 + 5, -(2**50))]
    return found


if __name__ == "__main__":
    import jax as real

    target = Path(__file__).parent / "golden" / "counter_words.json"
    target.write_text(json.dumps({impl: results(real, impl) for impl in IMPLS}) + "\n")
    recorded_versions.note(target, real.__version__)
