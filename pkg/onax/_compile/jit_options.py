"""The options of `jit`, checked and normalised."""

import enum
from dataclasses import dataclass, replace

from onax._core.layout import Format, Layout
from onax._core.meshes import UNCONSTRAINED, PartitionSpec, mesh_of_options
from onax._core.sharding import NamedSharding, Sharding
from onax._ground.devices import Device, get_backend
from onax._native.tree import tree_flatten, tree_map
from onax._transforms.flatten import fun_signature, normalize_argnums


@dataclass(slots=True, eq=False)
class JitOptions:
    """The options of one `jit` call, normalised; functions share programs if their `key`s are equal."""

    static_argnums: tuple
    static_argnames: tuple
    donate_argnums: tuple
    donate_argnames: tuple
    keep_unused: bool
    inline: bool
    device: Device | None
    in_shardings: object
    out_shardings: object
    compiler_options: dict | None
    uses_with_mesh: bool = False  # the mesh in context is that of ``with mesh:``, not that of `set_mesh`

    @property
    def key(self):
        """A hashable value that is equal for equal options."""
        return (
            self.static_argnums, self.static_argnames, self.donate_argnums, self.donate_argnames, self.keep_unused,
            self.inline, self.device, hashable(self.in_shardings), hashable(self.out_shardings),
            hashable(self.compiler_options), self.uses_with_mesh,
        )  # fmt: skip

    def in_context(self, in_tree):
        """The options in the mesh in context, for arguments of this structure, that of (args, kwargs).

        Raises ValueError for a device beside a mesh.
        """
        mesh = mesh_of_options(self.uses_with_mesh)
        if self.device is not None and not mesh.empty:
            raise ValueError(
                "Mesh context manager should not be used with jit when backend or device is also specified as an "
                "argument to jit."
            )
        whole = None if mesh.empty else NamedSharding(mesh, PartitionSpec())
        arguments = None if self.in_shardings is OnMesh.WHOLE and in_tree.children()[1].num_leaves else whole
        found = {"in_shardings": _without_marks(self.in_shardings, arguments)}
        return replace(self, **found, out_shardings=_without_marks(self.out_shardings, whole))


class OnMesh(enum.Enum):
    """What None among the shardings of `pjit` stands for: the whole on all devices of the mesh, if there is one."""

    WHOLE = "whole"


def mark_whole(shardings):
    """A tree of shardings as given to `pjit`, with OnMesh.WHOLE for None."""
    return tree_map(lambda s: OnMesh.WHOLE if s is None else s, shardings, is_leaf=lambda s: s is None)


def _without_marks(shardings, whole):
    """A tree of shardings with `whole` for OnMesh.WHOLE; None if that leaves none."""
    found = tree_map(lambda s: whole if s is OnMesh.WHOLE else s, shardings)
    return found if tree_flatten(found)[0] else None


class Inline(enum.Enum):
    """What `jit(f, inline=...)` does with a call of f in a program that is being staged.

    JAX_EARLY, like True, puts its equations into that program.  The others, like False, leave it one equation: there is
    no XLA, so the passes inline it in any case.
    """

    JAX_EARLY = "jax_early"
    JAX_LATE = "jax_late"
    XLA_EARLY = "xla_early"
    XLA_LATE = "xla_late"
    AUTO = "auto"


def _inlines(inline):
    return inline is Inline.JAX_EARLY if isinstance(inline, Inline) else bool(inline)


class CompilerEffortLevel(enum.Enum):
    """XLA's levels of effort, under JAX's name; nothing in onax takes one."""

    UNKNOWN = 0
    O0 = 9
    O1 = 19
    O2 = 29
    O3 = 39


def jit_options(fun, given):
    """Makes JitOptions of the keyword arguments of `jit`.  Raises ValueError for arguments that `fun` does not have."""
    static = normalize_argnums(fun, given["static_argnums"], given["static_argnames"])
    donate = normalize_argnums(fun, given["donate_argnums"], given["donate_argnames"])
    for name in ("in_shardings", "out_shardings"):
        _check_shardings(name, given[name], given["device"] is not None or given["backend"] is not None)
    options = JitOptions(
        *static,
        *donate,
        keep_unused=bool(given["keep_unused"]),
        inline=_inlines(given["inline"]),
        device=_device(given["device"], given["backend"]),
        in_shardings=_without_formats(given["in_shardings"]),
        out_shardings=_without_formats(given["out_shardings"]),
        compiler_options=given["compiler_options"],
    )
    _check_arguments(fun, options, given)
    return options


