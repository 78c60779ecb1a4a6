"""The groups of cases by name; each is a function of the package that gives its cases one after another."""

import itertools

from benchmarks.arrays import array_cases
from benchmarks.compiled import compile_cases, steady_cases
from benchmarks.eager import call_cases, eager_cases
from benchmarks.indexing import indexing_cases
from benchmarks.linalg import linalg_cases
from benchmarks.loops import loop_cases, loop_gradient_cases
from benchmarks.products import product_cases
from benchmarks.programs import program_cases
from benchmarks.rows import row_cases
from benchmarks.selection import kernel_cases, random_cases, top_k_cases
from benchmarks.small import small_cases
from benchmarks.steps import step_cases


def large_cases(jax):
    """Compiled functions of large arrays, of every kind of work."""
    return itertools.chain(product_cases(jax), array_cases(jax), indexing_cases(jax), step_cases(jax))


GROUPS = {
    "eager": eager_cases,
    "call": call_cases,
    "compile": compile_cases,
    "steady": steady_cases,
    "kernel": kernel_cases,
    "random": random_cases,
    "rows": row_cases,
    "top_k": top_k_cases,
    "loops": loop_cases,
    "loop_grads": loop_gradient_cases,
    "small": small_cases,
    "linalg": linalg_cases,
    "large": large_cases,
    "programs": program_cases,
}
