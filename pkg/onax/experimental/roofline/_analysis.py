"""Programs walked equation by equation: each has its rule's costs, and values live until their last use."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from onax._control.shard_map import shard_map, shard_map_p
from onax._core.jaxpr import Jaxpr, Literal, last_uses
from onax._core.paths import broadcast_prefix
from onax._core.rewrite import dce_jaxpr
from onax._core.sharding import NamedSharding
from onax._core.slots import Slot
from onax._ground import dtypes
from onax._ground.source import NameStack
from onax._ground.typing import AnyFunction, PyTree
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._native.tree import tree_flatten, tree_map, tree_unflatten
from onax._prims.convert import convert
from onax._transforms.abstract import ShapeDtypeStruct, make_jaxpr
from onax._transforms.autodiff import vjp as make_vjp

rooflines = Slot(
    "roofline",
    "rule(ctx, *shapes, **params) -> RooflineResult",
    "It costs nothing but the memory of its results.",
    "onax.experimental.roofline",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineShape:
    """The shape and dtype of a value.

    Args:
      shape: a tuple of ints.
      dtype: its dtype.

    Examples:
      >>> from onax.experimental import roofline
      >>> roofline.RooflineShape(shape=(2, 3), dtype=jnp.dtype("float32")).bytes
      24
    """

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def from_aval(cls, aval):
        """That of an abstract value."""
        if not isinstance(aval, ShapedArray):
            raise TypeError(f"Expected ShapedArray, got {type(aval)}.")
        return cls(shape=aval.shape, dtype=aval.dtype)

    @property
    def size(self):
        """The number of elements."""
        return prod(self.shape)

    @property
    def bytes(self):
        """The size in memory."""
        return self.size * self.dtype.itemsize

    @classmethod
    def total_bytes(cls, avals):
        """The size in memory of several abstract values."""
        return sum(cls.from_aval(aval).bytes for aval in avals)


def _added(a, b):
    return {axis: a.get(axis, 0) + b.get(axis, 0) for axis in (*a, *(axis for axis in b if axis not in a))}


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineResult:
    """Costs of a program, which add up; of the peak, the larger one counts.

    Args:
      flops: operations of matrix products.
      unfused_flops: operations, of elementwise ones too.
      ici_bytes: for each axis of the mesh, the bytes that go over its slowest link.
      ici_latency: for each axis of the mesh, the number of hops.
      hbm_bytes: bytes that matrix products read and write.
      peak_hbm_bytes: bytes of the values that are alive at one time, at most.
      unfused_hbm_bytes: bytes that operations read and write if each of them is run by itself.

    Examples:
      >>> from onax.experimental import roofline
      >>> (2 * roofline.RooflineResult(flops=3)).flops
      6
    """

    flops: int = 0
    unfused_flops: int = 0
    ici_bytes: dict[str, int] = field(default_factory=dict)
    ici_latency: dict[str, int] = field(default_factory=dict)
    hbm_bytes: int = 0
    peak_hbm_bytes: int = 0
    unfused_hbm_bytes: int = 0

    @classmethod
    def zeros(cls):
        """No costs."""
        return cls()

    def __add__(self, other):
        return RooflineResult(
            flops=self.flops + other.flops,
            unfused_flops=self.unfused_flops + other.unfused_flops,
            ici_bytes=_added(self.ici_bytes, other.ici_bytes),
            ici_latency=_added(self.ici_latency, other.ici_latency),
            hbm_bytes=self.hbm_bytes + other.hbm_bytes,
            peak_hbm_bytes=max(self.peak_hbm_bytes, other.peak_hbm_bytes),
            unfused_hbm_bytes=self.unfused_hbm_bytes + other.unfused_hbm_bytes,
        )

    def __mul__(self, constant):
        return RooflineResult(
            flops=int(self.flops * constant),
            unfused_flops=int(self.unfused_flops * constant),
            ici_bytes={axis: int(n * constant) for axis, n in self.ici_bytes.items()},
            ici_latency={axis: int(n * constant) for axis, n in self.ici_latency.items()},
            hbm_bytes=int(self.hbm_bytes * constant),
            peak_hbm_bytes=int(self.peak_hbm_bytes * constant),
            unfused_hbm_bytes=int(self.unfused_hbm_bytes * constant),
        )

    __rmul__ = __mul__


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineRuleContext:
    """What a rule gets beside the shapes of the operands and the parameters of the equation.

    Args:
      name_stack: the scopes of the equation.
      primitive: its primitive.
      avals_in: the abstract values of its operands.
      avals_out: those of its results.
      jaxpr_eqn_ctx: what its staging depended on.
      mesh: the mesh, or None.
      pin_lhs_in_vmem: whether left operands of products and their results stay in fast memory.
      pin_rhs_in_vmem: whether right operands do.

    Examples:
      >>> from onax.experimental import roofline
      >>> @roofline.register_roofline(lax.exp2_p)
      ... def rule(ctx: roofline.RooflineRuleContext, x, **params):
      ...     return roofline.RooflineResult(unfused_flops=ctx.avals_out[0].size)
      >>> roofline.roofline(lax.exp2)(jnp.ones(3))[1].unfused_flops
      3
    """

    name_stack: NameStack
    primitive: Primitive
    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    jaxpr_eqn_ctx: Any
    mesh: Any
    pin_lhs_in_vmem: bool
    pin_rhs_in_vmem: bool


def _eqn_costs(eqn, shapes, mesh, pins):
    """The costs of an equation without the memory of its results."""
    held = eqn.params.get("jaxpr", eqn.params.get("call_jaxpr"))
    if held is not None:
        return program_costs(held, mesh, pins)
    rule = rooflines.get(eqn.primitive)
    if rule is None:
        return RooflineResult.zeros()
    context = RooflineRuleContext(
        name_stack=NameStack.of(eqn.source_info) if eqn.source_info else NameStack(),
        primitive=eqn.primitive,
        avals_in=[v.aval for v in eqn.invars],
        avals_out=[v.aval for v in eqn.outvars],
        jaxpr_eqn_ctx=eqn.ctx,
        mesh=mesh,
        pin_lhs_in_vmem=pins[0],
        pin_rhs_in_vmem=pins[1],
    )
    return rule(context, *shapes, **eqn.params)


def program_costs(jaxpr: Jaxpr, mesh: Any = None, pins: tuple[bool, bool] = (False, False)) -> RooflineResult:
    """The costs of a program; as in JAX the body of a call or a scan counts once, other programs in it do not."""
    last = last_uses(jaxpr)
    shapes = {v: RooflineShape.from_aval(v.aval) for v in (*jaxpr.constvars, *jaxpr.invars)}
    alive = peak = sum(shape.bytes for shape in shapes.values())
    total = RooflineResult.zeros()
    for i, eqn in enumerate(jaxpr.eqns):
        operands = [RooflineShape.from_aval(v.aval) for v in eqn.invars]
        total += _eqn_costs(eqn, operands, mesh, pins)
        alive += RooflineShape.total_bytes([v.aval for v in eqn.outvars])
        read = [(v, x) for v, x in zip(eqn.invars, operands) if not isinstance(v, Literal)]
        alive -= sum(x.bytes for v, x in read if last[v] == i)
        peak = max(peak, alive)
    return total + RooflineResult(peak_hbm_bytes=peak)


def _with_vjp(f):
    @functools.wraps(f)
    def run(*args):
        primals, f_vjp = make_vjp(f, *args)
        return f_vjp(tree_map(lambda x: convert(x, dtypes.bfloat16), primals))

    return run


def roofline(
    f: AnyFunction,
    mesh: Any = None,
    in_specs: PyTree = None,
    out_specs: PyTree = None,
    *,
    pin_lhs_in_vmem: bool = False,
    pin_rhs_in_vmem: bool = False,
    vjp: bool = False,
    print_jaxpr: bool = False,
) -> Callable[..., tuple[PyTree, RooflineResult]]:
    """Returns a function that stages `f` and gives the types of its results and its costs.

    Args:
      f: a function of arrays.
      mesh, in_specs, out_specs: with all three, the costs are those of one device that runs `f` under `shard_map`.
      pin_lhs_in_vmem: left operands of products and their results stay in fast memory.
      pin_rhs_in_vmem: right operands of products do.
      vjp: the costs of `f` and its gradient.
      print_jaxpr: the program is printed.

    Returns:
      A function (*args) -> (tree of ShapeDtypeStruct, RooflineResult); it takes arrays and ShapeDtypeStructs.

    Examples:
      >>> from onax.experimental import roofline
      >>> shape, costs = roofline.roofline(jnp.dot)(jnp.ones((2, 3)), jnp.ones((3, 4)))
      >>> costs.flops, costs.hbm_bytes
      (48, 104)
    """

    @functools.wraps(f)
    def wrapped(*args):
        inner = f
        if mesh is not None and in_specs is not None and out_specs is not None:
            inner = shard_map(inner, mesh=mesh, in_specs=in_specs, out_specs=out_specs)
        if vjp:
            inner = _with_vjp(inner)
        closed, out_shapes = make_jaxpr(inner, return_shape=True)(*args)
        if mesh is not None and out_specs is not None:
            shapes, tree = tree_flatten(out_shapes)
            specs = broadcast_prefix(out_specs, out_shapes)
            placed = [
                ShapeDtypeStruct(s.shape, s.dtype, sharding=NamedSharding(mesh, p)) for s, p in zip(shapes, specs)
            ]
            out_shapes = tree_unflatten(tree, placed)
        program, _ = dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
        mapped = [eqn for eqn in program.eqns if eqn.primitive is shard_map_p]
        if mapped:
            program = mapped[-1].params["jaxpr"]
        if print_jaxpr:
            print(program)
        return out_shapes, program_costs(program, mesh, (pin_lhs_in_vmem, pin_rhs_in_vmem))

    return wrapped


def _as_bfloat16(x):
    dtype = x.dtype if x.dtype == "int32" else dtypes.bfloat16
    return ShapeDtypeStruct(x.shape, dtype, sharding=x.sharding)


def roofline_and_grad(
    f: AnyFunction,
    mesh: Any,
    in_specs: PyTree,
    out_specs: PyTree,
    *,
    pin_lhs_in_vmem: bool = False,
    pin_rhs_in_vmem: bool = False,
    print_jaxpr: bool = False,
) -> Callable[..., tuple[PyTree, RooflineResult, RooflineResult]]:
    """Returns a function that gives the types of the results of `f`, its costs, and those of its gradient in bfloat16.

    Args:
      f: a function of arrays.
      mesh, in_specs, out_specs: as of `roofline`.
      pin_lhs_in_vmem, pin_rhs_in_vmem, print_jaxpr: as of `roofline`.

    Returns:
      A function (*args) -> (tree of ShapeDtypeStruct, RooflineResult, RooflineResult).

    Examples:
      >>> from onax.experimental import roofline
      >>> mesh, spec = onax.make_mesh((1,), ("x",)), onax.P("x")
      >>> f = roofline.roofline_and_grad(lambda x: x @ x, mesh, spec, spec)
      >>> _, forward, backward = f(jnp.ones((2, 2)))
      >>> forward.flops, backward.flops
      (16, 32)
    """
    pins = {"pin_lhs_in_vmem": pin_lhs_in_vmem, "pin_rhs_in_vmem": pin_rhs_in_vmem, "print_jaxpr": print_jaxpr}

    @functools.wraps(f)
    def wrapped(*args):
        shapes, forward = roofline(f, mesh, in_specs, out_specs, **pins)(*args)
        backward = roofline(f, mesh, in_specs, out_specs, vjp=True, **pins)(*tree_map(_as_bfloat16, args))[1]
        return shapes, forward, backward

    return wrapped


def register_roofline(prim: Primitive) -> Callable[[AnyFunction], AnyFunction]:
    """Returns a decorator that makes a function the rule of a primitive.

    Args:
      prim: a primitive.

    Returns:
      A decorator of functions (ctx, *shapes, **params) -> RooflineResult, which have a RooflineRuleContext and
      RooflineShapes.

    Examples:
      >>> from onax.experimental import roofline
      >>> @roofline.register_roofline(lax.tanh_p)
      ... def rule(ctx, x, **params):
      ...     return roofline.RooflineResult(unfused_flops=10 * x.size)
      >>> roofline.roofline(jnp.tanh)(jnp.ones(3))[1].unfused_flops
      30
    """

    def register(rule):
        return rooflines.set(prim, rule, replace=True)

    return register


def _no_costs(ctx, *shapes, **params):
    return RooflineResult.zeros()


def register_standard_roofline(prim: Primitive) -> None:
    """Registers that a primitive costs nothing but the memory of its results.

    Args:
      prim: a primitive.

    Returns:
      None.

    Examples:
      >>> from onax.experimental import roofline
      >>> roofline.register_standard_roofline(lax.tanh_p)
    """
    rooflines.set(prim, _no_costs, replace=True)