def hashable(value):
    """A hashable value for shardings and compiler options; other objects are compared by identity."""
    if value is None:
        return None
    leaves, tree = tree_flatten(value)
    try:
        hash(tuple(leaves))
    except TypeError:
        return tree, tuple(map(id, leaves))
    return tree, tuple(leaves)


def _check_shardings(name, shardings, has_device):
    """Raises an error unless the leaves of `in_shardings` or `out_shardings` are shardings and no device is stated."""
    if shardings is None:
        return
    if has_device:
        raise ValueError(f"If backend or device is specified on jit, then {name} should not be specified.")
    for leaf in tree_flatten(shardings)[0]:
        if not isinstance(leaf, (Sharding, PartitionSpec, Format, OnMesh)):
            raise TypeError(
                f"{name} leaf specifications are expected to be PartitionSpec instances or None, but got {leaf}"
            )
        if isinstance(leaf, NamedSharding) and leaf.mesh.empty:
            raise ValueError(
                f"One of {name} leaf specifications got an empty NamedSharding: {leaf} which is not allowed."
            )
        spec = leaf.spec if isinstance(leaf, NamedSharding) else leaf
        if isinstance(spec, PartitionSpec) and UNCONSTRAINED in spec:
            raise ValueError(f"Unconstrained dims are not allowed when passed to {name}: {leaf}")


def _without_formats(shardings):
    """The stated shardings, with that of each Format in its place; a layout left to the compiler is row-major."""

    def sharding_of(leaf):
        if not isinstance(leaf, Format):
            return leaf
        if isinstance(leaf.layout, Layout):
            leaf.layout.check_row_major(range(len(leaf.layout.major_to_minor)))
        return leaf.sharding

    return tree_map(sharding_of, shardings)


def _device(device, backend):
    if device is not None and backend is not None:
        raise ValueError(f"can't specify both a device and a backend for jit, got {device=} and {backend=}")
    if backend is not None:
        return get_backend(backend).devices()[0]
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"jit: device must be a Device, got {device!r}")
    return device


def _check_arguments(fun, options, given):
    """Raises an error unless static and donated arguments exist and are disjoint."""
    signature = fun_signature(fun)
    if signature is None and given["donate_argnames"] is not None:
        raise ValueError(
            f"Getting the signature of function {fun} failed. Pass donate_argnums instead of donate_argnames."
        )
    if signature is not None:
        for kind in ("static", "donate"):
            _check_positions(signature, kind, getattr(options, f"{kind}_argnums"), given[f"{kind}_argnums"])
            if given[f"{kind}_argnames"] is not None:
                _check_names(signature, kind, getattr(options, f"{kind}_argnames"))
    both = set(options.static_argnames) & set(options.donate_argnames)
    if both:
        raise ValueError(
            "static_argnames and donate_argnames cannot intersect. Argument names "
            f"{both} appear in both static_argnames and donate_argnames"
        )
    both = set(options.static_argnums) & set(options.donate_argnums)
    if both:
        raise ValueError(
            "static_argnums and donate_argnums cannot intersect. Argument positions "
            f"{both} appear in both static_argnums and donate_argnums"
        )


def _check_positions(signature, kind, argnums, given):
    parameters = list(signature.parameters.values())
    if given is None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    if any(not -count <= n < count for n in argnums):
        raise ValueError(
            f"Jitted function has {kind}_argnums={tuple(argnums)}, but only accepts {count} positional arguments."
        )


def _check_names(signature, kind, argnames):
    parameters = signature.parameters.values()
    no_keywords = {p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)} & set(argnames)
    if no_keywords:
        raise ValueError(
            f"Jitted function has invalid argnames {no_keywords} in {kind}_argnames. These are positional-only"
        )
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    unknown = set(argnames) - {p.name for p in parameters}
    if unknown:
        raise ValueError(
            f"Jitted function has invalid argnames {unknown} in {kind}_argnames. Function does not take these args."
        )
