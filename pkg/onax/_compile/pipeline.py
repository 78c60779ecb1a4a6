"""The compiler, from a staged program to something that runs.  Read this module first.

    stage           `call.py`: the function runs once on tracers, which leaves a jaxpr
    PASSES          the list below: each pass is a function from a jaxpr to a jaxpr, in a file of its own in `passes/`
                    (but `eliminate_dead_code`, which other modules use too), and runs once
    partition       `devices/partition.py`, for separate devices, which run one program each: the program is cut where
                    devices exchange values, and this pipeline compiles each segment
    NATIVE_PASSES   for the native target alone, whose graphs may contain onax's own operators
    lower           `export/lower/driver.py`: a jaxpr becomes an ONNX graph
    encode          `export/graph/proto.py`: a graph becomes the bytes of a model
    open session    `sessions.py`: ONNX Runtime loads the model

With `ONAX_DUMP_PASSES=<folder>` every compilation writes the program after each pass into that folder;
`jit(f).lower(...).passes()` returns the same programs.
"""

from onax._compile import sessions
from onax._compile.computation import Computation
from onax._compile.direct import direct_program
from onax._compile.dump import open_dump, write_staged
from onax._compile.lazy_import import multi_device, persistent_cache
from onax._compile.memory import order_nodes
from onax._compile.memory_limit import check_sizes
from onax._compile.passes.expand_products import expand_products
from onax._compile.passes.form_tapes import form_tapes
from onax._compile.passes.hoist_invariants import hoist_invariants
from onax._compile.passes.inline_calls import inline_calls
from onax._compile.passes.simplify import simplify
from onax._compile.passes.unroll_scans import unroll_scans
from onax._compile.placement import has_separate_regions
from onax._core.rewrite import eliminate_dead_code
from onax._ground import monitoring
from onax._ground.config import compilation_cache_dir, config
from onax._ground.errors import LoweringError
from onax._ground.onnx_runtime import attach_runtime
from onax._transforms.discharge import discharge_refs
from onax._transforms.staging import valueless
from onax.export.graph import transfers
from onax.export.lower import driver

# A pass that recognizes functions (softmax, gelu) for the portable target belongs before `inline_calls`, because it can
# use the names of library calls.
PASSES = (
    discharge_refs,
    inline_calls,
    unroll_scans,
    eliminate_dead_code,
    simplify,
)
NATIVE_PASSES = (
    expand_products,
    hoist_invariants,
    form_tapes,
)


def compile_jaxpr(jaxpr, name, keep_unused=False, compiler_options=None, device=None):
    """The Executable of a staged program for a device (None: the default one).

    Raises LoweringError for an operation without an ONNX form, BackendError if the runtime rejects the model.
    """
    return compile_computation(optimize(jaxpr, name, keep_unused), name, compiler_options, device)


def optimize(jaxpr, name, keep_unused=False):
    """The Computation of a staged program: the program after PASSES."""
    write_staged(jaxpr, name)
    dump = open_dump(name)
    if dump is not None:
        dump.write("stage", jaxpr)
    return Computation(_run_passes(PASSES, jaxpr, dump), keep_unused, dump)


def _run_passes(passes, jaxpr, dump):
    for rewrite in passes:
        if jaxpr.consts and any(type(c) in valueless for c in jaxpr.consts):
            raise TypeError(
                "A ShapeDtypeStruct does not have a value and cannot be used as a constant in a JAX function."
            )
        jaxpr = rewrite(jaxpr)
        if dump is not None:
            dump.write(rewrite.__name__, jaxpr)
    return jaxpr


def compile_computation(computation, name, compiler_options=None, device=None, graph=None):
    """The Executable of a Computation for a device; `graph` is its native graph if that was lowered before."""
    options = sessions.options_for_device(compiler_options, device)
    placed = options is not compiler_options  # else the user chose the provider, so the host runs nothing
    try:
        if not _needs_partition(computation, placed):
            return compile_for_session(computation, name, options, graph)
    except LoweringError:
        if not placed:
            raise
    return multi_device().partition.compile_partitioned(computation, name, compiler_options, device)


def _needs_partition(computation, on_cuda):
    """Whether a program has regions over separate devices, or loops whose steps would copy values between devices."""
    if computation.core is None:
        return False
    if has_separate_regions(computation.core):
        return True
    return on_cuda and transfers.loops_that_bounce(lower_portable(computation))


def compile_for_session(computation, name, compiler_options=None, graph=None):
    """The Executable that runs a Computation as one program; MemoryError if this machine cannot hold its results."""
    settings = sessions.session_options(compiler_options)
    if computation.core is None:
        return computation.executable(None)
    check_sizes(computation.core)
    label = f"jit({name})"
    with monitoring.timed(monitoring.LOWER, label):
        direct = None if settings else _direct_program(computation)
        if direct is None:
            attach_runtime()
            if settings.get("provider", "cpu") != "cpu":
                graph = lower_portable(computation)
            graph = graph or lower_native(computation)
    with monitoring.timed(monitoring.COMPILE, label):
        if direct is not None:
            return computation.executable(direct.runner, is_session=False)
        if not graph.nodes and not graph.outputs:  # no results, and no effects that a graph can have
            return computation.executable(None)
        return computation.executable(*sessions.open_session(graph, name, settings))


def _direct_program(computation):
    """The Direct of a Computation, perhaps from the persistent cache, or None."""
    make = lambda: direct_program(native_program(computation))
    monitoring.tell_of_cache(config.jax_enable_compilation_cache)
    if compilation_cache_dir() is None:
        return make()
    return persistent_cache().find_or_make(computation.core, make)


def native_program(computation):
    """The core of a Computation after NATIVE_PASSES; cached with the Computation."""
    if computation.native is None:
        computation.native = _run_passes(NATIVE_PASSES, computation.core, computation.dump)
    return computation.native


def lower_native(computation):
    """The graph of the core, or None; it may contain onax's own operators, which run on the CPU.

    Raises LoweringError for an operation without an ONNX form.
    """
    if computation.core is None:
        return None
    graph = driver.lower_jaxpr(native_program(computation), opset=sessions.OPSET, target="native")
    order_nodes(graph)
    return graph


def lower_portable(computation):
    """The graph of the core in ONNX's own operators, or None; cached with the Computation.

    Raises LoweringError for an operation without an ONNX form.
    """
    if computation.core is not None and computation.portable_graph is None:
        computation.portable_graph = driver.lower_jaxpr(computation.core, opset=sessions.OPSET)
    return computation.portable_graph


def programs_after_passes(jaxpr):
    """[(name, program)]: the staged program, and the one after each pass of the native target."""
    programs = [("stage", jaxpr)]
    for rewrite in PASSES:
        programs.append((rewrite.__name__, rewrite(programs[-1][1])))
    core = Computation(programs[-1][1]).core
    for rewrite in NATIVE_PASSES if core is not None else ():
        core = rewrite(core)
        programs.append((rewrite.__name__, core))
    return programs
