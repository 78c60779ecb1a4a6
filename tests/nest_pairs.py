"""Every transformation and construct inside every other: `cases(jax)["outer / inner"]`, for onax and for real JAX.

The constructs are those of `nests.py` and those here, which random nests leave out because they may not stand
everywhere.  REFUSED says which pairs JAX itself refuses, UNEXPORTED which cannot leave as a file, and why.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np

import nests
import recorded_versions

EXTRA = (
    "custom_gradient", "custom_vmap", "sequential_vmap", "closure_convert", "linear_transpose", "custom_root",
    "custom_linear_solve", "vectorize", "pmap", "shard_map", "stop_gradient", "pure_callback", "debug.callback",
)  # fmt: skip
CONSTRUCTS = (*nests.NODES, *EXTRA)
NUMBER = 1  # the number that each construct gets
LEAVES = (["tanh", 0], ["sin", 1], ["scale", 2])

BACKWARD = "reverse mode over a loop of dynamic length"
NO_FORWARD = "forward mode over custom_vjp"
NO_CALLBACK_DERIVATIVE = "a callback has no derivative"
NO_REVERSE_RULE = "reverse mode over custom_vmap"
MAPPED_TANGENTS = "a loop over nothing: the tangents of sequential_vmap are mapped, its primals not"
ONE_LEVEL = "devices are mapped over once"
REVERSE = ("grad", "value_and_grad", "vjp", "jacrev", "hessian", "custom_gradient")


def refused(outer, inner):
    """Why JAX refuses a pair, or None."""
    if inner == "while" and outer in nests.REVERSE:
        return BACKWARD
    if inner in ("custom_vjp", "custom_gradient") and outer in ("jvp", "jacfwd", "linearize"):
        return NO_FORWARD
    if inner == "pure_callback" and outer in (*nests.REVERSE, *nests.FORWARD, "custom_gradient"):
        return NO_CALLBACK_DERIVATIVE
    if inner in ("custom_vmap", "sequential_vmap") and outer in (*REVERSE, "linearize"):
        return NO_REVERSE_RULE
    if (outer, inner) == ("jacfwd", "sequential_vmap"):
        return MAPPED_TANGENTS
    if inner in ("pmap", "shard_map") and outer in ("pmap", "shard_map"):
        return ONE_LEVEL
    return None


# What onax takes though JAX refuses it.
ACCEPTED = {"pmap / pmap", "shard_map / pmap"}


def only_eager(outer, inner):
    """Why a pair runs eagerly alone, in JAX too, or None."""
    if inner == "fori of traced length" and outer in nests.REVERSE:
        return "under jit the length is not known: " + BACKWARD
    return None


def unexported(outer, inner):
    """Why a pair cannot leave as a file, or None."""
    if "pure_callback" in (outer, inner) or "debug.callback" in (outer, inner):
        return "a file holds no callback"
    return None


def pairs():
    """(outer, inner) of every pair."""
    return [(outer, inner) for outer in CONSTRUCTS for inner in CONSTRUCTS]


class cases:
    """ "outer / inner" -> (function, arguments)."""

    def __init__(self, jax):
        self.jax = jax

    def __getitem__(self, name):
        outer, inner = name.split(" / ")
        build = _Pairs(self.jax, "float32")
        return build.node(outer, [build.node(inner, [build.build(leaf) for leaf in LEAVES])] * 3), (
            np.asarray(nests.INPUT, np.float32),
        )


class _Pairs(nests._Builder):
    """The builder with the constructs of this file."""

    def node(self, name, inner):
        count = nests.NODES[name][0] if name in nests.NODES else 1
        method = name.replace(" ", "_").replace(".", "_")
        return getattr(self, "_" + method)(NUMBER, *inner[:count])

    def _custom_gradient(self, k, f):
        @self.jax.custom_gradient
        def g(v):
            out, pull = self.jax.vjp(f, v)
            return out, lambda ct: (pull(ct)[0] * 2,)

        return g

    def _custom_vmap(self, k, f):
        @self.jax.custom_batching.custom_vmap
        def g(v):
            return f(v)

        @g.def_vmap
        def rule(axis_size, in_batched, v):
            return self.jax.vmap(f)(v) * 2, in_batched[0]

        return g

    def _sequential_vmap(self, k, f):
        return self.jax.custom_batching.sequential_vmap(f)

    def _closure_convert(self, k, f):
        def run(v):
            converted, hoisted = self.jax.closure_convert(lambda u: f(u * v.sum()), v)
            return converted(v * 0.5, *hoisted)

        return run

    def _linear_transpose(self, k, f):
        def run(v):
            scale = f(v)
            return self.jax.linear_transpose(lambda u: u * scale, v)(v)[0]

        return run

    def _custom_root(self, k, f):
        jnp, lax = self.jnp, self.lax

        def run(v):
            target = jnp.tanh(f(v))

            def solve(residual, x0):
                return lax.fori_loop(0, 30, lambda i, x: x - residual(x) / 3, x0)

            def tangent_solve(linear, y):
                return y / linear(jnp.ones_like(y))

            return lax.custom_root(lambda x: x + x**3 / 3 - target, jnp.zeros_like(v), solve, tangent_solve)

        return run

    def _custom_linear_solve(self, k, f):
        jnp, lax = self.jnp, self.lax

        def run(v):
            diagonal = 2 + jnp.tanh(f(v))
            solve = lambda matvec, b: b / diagonal
            return lax.custom_linear_solve(lambda x: diagonal * x, v, solve, solve, symmetric=True)

        return run

    def _vectorize(self, k, f):
        return lambda v: self.jnp.vectorize(f, signature="(n)->(n)")(self.jnp.stack([v, v * 0.5])).sum(0)

    def _pmap(self, k, f):
        return lambda v: self.jax.pmap(f)(v[None])[0]

    def _shard_map(self, k, f):
        jax = self.jax

        def run(v):
            mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
            spec = jax.sharding.PartitionSpec("x")
            mapped = jax.shard_map(lambda w: f(w[0])[None], mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
            return mapped(v[None])[0]

        return run

    def _stop_gradient(self, k, f):
        return lambda v: f(v) + self.lax.stop_gradient(f(v))

    def _pure_callback(self, k, f):
        def run(v):
            out = f(v)
            kind = self.jax.ShapeDtypeStruct(out.shape, out.dtype)
            return self.jax.pure_callback(lambda x: np.sin(np.asarray(x)), kind, out, vmap_method="sequential")

        return run

    def _debug_callback(self, k, f):
        def run(v):
            out = f(v)
            self.jax.debug.callback(lambda x: None, out)
            return out

        return run


# ---- recordings: `python tests/nest_pairs.py`, by the Python of real JAX

RECORDING = Path(__file__).parent / "golden" / "nest_pairs.json.gz"


def read():
    """ "outer / inner" -> answer of real JAX, as an array, or the class of its error."""
    with gzip.open(RECORDING, "rt") as file:
        found = json.load(file)
    return {name: nests.restored(a) for name, a in found.items()}


def record():
    """Asks real JAX for every pair and writes its answers."""
    import jax

    table, answers = cases(jax), {}
    for i, (outer, inner) in enumerate(pairs()):
        name = f"{outer} / {inner}"
        function, args = table[name]
        try:
            answers[name] = nests.written(function(*args))
        except Exception as error:
            answers[name] = type(error).__name__
        print(f"\r{i + 1} of {len(pairs())}", end="", flush=True)
    with gzip.GzipFile(RECORDING, "wb", mtime=0) as file:
        file.write(json.dumps(answers, separators=(",", ":")).encode())
    recorded_versions.note(RECORDING, jax.__version__)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    record()
