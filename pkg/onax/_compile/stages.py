"""The stages of compilation as objects: Traced (a jaxpr), Lowered (an ONNX graph), Compiled (something that runs)."""

from onax._compile import by_device, placing
from onax._compile import plan as planning
from onax._core.paths import equality_errors, keystr, tree_leaves_with_path
from onax._core.sharding import SingleDeviceSharding
from onax._core.trace import Tracer, typeof
from onax._ground import source
from onax._ground.devices import current_default
from onax._native.array import ArrayImpl
from onax._native.jit_function import CacheEntry, JitCache, JitFunction
from onax._native.tree import tree_flatten, tree_leaves, tree_unflatten
from onax._transforms.abstract import ShapeDtypeStruct
from onax._transforms.transfer import device_put, spread


class ArgInfo:
    """What is known of one argument: its type, and whether it is donated."""

    __slots__ = ("_aval", "donated")

    def __init__(self, aval, donated):
        self._aval = aval
        self.donated = donated

    shape = property(lambda self: self._aval.shape)
    dtype = property(lambda self: self._aval.dtype)

    def __eq__(self, other):
        return isinstance(other, ArgInfo) and (self._aval, self.donated) == (other._aval, other.donated)

    def __hash__(self):
        return hash((self._aval, self.donated))

    def __repr__(self):
        return f"ArgInfo(_aval={self._aval!r}, donated={self.donated})"


class Signature:
    """What every stage knows of a call: trees, types, donations and the names of the arguments."""

    __slots__ = ("donated", "fun_name", "in_avals_flat", "in_tree", "names", "out_avals_flat", "out_tree", "places")

    def __init__(self, staged, fun_name, donated):
        self.in_tree = staged.in_tree
        self.out_tree = staged.out_tree
        self.in_avals_flat = list(staged.avals)
        self.out_avals_flat = list(staged.jaxpr.out_avals)
        self.names = lambda: staged.jaxpr.debug_info.arg_names
        self.places = lambda leaves: placing.places_of_results(staged.jaxpr, leaves)
        self.fun_name = fun_name
        self.donated = donated or [False] * len(staged.avals)


class Stage:
    """What all stages show of the call."""

    __slots__ = ("_signature",)

    def __init__(self, signature):
        self._signature = signature

    in_tree = property(lambda self: self._signature.in_tree, doc="Structure of (args, kwargs), static ones left out.")
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
        """The types of the results, as a tree of ShapeDtypeStruct."""
        s = self._signature
        structs = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in s.out_avals_flat]
        return tree_unflatten(s.out_tree, structs)


@source.api_class
class Traced(Stage):
    """A function staged for certain argument types: its `jaxpr`."""

    __slots__ = ("_jitted", "jaxpr")

    def __init__(self, jitted, staged, fun_name, donated=None):
        super().__init__(Signature(staged, fun_name, donated))
        self._jitted = jitted
        self.jaxpr = staged.jaxpr

    fun_name = property(lambda self: self._signature.fun_name)

    @property
    def out_avals(self):
        """The types of the results, as a tree."""
        return tree_unflatten(self._signature.out_tree, self._signature.out_avals_flat)

    def lower(self, *, lowering_platforms=None, _private_parameters=None):
        """The ONNX graph.  Raises LoweringError for an operation without a form in ONNX."""
        options = self._jitted._options
        plan = planning.Plan(self.jaxpr, options.keep_unused)
        return Lowered(self._signature, plan, planning.lower_plan(plan), options)


@source.api_class
class Lowered(Stage):
    """A function as an ONNX graph."""

    __slots__ = ("_graph", "_options", "_plan")

    def __init__(self, signature, plan, graph, options):
        super().__init__(signature)
        self._plan = plan
        self._graph = graph
        self._options = options

    @property
    def graph(self):
        """The graph as it was built (`onax.export.graph.value.Graph`); None when nothing is left to compute."""
        return self._graph

    def as_text(self, dialect=None, *, debug_info=False):
        """The graph as text."""
        return planning.graph_text(self._graph)

    @property
    def host_nodes(self):
        """The nodes that run kernels of this process or call back into Python, by name."""
        return planning.host_nodes(self._graph)

    def compiler_ir(self, dialect=None):
        """The graph as an onnx.ModelProto; None when nothing is left to compute."""
        return planning.model_proto(self._graph)

    def cost_analysis(self):
        """None: nothing is estimated."""
        return None

    def compile(self, compiler_options=None):
        """The graph as a session of the runtime.  Raises BackendError if the runtime refuses it."""
        options = compiler_options if compiler_options is not None else self._options.compiler_options
        name = self._signature.fun_name
        device = self._options.device or current_default()
        executable = by_device.compile_program(self._plan, name, options, self._graph, device)
        return Compiled(self._signature, executable, self._graph, self._options, self._plan)


