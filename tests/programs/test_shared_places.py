"""Programs that all users of a function of onax share name none of them: its operations stand where it is called."""

import os

import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.jaxpr import jaxprs_in_params
from onax._ground import source
from onax.export import export, nodes

X = jnp.arange(1.0, 4.0)


# Functions of onax that are staged once for all callers: with a branch-free body, a loop, and calls of others.
SHARED = {
    "where": lambda x: jnp.where(x > 1, x, 0.5 * x),
    "gcd": lambda x: x * jnp.gcd(x.astype(int), 2),
    "searchsorted": lambda x: x + jnp.searchsorted(jnp.sort(x), x),
    "logsumexp": lambda x: x - jax.nn.logsumexp(x),
    "median": lambda x: x - jnp.median(x),
    "cross": lambda x: jnp.cross(x, x[::-1]),
}
TRANSFORMED = {
    "itself": lambda f: f,
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x])),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (x,)),
    "grad": lambda f: jax.grad(lambda x: jnp.sum(f(x))),
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](x),
    "vmap of grad": lambda f: jax.vmap(jax.grad(lambda x: jnp.sum(f(jnp.stack([x, x, x]))))),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(lambda x: jnp.sum(f(x)))),
    "jit": lambda f: jax.jit(f),
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, y: (c, f(y)), 0.0, jnp.stack([x, x])),
    "cond": lambda f: lambda x: jax.lax.cond(x[0] > 1, lambda y: jnp.sum(f(y)), jnp.sum, x),
    "grad of scan": lambda f: jax.grad(lambda x: jax.lax.fori_loop(0, 2, lambda i, c: jnp.sum(f(c + x)) * x, x).sum()),
}


def caller(function):
    def named_caller(x):
        return function(x)

    return named_caller


def other_caller(function):
    def another(x):
        return function(x)

    return another


def places(jaxpr):
    """The callers' names in the places of all equations, of programs inside of equations too."""
    for eqn in jaxpr.eqns:
        if eqn.source_info is not None:
            for record in (eqn.source_info, *(eqn.source_info.callers or ())):
                yield source.resolve(record)[3].rpartition(".")[2]
        for inner in jaxprs_in_params(eqn.params):
            yield from places(inner)


@pytest.mark.parametrize("how", TRANSFORMED)
@pytest.mark.parametrize("name", SHARED)
def test_programs_do_not_name_other_callers(name, how):
    transform = TRANSFORMED[how]
    jax.clear_caches()
    jax.make_jaxpr(transform(other_caller(SHARED[name])))(X)  # the first to need the shared programs
    found = set(places(jax.make_jaxpr(transform(caller(SHARED[name])))(X)))
    assert "named_caller" in found and "another" not in found


@pytest.mark.parametrize("how", TRANSFORMED)
def test_exported_files_name_their_own_lines(how):
    def first(x):
        return TRANSFORMED[how](SHARED["where"])(x)

    def second(x):
        return jax.tree.map(jnp.negative, TRANSFORMED[how](SHARED["where"])(x))

    jax.clear_caches()
    export(first)(X)
    exported = export(second)(X)
    found = [node.doc_string for node in nodes.walk(exported.onnx_model.graph)]
    assert "first" not in str(found) and any("test_shared_places.py" in text for text in found)
    assert not any(os.path.isabs(text) for text in found)
