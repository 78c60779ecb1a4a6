"""Random nests of transformations and control flow: `cases(jax)[text]` builds one from its description in JSON.

A program is a nested list: a name, then inner programs and numbers.  Every program is a function from a vector of
three to a vector of three, so that any may stand in any other.  `draw(choose, ...)` draws one; `choose(items)` picks an
item, so that `random.Random` and hypothesis both can.  The same description is built for onax and for real JAX.
"""

import gzip
import json
import random
import sys
from pathlib import Path

import numpy as np

import recorded_versions

N = 3
MATRIX = np.array([[0.5, -0.2, 0.1], [0.3, 0.8, -0.4], [-0.6, 0.2, 0.7]])
ROWS = np.array([[0.1, -0.7, 0.4], [0.9, 0.2, -0.3], [-0.5, 0.6, 0.8], [0.3, -0.1, -0.9]])
INPUT = np.array([0.35, -0.8, 1.2])

LEAVES = (
    "sin", "cos", "tanh", "square", "scale", "shift", "gauss", "product", "sort", "cumsum", "flip", "gather", "scatter",
    "softmax", "where", "clip", "slice", "update", "integers", "maximum", "normalize", "stop", "random", "log1p", "max",
)  # fmt: skip
# name: (number of inner programs, may stand under reverse mode, may stand under forward mode)
NODES = {
    "compose": (2, True, True),
    "add": (2, True, True),
    "jit": (1, True, True),
    "nested jit": (2, True, True),
    "vmap": (1, True, True),
    "vmap of rows": (1, True, True),
    "vmap by name": (1, True, True),
    "grad": (1, True, True),
    "value_and_grad": (1, True, True),
    "vjp": (1, True, True),
    "jvp": (1, True, True),
    "linearize": (1, True, True),
    "jacfwd": (1, True, True),
    "jacrev": (1, True, True),
    "hessian": (1, True, True),
    "scan": (2, True, True),
    "scan backwards": (1, True, True),
    "fori": (1, True, True),
    "fori of traced length": (1, False, True),
    "while": (1, False, True),
    "map": (1, True, True),
    "associative_scan": (1, True, True),
    "cond": (2, True, True),
    "switch": (3, True, True),
    "cond without operands": (2, True, True),
    "checkpoint": (1, True, True),
    "custom_jvp": (1, True, True),
    "custom_vjp": (1, True, False),
}
REVERSE = {"grad", "value_and_grad", "vjp", "jacrev", "hessian"}
FORWARD = {"jvp", "jacfwd", "hessian", "linearize"}
DERIVATIVES = REVERSE | FORWARD


def draw(choose, depth=4, reverse=False, forward=False, derivatives=0):
    """A description; `depth` bounds its nesting.  At most three derivatives stand in one another."""
    if depth == 0 or choose(range(5)) == 0:
        return [choose(LEAVES), choose(range(4))]
    names = [
        name
        for name, (_, in_reverse, in_forward) in NODES.items()
        if (in_reverse or not reverse) and (in_forward or not forward) and not (name in DERIVATIVES and derivatives > 2)
    ]
    name = choose(names)
    count = NODES[name][0]
    reverse = reverse or name in REVERSE
    forward = forward or name in FORWARD
    deeper = derivatives + (2 if name == "hessian" else name in DERIVATIVES)
    inner = [draw(choose, depth - 1, reverse, forward, deeper) for _ in range(count)]
    return [name, choose(range(4)), *inner]


def drawn(seed):
    """The description that a seed stands for."""
    rng = random.Random(seed)
    return [rng.choice(("float32", "float64")), draw(lambda items: rng.choice(list(items)), rng.randint(2, 5))]


def text_of(program):
    """A description as the name of a case."""
    return json.dumps(program)


class cases:
    """text -> (function, arguments) for one of the two libraries."""

    def __init__(self, jax):
        self.jax = jax

    def __getitem__(self, text):
        dtype, program = json.loads(text)
        jax = self.jax

        def run(v):
            with jax.enable_x64(dtype == "float64"):
                return _Builder(jax, dtype).build(program)(jax.numpy.asarray(v, dtype))

        return run, (INPUT,)


def inner_function(jax, text):
    """(function, argument) of a description, for use inside an `enable_x64` context of one's own."""
    dtype, program = json.loads(text)
    return _Builder(jax, dtype).build(program), np.asarray(INPUT, dtype)


