"""Small programs on the modules that libraries build on, run by onax and recorded from real JAX.

    ONAX_ORACLE_PYTHON tests/library_cases.py        renews tests/golden/library_cases.json

A case is a function of the package and of `module`, which imports a module below it; it gives a tree of lists,
dictionaries, numbers and texts.  What a call raises is recorded by `fault` as the name of the exception.
"""

import importlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np

import recorded_versions

GOLDEN = Path(__file__).resolve().parent / "golden" / "library_cases.json"
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def fault(function, *args, **kwargs):
    """The name of the exception that a call raises, or its result."""
    try:
        return plain(function(*args, **kwargs))
    except Exception as error:  # whatever real JAX raises is recorded
        return type(error).__name__


def plain(x):
    """A value as JSON can hold it."""
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    if hasattr(x, "__array__"):
        a = np.asarray(x)
        return [str(a.dtype), list(a.shape), [round(float(f"{v:.5g}"), 4) for v in a.astype(np.float64).ravel()]]
    return str(x)


def run(name, package):
    """What a case gives with `onax` or `jax`."""
    return plain(CASES[name](package, lambda path: importlib.import_module(f"{package.__name__}.{path}")))


# ---- primitives of a library ----


def _multiply_add(jax, module, name):
    """A primitive of three operands, x * y + z, with every rule written in JAX's forms."""
    ad, batching, mlir = (module(f"interpreters.{m}") for m in ("ad", "batching", "mlir"))
    jnp, core = module("numpy"), module("core")
    p = module("extend.core").Primitive(name)
    p.def_impl(lambda x, y, z: np.asarray(x) * np.asarray(y) + np.asarray(z))
    p.def_abstract_eval(lambda x, y, z: core.ShapedArray(x.shape, x.dtype))

    def jvp(primals, tangents):
        x, y, z = primals
        tx, ty, tz = (ad.instantiate_zeros(t) for t in tangents)
        return p.bind(x, y, z), p.bind(tx, y, p.bind(x, ty, tz))

    def transpose(ct, x, y, z):
        zeros = jnp.zeros(ct.shape, ct.dtype)
        if ad.is_undefined_primal(x):
            return p.bind(ct, y, zeros), None, ct
        return None, p.bind(ct, x, zeros), ct

    def batch(args, dims):
        size = next(x.shape[d] for x, d in zip(args, dims) if d is not None)
        return p.bind(*(batching.bdim_at_front(x, d, size) for x, d in zip(args, dims))), 0

    ad.primitive_jvps[p] = jvp
    ad.primitive_transposes[p] = transpose
    batching.primitive_batchers[p] = batch
    mlir.register_lowering(p, mlir.lower_fun(lambda x, y, z: x * y + z, multiple_results=False))
    return p


@case
def primitive_with_all_rules(jax, module):
    p, jnp = _multiply_add(jax, module, "case_multiply_add"), module("numpy")
    f = lambda x: p.bind(x, x, x)
    x = jnp.arange(3.0)
    return {
        "eager": f(x),
        "jit": jax.jit(lambda x: f(2 * x) + 1)(x),
        "grad": jax.grad(lambda x: f(x).sum())(x),
        "jit of grad": jax.jit(jax.grad(lambda x: (f(x) * x).sum()))(x),
        "jvp": jax.jvp(f, (x,), (x,)),
        "vmap": jax.vmap(lambda x: p.bind(x, 2.0, x))(x),
        "jit of vmap of grad": jax.jit(jax.vmap(jax.grad(f)))(x),
        "scan": jax.lax.scan(lambda c, x: (f(c) + x, c), 1.0, x),
        "jaxpr": jax.make_jaxpr(f)(2.0),
        "jaxpr of grad": jax.make_jaxpr(jax.grad(f))(2.0),
    }


@case
def primitives_there_are(jax, module):
    primitives = module("extend.core.primitives")
    names = "call_p closed_call_p jit_p scan_p while_p cond_p remat_p name_p custom_vjp_call_p lu_p svd_p random_bits_p"
    return [[getattr(primitives, name).name for name in names.split()], [jax.host_count(), jax.host_id()]]


