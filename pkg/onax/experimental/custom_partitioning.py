"""Functions with rules for splitting them over devices, under the names of jax.experimental.custom_partitioning.

The rules are written for XLA's partitioner.  onax computes the function by its definition and partitions that itself,
so that values are those of JAX; the rules are kept and not called.
"""

import functools

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import lazy

BATCHING = "…"


class CompoundFactor(tuple):
    """Several factors that one dimension consists of.

    Args:
      factors: names of factors.

    Examples:
      >>> from onax.experimental import custom_partitioning
      >>> custom_partitioning.CompoundFactor("i", "j")
      ('i', 'j')
    """

    __slots__ = ()

    def __new__(cls, *factors):
        if len(factors) < 2:
            raise ValueError("A compound factor should contain at least two factors")
        for factor in factors:
            if not isinstance(factor, str):
                raise ValueError(f"Each element of CompoundFactor must be a str, but got {type(factor)}")
        return super().__new__(cls, factors)


class ArrayMapping(tuple):
    """The factors of the dimensions of an array.

    Args:
      dim_mappings: for each dimension a factor or a CompoundFactor.

    Examples:
      >>> from onax.experimental import custom_partitioning
      >>> custom_partitioning.ArrayMapping("i", "j")
      ('i', 'j')
    """

    __slots__ = ()

    def __new__(cls, *dim_mappings):
        for d in dim_mappings:
            if not isinstance(d, (str, CompoundFactor)):
                raise ValueError(f"Each element of ArrayMapping must be a str or CompoundFactor, but got {type(d)}")
        return super().__new__(cls, dim_mappings)


class SdyShardingRule:
    """How the dimensions of results follow those of operands.

    Args:
      operand_mappings: an ArrayMapping for each operand.
      result_mappings: an ArrayMapping for each result.
      reduction_factors: factors that are summed over; default none.
      need_replication_factors: factors that must not be split; default none.
      permutation_factors: factors whose elements are permuted; default none.
      factor_sizes: sizes of factors that are no dimension of their own.

    Examples:
      >>> from onax.experimental import custom_partitioning as cp
      >>> rule = cp.SdyShardingRule((cp.ArrayMapping("i"),), (cp.ArrayMapping("i"),))
    """

    def __init__(self, operand_mappings, result_mappings, *, reduction_factors=(), need_replication_factors=(),
                 permutation_factors=(), **factor_sizes):  # fmt: skip
        self.operand_mappings, self.result_mappings = tuple(operand_mappings), tuple(result_mappings)
        self.reduction_factors, self.need_replication_factors = reduction_factors, need_replication_factors
        self.permutation_factors, self.factor_sizes = permutation_factors, factor_sizes

    def _key(self):
        return (self.operand_mappings, self.result_mappings, self.reduction_factors, self.need_replication_factors,
                self.permutation_factors, tuple(sorted(self.factor_sizes.items())))  # fmt: skip

    def __eq__(self, other):
        return isinstance(other, SdyShardingRule) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"SdyShardingRule({self.operand_mappings}, {self.result_mappings}, {self.factor_sizes})"


class custom_partitioning:
    """A function with rules for splitting it over devices.

    `def_partition` states the rules, as in JAX; they are kept in `rules`.  A call before that raises ValueError.

    Args:
      fun: a function of arrays, which is evaluated.
      static_argnums: indices of arguments that are not arrays; default none.

    Examples:
      >>> from onax.experimental import custom_partitioning
      >>> f = custom_partitioning.custom_partitioning(jnp.sin)
      >>> f.def_partition(partition=None, infer_sharding_from_operands=None)
      >>> f(jnp.zeros(2))
      Array([0., 0.], dtype=float32)
    """

    def __init__(self, fun, static_argnums=()):
        self.fun, self.static_argnums, self.rules = fun, static_argnums, None
        functools.update_wrapper(self, fun)

    def def_partition(self, partition, infer_sharding_from_operands=None, propagate_user_sharding=None,
                      decode_shardings=True, sharding_rule=None, *, reduction_factors=(), need_replication_factors=(),
                      permutation_factors=(), **factor_sizes):  # fmt: skip
        """States the rules for XLA's partitioner; returns `partition`.

        Raises ValueError if `sharding_rule` is neither a text, a SdyShardingRule nor a function.
        """
        if sharding_rule is not None and not (
            isinstance(sharding_rule, (str, SdyShardingRule)) or callable(sharding_rule)
        ):
            raise ValueError(
                f"sharding_rule must be a str, a SdyShardingRule or a function that returns one; got {sharding_rule!r}"
            )
        self.rules = {
            "partition": partition, "infer_sharding_from_operands": infer_sharding_from_operands,
            "propagate_user_sharding": propagate_user_sharding, "decode_shardings": decode_shardings,
            "sharding_rule": sharding_rule, "reduction_factors": reduction_factors,
            "need_replication_factors": need_replication_factors, "permutation_factors": permutation_factors,
            "factor_sizes": factor_sizes,
        }  # fmt: skip
        return partition

    def __call__(self, *args, **kwargs):
        if self.rules is None:
            raise ValueError(f"custom_partitioning: {self.fun!r} is called before def_partition")
        bound = lazy.inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(f"keyword arguments could not be resolved to positions: {sorted(bound.kwargs)}")
        return self.fun(*bound.args)


__all__ = ["BATCHING", "ArrayMapping", "CompoundFactor", "SdyShardingRule", "custom_partitioning"]

_wrap_api_functions(globals(), __name__)
