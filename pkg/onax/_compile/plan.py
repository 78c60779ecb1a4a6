"""From a jaxpr to an Executable: what the runtime computes, what is handed through, what is constant.

    jaxpr -> simplify -> results sorted into computed / forwarded / constant -> one ONNX model -> session

Arguments that no operation reads stay outside the model, and a result that is an argument or a constant never enters
it.  Large constants are given to the session by reference.
"""

from functools import partial

import numpy as np

from onax._compile import options
from onax._core.evaluate import interpreter_of
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from onax._core.rewrite import eliminate_dead_code, used_inputs
from onax._ground import lazy, monitoring
from onax._ground.errors import BackendError, compose
from onax._native.jit_function import Executable


class Plan:
    """A jaxpr taken apart: `core` is what is left to compute, or None.

    `kept` are the positions of the arguments that `core` takes; `outs` and `constants` are those of Executable.
    """

    __slots__ = ("constants", "core", "jaxpr", "kept", "outs")

    def __init__(self, jaxpr, keep_unused=False):
        jaxpr = eliminate_dead_code(jaxpr, bodies=False)
        self.jaxpr = jaxpr
        self.constants = []
        self.outs = []
        computed = self._sort_results(dict(zip(jaxpr.invars, range(len(jaxpr.invars)))))
        self.kept = list(range(len(jaxpr.invars)))
        self.core = None
        if computed or jaxpr.effects:
            core = Jaxpr(jaxpr.constvars, jaxpr.invars, computed, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
            if not keep_unused:
                self.kept = [i for i, used in enumerate(used_inputs(core)) if used]
                core.invars = [jaxpr.invars[i] for i in self.kept]
            self.core = ClosedJaxpr(core, jaxpr.consts)

    def _sort_results(self, arguments):
        """Fills `outs` and `constants`; returns the variables that are left to compute, each once."""
        known = dict(zip(self.jaxpr.constvars, self.jaxpr.consts))
        computed = {}
        for atom in self.jaxpr.outvars:
            aval = atom.aval
            extended = None if isinstance(aval.dtype, np.dtype) else aval.dtype
            if type(atom) is Literal or atom in known:
                self.constants.append(atom.array if type(atom) is Literal else known[atom])
                self.outs.append(("constant", len(self.constants) - 1, aval.weak_type, extended))
            elif atom in arguments:
                self.outs.append(("forwarded", arguments[atom], aval.weak_type, extended))
            else:
                place = computed.setdefault(atom, len(computed))
                self.outs.append(("computed", place, aval.weak_type, extended))
        return list(computed)

    def arguments_read(self):
        """Positions of the arguments that the program computes with or hands through."""
        return {*(self.kept if self.core else ()), *(out[1] for out in self.outs if out[0] == "forwarded")}

    def executable(self, runner, explain=None):
        """The Executable of this plan over a runner of `core`."""
        core = self.core if runner is not None else None
        return Executable(
            runner,
            self.kept if core else (),
            self.outs,
            n_args=len(self.jaxpr.invars),
            constants=self.constants,
            explain=explain,
            adapt_in=_adapters(_to_physical, core.in_avals) if core else None,
            adapt_out=_adapters(_from_physical, core.out_avals) if core else None,
        )


def _adapters(make, avals):
    """One adapter for each value, or None when all cross the boundary as they are."""
    return None if all(map(_is_plain, avals)) else [make(a) for a in avals]


def lower_plan(plan, target="native"):
    """The ONNX graph of what is left to compute, or None.  Raises LoweringError for what has no ONNX form.

    target   "native": nodes of ours may stand in it, which run on the CPU; "portable": ONNX's own operators only
    """
    if plan.core is None:
        return None
    if target == "portable":  # kept: several devices may each open a session for it
        cache = plan.core.cache
        if "portable graph" not in cache:
            cache["portable graph"] = lazy.export_driver.lower_jaxpr(plan.core, opset=options.OPSET)
        return cache["portable graph"]
    return lazy.export_driver.lower_jaxpr(lazy.regions.fuse(plan.core), opset=options.OPSET, target="native")


def compile_plan(plan, name, compiler_options=None, graph=None):
    """The Executable of a plan.  Raises LoweringError for what has no ONNX form, BackendError if it is refused."""
    settings = options.session_options(compiler_options)
    if plan.core is None:
        return plan.executable(None)
    label = f"jit({name})"
    with monitoring.timed(monitoring.LOWER, label):
        program = None if settings else lazy.regions.direct(plan.core)
        if program is None:
            options.attach()
            if settings.get("provider", "cpu") != "cpu":
                graph = lower_plan(plan, "portable")
            graph = graph or lower_plan(plan)
    with monitoring.timed(monitoring.COMPILE, label):
        return plan.executable(program) if program is not None else _with_session(plan, name, settings, graph)


def _with_session(plan, name, settings, graph):
    """The Executable that runs a graph."""
    if not graph.nodes and not graph.outputs:  # effects alone, and none that a graph has
        return plan.executable(None)
    settings.setdefault("optimization", lazy.export_proto.optimization_level(graph))
    settings["operators"] = bool(graph.model.domains)
    model, inputs, outputs, shared = lazy.export_proto.to_session(graph)
    try:
        session = lazy.ort.Session(model, inputs, outputs, initializers=shared, options=settings)
    except RuntimeError as error:
        raise _backend_error("refused", name, graph, settings, error) from None
    explain = partial(_backend_error, "failed while running", name, graph, settings)
    return plan.executable(session, explain)


def _backend_error(what, name, graph, settings, error):
    """The runtime's complaint, with the device that is not the CPU and the line of the program that the node it names
    comes from.

    An error raised by code that a node runs is given back as it is.
    """
    if not isinstance(error, lazy.ort.Fault):
        return error
    place = lazy.export_proto.locate(graph, str(error))
    where = options.place_named(settings)
    fault = f"ONNX Runtime {what} {name}{where and f' on {where}'}: {error}"
    remedy = options.NO_CUDA if where and what == "refused" and not place else ""
    return BackendError(compose(fault, place and f"In the operation from {place}.", remedy))


def evaluate(jaxpr, args):
    """The results of a closed jaxpr, carried out operation by operation."""
    return interpreter_of(jaxpr).run(jaxpr.consts, args)


# ---- dtypes without an ONNX type cross the boundary as numbers with trailing axes


def _to_physical(aval):
    if _is_plain(aval):
        return None
    axes, dtype = lazy.export_driver.trailing(aval.dtype)
    return lambda a: np.asarray(a, order="C").reshape(-1).view(dtype).reshape((*a.shape, *axes))


def _from_physical(aval):
    if _is_plain(aval):
        return None
    stored = aval.dtype if isinstance(aval.dtype, np.dtype) else aval.dtype.storage
    return lambda a: a.reshape(-1).view(stored).reshape(aval.shape)


def _is_plain(aval):
    return isinstance(aval.dtype, np.dtype) and aval.dtype.kind != "c"


# ---- what the stages show


def graph_text(graph):
    """A graph as text: typed inputs, one line a node with its attributes, results."""
    if graph is None:
        return "graph () => ()\n"
    lines = [f"graph ({_typed(graph.inputs)}) => ({_typed(graph.outputs)}) <opset {graph.opset}> {{"]
    for node in graph.nodes:
        outputs = _typed(node.outputs)
        inputs = ", ".join("" if v is None else _operand(v) for v in node.inputs)
        attributes = ", ".join(f"{k} = {_attribute(v)}" for k, v in node.attributes.items())
        domain = f"{node.domain}." if node.domain else ""
        lines.append(f"    {outputs} = {domain}{node.op_type}{f' <{attributes}>' if attributes else ''} ({inputs})")
    return "\n".join([*lines, "}", ""])


def _typed(values):
    return ", ".join(f"{v.aval.str_short(short_dtypes=True)} {v.name}" for v in values)


def _operand(value):
    return repr(value.const.tolist()) if value.const is not None and value.const.size <= 8 else value.name


def _attribute(value):
    return f"{{{len(value.nodes)} nodes}}" if hasattr(value, "nodes") else repr(value)


def model_proto(graph):
    """A graph as an onnx.ModelProto, or None."""
    return None if graph is None else lazy.onnx.load_model_from_string(lazy.export_proto.to_model(graph))


def host_nodes(graph):
    """Names of the nodes that stand for a primitive's own kernel, those in branches and bodies of loops too."""
    nodes = lazy.export_proto.all_nodes(graph) if graph is not None else ()
    return [n.name for n in nodes if n.domain == "onax" and n.op_type == "Host"]


def nbytes(aval):
    """Bytes of a value's elements."""
    return aval.size * aval.dtype.itemsize
