"""Calls of exported functions in programs: one equation, whose derivative is the export's `vjp`."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onax._control.batch_by_loop import batch_by_loop
from onax._control.custom_vjp import custom_vjp
from onax._control.jit_call import call_params, jit_p
from onax._core.jaxpr import jaxprs_in_params
from onax._core.meshes import PartitionSpec
from onax._core.programs import called_program
from onax._core.rewrite import inline
from onax._core.sharding import NamedSharding
from onax._core.trace import as_array, typeof
from onax._ground import dims as dim_rules
from onax._ground.dtypes import float0
from onax._native.dispatch import Primitive
from onax._transforms.abstract import ShapeDtypeStruct, stage
from onax.export import shardings


def check_dtype(own, aval, label):
    """Raises ValueError unless the type of an argument has the exported dtype."""
    if own.dtype != aval.dtype:
        raise ValueError(f"Dtype mismatch for {label}: expected {aval.dtype.name} and called with {own.dtype.name}")


def call_on_devices(exported, devices, leaves):
    """The leaves of the result for arguments that lie on several devices, or on one (`devices` is empty then).

    Where the program is at hand results lie as its jit would place them; else those without a stated sharding are on
    all devices of the exported mesh.
    """
    wanted, entries = exported.nr_devices, exported._entries
    if wanted != 1 and wanted != max(len(devices), 1):
        raise ValueError(
            f"Function {exported.fun_name} was exported for {wanted} devices and is called in a context with "
            f"{max(len(devices), 1)} devices, which is not allowed."
        )
    if not devices:
        return exported._call_flat(leaves)
    mesh = shardings.mesh_over(entries, devices) if wanted == len(devices) else None
    stated = [None] * len(exported.out_avals)
    if mesh is not None:
        leaves = shardings.place(leaves, exported.in_shardings_jax(mesh))
        stated = exported.out_shardings_jax(mesh)
    if exported._program is None or exported.symbolic_dimensions:
        everywhere = None if mesh is None else NamedSharding(mesh, PartitionSpec())
        return shardings.place(exported._call_flat(leaves), [s or everywhere for s in stated])
    solver = exported._dim_solver
    for x, leaf, label in zip(leaves, exported._signature.in_leaves, solver.labels):
        check_dtype(typeof(x), leaf.aval, label)
    solver.solve([typeof(x).shape for x in leaves])
    outs = jit_p.bind(*map(as_array, leaves), **call_params(exported._program.jaxpr, exported.fun_name))
    return shardings.place(outs, stated)


def differentiable_call(exported):
    """The call on leaves, whose derivative is the export's `vjp`."""

    @custom_vjp
    def call_exported(*leaves):
        return tuple(exported_call_p.bind(*leaves, exported=exported))

    def forward(*leaves):
        return call_exported(*leaves), leaves

    def backward(leaves, cts):
        pulled = exported.vjp()
        types = [leaf.aval for leaf in pulled._signature.in_leaves[len(leaves) :]]
        cts = [np.zeros(ct.shape, float0) if t.dtype == float0 else ct for ct, t in zip(cts, types)]
        return tuple(differentiable_call(pulled)(*leaves, *cts))

    call_exported.defvjp(forward, backward)
    return call_exported


def _exported_call_abstract(*avals, exported):
    """Result types of a call inside a traced function; the operands determine the symbolic dimensions."""
    for value, leaf, label in zip(avals, exported._signature.in_leaves, exported._dim_solver.labels):
        check_dtype(value, leaf.aval, label)
    sizes = exported._dim_solver.solve([a.shape for a in avals])
    return tuple(a.update(shape=dim_rules.evaluate_shape(a.shape, sizes)) for a in exported.out_avals)


def _exported_call_batch(axis_data, operands, dims, *, exported):
    """Each device calls the function with its own values; as in JAX, there is no rule for other mapped axes."""
    if not axis_data.of_devices:
        raise NotImplementedError("Batching rule for 'call_exported' not implemented")
    return batch_by_loop(exported_call_p, axis_data, operands, dims, {"exported": exported})


exported_call_p = Primitive(
    "call_exported",
    multiple_results=True,
    impl=lambda *leaves, exported: exported._call_flat(leaves),
    kernel=lambda *arrays, exported: tuple(x._value for x in exported._call_flat(arrays)),
    abstract_eval=_exported_call_abstract,
    batch=_exported_call_batch,
)


@dataclass(eq=False)
class StagedFunction:
    """The program of an exported function; one with symbolic dimensions is staged again for the types of a call.

    Attributes:
      fun: the function.
      static: its static arguments by position.
      static_names: its static keyword arguments.
      in_tree: the tree of the other arguments.
      jaxpr: the program for the types of the export.
      symbolic: whether it has symbolic dimensions.
    """

    fun: Any
    static: dict
    static_names: dict
    in_tree: Any
    jaxpr: Any
    symbolic: bool
    others: dict = field(default_factory=dict)

    def for_types(self, avals):
        """The program for arguments of the given types, which are those of the export up to its dimensions."""
        shapes = tuple(a.shape for a in avals)
        if not self.symbolic or shapes == tuple(a.shape for a in self.jaxpr.in_avals):
            return self.jaxpr
        if shapes not in self.others:
            types = [ShapeDtypeStruct(s, a.dtype, weak_type=a.weak_type) for s, a in zip(shapes, self.jaxpr.in_avals)]
            dynamic, named = self.in_tree.unflatten(types)
            dynamic, n = iter(dynamic), len(dynamic) + len(self.static)
            args = [self.static[i] if i in self.static else next(dynamic) for i in range(n)]
            kwargs = {**named, **self.static_names}
            program, *_ = stage(self.fun, args, kwargs, tuple(self.static), tuple(self.static_names), "export")
            self.others[shapes] = inline_exported_calls(program)
        return self.others[shapes]


def inline_exported_calls(jaxpr):
    """The program with the programs of exported functions in place of their calls, where these are at hand."""

    def is_in(program):
        return any(
            eqn.primitive is exported_call_p or any(is_in(inner) for inner in jaxprs_in_params(eqn.params))
            for eqn in program.eqns
        )

    def callee(eqn):
        if eqn.primitive is exported_call_p:
            program = eqn.params["exported"]._program
            return None if program is None else program.for_types([a.aval for a in eqn.invars])
        program = called_program(eqn)
        return program if program is not None and is_in(program) else None

    return inline(jaxpr, callee) if is_in(jaxpr) else jaxpr
