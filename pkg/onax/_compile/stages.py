"""The stages of compilation as objects: Traced (a jaxpr), Lowered (an ONNX graph), Compiled (something that runs)."""

from dataclasses import dataclass, replace

from onax._compile import memory, pipeline, placement
from onax._compile.call import call_on_arrays, flatten_values, run_on_refs, takes_refs
from onax._compile.cost import analyze, size_in_bytes
from onax._compile.debug_nans import refuse_special
from onax._compile.donation import (
    delete_moved,
    moved_donations,
    read_donations,
    refuse_double_donation,
    usable_donations,
    warn_of_unused,
)
from onax._compile.graph_text import graph_text, host_nodes, model_proto
from onax._compile.lazy_import import measurement, multi_device
from onax._core.hitypes import holds_hitypes, seen
from onax._core.layout import Format, Layout
from onax._core.meshes import get_abstract_mesh
from onax._core.paths import equality_errors, keystr, skeleton, tree_leaves_with_path
from onax._core.result_checks import SPECIAL
from onax._core.sharding import Sharding, SingleDeviceSharding
from onax._core.trace import Tracer, typeof
from onax._ground import source
from onax._ground.devices import current_default
from onax._native import context
from onax._native.array import ArrayImpl
from onax._native.avals import ShapedArray
from onax._native.jit_function import CacheEntry, JitCache, JitFunction
from onax._native.tree import tree_flatten, tree_map, tree_unflatten
from onax._transforms.abstract import ShapeDtypeStruct
from onax._transforms.transfer import broadcast_device_prefix
from onax.export.graph.transfers import nodes_on_host


@dataclass(slots=True, frozen=True)
class ArgInfo:
    """The type of one argument, and whether it is donated.

    Args:
      donated: a bool.

    Examples:
      >>> onax.jit(jnp.sin).lower(1.0).args_info[0][0].donated
      False
    """

    _aval: object
    donated: bool

    shape = property(lambda self: self._aval.shape)
    dtype = property(lambda self: self._aval.dtype)


@dataclass(slots=True, eq=False)
class CallSignature:
    """The program, trees, types and donations of a call, which all stages share."""

    fun_name: str
    options: object
    jaxpr: object
    in_tree: object
    out_tree: object
    in_avals_flat: list
    out_avals_flat: list
    donated: list
    device: object  # that which was asked for, or None
    shardings: object  # StagedShardings, or None if everything is on one device
    hoisted: list  # references that the function closes over

    @classmethod
    def of(cls, call, staged):
        """The signature of a call that was staged."""
        jaxpr = staged.jaxpr
        in_avals, out_avals, donated = list(call.avals), list(jaxpr.out_avals), call.donated_flags()
        options = call.options
        if options.in_shardings is not None or options.out_shardings is not None:
            options = multi_device().call_shardings.over_mesh(options)  # a call may come outside of it
        device = options.device or placement.device_of_types(call.leaves)
        shardings = None if holds_hitypes(jaxpr) else placement.staged_shardings(call, staged)
        if shardings is not None:
            device = shardings.first_device
        return cls(
            *(call.name, options, jaxpr, call.in_tree, staged.out_tree, in_avals, out_avals, donated),
            *(device, shardings, staged.hoisted),
        )

    def program(self):
        """The program that is compiled: where devices run a program each, the partitioned one."""
        if self.shardings is None:
            return self.jaxpr
        return placement.partitioned(self.jaxpr, self.shardings.arguments, self.shardings.results)

    def placed_avals(self):
        """The types of the arguments as they will lie, with shardings over explicit axes that `in_shardings` states."""
        avals = self.in_avals_flat
        if self.shardings is not None:
            pairs = zip(avals, self.shardings.arguments)
            avals = [a.update(sharding=s) if type(a) is ShapedArray and s.mesh.explicit_axes else a for a, s in pairs]
        return tree_unflatten(self.in_tree, avals)

    def needs_devices(self):
        """Whether shardings are over AbstractMeshes alone, so that no devices are known."""
        return self.shardings is not None and self.shardings.devices is None

    def stated_results(self):
        """For each result the sharding that `out_shardings` or explicit axes state, else None."""
        stated = [None] * len(self.out_avals_flat)
        if self.options.out_shardings is not None:
            find = multi_device().call_shardings.shardings_of_leaves
            stated = [s if isinstance(s, Sharding) else None for s in find(self.options, self.out_tree, abstract=True)]
        if self.shardings is not None:
            typed = zip(stated, self.out_avals_flat, self.shardings.results)
            stated = [r if s is None and a.stated_sharding is not None else s for s, a, r in typed]
        return stated

    def donations(self):
        """Positions of the donated leaves that results reuse."""
        return usable_donations(self.read_donations(), self.in_avals_flat, self.out_avals_flat)

    def read_donations(self):
        """The flags of the donated leaves that the program reads."""
        return read_donations(self.donated, self.jaxpr, self.options.keep_unused)

    def arg_names(self):
        """A path for each argument leaf."""
        return self.jaxpr.debug_info.arg_names


