"""The list of passes: its order, what each leaves, that each runs once, and the files of ONAX_DUMP_PASSES."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile import pipeline
from onax._core.evaluate import eval_jaxpr
from onax._core.jaxpr import Jaxpr
from onax._core.programs import called_program
from onax._transforms import abstract

X = np.linspace(-1, 1, 6, dtype=np.float32)


def inner(x):
    return jnp.sin(x) * 2, jnp.cos(x)


def outer(x):
    kept, _ = jax.jit(inner)(x)
    y, _ = lax.scan(lambda c, a: (jax.jit(jnp.tanh)(c) + a, None), jnp.float32(0), x)
    return kept + jnp.sin(x) * 2 + lax.cond(y > 0, jax.jit(jnp.exp), jnp.log1p, x)


def passes_of(function, *args):
    return dict(jax.jit(function).lower(*args).passes())


def equations(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn
        for value in eqn.params.values():
            for body in value if isinstance(value, tuple) else (value,):
                if isinstance(body, Jaxpr):
                    yield from equations(body)


def test_the_order():
    passes = [
        "discharge_refs",
        "inline_calls",
        "unroll_scans",
        "eliminate_dead_code",
        "simplify",
        "expand_products",
        "hoist_invariants",
        "form_tapes",
    ]
    assert list(passes_of(outer, X)) == ["stage", *passes]


def test_what_each_pass_leaves():
    programs = passes_of(outer, X)
    assert any(called_program(eqn) is not None for eqn in equations(programs["stage"]))
    assert not any(called_program(eqn) is not None for eqn in equations(programs["inline_calls"]))
    names = {k: [e.primitive.name for e in equations(program)] for k, program in programs.items()}
    assert "cos" in names["inline_calls"] and "cos" not in names["eliminate_dead_code"]
    assert [names[k].count("sin") for k in ("eliminate_dead_code", "simplify")] == [2, 1]
    assert [e.primitive.name for e in programs["form_tapes"].eqns] == ["tape"]


def test_every_pass_computes_the_same():
    want = outer(X)
    for program in passes_of(outer, X).values():
        (got,) = eval_jaxpr(program, program.consts, X)
        # Sums of numbers up to 6, of which some nearly cancel: a rounding of the largest.
        assert np.allclose(got, want, rtol=1e-6, atol=5e-7) and got.dtype == want.dtype


def test_passes_are_what_they_were_when_they_have_nothing_to_do():
    program = jax.make_jaxpr(lambda x: jnp.sin(x) + 1)(X)
    for rewrite in pipeline.PASSES:
        assert rewrite(program) is program


def test_each_pass_runs_once_on_a_first_call(monkeypatch):
    calls = []

    def counted(rewrite):
        return lambda jaxpr: (calls.append(rewrite.__name__), rewrite(jaxpr))[1]

    for name in ("PASSES", "NATIVE_PASSES"):
        monkeypatch.setattr(pipeline, name, tuple(map(counted, getattr(pipeline, name))))
    f = jax.jit(outer)
    f(X), f(X + 1)
    assert calls == [
        "discharge_refs",
        "inline_calls",
        "unroll_scans",
        "eliminate_dead_code",
        "simplify",
        "expand_products",
        "hoist_invariants",
        "form_tapes",
    ]


def test_leaves_are_made_abstract_once(monkeypatch):
    seen, checked = [], abstract._checked_aval
    monkeypatch.setattr(abstract, "_checked_aval", lambda x: (seen.append(x), checked(x))[1])
    jax.jit(lambda x, *, y: x + y["a"], donate_argnums=0)(jnp.asarray(X), y={"a": 2.0})
    assert len(seen) == 2