@case
def primitive_with_several_results(jax, module):
    jnp, core, mlir = module("numpy"), module("core"), module("interpreters.mlir")
    p = module("extend.core").Primitive("case_both")
    p.multiple_results = True
    p.def_impl(lambda x, *, n: [np.asarray(x) + n, np.asarray(x) * n])
    p.def_abstract_eval(lambda x, *, n: [core.ShapedArray(x.shape, x.dtype)] * 2)
    mlir.register_lowering(p, mlir.lower_fun(lambda x, n: [x + n, x * n], multiple_results=True))
    x = jnp.arange(3.0)
    f = lambda x: sum(p.bind(x, n=3))
    return [f(x), jax.jit(f)(x), jax.make_jaxpr(f)(x)]


@case
def makers_of_rules(jax, module):
    ad, batching, mlir = (module(f"interpreters.{m}") for m in ("ad", "batching", "mlir"))
    jnp, core, primitive = module("numpy"), module("core"), module("extend.core").Primitive

    def define(name, function, shape=lambda *avals: avals[0].shape):
        p = primitive(name)
        p.def_impl(lambda *xs, **params: function(*map(jnp.asarray, xs), **params))
        p.def_abstract_eval(lambda *avals, **params: core.ShapedArray(shape(*avals, **params), avals[0].dtype))
        mlir.register_lowering(p, mlir.lower_fun(function, multiple_results=False))
        return p

    x = jnp.arange(1.0, 4.0)
    square = define("case_square", lambda x: x * x)
    ad.defjvp(square, lambda t, x: 2 * x * t)
    batching.defvectorized(square)
    power = define("case_power", lambda x, y: x**y)
    ad.defjvp2(power, lambda t, out, x, y: t * y * out / x, None)
    batching.defbroadcasting(power)
    twice = define("case_twice", lambda x: 2 * x)
    ad.deflinear(twice, lambda ct: [twice.bind(ct)])
    thrice = define("case_thrice", lambda x: 3 * x)
    ad.deflinear2(thrice, lambda ct, x: [thrice.bind(ct)])
    times = define("case_times", lambda x, y: x * y)
    ad.defbilinear(times, lambda ct, x, y: times.bind(ct, y), lambda ct, x, y: times.bind(x, ct))
    total = define(
        "case_total",
        lambda x, axes: jnp.sum(x, axes),
        lambda x, axes: tuple(n for i, n in enumerate(x.shape) if i not in axes),
    )
    batching.defreducer(total)
    f = lambda x: times.bind(twice.bind(square.bind(x)), thrice.bind(power.bind(x, jnp.full(x.shape, 3.0))))
    return {
        "value": f(x),
        "jvp": jax.jvp(f, (x,), (jnp.ones(3),)),
        "grad": jax.grad(lambda x: f(x).sum())(x),
        "jit of grad": jax.jit(jax.grad(lambda x: f(x).sum()))(x),
        "vmap": jax.vmap(square.bind)(x),
        "vmap of two": jax.vmap(power.bind, (0, None))(jnp.ones((2, 3)) + 1, x),
        "vmap of sum": jax.vmap(lambda x: total.bind(x, axes=(0,)), 1)(jnp.ones((4, 5))),
        "no jvp": fault(jax.grad(lambda x: total.bind(x, axes=(0,))), x),
        "no batching": fault(jax.vmap(times.bind), x, x),
        "no transpose": fault(ad.get_primitive_transpose, square),
        "no impl": fault(primitive("case_nothing").bind, 1.0),
    }


