"""Functions with rules for splitting them over devices, under the names of jax.experimental.custom_partitioning.

The rules are written for XLA's partitioner.  onax computes the function by its definition and partitions that itself,
so that values are those of JAX; the rules are kept and not called.
"""

import functools
import re

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import lazy

BATCHING = "…"
_TOKEN = re.compile(r"…\d*|\w+|\S")


def _check_factor(name):
    if not name[0].isalpha():
        raise ValueError(f"Factor names have to start with a letter, but got '{name[0]}'")
    for char in name:
        if not (char.isalnum() or char == "_"):
            raise ValueError(f"Unknown character '{char}'")


def _is_batching(factor):
    """Whether a factor stands for leading dimensions: an ellipsis, which may have a number."""
    return factor.startswith(BATCHING) and (factor == BATCHING or factor[1:].isdigit())


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
            if _is_batching(factor):
                raise ValueError("Ellipsis can't be used in a compound factor")
            _check_factor(factor)
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
        for i, d in enumerate(dim_mappings):
            if not isinstance(d, (str, CompoundFactor)):
                raise ValueError(f"Each element of ArrayMapping must be a str or CompoundFactor, but got {type(d)}")
            if isinstance(d, str) and not _is_batching(d):
                _check_factor(d)
            elif isinstance(d, str) and i:
                raise ValueError("Ellipsis can only be used at the beginning of a dimension")
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

    Raises:
      ValueError: a size is missing or not needed, or a factor is not used or is of several kinds.

    Examples:
      >>> from onax.experimental import custom_partitioning as cp
      >>> rule = cp.SdyShardingRule((cp.ArrayMapping("i"),), (cp.ArrayMapping("i"),))
    """

    def __init__(self, operand_mappings, result_mappings, *, reduction_factors=(), need_replication_factors=(),
                 permutation_factors=(), **factor_sizes):  # fmt: skip
        whole = {}
        for d in (d for mapping in (*operand_mappings, *result_mappings) for d in mapping):
            whole.update(dict.fromkeys([d], True) if isinstance(d, str) else {f: whole.get(f, False) for f in d})
        for factor in factor_sizes:
            if factor not in whole:
                raise ValueError(f"Factor {factor} is not used in the rule, but size is provided")
        for factor, is_dimension in whole.items():
            if factor not in factor_sizes and not is_dimension:
                raise ValueError(f"Factor {factor} is only used in compound factors; must specify its size")
            if factor in factor_sizes and is_dimension:
                raise ValueError(f"Factor {factor} represents a whole dimension; do not specify its size")
        kinds = {"reduction_factors": reduction_factors, "need_replication_factors": need_replication_factors,
                 "permutation_factors": permutation_factors}  # fmt: skip
        _check_kinds(kinds, whole)
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
        kinds = ("reduction_factors", "need_replication_factors", "permutation_factors")
        special = "".join(f" {kind}={getattr(self, kind)}" for kind in kinds if getattr(self, kind))
        return f"SdyShardingRule({self.operand_mappings}, {self.result_mappings}, {self.factor_sizes}{special})"


def _check_kinds(kinds, used):
    """Raises ValueError unless the factors of each kind are distinct, used in the rule and of no other kind."""
    seen = set()
    for kind, factors in kinds.items():
        if not isinstance(factors, tuple):
            raise ValueError(f"{kind} must be a tuple of factors")
        if len(factors) != len(set(factors)):
            raise ValueError(f"{kind} contains duplicated factors")
        for factor in factors:
            if factor not in used:
                raise ValueError(f"Factor {factor} in {kind} is not used in the rule")
            if factor in seen:
                raise ValueError(
                    f"Factor {factor} can only be in one of the reduction, need replication, or permutation factor "
                    "sets."
                )
            seen.add(factor)


def _parse_rule(rule, options):
    """The SdyShardingRule of a text such as "i j, j k -> i k"."""
    if not isinstance(rule, str):
        raise TypeError(f"rule must be a str, but got {type(rule)}")
    sizes = {name: size for name, size in options.items() if not name.endswith("_factors")}
    if not all(isinstance(size, int) for size in sizes.values()):
        raise TypeError(f"factor_sizes must be a dict of str to int, but got {sizes}")
    if BATCHING in rule:
        raise ValueError(f"Unknown character '{BATCHING}'")
    text = rule.replace("...", BATCHING)
    if "." in text:
        raise ValueError("Character '.' must be used inside ellipsis '...'")
    sides = text.split("->")
    if len(sides) != 2:
        raise ValueError(f"There is no -> in rule: '{text}'")
    return SdyShardingRule(*map(_parse_side, sides), **options)


def _parse_side(text):
    """The ArrayMappings of operands or results."""
    mappings, dims, group = [], [], None
    for token in _TOKEN.findall(text):
        if token.startswith(BATCHING):
            if group is not None or dims:
                raise ValueError("Ellipsis can only be used at the beginning of a dimension")
            dims.append(f"{BATCHING}{int(token[1:] or 0)}")
        elif token == "(":
            if group is not None:
                raise ValueError("Compound factors should be one level, nested brackets are not allowed")
            group = []
        elif token == ")":
            if group is None:
                raise ValueError("Brackets are not balanced")
            if len(group) < 2:
                raise ValueError("Brackets should contain at least two factors")
            dims.append(CompoundFactor(*group))
            group = None
        elif token == ",":
            mappings.append(ArrayMapping(*dims))
            dims = []
        else:
            if token[0] != "_" and not token[0].isalnum():
                raise ValueError(f"Unknown character '{token}'")
            _check_factor(token)
            (dims if group is None else group).append(token)
    if group is not None:
        raise ValueError(f"Brackets are not balanced in rule: '{' '.join(text.split())}'")
    return (*mappings, ArrayMapping(*dims))


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

        Raises TypeError if `sharding_rule` is neither a text, a SdyShardingRule nor a function, and ValueError for a
        text that is no rule.
        """
        options = {"reduction_factors": reduction_factors, "need_replication_factors": need_replication_factors,
                   "permutation_factors": permutation_factors}  # fmt: skip
        options = {name: value for name, value in options.items() if value} | factor_sizes
        if sharding_rule is not None and not isinstance(sharding_rule, SdyShardingRule) and not callable(sharding_rule):
            sharding_rule = _parse_rule(sharding_rule, options)
        elif options:
            raise ValueError(f"Unknown keyword arguments: {options}")
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