class Stage:
    """The attributes of the call that all stages have."""

    __slots__ = ("_signature",)

    def __init__(self, signature):
        self._signature = signature

    in_tree = property(lambda self: self._signature.in_tree, doc="Structure of (args, kwargs), without statics.")
    out_tree = property(lambda self: self._signature.out_tree, doc="Structure of the result.")

    @property
    def in_avals(self):
        """The types of the arguments, as a tree."""
        return tree_unflatten(self._signature.in_tree, self._signature.in_avals_flat)

    @property
    def args_info(self):
        """An ArgInfo for each argument, as a tree."""
        s = self._signature
        return tree_unflatten(s.in_tree, [ArgInfo(a, d) for a, d in zip(s.in_avals_flat, s.donated)])

    @property
    def donate_argnums(self):
        """Positions of the donated leaves."""
        return tuple(i for i, donated in enumerate(self._signature.donated) if donated)

    @property
    def out_info(self):
        """The types of the results, as a tree of ShapeDtypeStruct, with the shardings that are stated."""
        s = self._signature
        pairs = zip(s.out_avals_flat, s.stated_results())
        return tree_unflatten(s.out_tree, [ShapeDtypeStruct(a.shape, a.dtype, sharding=where) for a, where in pairs])


@source.api_class
class Traced(Stage):
    """A function staged for certain types of arguments; `jit(f).trace` makes it.

    Args:
      call: the call.
      staged: its program.

    Examples:
      >>> onax.jit(lambda x: 2 * x).trace(1.0).jaxpr
      { lambda ; a:f32[]. let b:f32[] = mul 2.0:f32[] a in (b,) }
    """

    __slots__ = ("_hivalues",)

    def __init__(self, call, staged):
        super().__init__(CallSignature.of(call, staged))
        # What the program of arrays alone is made of, if there are other values.
        self._hivalues = (call, staged) if holds_hitypes(staged.jaxpr) else None

    fun_name = property(lambda self: self._signature.fun_name)
    jaxpr = property(lambda self: self._signature.jaxpr)

    @property
    def out_info(self):
        """The types of the results, as a tree of ShapeDtypeStruct that tell weak types."""
        s = self._signature
        return tree_unflatten(s.out_tree, list(map(ShapeDtypeStruct.of_aval, s.out_avals_flat)))

    @property
    def out_avals(self):
        """The types of the results, as a tree."""
        return tree_unflatten(self._signature.out_tree, self._signature.out_avals_flat)

    def lower(self, *, lowering_platforms=None, _private_parameters=None):
        """The ONNX graph.

        Raises:
          LoweringError: an operation has no ONNX form.
          ValueError: shardings are over AbstractMeshes alone, and there are no `lowering_platforms`.
        """
        s = self._signature if self._hivalues is None else CallSignature.of(*call_on_arrays(*self._hivalues))
        if s.needs_devices() and lowering_platforms is None:
            raise ValueError(
                "Passing lowering_platforms via jax.export or jit(f).trace(*args).lower(lowering_platforms=...) is "
                "required when only AbstractMesh exists in a jitted computation. Got context mesh: "
                f"{get_abstract_mesh()}"
            )
        computation = pipeline.optimize(s.program(), s.fun_name, s.options.keep_unused)
        if any(s.donated):
            warn_of_unused(s.read_donations(), s.in_avals_flat, s.out_avals_flat)
        return Lowered(s, computation, pipeline.lower_native(computation))