@case
def batching_rules_with_the_axis(jax, module):
    batching, jnp, core = module("interpreters.batching"), module("numpy"), module("core")
    seen = []

    def define(name):
        p = module("extend.core").Primitive(name)
        p.def_impl(lambda x: x)
        p.def_abstract_eval(lambda x: core.ShapedArray(x.shape, x.dtype))
        return p

    fancy, axis = define("case_fancy"), define("case_axis")

    def fancy_rule(axis_data, args, dims):
        seen.append([axis_data.name, axis_data.size, list(dims)])
        return fancy.bind(*args), dims[0]

    def axis_rule(size, name, main, args, dims):
        seen.append([size, name, main, list(dims)])
        return axis.bind(*args), dims[0]

    batching.fancy_primitive_batchers[fancy] = fancy_rule
    batching.axis_primitive_batchers[axis] = axis_rule
    x = jnp.arange(6.0).reshape(2, 3)
    out = jax.vmap(lambda x: axis.bind(fancy.bind(x)), 1, axis_name="i")(x)
    return [out, seen, fancy in batching.fancy_primitive_batchers]


@case
def partial_evaluation(jax, module):
    pe, lu, core = module("interpreters.partial_eval"), module("extend.linear_util"), module("core")
    jnp, info = module("numpy"), module("api_util").debug_info
    scalar = core.ShapedArray((), jnp.float32)

    def f(x, y):
        k = y * 2.0
        return [jax.lax.sin(x) + k, k, x, jax.jit(lambda a, b: (a + b, b))(x, y)[1]]

    wrapped = lambda f: lu.wrap_init(f, debug_info=info("case", f, (1.0, 2.0), {}))
    known = pe.PartialVal.known(jnp.float32(3.0))
    jaxpr, outs, consts = pe.trace_to_jaxpr_nounits(wrapped(f), [pe.PartialVal.unknown(scalar), known])
    whole, avals, none = pe.trace_to_jaxpr_dynamic(wrapped(f), [scalar, scalar])
    inst = pe.trace_to_jaxpr_nounits(wrapped(f), [pe.PartialVal.unknown(scalar), known], instantiate=True)
    return {
        "known": [v.is_known() for v in outs],
        "values": [v.get_known() for v in outs],
        "types": [v.get_aval() for v in outs],
        "arguments": len(jaxpr.invars),
        "results": len(jaxpr.outvars),
        "run": core.eval_jaxpr(jaxpr, consts, 0.5),
        "instantiated": [v.is_known() for v in inst[1]],
        "dynamic": [whole, avals, none],
        "dead": pe.dce_jaxpr(whole, [False, True, False, False]),
        "dead but kept": pe.dce_jaxpr(whole, [False, True, False, False], instantiate=True),
        "inside a call": pe.dce_jaxpr(whole, [False, False, False, True]),
        "nothing": pe.dce_jaxpr(whole, False),
        "everything": pe.dce_jaxpr(whole, True)[1],
        "constants": pe.dce_jaxpr_consts(whole, [False, True, False, False])[1:],
    }


# ---- functions in layers, trees ----


@case
def layers_of_functions(jax, module):
    lu, info = module("extend.linear_util"), module("api_util").debug_info
    h = lambda x, y: x + y
    wrapped = lu.wrap_init(h, debug_info=info("case", h, (1, 2), {}))

    @lu.transformation2
    def scaled(f, k, *args):
        return f(*args) * k

    @lu.transformation_with_aux2
    def noted(f, store, k, *args):
        result = f(*args)
        store.store(["noted", k])
        return result

    @lu.transformation
    def shifted(k, *args):
        out = yield args, {}
        yield out + k

    @lu.transformation_with_aux
    def both(k, *args):
        out = yield args, {}
        yield out + k, "aux"

    calls = []

    @lu.cache
    def counted(f, *args):
        calls.append(1)
        return f.call_wrapped(*args)

    inner, aux = noted(scaled(wrapped, 10), 7)
    early = fault(aux)
    value = inner.call_wrapped(1, 2)
    one, aux_one = noted(wrapped, 1)
    _, aux_two = noted(wrapped, 2)
    neither = fault(lu.merge_linear_aux, aux_one, aux_two)
    one.call_wrapped(1, 2)
    last, aux_last = both(shifted(wrapped, 5), 6)
    return {
        "value": [early, value, aux(), fault(inner.call_wrapped, 1, 2)],
        "merge": [neither, lu.merge_linear_aux(aux_one, aux_two), lu.merge_linear_aux(aux_two, aux_one)],
        "generators": [last.call_wrapped(1, 2), aux_last()],
        "equal": [scaled(wrapped, 1) == scaled(wrapped, 1), scaled(wrapped, 1) == scaled(wrapped, 2)],
        "cache": [counted(wrapped, 1, 2), counted(wrapped, 1, 2), counted(wrapped, 2, 2), len(calls)],
        "name": [wrapped.__name__ == h.__name__, lu.wrap_init(h, {"q": 1}, debug_info=wrapped.debug_info).params],
    }


