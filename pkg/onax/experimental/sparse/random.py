"""Random sparse arrays."""

import math
import operator
from collections.abc import Sequence
from typing import Any

from onax import numpy as jnp
from onax import random
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import dtypes
from onax._ground.typing import AnyFunction, ArrayLike, DTypeLike
from onax._transforms.vmap import vmap
from onax.experimental.sparse._layout import split
from onax.experimental.sparse.bcoo import BCOO


def random_bcoo(
    key: ArrayLike,
    shape: Sequence[int],
    *,
    dtype: DTypeLike = float,
    indices_dtype: DTypeLike | None = None,
    nse: int | float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: AnyFunction = random.uniform,
    **kwds: Any,
) -> BCOO:
    """Returns a random sparse array, with JAX's bits.

    Args:
      key: a random key.
      shape: the shape.
      dtype: the dtype of the values; default float.
      indices_dtype: the dtype of the indices; default None, int32.
      nse: the number of elements, or, between 0 and 1, their share of the sparse axes' product; default 0.2.
      n_batch: the number of leading batch axes; default 0.
      n_dense: the number of trailing dense axes; default 0.
      unique_indices: whether no index occurs twice in an example; default True.
      sorted_indices: whether elements are sorted by their indices; default False.
      generator: makes the values: ``generator(key, shape=..., dtype=..., **kwds)``; default `onax.random.uniform`.
      kwds: its options.

    Returns:
      A BCOO.

    Raises:
      ValueError: the numbers do not fit the shape.

    Examples:
      >>> from onax.experimental import sparse
      >>> sparse.random_bcoo(onax.random.key(0), (3, 4), nse=5)
      BCOO(float32[3, 4], nse=5)
    """
    shape = tuple(map(operator.index, shape))
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > len(shape):
        raise ValueError(f"Invalid {n_batch=}, {n_dense=} for {shape=}")
    n_sparse = len(shape) - n_batch - n_dense
    batch, sparse, dense = split(shape, n_batch, n_sparse)
    size = math.prod(sparse)
    if not 0 <= nse < size:
        raise ValueError(f"got {nse=}, expected to be between 0 and {size}")
    count = math.ceil(nse * size) if 0 < nse < 1 else operator.index(nse)  # type: ignore[arg-type]
    indices_dtype = dtypes.canonicalize_dtype(int) if indices_dtype is None else indices_dtype
    if size > jnp.iinfo(indices_dtype).max:
        raise ValueError(f"{indices_dtype=} does not have enough range to generate sparse indices of size {size}.")

    def indices_of(key):
        if not sparse:
            return jnp.zeros((count, 0), indices_dtype)
        flat = random.choice(key, size, shape=(count,), replace=not unique_indices).astype(indices_dtype)
        return jnp.column_stack(jnp.unravel_index(flat, sparse))

    data_key, *index_keys = random.split(key, math.prod(batch) + 1)
    data = generator(data_key, shape=(*batch, count, *dense), dtype=dtype, **kwds)
    indices = vmap(indices_of)(jnp.stack(index_keys)) if index_keys else jnp.zeros((0, count, n_sparse), indices_dtype)
    made = BCOO((data, indices.reshape(*batch, count, n_sparse)), shape=shape)
    return made.sort_indices() if sorted_indices else made


__all__ = ["random_bcoo"]

_wrap_api_functions(globals(), __name__)