@source.api_class
class Lowered(Stage):
    """A function as an ONNX graph; `jit(f).lower` makes it.

    Args:
      signature: the types of arguments and results.
      computation: the program.
      graph: the graph, or None where a program runs without one.

    Examples:
      >>> onax.jit(lambda x: 2 * x).lower(1.0).compile()(3.0)
      Array(6., dtype=float32, weak_type=True)
    """

    __slots__ = ("_computation", "_graph")

    in_avals = property(lambda self: self._signature.placed_avals(), doc="Types of the arguments where they will lie.")

    def __init__(self, signature, computation, graph):
        super().__init__(signature)
        self._computation = computation
        self._graph = graph

    @property
    def graph(self):
        """The graph as it was built (`onax.export.graph.value.Graph`); None if there is nothing to compute."""
        return self._graph

    def as_text(self, dialect=None, *, debug_info=False):
        """The graph as text.

        Raises:
          ValueError: `dialect` is none of JAX's ("stablehlo", "hlo"), which all give the graph.
        """
        _check_dialect(dialect)
        return graph_text(self._graph)

    @property
    def host_nodes(self):
        """The names of the nodes that run kernels of this process or call back into Python."""
        return host_nodes(self._graph)

    def compiler_ir(self, dialect=None):
        """The graph as an onnx.ModelProto, whatever the dialect; None if there is nothing to compute."""
        _check_dialect(dialect)
        return model_proto(self._graph)

    def cost_analysis(self):
        """Returns the costs of the program as it was staged, counted as by XLA.

        Returns:
          A dictionary with "flops" (operations), "transcendentals" (values of transcendental functions) and "bytes
          accessed" (of the operands and results of all equations; "bytes accessed0{}" of first operands, "bytes
          accessedout{}" of results), each a float and left out where it is 0.  The body of a loop counts once.

        Examples:
          >>> import onax, onax.numpy as jnp
          >>> onax.jit(lambda x: x @ x).lower(jnp.ones((2, 2))).cost_analysis()["flops"]
          16.0
        """
        return analyze(self._computation.jaxpr, fused=False)

    def transfers(self):
        """What a CUDA device lacks: a HostNode for each node of the program that its provider leaves to the CPU.

        Each tells the operator, the element type, the user's line, and the bytes that are copied.  JAX has no such
        method.
        """
        return nodes_on_host(pipeline.lower_portable(self._computation))

    def passes(self):
        """[(name, jaxpr)]: the staged program, and the one after each pass of the compiler.  JAX has no such method."""
        return pipeline.programs_after_passes(self._signature.program())

    def compile(self, compiler_options=None, *, device_assignment=None):
        """Opens a session of the runtime for the graph.

        `device_assignment` are the devices in their order, which shardings over AbstractMeshes alone leave open.

        Raises:
          BackendError: the runtime rejects the graph.
          RuntimeError: no devices are known.
          ValueError: `device_assignment` is not what shardings state, or a mesh is of another size.
        """
        s, computation, graph = self._signature, self._computation, self._graph
        if s.needs_devices():
            if device_assignment is None:
                raise RuntimeError(
                    "device_assignment cannot be `None` during compilation. Please pass a tuple of devices to "
                    "`.compile(device_assignment=)`"
                )
            shardings = s.shardings.over(tuple(device_assignment))
            s = replace(s, shardings=shardings, device=shardings.first_device)
            computation = pipeline.optimize(s.program(), s.fun_name, s.options.keep_unused)
            graph = pipeline.lower_native(computation)
        elif device_assignment is not None:
            _check_assignment(s, tuple(device_assignment))
        given = compiler_options if compiler_options is not None else s.options.compiler_options
        device = s.device or current_default()
        executable = pipeline.compile_computation(computation, s.fun_name, given, device, graph)
        return Compiled(s, executable, graph, computation, device)