@case
def arguments_as_trees(jax, module):
    api, lu = module("api_util"), module("extend.linear_util")
    f = lambda a, b, k=0: {"r": a + b["x"] + k}
    wrap = lambda f: lu.wrap_init(f, debug_info=api.debug_info("case", f, (), {}))
    leaves, tree = jax.tree.flatten(((1, {"x": 2}), {"k": 3}))
    flat, out_tree = api.flatten_fun(wrap(f), tree)
    args, args_tree = jax.tree.flatten((1, {"x": 2}))
    flat_args, out_tree_args = api.flatten_fun_nokwargs(wrap(f), args_tree)
    partial, rest = api.argnums_partial(wrap(lambda a, b, c: [a, b, c]), (0, 2), (1, 2, 3))
    struct = jax.tree.structure
    return {
        "flatten_fun": [flat.call_wrapped(*leaves), out_tree()],
        "nokwargs": [flat_args.call_wrapped(*args), out_tree_args()],
        "axes": [api.flatten_axes("x", tree, 0), api.flatten_axes("x", struct(((1, 2), 3)), (None, 1))],
        "wrong axes": fault(api.flatten_axes, "x", struct((1, 2)), (0, 1, 2)),
        "partial": [rest, partial.call_wrapped(*rest)],
        "no hash": fault(api.argnums_partial, wrap(f), 0, (1, [2])),
        "no position": fault(api.argnums_partial, wrap(f), 5, (1, 2)),
        "donation": [
            api.donation_vector((0,), (), struct((((1, 2), 3), {}))),
            api.donation_vector((1,), ("k",), tree),
            api.donation_vector((0,), (), struct((1, (2, 3))), kws=False),
        ],
        "rebase": [api.rebase_donate_argnums((2, 3), (0, 1)), fault(api.rebase_donate_argnums, (0,), (0,))],
        "map": [api.safe_map(lambda a, b: a + b, [1, 2], [3, 4]), fault(api.safe_map, max, [1, 2], [3])],
        "types": [
            api.shaped_abstractify(1.0),
            api.shaped_abstractify(jax.ShapeDtypeStruct((2,), np.int32)),
            api.shaped_abstractify(np.ones(2, np.float32)),
            fault(api.shaped_abstractify, "x"),
        ],
    }


@case
def traces_and_types(jax, module):
    ec, core, jnp = module("extend.core"), module("core"), module("numpy")
    seen = []

    def f(x):
        names = ec.unsafe_get_axis_names_DO_NOT_USE()
        under = [ec.unsafe_am_i_under_a_jit_DO_NOT_USE(), ec.unsafe_am_i_under_a_vmap_DO_NOT_USE()]
        seen.append([*under, names, ec.nonempty_axis_env_DO_NOT_USE(), type(ec.find_top_trace(())).__name__])
        return x

    x = jnp.ones(3)
    f(1.0)
    jax.jit(f)(1.0)
    jax.vmap(f)(x)
    jax.vmap(f, axis_name="i")(x)
    jax.jit(jax.vmap(f))(x)
    jax.vmap(jax.jit(f), axis_name="j")(x)
    jax.grad(f)(1.0)
    jax.jit(jax.grad(f))(1.0)
    state = ec.get_opaque_trace_state(convention="case")
    inner = []
    jax.jit(lambda x: inner.append(ec.get_opaque_trace_state() == state) or x)(1.0)
    with ec.take_current_trace() as trace:
        taken = type(trace).__name__
    aval = core.ShapedArray((3, 4), jnp.float32)
    return {
        "seen": seen,
        "state": [state == ec.get_opaque_trace_state(), inner, fault(hash, state)],
        "taken": taken,
        "mapped": [ec.mapped_aval(3, 0, aval), ec.mapped_aval(3, None, aval)],
        "unmapped": [ec.unmapped_aval(5, 1, aval), ec.unmapped_aval(5, None, aval)],
        "tangents": [ec.primal_dtype_to_tangent_dtype(np.dtype(d)) for d in ("int32", "float32")],
        "variable": type(ec.gensym()(aval)).__name__,
    }