class _Builder:
    """Builds functions from descriptions."""

    def __init__(self, jax, dtype):
        self.jax, self.jnp, self.lax, self.dtype = jax, jax.numpy, jax.lax, dtype

    def build(self, program):
        """A function from vectors to vectors."""
        name, number, *inner = program
        if name in LEAVES:
            return self.leaf(name, number)
        return getattr(self, "_" + name.replace(" ", "_"))(number, *map(self.build, inner))

    def constant(self, x):
        return self.jnp.asarray(x, self.dtype)

    def leaf(self, name, k):
        jax, jnp, lax = self.jax, self.jnp, self.lax
        c = (0.7, -1.3, 0.4, 1.1)[k]
        i = np.array(((0, 2, 1), (1, 1, 0), (2, 0, 5), (-1, 0, 1))[k], np.int32)
        return {
            "sin": lambda v: jnp.sin(v * c),
            "cos": lambda v: jnp.cos(v + c),
            "tanh": jnp.tanh,
            "square": lambda v: jnp.tanh(v) ** 2,
            "scale": lambda v: v * c,
            "shift": lambda v: v + jnp.arange(N) * c,
            "gauss": lambda v: jnp.exp(-v * v),
            "product": lambda v: jnp.dot(self.constant(MATRIX), v),
            "sort": jnp.sort,
            "cumsum": lambda v: jnp.cumsum(v) * 0.5,
            "flip": lambda v: v[::-1],
            "gather": lambda v: v[i],
            "scatter": lambda v: v.at[i].add(v * c),
            "softmax": jax.nn.softmax,
            "where": lambda v: jnp.where(v > c * 0.1, v, jnp.sin(v)),
            "clip": lambda v: jnp.clip(v, -0.9, 0.95),
            "slice": lambda v: jnp.concatenate([v[1:], v[:1]]),
            "update": lambda v: lax.dynamic_update_slice(v, v[:2] * c, (k,)),
            "integers": lambda v: v * (v * 4).astype(jnp.int32),
            "maximum": lambda v: jnp.maximum(v, c * jnp.sin(v + 1)),
            "normalize": lambda v: (v - v.mean()) / jnp.sqrt(v.var() + 1),
            "stop": lambda v: v * jax.lax.stop_gradient(jnp.cos(v)),
            "random": lambda v: v + jax.random.uniform(jax.random.key(k), (N,), self.dtype),
            "log1p": lambda v: jnp.log1p(v * v),
            "max": lambda v: v - jnp.max(v) * c,
        }[name]

    def total(self, f):
        return lambda v: self.jnp.sum(f(v))

    def _compose(self, k, f, g):
        return lambda v: self.jnp.tanh(g(f(v)))

    def _add(self, k, f, g):
        return lambda v: f(v) - 0.5 * g(v)

    def _jit(self, k, f):
        return self.jax.jit(f)

    def _nested_jit(self, k, f, g):
        inner = self.jax.jit(g)
        return self.jax.jit(lambda v: inner(f(v)) + inner(v))

    def _vmap(self, k, f):
        axes = (0, 1, -1, 0)[k]
        return lambda v: self.jax.vmap(f, in_axes=0, out_axes=axes)(self.jnp.stack([v, v * 0.5])).sum(1 if axes else 0)

    def _vmap_of_rows(self, k, f):
        rows = ROWS[: k + 1]
        return lambda v: self.jax.vmap(lambda r, w: f(r * w), in_axes=(0, None))(self.constant(rows), v).mean(0)

    def _vmap_by_name(self, k, f):
        collective = (self.lax.psum, self.lax.pmean, self.lax.pmax, self.lax.psum)[k]

        def each(v):
            return f(v) + 0.1 * collective(f(v), "i") + self.lax.axis_index("i")

        return lambda v: self.jax.vmap(each, axis_name="i")(self.jnp.stack([v, v + 1])).sum(0)

    def _grad(self, k, f):
        return self.jax.grad(self.total(f))

    def _value_and_grad(self, k, f):
        def both(v):
            value, g = self.jax.value_and_grad(self.total(f))(v)
            return self.jnp.tanh(value) + g

        return both

    def _vjp(self, k, f):
        def pulled(v):
            out, pull = self.jax.vjp(f, v)
            return pull(self.jnp.cos(out))[0]

        return pulled

    def _jvp(self, k, f):
        def pushed(v):
            out, tangent = self.jax.jvp(f, (v,), (self.jnp.cos(v),))
            return out + tangent

        return pushed

    def _linearize(self, k, f):
        def pushed(v):
            out, push = self.jax.linearize(f, v)
            return out - push(v) + push(self.jnp.sin(v))

        return pushed

    def _jacfwd(self, k, f):
        return lambda v: self.jax.jacfwd(f)(v).sum(k % 2)

    def _jacrev(self, k, f):
        return lambda v: self.jax.jacrev(f)(v).sum(k % 2)

    def _hessian(self, k, f):
        return lambda v: self.jax.hessian(self.total(f))(v) @ v

    def _scan(self, k, f, g):
        def run(v):
            rows = self.constant(ROWS[:k])
            carry, ys = self.lax.scan(lambda c, x: (self.jnp.tanh(f(c) + x), g(c)), v, rows)
            return carry + ys.sum(0)

        return run

    def _scan_backwards(self, k, f):
        def run(v):
            def step(c, x):
                return (f(c[0]) * 0.5 + x, c[1] + 1), (c[0] * c[1], x)

            (carry, count), (ys, xs) = self.lax.scan(step, (v, 0), self.constant(ROWS), reverse=True, unroll=1 + k % 2)
            return carry + ys[0] + xs.sum(0) * count

        return run

    def _fori(self, k, f):
        return lambda v: self.lax.fori_loop(0, k, lambda i, c: self.jnp.tanh(f(c)) + 0.1 * i, v)

    def _fori_of_traced_length(self, k, f):
        def run(v):
            trips = (self.jnp.abs(v[0]) * 2).astype("int32") % 4
            return self.lax.fori_loop(0, trips, lambda i, c: self.jnp.tanh(f(c)) + 0.1 * i, v)

        return run

    def _while(self, k, f):
        def run(v):
            def going(c):
                return (c[0] < k + 1) & (self.jnp.sum(c[1]) < 4)

            return self.lax.while_loop(going, lambda c: (c[0] + 1, self.jnp.tanh(f(c[1])) + 0.5), (0, v))[1]

        return run

    def _map(self, k, f):
        return lambda v: self.lax.map(lambda x: f(x * v), self.constant(ROWS[: k + 1]))[-1]

    def _associative_scan(self, k, f):
        def run(v):
            rows = self.jnp.stack([f(v), v, f(v * 0.5), v + 1])
            return self.lax.associative_scan(lambda a, b: a * 0.5 + b, rows, reverse=k % 2 == 1).mean(0)

        return run

    def _cond(self, k, f, g):
        return lambda v: self.lax.cond(self.jnp.sum(v) > 0.2 * k, f, g, v)

    def _cond_without_operands(self, k, f, g):
        return lambda v: self.lax.cond(v[0] > v[k % N], lambda: f(v), lambda: g(v * 0.5))

    def _switch(self, k, f, g, h):
        return lambda v: self.lax.switch((v[1] * 3).astype("int32") + k, [f, g, h], v)

    def _checkpoint(self, k, f):
        return self.jax.checkpoint(f)

    def _custom_jvp(self, k, f):
        @self.jax.custom_jvp
        def g(v):
            return f(v)

        @g.defjvp
        def rule(primals, tangents):
            out, tangent = self.jax.jvp(f, primals, tangents)
            return out, tangent * 2

        return g

    def _custom_vjp(self, k, f):
        @self.jax.custom_vjp
        def g(v):
            return f(v)

        g.defvjp(lambda v: (f(v), v), lambda v, ct: (ct * self.jnp.cos(v),))
        return g