@source.api_class
class Compiled(Stage):
    """A compiled function for certain types of arguments; others raise TypeError.

    Args:
      signature: the types of arguments and results.
      executable: what runs.
      graph: the ONNX graph, or None.
      computation: the program.
      device: the device that runs it.

    Examples:
      >>> onax.jit(lambda x: 2 * x).lower(1.0).compile()(3.0)
      Array(6., dtype=float32, weak_type=True)
    """

    __slots__ = ("_computation", "_device", "_executable", "_graph", "_run")

    in_avals = property(lambda self: self._signature.placed_avals(), doc="Types of the arguments where they will lie.")

    def __init__(self, signature, executable, graph, computation, device):
        super().__init__(signature)
        self._executable = executable
        self._graph = graph
        self._computation = computation
        self._device = device
        self._run = _CheckedFunction(signature, executable, device)

    def as_text(self):
        """The graph as text."""
        return graph_text(self._graph)

    def cost_analysis(self):
        """As `Lowered.cost_analysis`, but elementwise equations that run in one pass over memory access no values
        between them."""
        return analyze(self._computation.jaxpr, fused=True)

    def memory_analysis(self):
        """Returns the bytes that a call needs, as planned before it runs.

        Returns:
          A CompiledMemoryStats with `argument_size_in_bytes` (of the arguments that are read), `output_size_in_bytes`,
          `alias_size_in_bytes` (of results that are arguments), `temp_size_in_bytes` (of intermediate values, the most
          at a time), `generated_code_size_in_bytes` (of instructions) and `peak_memory_in_bytes`.  Values whose shapes
          are known only at run time do not count.

        Examples:
          >>> import onax, onax.numpy as jnp
          >>> onax.jit(lambda x: x @ x).lower(jnp.ones((2, 2))).compile().memory_analysis().output_size_in_bytes
          16
        """
        s, read = self._signature, self._computation.arguments_read()
        sizes = [size_in_bytes(a) for a in s.in_avals_flat]
        code, temporary = memory.plan(self._computation, self._graph)
        return memory.CompiledMemoryStats(
            generated_code_size_in_bytes=code,
            argument_size_in_bytes=sum(sizes if s.options.keep_unused else [sizes[i] for i in read]),
            output_size_in_bytes=sum(size_in_bytes(a) for a in s.out_avals_flat),
            alias_size_in_bytes=sum(sizes[out[1]] for out in self._computation.outs if out[0] == "forwarded"),
            temp_size_in_bytes=temporary,
        )

    def explain(self, *args, **kwargs):
        """An Explanation: where each step of the program runs, and how long if arguments are given (`onax.explain`).

        JAX has no such method.
        """
        return measurement().explain_compiled(self._signature, args, kwargs)

    def transfers(self):
        """As `Lowered.transfers`."""
        return nodes_on_host(pipeline.lower_portable(self._computation))

    def runtime_executable(self):
        """What runs the program: a session of the runtime or a tape; the Executable if there is nothing to compute."""
        runner = self._executable.runner
        return self._executable if runner is None else runner

    @property
    def input_shardings(self):
        """The sharding of each argument, as a tree; None for an unused argument."""
        s = self._signature
        options, count = s.options, len(s.in_avals_flat)
        used = range(count) if options.keep_unused else self._computation.arguments_read()
        given = [SingleDeviceSharding(self._device)] * count if s.shardings is None else s.shardings.arguments
        args, kwargs = tree_unflatten(s.in_tree, [given[i] if i in used else None for i in range(count)])
        if s.shardings is not None or options.in_shardings is None:
            return args, kwargs
        return broadcast_device_prefix(options.in_shardings, args), kwargs

    @property
    def output_shardings(self):
        """The sharding of each result if no argument is committed to another device, as a tree."""
        s = self._signature
        if s.shardings is not None:
            return tree_unflatten(s.out_tree, s.shardings.results)
        results = tree_unflatten(s.out_tree, [SingleDeviceSharding(self._device)] * s.out_tree.num_leaves)
        if s.options.out_shardings is None:
            return results
        return broadcast_device_prefix(s.options.out_shardings, results)

    @property
    def input_formats(self):
        """The format of each argument, row-major in its sharding, as a tree; None for an unused argument."""
        args, kwargs = tree_unflatten(self._signature.in_tree, self._signature.in_avals_flat)
        shardings, others = self.input_shardings
        return tree_map(_format_of, args, shardings), tree_map(_format_of, kwargs, others)

    @property
    def output_formats(self):
        """The format of each result, row-major in its sharding, as a tree."""
        return tree_map(_format_of, super().out_info, self.output_shardings)

    @property
    def host_nodes(self):
        """The names of the nodes that run kernels of this process or call back into Python."""
        return host_nodes(self._graph)

    def __call__(self, *args, **kwargs):
        return self._run(*args, **kwargs)

    call = __call__

    @property
    def out_info(self):
        """The types of the results with their formats, as a tree of ShapeDtypeStruct."""
        add = lambda info, form: info.update(sharding=form)
        return tree_map(add, super().out_info, self.output_formats)