@source.api_class
class Compiled(Stage):
    """A compiled function for certain argument types; calling it with others raises TypeError."""

    __slots__ = ("_executable", "_graph", "_options", "_plan", "_run")

    def __init__(self, signature, executable, graph, options, plan):
        super().__init__(signature)
        self._executable = executable
        self._graph = graph
        self._options = options
        self._plan = plan
        self._run = _Checked(signature, executable, options)

    def as_text(self):
        """The graph as text."""
        return planning.graph_text(self._graph)

    def cost_analysis(self):
        """None: the runtime states no costs."""
        return None

    def memory_analysis(self):
        """Bytes of arguments and results, by name; the runtime's own working memory is not known."""
        s = self._signature
        return {
            "argument_size_in_bytes": sum(planning.nbytes(a) for a in s.in_avals_flat),
            "output_size_in_bytes": sum(planning.nbytes(a) for a in s.out_avals_flat),
        }

    def runtime_executable(self):
        """The session of the runtime, or None when nothing is left to compute."""
        return self._executable.runner

    @property
    def input_shardings(self):
        """Where each argument is expected, as a tree; None for one that is not used."""
        options, s = self._options, self._signature
        used = range(len(s.in_avals_flat)) if options.keep_unused else self._plan.arguments_read()
        default = self._default_sharding()
        args, kwargs = tree_unflatten(s.in_tree, [default if i in used else None for i in range(len(s.in_avals_flat))])
        return (args if options.in_shardings is None else spread(options.in_shardings, args)), kwargs

    @property
    def output_shardings(self):
        """Where each result is when no argument is committed to another place, as a tree."""
        s = self._signature
        default = self._default_sharding()
        results = tree_unflatten(s.out_tree, [default] * s.out_tree.num_leaves)
        return results if self._options.out_shardings is None else spread(self._options.out_shardings, results)

    def _default_sharding(self):
        return SingleDeviceSharding(self._options.device or current_default())

    @property
    def host_nodes(self):
        """The nodes that run kernels of this process or call back into Python, by name."""
        return planning.host_nodes(self._graph)

    def __call__(self, *args, **kwargs):
        return self._run(*args, **kwargs)

    call = __call__


class _Checked(JitFunction):
    """Runs one program; arguments of a pattern not seen before are checked first."""

    def __init__(self, signature, executable, options):
        super().__init__(None, JitCache())
        self._signature = signature
        self._executable = executable
        self._options = options

    def _miss(self, args, kwargs):
        s = self._signature
        leaves, tree = tree_flatten((args, kwargs))
        if tree != s.in_tree:
            raise TypeError(_tree_mismatch(s.in_tree, tree))
        for leaf in leaves:
            if isinstance(leaf, Tracer):
                raise TypeError(
                    "Cannot apply JAX transformations to a function lowered and compiled for a particular signature. "
                    f"Detected argument of Tracer type {type(leaf)}."
                )
        _check_types(s, leaves)
        options = self._options
        if options.in_shardings is not None:
            leaves = tree_leaves((device_put(args, placing.resolve(options.in_shardings, "in_shardings")), kwargs))
        device, committed = _place(leaves, options.device)
        entry = CacheEntry(self._executable, s.out_tree, device=device, committed=committed)
        places = s.places(leaves)
        result = entry.run(leaves)
        if options.out_shardings is not None:
            result = placing.put_results(result, options.out_shardings, places)
        elif places is not None:
            result = placing.place_tree(result, places)
        plain = places is None and options.in_shardings is None and options.out_shardings is None
        return result, entry if plain else None

    def _traced(self, args, kwargs):
        return self._miss(args, kwargs)[0]


def _place(leaves, device):
    if device is not None:
        return device, True
    for leaf in leaves:
        if type(leaf) is ArrayImpl and leaf._committed and leaf._shards is None:
            return leaf.device, True
    return None, False


def _tree_mismatch(wanted, given):
    dummies = [t.unflatten([0] * t.num_leaves) for t in (wanted, given)]
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
    """Shape and dtype must be those compiled for; weak types may differ."""
    names = None
    wrong = []
    for i, (leaf, wanted) in enumerate(zip(leaves, signature.in_avals_flat)):
        given = typeof(leaf)
        if given.shape != wanted.shape or given.dtype != wanted.dtype:
            names = names or signature.names() or [keystr(p) for p, _ in tree_leaves_with_path(leaves)]
            wrong.append(
                f"Argument '{names[i]}' compiled with {wanted.str_short()} and called with {given.str_short()}"
            )
    if wrong:
        raise TypeError(
            "Argument types differ from the types for which this computation was compiled. Perhaps you are calling "
            "the compiled executable with a different enable_x64 mode than when it was AOT compiled? The mismatches "
            "are:\n" + "\n".join(wrong)
        )


__all__ = ["ArgInfo", "Compiled", "Lowered", "Traced"]
