"""Policies of `checkpoint`: which intermediate values are saved; and names of intermediate values.

`policy(primitive, *operand avals, **params)` is called for every operation of the forward pass.  True or `Saveable`
saves its results; False, None or `Recompute` does not.  `Offloadable` saves them too, without moving them, since
there is only one memory.
"""

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

from onax._core.rules import deflinear
from onax._native.array import Array
from onax._native.dispatch import Primitive
from onax._native.tree import tree_map
from onax._prims.conv import conv_general_dilated_p
from onax._prims.dot import dot_general_p

Offloadable = namedtuple("Offloadable", "src dst")
Offloadable.__doc__ = """A policy's answer: the results are saved, in JAX in another memory.

    Args:
      src: the memory where they are computed, such as "device".
      dst: the memory where they are kept, such as "pinned_host"; here there is one memory.

    Examples:
      >>> onax.ad_checkpoint.Offloadable("device", "pinned_host").dst
      'pinned_host'
    """


@dataclass(slots=True, eq=False)
class _PolicyAnswer:
    """What a policy returned."""

    name: str
    saves: bool

    def __bool__(self):
        return self.saves

    def __repr__(self):
        return self.name


Saveable = _PolicyAnswer("Saveable", True)
Recompute = _PolicyAnswer("Recompute", False)


def saves(policy, eqn):
    """Whether the policy saves the results of an equation."""
    return policy is not None and bool(policy(eqn.primitive, *(a.aval for a in eqn.invars), **eqn.params))


# ---- names ----

name_p = Primitive(
    "name",
    kernel=lambda x, name: x,
    abstract_eval=lambda x, name: x,
    batch=lambda axis_data, operands, dims, name: (name_p.bind(*operands, name=name), dims[0]),
)
deflinear(name_p, lambda ct, x, name: [ct])


def _name_jvp(primals, tangents, *, name):
    return name_p.bind(*primals, name=name), tangents[0]


name_p.jvp = _name_jvp


def checkpoint_name(x: Any, name: str) -> Any:
    """Returns the tree; policies such as `save_only_these_names` select its arrays by the name.

    Args:
      x: a tree of arrays.
      name: a str.

    Returns:
      A tree equal to `x`.

    Raises:
      TypeError: the name has no hash.

    Examples:
      >>> onax.ad_checkpoint.checkpoint_name(jnp.ones(2), "hidden")
      Array([1., 1.], dtype=float32)
    """
    if name.__hash__ is None or isinstance(name, Array):
        raise TypeError(f"checkpoint_name: a name is a string or another value with a hash, got {type(name)}")
    return tree_map(lambda leaf: name_p.bind(leaf, name=name), x)


# ---- policies ----


def everything_saveable(*_, **__):
    """Saves every intermediate value: nothing is recomputed."""
    return True


def nothing_saveable(*_, **__):
    """Saves no intermediate value: only the arguments are stored."""
    return False


@dataclass(frozen=True)
class DotsSaveable:
    """Saves the results of matrix products and convolutions, or only of products without batch dimensions."""

    only_if_no_batch_dims: bool = False

    def __call__(self, primitive, *_, **params):
        if self.only_if_no_batch_dims:
            return primitive is dot_general_p and not any(params["dimension_numbers"][1])
        return primitive in (dot_general_p, conv_general_dilated_p)


dots_saveable = DotsSaveable()
dots_with_no_batch_dims_saveable = DotsSaveable(
    only_if_no_batch_dims=True
)  # such as products of activations and weights


def offload_dot_with_no_batch_dims(offload_src, offload_dst):
    """`dots_with_no_batch_dims_saveable`: nothing is offloaded, since there is one memory."""

    def policy(primitive, *_, **params):
        is_saveable = dots_with_no_batch_dims_saveable(primitive, **params)
        return Offloadable(src=offload_src, dst=offload_dst) if is_saveable else Recompute

    return policy


@dataclass(frozen=True)
class SaveOnlyTheseNames:
    """Saves only the values that `checkpoint_name` gave one of these names."""

    saveable_names: frozenset

    def __call__(self, primitive, *_, **params):
        return primitive is name_p and params["name"] in self.saveable_names


@dataclass(frozen=True)
class SaveAnyNamesButThese:
    """Saves the values that have a name other than these names."""

    names: frozenset

    def __call__(self, primitive, *_, **params):
        return primitive is name_p and params["name"] not in self.names


def save_only_these_names(*names_which_can_be_saved):
    """Saves only the values that `checkpoint_name` gave one of these names."""
    return SaveOnlyTheseNames(frozenset(names_which_can_be_saved))


def save_any_names_but_these(*names_not_to_save):
    """Saves the values that have a name other than these names."""
    return SaveAnyNamesButThese(frozenset(names_not_to_save))


def save_anything_except_these_names(*names_not_to_save):
    """Saves every intermediate value except those of these names."""
    names = frozenset(names_not_to_save)
    return lambda primitive, *_, **params: not (primitive is name_p and params["name"] in names)


def save_from_both_policies(policy_1, policy_2):
    """Saves what either policy saves; raises ValueError unless both return a bool."""

    def policy(primitive, *avals, **params):
        one, two = policy_1(primitive, *avals, **params), policy_2(primitive, *avals, **params)
        if not (isinstance(one, bool) and isinstance(two, bool)):
            raise ValueError(
                f"The return value of the policies should be a boolean. Got: {one} and {two}. Please write a custom "
                "policy function directly, rather than using this helper function."
            )
        return one or two

    return policy


def save_and_offload_only_these_names(
    *, names_which_can_be_saved, names_which_can_be_offloaded, offload_src, offload_dst
):
    """Saves the values with one of these names; raises ValueError for a name in both lists."""
    saved, offloaded = set(names_which_can_be_saved), set(names_which_can_be_offloaded)
    if saved & offloaded:
        raise ValueError(
            "The names should be exclusive and should not intersect in `names_which_can_be_saved` and "
            f"`names_which_can_be_offloaded`. Got names_which_can_be_saved={saved}, "
            f"names_which_can_be_offloaded={offloaded} and the intersection={saved & offloaded}"
        )

    def policy(primitive, *_, **params):
        if primitive is name_p and params["name"] in saved:
            return Saveable
        if primitive is name_p and params["name"] in offloaded:
            return Offloadable(src=offload_src, dst=offload_dst)
        return Recompute

    return policy


class checkpoint_policies:
    """The namespace of policies, with JAX's names."""

    everything_saveable = staticmethod(everything_saveable)
    nothing_saveable = staticmethod(nothing_saveable)
    dots_saveable = staticmethod(dots_saveable)
    checkpoint_dots = staticmethod(dots_saveable)
    dots_with_no_batch_dims_saveable = staticmethod(dots_with_no_batch_dims_saveable)
    checkpoint_dots_with_no_batch_dims = staticmethod(dots_with_no_batch_dims_saveable)
    offload_dot_with_no_batch_dims = staticmethod(offload_dot_with_no_batch_dims)
    save_only_these_names = staticmethod(save_only_these_names)
    save_any_names_but_these = staticmethod(save_any_names_but_these)
    save_anything_except_these_names = staticmethod(save_anything_except_these_names)
    save_from_both_policies = staticmethod(save_from_both_policies)
    save_and_offload_only_these_names = staticmethod(save_and_offload_only_these_names)