def _check_assignment(signature, devices):
    """Raises ValueError unless these are the devices of a call, in their order."""
    known = (signature.device or current_default(),) if signature.shardings is None else signature.shardings.devices
    if devices != known:
        given, stated = ([d.id for d in some] for some in (devices, known))
        raise ValueError(
            "device_assignment passed to `.compile` must match the device_assignment calculated from array shardings "
            f"and out_shardings. Got device ids passed to compile {given} on platform {devices[0].platform.upper()} "
            f"and devices ids calculated from array shardings and out_shardings {stated} on platform "
            f"{known[0].platform.upper()}"
        )


def _check_dialect(dialect):
    if dialect not in (None, "stablehlo", "hlo"):
        raise ValueError(f"unknown dialect: {dialect}")


def _format_of(aval, sharding):
    return None if sharding is None else Format(Layout(range(len(aval.shape)), ()), sharding)


class _CheckedFunction(JitFunction):
    """Runs the program of a Compiled; the first call with arguments of certain types checks them."""

    def __init__(self, signature, executable, device):
        super().__init__(None, JitCache())
        self._device = device
        self._signature = signature
        self._executable = executable
        self._donated = signature.donations()

    def _miss(self, args, kwargs, leaves, in_tree, statics):
        result, entry = self._run_checked(leaves, in_tree)
        if context.option_word() & SPECIAL:
            refuse_special(self._signature.fun_name, leaves, result)
            return result, None
        return result, entry

    def _run_checked(self, leaves, in_tree):
        s = self._signature
        if seen.hitypes:
            leaves, in_tree = flatten_values(leaves, in_tree)
        if in_tree != s.in_tree:
            raise TypeError(_tree_mismatch(s.in_tree, in_tree))
        for leaf in leaves:
            if isinstance(leaf, Tracer):
                raise TypeError(
                    "Cannot apply JAX transformations to a function lowered and compiled for a particular signature. "
                    f"Detected argument of Tracer type {type(leaf)}."
                )
        _check_types(s, leaves)
        if takes_refs(s.jaxpr):
            rest = s.hoisted, leaves, s.fun_name, s.options.keep_unused
            return run_on_refs(s.jaxpr, s.out_tree, *rest), None
        if s.shardings is not None:
            return self._run_on_mesh(leaves), None
        in_shardings, out_shardings = s.options.in_shardings, s.options.out_shardings
        given = leaves
        if in_shardings is not None:
            leaves = multi_device().call_shardings.move_arguments(in_tree.unflatten(leaves), s.options)
        elif s.options.device is None:
            here = [SingleDeviceSharding(self._device)] * len(leaves)
            placement.check_shardings(leaves, here, s.arg_names)
        device, committed = s.device, s.device is not None  # not by the arguments of the call, as in JAX
        if in_shardings is not None:
            device, committed = _device_of(leaves, device)
        entry = self._entry(device, committed)
        result = entry.run(leaves)
        delete_moved(moved_donations(s.donated, given, leaves))
        if out_shardings is not None:
            result = multi_device().call_shardings.put_results(result, s.options, None)
        return result, entry if in_shardings is None and out_shardings is None else None

    def _entry(self, device, committed):
        donations = {"donated": self._donated, "refuse_donation": refuse_double_donation}
        return CacheEntry(self._executable, self._signature.out_tree, device=device, committed=committed, **donations)

    def _run_on_mesh(self, leaves):
        s = self._signature
        given, leaves = leaves, s.shardings.place_arguments(leaves, s.arg_names)
        if placement.spans_processes(s.jaxpr, leaves, s.shardings.results):
            run = multi_device().multi_process.run_program
            return tree_unflatten(s.out_tree, run(s.jaxpr, leaves, s.fun_name, (), s.shardings.results))
        result = self._entry(self._device, False).run(leaves)
        delete_moved(moved_donations(s.donated, given, leaves))
        return multi_device().sharding_propagation.place_tree(result, s.shardings.results)

    def _traced(self, args, kwargs):
        leaves, in_tree = tree_flatten((args, kwargs))
        return self._miss(args, kwargs, leaves, in_tree, None)[0]


