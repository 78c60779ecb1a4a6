"""Public functions have JAX's parameters, by name, kind and default (recorded by tests/public_signatures.py)."""

import pytest

import onax
import onax.numpy as jnp
import public_signatures

RECORDED = public_signatures.recorded()
OURS = public_signatures.signatures(onax)

# Functions with parameters of another meaning or without one that JAX keeps for itself.
OTHER = {
    "jax.api_util.debug_info": "names of results are found when they are shown",
    "jax.core.eval_jaxpr": "each equation keeps its own source location",
    "jax.debug.print": "has no parameter for JAX's logger",
    "jax.experimental.primal_tangent_dtype": "the dtype of tangents, where JAX makes an extended dtype",
    "jax.export.export": "has the options of ONNX files, and no lowering rules of StableHLO",
    "jax.extend.core.jaxpr_as_fun": "returns a function, as JAX's curried one does when called with the jaxpr alone",
    "jax.extend.core.primal_dtype_to_tangent_dtype": "is positional",
    "jax.extend.linear_util.cache": "cache misses of layers are not explained",
    "jax.extend.linear_util.transformation_with_aux2": "a function is compared without the names of unknown arguments",
    "jax.interpreters.partial_eval.trace_to_jaxpr_dynamic": "keeps all inputs and equations, as JAX does by default",
    "jax.interpreters.pxla.create_compile_options": "raises NotImplementedError for any arguments",
    "jax.jit": "None stands for unspecified shardings",
    "jax.lax.mulhi": "accepts its operands by name, too",
    "jax.lax.random_gamma_grad": "names its operands",
    "jax.numpy.set_printoptions": "is NumPy's, with NumPy's parameters",
    "jax.ref.swap": "has no parameter for the name in messages",
}
COMPARED = sorted(set(OURS) & set(RECORDED["signatures"]))


def without_additions(ours, expected):
    """Our parameters without optional ones of our own; a parameter may be optional here that JAX requires."""
    defaults = {name: default for name, _, default in expected}
    kept = [p for p in ours if p[0] in defaults or not p[2]]
    return [[name, kind, default if defaults.get(name, default) else ""] for name, kind, default in kept]


@pytest.mark.parametrize("module", sorted({path.rpartition(".")[0] for path in COMPARED}))
def test_parameters(module):
    expected = RECORDED["signatures"]
    paths = [path for path in COMPARED if path.rpartition(".")[0] == module]
    found = {path: without_additions(OURS[path], expected[path]) for path in paths}
    different = {path: (found[path], expected[path]) for path in paths if found[path] != expected[path]}
    assert sorted(different) == [path for path in paths if path in OTHER], different


def test_functions_that_jax_compiles_have_the_methods_of_jitted_ones():
    missing = set(RECORDED["compiled"]) & set(OURS) - set(public_signatures.compiled(onax))
    assert not missing, sorted(missing)


def test_a_compiled_function_lowers_and_traces():
    x = jnp.array([3.0, 1.0, 2.0])
    assert jnp.sort.lower(x, descending=True).compile()(x).tolist() == [3, 2, 1]
    assert [e.primitive.name for e in jnp.sin.trace(x).jaxpr.eqns] == ["sin"]  # and no call of sin
    assert jnp.linalg.inv.eval_shape(jnp.eye(3)).shape == (3, 3)
    assert not hasattr(jnp.zeros, "lower")