@case
def known_values_while_tracing(jax, module):
    jnp, seen = module("numpy"), []

    def f(x):
        with jax.ensure_compile_time_eval():
            y = x + 1
            known = [jnp.arange(3) + 1, jax.jit(lambda a: a * 2)(jnp.ones(2)), jax.nn.relu(jnp.ones(2))]
            seen.append([bool((known[0] > 0).all()), isinstance(y, jax.core.Tracer), jax.grad(lambda a: a * a)(2.0)])
            y = jax.nn.relu(jax.lax.cond(y > 0, lambda: y, lambda: 2.0))
        seen.append([isinstance(jnp.arange(3) + 1, jax.core.Tracer)])
        return y + sum(jnp.sum(k) for k in known)

    x = jnp.ones(2)
    return [f(1.0), jax.jit(f)(1.0), jax.vmap(f)(x), jax.grad(f)(1.0), jax.jit(jax.vmap(jax.grad(f)))(x), seen]


@case
def what_a_backward_rule_sees(jax, module):
    jnp, seen = module("numpy"), []

    @jax.custom_vjp
    def f(tree, other):
        return tree[1][1] * 2 + other

    def forward(tree, other):
        return f(tree, other), (True, [tree[1][1], False])

    def backward(residuals, ct):
        flag, (x, other) = residuals
        seen.append([flag is True, other is False])
        return (None, (None, ct * x)), None

    f.defvjp(forward, backward)
    g = lambda x: f((None, (None, x)), 3.0)
    x = jnp.arange(2.0)
    return [jax.grad(g)(1.5), jax.jit(jax.grad(g))(1.5), jax.vmap(jax.grad(g))(x), jax.grad(jax.jit(g))(1.5), seen]


@case
def types_as_results(jax, module):
    jnp, struct = module("numpy"), jax.ShapeDtypeStruct((2,), np.complex64)
    return {
        "types": jax.eval_shape(lambda x: {"a": (x, struct), "b": x}, 1.0),
        "weak": jax.eval_shape(lambda: jax.ShapeDtypeStruct((), np.float32, weak_type=True)),
        "complex": [jnp.iscomplexobj(struct), jnp.isrealobj(struct)],
        "no values": fault(jax.jit(lambda: struct)),
    }


# ---- exchange, events, processes ----


@case
def exchange_of_memory(jax, module):
    dl, jnp = module("dlpack"), module("numpy")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    names = "float32 bool bfloat16 int4 complex128 float8_e4m3fn float64 uint8".split()
    y = dl.from_dlpack(x)
    return {
        "array": [y, y.committed, len(y.devices())],
        "device": dl.from_dlpack(x, device=jax.devices()[0]).committed,
        "transposed": dl.from_dlpack(x.T),
        "dtypes": [str(dl.from_dlpack(np.ones(2, d)).dtype) for d in ("f8", "i8", "bool", "c8", "f2", "u1", "i4")],
        "empty": [dl.from_dlpack(np.ones((0, 3), np.float32)), dl.from_dlpack(np.array(3, np.float32))],
        "of arrays": [dl.from_dlpack(jnp.ones(3)), dl.from_dlpack(jnp.ones(3, jnp.bfloat16)).dtype.name],
        "read-only": [np.from_dlpack(jnp.ones(3)).flags.writeable, np.from_dlpack(jnp.ones(3, bool))],
        "faults": [
            fault(dl.from_dlpack, 3),
            fault(dl.from_dlpack, [1]),
            fault(dl.from_dlpack, np.array(["a"])),
            fault(dl.from_dlpack, x, device="cpu"),
            fault(jax.jit(lambda x: dl.from_dlpack(x)), x),
            fault(jax.jit(lambda x: x.__dlpack__()), x),
        ],
        "supported": {name: dl.is_supported_dtype(name) for name in names},
        "not a dtype": fault(dl.is_supported_dtype, "nope"),
    }