# Long programs with derivatives of derivatives: rounding grows, in float32 to a few thousandths.
TOLERANCE = {"float32": 4e-3, "float64": 1e-9}


def assert_close(got, want, dtype, what):
    """Value, dtype and shape agree."""
    got = np.asarray(got)
    assert (got.dtype, got.shape) == (want.dtype, want.shape), what
    scale = max(1.0, float(np.max(np.abs(want[np.isfinite(want)]), initial=0.0)))
    np.testing.assert_allclose(got, want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * scale, err_msg=what)


# ---- recordings: `python tests/nests.py 500`, by the Python of real JAX

RECORDING = Path(__file__).parent / "golden" / "nests.json.gz"


def written(value):
    """An answer as JSON values: an array's, or the name of an error's class."""
    if isinstance(value, str):
        return value
    value = np.asarray(value)
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": value.astype(np.float64).tolist()}


def read():
    """seed -> answer of real JAX, as an array or the name of an error's class."""
    with gzip.open(RECORDING, "rt") as file:
        found = json.load(file)
    return {int(seed): restored(a) for seed, a in found.items()}


def restored(answer):
    """The inverse of `written`."""
    if isinstance(answer, str):
        return answer
    return np.array(answer["values"]).astype(answer["dtype"]).reshape(answer["shape"])


def record(count):
    """Asks real JAX for the first programs and writes their answers."""
    import jax

    table, answers = cases(jax), {}
    for seed in range(count):
        function, args = table[text_of(drawn(seed))]
        try:
            answers[str(seed)] = written(function(*args))
        except Exception as error:  # whatever JAX raises is its answer
            answers[str(seed)] = type(error).__name__
        print(f"\r{seed + 1} of {count}", end="", flush=True)
    with gzip.GzipFile(RECORDING, "wb", mtime=0) as file:
        file.write(json.dumps(answers, separators=(",", ":")).encode())
    recorded_versions.note(RECORDING, jax.__version__)


if __name__ == "__main__":
    record(int(sys.argv[1]))