def _device_of(leaves, device):
    if device is not None:
        return device, True
    for leaf in leaves:
        if type(leaf) is ArrayImpl and leaf._committed and leaf._shards is None:
            return leaf.device, True
    return None, False


def _tree_mismatch(expected, given):
    dummies = map(skeleton, (expected, given))
    errors = list(equality_errors(*dummies))
    lines = [f"    * at {_call_path(path)}, seen {one} but now given {two}, {why}" for path, one, two, why in errors]
    return (
        "Function compiled with input pytree does not match the input pytree it was called with. "
        f"There are {len(errors)} mismatches, including:\n" + "\n".join(lines)
    )


def _call_path(path):
    if not path:
        return "the arguments"
    return ("args", "kwargs")[path[0].idx] + keystr(path[1:])


def _check_types(signature, leaves):
    """Raises TypeError unless shapes and dtypes are those compiled for; weak types may differ."""
    names = None
    wrong = []
    for i, (leaf, expected) in enumerate(zip(leaves, signature.in_avals_flat)):
        given = typeof(leaf)
        if given.shape != expected.shape or given.dtype != expected.dtype:
            names = names or signature.arg_names() or [keystr(p) for p, _ in tree_leaves_with_path(leaves)]
            wrong.append(
                f"Argument '{names[i]}' compiled with {expected.str_short()} and called with {given.str_short()}"
            )
    if wrong:
        raise TypeError(
            "Argument types differ from the types for which this computation was compiled. Perhaps you are calling "
            "the compiled executable with a different enable_x64 mode than when it was AOT compiled? The mismatches "
            "are:\n" + "\n".join(wrong)
        )


__all__ = ["ArgInfo", "Compiled", "Lowered", "Traced"]