@case
def events(jax, module):
    monitoring, found = module("monitoring"), []
    event = lambda name, **kwargs: found.append(["event", name, kwargs])
    duration = lambda name, seconds, **kwargs: found.append(["duration", name, type(seconds).__name__, sorted(kwargs)])
    span = lambda name, start, end, **kwargs: found.append(["span", name, start <= end, sorted(kwargs)])
    scalar = lambda name, value, **kwargs: found.append(["scalar", name, sorted(kwargs)])
    monitoring.clear_event_listeners()
    monitoring.register_event_listener(event)
    monitoring.register_event_duration_secs_listener(duration)
    monitoring.register_event_time_span_listener(span)
    monitoring.register_scalar_listener(scalar)
    monitoring.record_event("/e", k=1)
    monitoring.record_event_duration_secs("/d", 1.5, q="z")
    monitoring.record_event_time_span("/t", 1.0, 2.0, w=1)
    monitoring.record_scalar("/s", 3, t=2)
    recorded, found[:] = list(found), []
    x = np.ones((4, 4), np.float32)
    f = jax.jit(lambda x: jax.lax.dot(x, jax.lax.sin(x)))
    f(x)
    compiled, found[:] = [e for e in found if e[1].startswith("/jax/core/compile/")], []
    f(x)
    again = len(found)
    monitoring.unregister_event_listener(event)
    monitoring.unregister_event_duration_listener(duration)
    monitoring.unregister_event_time_span_listener(span)
    monitoring.unregister_scalar_listener(scalar)
    monitoring.record_event("/e")
    return {"recorded": recorded, "compiled": compiled, "again": again, "after": found}


@case
def one_process(jax, module):
    distributed = module("distributed")
    return [distributed.is_initialized(), distributed.shutdown(), distributed.is_initialized()]


# ---- experimental ----


@case
def layouts(jax, module):
    layout, jnp = module("experimental.layout"), module("numpy")
    Layout, Format = layout.Layout, layout.Format
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    rows = Layout((0, 1))
    return {
        "texts": [rows, Layout((1, 0), ((2, 2),)), Format(), Format(rows, here), Format(Layout.AUTO), Layout.AUTO],
        "equal": [rows == Layout((0, 1)), hash(rows) == hash(Layout((0, 1))), rows == Layout((1, 0))],
        "formats": [Format(rows, here) == Format(rows, here), Format().layout, Format().sharding],
        "constraint": layout.with_layout_constraint(jnp.ones((2, 3)), rows),
        "faults": [
            fault(Format, rows),
            fault(Format, 3),
            fault(jax.jit(lambda x: layout.with_layout_constraint(x, Layout((1, 0, 2)))), np.ones((2, 3), np.float32)),
        ],
    }


@case
def meshes_of_devices(jax, module):
    utils, device = module("experimental.mesh_utils"), jax.devices()[0]
    text = lambda mesh: [str(mesh.dtype), list(mesh.shape), [str(d) for d in mesh.ravel()]]
    return {
        "one": text(utils.create_device_mesh((1, 1))),
        "given": text(utils.create_device_mesh((2, 3), [device] * 6)),
        "hybrid": text(utils.create_hybrid_device_mesh((1, 1), (1, 1), process_is_granule=True)),
        "faults": [
            fault(utils.create_device_mesh, (2, 2)),
            fault(utils.create_hybrid_device_mesh, (1, 1), (1, 1)),
            fault(utils.create_hybrid_device_mesh, (1, 1), (2, 1), process_is_granule=True),
        ],
    }


