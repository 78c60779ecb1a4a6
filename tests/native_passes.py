"""Programs after the passes of the compiler for the native target, and whether they compute the same."""

import numpy as np

import onax as jax
from onax._compile import pipeline
from onax._compile.direct import direct_program
from onax._compile.pipeline import NATIVE_PASSES, PASSES
from onax._core.check import check_jaxpr
from onax._core.evaluate import eval_jaxpr
from onax._tape.regions import fuse
from tolerance import assert_same_bits


def after_passes(jaxpr):
    """The ClosedJaxpr after every pass."""
    for rewrite in (*PASSES, *NATIVE_PASSES):
        jaxpr = rewrite(jaxpr)
    return jaxpr


def with_regions(jaxpr):
    """The ClosedJaxpr with regions as equations, as a part of a tape has them."""
    for rewrite in PASSES:
        jaxpr = rewrite(jaxpr)
    return fuse(jaxpr)


def fused(function, *args, passes=with_regions):
    """(the program as it is, the one with regions)."""
    plain = jax.make_jaxpr(function)(*args)
    return plain, passes(plain)


def names(jaxpr):
    """Names of the primitives of a program."""
    return [eqn.primitive.name for eqn in jaxpr.eqns]


def check(function, *args, compare=assert_same_bits, passes=with_regions):
    """The program after some passes, which gives what the equations give; so does the compiled function."""
    plain, program = fused(function, *args, passes=passes)
    check_jaxpr(program)
    flat = jax.tree_util.tree_leaves(args)
    text, want = str(plain), [np.asarray(x) for x in eval_jaxpr(plain, plain.consts, *flat)]
    for got in (eval_jaxpr(program, program.consts, *flat), jax.tree_util.tree_leaves(jax.jit(function)(*args))):
        for g, w in zip(got, want, strict=True):
            compare(np.asarray(g), w, what=text)
    return program


def runner_of(jaxpr):
    """What runs a program without a session, or None."""
    found = direct_program(pipeline.native_program(pipeline.optimize(jaxpr, "test")))
    return None if found is None else found.runner
