"""A program written for JAX that uses what libraries rely on; it prints the same lines under JAX and under onax."""

import enum
import importlib.metadata
import importlib.util
import weakref

import jax
import jax.extend.core as jexc
import jax.extend.linear_util as lu
import jax.numpy as jnp
import numpy as np
from jax._src import core, tree_util
from jax.experimental.layout import Format, Layout


def show(label, call, *args):
    """Prints the value of a call, or the class of the error that it raises."""
    try:
        value = call(*args)
    except Exception as error:
        value = type(error).__name__
    print(label, repr(value), flush=True)


# ---- names

show("versions", lambda: (jax.__version__, jax.__version_info__, jax.version.__version__))
show("metadata", lambda: [importlib.metadata.version(name) for name in ("jax", "jaxlib")])
show("specs", lambda: [importlib.util.find_spec(name) is not None for name in ("jax", "jaxlib", "jax.numpy", "jax.no")])
show("names", lambda: (jax.numpy.__name__, jax.scipy.special.__name__, jax.lax.linalg.__name__))
show("missing", lambda: hasattr(jax, "nonsense") or hasattr(core, "nonsense"))
show("missing module", lambda: __import__("jax._src.nonsense"))

# ---- vmap

X = jnp.arange(3.0)
show("function", lambda: jax.vmap(lambda f, x: f(x), (None, 0))(jnp.square, X))
show("number", lambda: jax.vmap(lambda n, x: (n, x), (None, 0), (None, 0))(3, X))
show("repeated", lambda: jax.vmap(lambda n, x: n, (None, 0))(3, X))
show("text", lambda: jax.vmap(lambda text, x: x * len(text), (None, 0))("abc", X))
show("mapped text", lambda: jax.vmap(lambda text: text)("abc"))

# ---- arrays and types

NAMES = ("shape", "dtype", "ndim", "size", "sharding", "item", "device", "committed", "at", "T", "sum", "nonsense")
show("names of Array", lambda: [hasattr(jax.Array, name) for name in NAMES])
jax.Array.doubled = lambda self: self * 2
show("an attribute of Array", X.doubled)
unsharded = jax.typeof(X).sharding
show("reshape", lambda: jnp.reshape(X, (3, 1), out_sharding=jax.typeof(X[:, None]).sharding))
show("uniform", lambda: jax.random.uniform(jax.random.key(0), (3,), out_sharding=unsharded).shape)
show("format", lambda: jax.device_put(X, X.format).format.layout == X.format.layout)
show("a layout", lambda: jax.device_put(X, Format(Layout((0,)), X.sharding)))
Level = enum.IntEnum("Level", "LOW HIGH")
show("enum", lambda: (jnp.asarray(Level.HIGH), jax.jit(lambda x: x)(Level.HIGH), X + Level.HIGH))


def weakly(x):
    """x, if it can be referenced weakly."""
    return weakref.ref(x)() * 2.0


show("weak references", lambda: (jax.jit(weakly)(1.0), jax.grad(weakly)(1.0), jax.vmap(weakly)(X)))
with jax.disable_jit(disable=True):
    show("disable_jit", lambda: jax.config.jax_disable_jit)
show("registry", lambda: [c in tree_util._registry for c in (list, dict, int)])
show("one level", lambda: tree_util.flatten_one_level({"b": [1], "a": 2}))

# ---- primitives


class Note(jexc.Effect):
    """An effect."""


class Scale(jexc.Primitive):
    """x times a number, with rules as methods."""

    def impl(self, x, *, factor):
        return x * factor

    def abstract_eval(self, x, *, factor):
        return x, {Note()} if factor == 3 else set()


scale_p = Scale("scale")
show("eager", lambda: scale_p.bind(X, factor=2))
show("jaxpr", lambda: jax.make_jaxpr(lambda x: scale_p.bind(x, factor=2))(X))
show("effects", lambda: len(jax.make_jaxpr(lambda x: scale_p.bind(x, factor=3))(X).effects))
show("bind params", lambda: scale_p.get_bind_params({"factor": 2}))

# ---- a trace of the program's own


class OwnTracer(core.Tracer):
    """A value of an OwnTrace."""

    def __init__(self, trace, val):
        super().__init__(trace, jax.typeof(val))
        self.val = val

    def full_lower(self):
        return self


class OwnTrace(core.Trace):
    """Hands each operation on to the trace around it."""

    def __init__(self, parent_trace, tag):
        super().__init__()
        self.parent_trace, self.tag = parent_trace, tag

    def to_val(self, x):
        return x.val if isinstance(x, OwnTracer) and x._trace.tag is self.tag else x

    def hand_on(self, primitive, tracers, params):
        vals = [self.to_val(t) for t in tracers]
        out = primitive.bind_with_trace(self.parent_trace, vals, [jax.typeof(v) for v in vals], params)
        return [OwnTracer(self, x) for x in out] if primitive.multiple_results else OwnTracer(self, out)

    def stage_value(self, val):
        return OwnTracer(self, self.parent_trace.stage_value(val))

    def process_primitive(self, primitive, tracers, params):
        return self.hand_on(primitive, tracers, params)

    def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
        print("custom_jvp", type(fun).__name__, symbolic_zeros)
        return self.hand_on(primitive, tracers, {"subfuns": (fun, jvp), "symbolic_zeros": symbolic_zeros})


@lu.transformation
def interpreted(tag, *args):
    """The layer of a function that runs it under an OwnTrace."""
    with core.take_current_trace() as parent:
        trace = OwnTrace(parent, tag)
        with core.set_current_trace(trace):
            outs = yield [OwnTracer(trace, x) for x in args], {}
            yield [trace.to_val(x) for x in outs]


def own(function):
    """The function, run under an OwnTrace."""
    return lambda *args: interpreted(lu.wrap_init(lambda *xs: [function(*xs)]), core.TraceTag()).call_wrapped(*args)[0]


square = jax.custom_jvp(lambda x: x * x)
square.defjvp(lambda primals, tangents: (square(primals[0]), 3 * primals[0] * tangents[0]))
Y = jnp.float32(2.0)
FUNCTIONS = {
    "operators": lambda x: x * 2.0 + np.ones(2, np.float32),
    "jit": lambda x: jax.jit(lambda y: y + 1)(x),
    "custom_jvp": square,
    "relu": jax.nn.relu,
    "grad": jax.grad(lambda x: square(x) * x),
    "vmap": lambda x: jax.vmap(lambda y: y * x)(X),
    "scan": lambda x: jax.lax.scan(lambda c, _: (c * 2, c), x, None, length=3)[1],
    "array": lambda x: x * jnp.array([1.0, 2.0]),
}
for name, function in FUNCTIONS.items():
    show(f"trace: {name}", own(function), Y)
    show(f"jit of trace: {name}", jax.jit(own(function)), Y)
show("grad of trace", lambda: jax.grad(own(square))(Y))
show("vmap of trace", lambda: jax.vmap(own(lambda x: square(x) * 2))(X))