def _pjit(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return module("experimental.pjit").pjit


@case
def one_process_of_many(jax, module):
    utils, jnp = module("experimental.multihost_utils"), module("numpy")
    mesh = jax.make_mesh((1,), ("x",))
    tree = {"a": np.ones(2, np.float32), "b": jnp.ones((2, 2))}
    laid = utils.host_local_array_to_global_array(tree, mesh, jax.P("x"))
    whole = jax.make_array_from_process_local_data(laid["a"].sharding, np.ones(4, np.float32))
    return {
        "broadcast": utils.broadcast_one_to_all({"a": 1, "b": np.ones(2, np.float32)}),
        "gathered": [utils.process_allgather(tree), utils.process_allgather(tree, tiled=True)],
        "laid out": laid,
        "back": utils.global_array_to_host_local_array(laid, mesh, jax.P("x")),
        "nothing to do": [
            utils.assert_equal(tree),
            utils.sync_global_devices("case"),
            utils.reached_preemption_sync_point(3),
        ],
        "from this process": [whole, whole.sharding == laid["a"].sharding],
        "faults": [
            fault(utils.host_local_array_to_global_array, tree, mesh, jax.P("y")),
            fault(jax.make_array_from_process_local_data, laid["a"].sharding, np.ones(4), (8,)),
        ],
        "pjit": _pjit(module)(lambda x: x * 2)(3.0),
    }


@case
def solutions_of_differential_equations(jax, module):
    odeint, jnp = module("experimental.ode").odeint, module("numpy")
    ts, y0 = jnp.linspace(0.0, 1.0, 5), jnp.array([1.0, 2.0])
    matrix = jnp.array([[0.0, 1.0], [-2.0, -0.1]])
    driven = lambda y, t, matrix: matrix @ y + jnp.sin(t)
    pendulum = lambda y, t, m, g: (y[1], -m * y[1] - g * jnp.sin(y[0]))
    exact = {"rtol": 1e-6, "atol": 1e-6}
    weights = jnp.arange(1.0, 11.0).reshape(5, 2)
    loss = lambda *args: jnp.sum(odeint(driven, *args, **exact) * weights)
    close = lambda k: odeint(lambda y, t: -k * y, jnp.float32(1.0), ts, **exact)[-1]
    # 3 digits, of which each is right: both solve to about 1e-5
    rounded = lambda tree: jax.tree.map(lambda x: [float(f"{v:.3g}") for v in np.ravel(x)], tree)
    return {
        "tree": rounded(odeint(pendulum, (jnp.float32(1.0), jnp.float32(0.0)), ts, 0.25, 9.8, **exact)),
        "vector": rounded(odeint(driven, y0, ts, matrix, **exact)),
        "gradient": rounded(jax.grad(loss, (0, 1, 2))(y0, ts, matrix)),
        "jit of gradient": rounded(jax.jit(jax.grad(loss))(y0, ts, matrix)),
        "closure": rounded(jax.grad(close)(2.0)),
        "vmap": rounded(jax.vmap(lambda y: odeint(driven, y, ts, matrix, **exact)[-1])(jnp.stack([y0, 2 * y0]))),
        "short steps": rounded(odeint(lambda y, t: -y, 1.0, ts, hmax=0.05, rtol=1e-5, atol=1e-5)),
        "faults": [
            fault(odeint, lambda y, t: -y, 1.0, jnp.arange(3)),
            fault(odeint, lambda y, t, a: -y, 1.0, ts, "x"),
        ],
    }


# ---- example libraries ----


@case
def optimizers(jax, module):
    lib, jnp = module("example_libraries.optimizers"), module("numpy")
    params = {"w": jnp.arange(6.0).reshape(2, 3) / 3, "b": (jnp.ones(2),)}
    gradient = jax.grad(lambda p: jnp.sum(jnp.sin(p["w"]) ** 2) + jnp.sum(p["b"][0] ** 3))
    makers = {
        "sgd": lib.sgd(0.1),
        "momentum": lib.momentum(lib.exponential_decay(0.1, 2, 0.5), 0.9),
        "nesterov": lib.nesterov(lib.inverse_time_decay(0.1, 2, 0.5), 0.9),
        "adagrad": lib.adagrad(lib.inverse_time_decay(0.1, 2, 0.5, True)),
        "rmsprop": lib.rmsprop(lib.polynomial_decay(0.1, 3, 0.01, 2.0)),
        "rmsprop_momentum": lib.rmsprop_momentum(lib.piecewise_constant([1, 2], [0.1, 0.05, 0.01])),
        "adam": lib.adam(0.1),
        "adamax": lib.adamax(0.1),
        "sm3": lib.sm3(lib.constant(0.1)),
    }
    found = {}
    for name, (init, update, get_params) in makers.items():
        state = init(params)
        for i in range(4):
            state = jax.jit(update)(i, gradient(get_params(state)), state)
        found[name] = get_params(lib.pack_optimizer_state(lib.unpack_optimizer_state(state)))
    init, update, _ = makers["adam"]
    marked = lib.unpack_optimizer_state(init(params))
    return {
        "after four steps": found,
        "norm": [lib.l2_norm(params), lib.clip_grads(params, 1.0), lib.clip_grads(params, 100.0)],
        "marked": [type(marked["w"]).__name__, [len(state) for state in marked["w"]]],
        "faults": [
            fault(update, 0, {"w": params["w"]}, init(params)),
            fault(lib.make_schedule, np.ones(2)),
            fault(lib.piecewise_constant, [1, 2], [1.0]),
        ],
    }


@case
def layers_of_networks(jax, module):
    stax, jnp, random = module("example_libraries.stax"), module("numpy"), module("random")
    key, image = random.key(0), jnp.linspace(-1.0, 1.0, 2 * 8 * 8 * 3).reshape(2, 8, 8, 3)
    networks = {
        "dense": (stax.serial(stax.Dense(4), stax.Relu, stax.Dense(2), stax.LogSoftmax), jnp.ones((3, 5)) / 4),
        "image": (
            stax.serial(
                stax.Conv(4, (3, 3), padding="SAME"), stax.BatchNorm(), stax.Relu, stax.MaxPool((2, 2), (2, 2)),
                stax.ConvTranspose(2, (2, 2), (2, 2)), stax.AvgPool((3, 3), padding="SAME"), stax.SumPool((2, 2)),
                stax.Flatten, stax.Dense(3), stax.Softmax,
            ),
            image,
        ),
        "branches": (
            stax.serial(
                stax.FanOut(2), stax.parallel(stax.Dense(3), stax.serial(stax.Dense(3), stax.Tanh)), stax.FanInSum,
                stax.FanOut(2), stax.parallel(stax.Identity, stax.Elu), stax.FanInConcat(), stax.Gelu,
                stax.shape_dependent(lambda shape: stax.Dense(shape[-1])), stax.Softplus, stax.Sigmoid, stax.LeakyRelu,
            ),
            jnp.ones((3, 5)),
        ),
        "dropped": (stax.serial(stax.Dense(6), stax.Dropout(0.5), stax.Exp, stax.Selu), jnp.ones((3, 5))),
    }  # fmt: skip
    found = {}
    for name, ((init, apply), x) in networks.items():
        shape, params = init(key, (-1, *x.shape[1:]))
        found[name] = [list(shape[1:]), params, apply(params, x, rng=key), jax.jit(apply)(params, x, rng=key)]
    init, apply = stax.Dropout(0.5, mode="test")
    return [found, apply((), jnp.ones(3), rng=key), fault(apply, (), jnp.ones(3))]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    package = importlib.import_module("jax")
    GOLDEN.write_text(json.dumps({name: run(name, package) for name in CASES}, indent=1, sort_keys=True) + "\n")
    recorded_versions.note(GOLDEN, package.__version__)
    print(f"{len(CASES)} cases recorded from JAX {package.__version__}")
