"""Names of parts of programs and of transformations: equations know them, results and programs do not change."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.extend import source_info_util

layer = jax.named_scope("layer")(lambda x: 2 * jnp.sin(x))
loop = lambda x: lax.fori_loop(0, 3, jax.named_scope("body")(lambda i, c: jnp.sin(c)), x)
in_model = jax.named_scope("model")
outer_model = jax.jit(in_model(jax.jit(layer)))


@jax.custom_vjp
def custom(x):
    return jnp.sin(x)


def _forward(x):
    with jax.named_scope("forward"):
        return custom(x), jnp.cos(x)


def _backward(slope, ct):
    with jax.named_scope("backward"):
        return (slope * ct,)


custom.defvjp(_forward, _backward)

# (function, its arguments, the name stacks of its equations, with those of their programs in parentheses), as JAX
# 0.10.2 gives them
STACKS = [
    (layer, (1.0,), "sin layer, mul layer"),
    (in_model(layer), (1.0,), "sin model/layer, mul model/layer"),
    (jax.named_call(lambda x: x + 1, name="call"), (1,), "add call"),
    (in_model(jax.vmap(layer)), (jnp.ones(2),), "sin model/vmap(layer), mul model/vmap(layer)"),
    (jax.grad(layer), (1.0,), "sin jvp(layer), cos jvp(layer), mul jvp(layer), mul transpose(jvp(layer)), "
                              "mul transpose(jvp(layer))"),
    (in_model(lambda x: jax.jvp(jnp.sin, (x,), (x,))), (1.0,), "sin model/jvp(), cos model/jvp(), mul model/jvp()"),
    (jax.vmap(in_model(jax.grad(jnp.sin))), (jnp.ones(2),), "sin vmap(model)/jvp(), cos vmap(model)/jvp(), "
                                                            "mul vmap(model)/transpose(jvp())"),
    (jax.grad(in_model(jax.grad(jax.named_scope("layer")(jnp.sin)))), (1.0,),
     "sin jvp(model)/jvp(layer), cos jvp(model)/jvp(layer), cos jvp(model)/jvp(layer), sin jvp(model)/jvp(layer), "
     "mul jvp(model)/transpose(jvp(layer)), mul transpose(jvp(model))/transpose(jvp(layer)), "
     "neg transpose(jvp(model))/jvp(layer), mul transpose(jvp(model))/jvp(layer)"),
    (outer_model, (1.0,), "jit  (jit model (sin layer, mul layer))"),
    (jax.grad(in_model(jax.jit(layer))), (1.0,), "jit jvp(model) (sin layer, cos layer, mul layer), "
                                                 "jit transpose(jvp(model)) (mul layer, mul layer)"),
    (jax.vmap(in_model(loop)), (jnp.ones(2),), "scan vmap(model) (add , sin body)"),
    (lambda x: jax.vjp(in_model(loop), x)[1](x), (1.0,), "scan jvp(model) (add , sin body, cos body), "
                                                         "scan transpose(jvp(model)) (mul body)"),
    (jax.grad(custom), (1.0,), "custom_vjp_call jvp(forward) (sin ), cos jvp(forward), mul transpose(jvp(backward))"),
    # JAX has jvp twice in the transposed checkpoint
    (jax.grad(jax.checkpoint(jax.named_scope("layer")(jnp.sin))), (1.0,),
     "sin jvp(layer), remat2 transpose(jvp()) (cos rematted_computation/layer, mul layer)"),
]  # fmt: skip


def stacks(jaxpr):
    """The name stacks of the equations of a program, as text."""
    found = []
    for eqn in jaxpr.eqns:
        held = [v for v in eqn.params.values() if hasattr(v, "eqns") and v.eqns]
        inner = "".join(f" ({stacks(program)})" for program in held)
        found.append(f"{eqn.primitive.name} {eqn.source_info.name_stack}{inner}")
    return ", ".join(found)


@pytest.mark.parametrize("fun, args, text", STACKS, ids=range(len(STACKS)))
def test_name_stacks(fun, args, text):
    assert stacks(jax.make_jaxpr(fun)(*args)) == text


def test_evaluation_adds_the_names_around_it():
    program = jax.make_jaxpr(layer)(1.0)
    run = lambda x: jax.core.eval_jaxpr(program.jaxpr, program.consts, x)[0]
    assert (
        stacks(jax.make_jaxpr(in_model(jax.vmap(run)))(jnp.ones(2))) == "sin model/vmap(layer), mul model/vmap(layer)"
    )


def test_current_name_stack():
    info = source_info_util
    with info.extend_name_stack("p"), info.transform_name_stack("t"), jax.named_scope("q"):
        assert str(info.current_name_stack()) == "p/t(q)" and len(info.current_name_stack()) == 3
        with info.reset_name_stack():
            assert len(info.current_name_stack()) == 0
        with info.user_context(None, name_stack=info.new_name_stack("z")):
            assert stacks(jax.make_jaxpr(jnp.sin)(1.0)) == "sin " and str(info.current_name_stack()) == "z"
    assert info.new_name_stack("a") + info.new_name_stack("b") == info.new_name_stack("a").extend("b")
    assert not info.new_source_info() and info.current_name_stack() == info.new_name_stack()


def test_equations_without_a_place_have_no_names():
    program = jax.make_jaxpr(jax.grad(lambda x: jnp.where(x > 0, x, 0.0).sum()))(jnp.ones(2))
    held = [e for eqn in program.eqns for v in eqn.params.values() if hasattr(v, "eqns") for e in v.eqns]
    assert held and not any(str(e.source_info.name_stack) for e in held)


def test_operations_are_those_without_a_name():
    @jax.named_scope("outer")
    def named(x):
        with jax.named_scope("inner"):
            return jnp.sin(x)

    assert str(jax.make_jaxpr(named)(1.0)) == str(jax.make_jaxpr(jnp.sin)(1.0)) and named(0.0) == 0.0
    assert str(jax.make_jaxpr(jax.named_call(jnp.sin, name="f"))(1.0)) == str(jax.make_jaxpr(jnp.sin)(1.0))


def test_errors_pass_and_functions_keep_their_names():
    with pytest.raises(ZeroDivisionError), jax.named_scope("s"):
        raise ZeroDivisionError

    def f(x):
        "Doc."
        return x

    assert (jax.named_call(f).__name__, jax.named_call(f).__doc__) == ("f", "Doc.")


@pytest.mark.parametrize("call, text", [
    (lambda: jax.named_scope(3), "named_scope name argument must be a string"),
    (lambda: jax.named_call(jnp.sin, name=3), "named_scope name argument must be a string"),
    (lambda: jax.named_call(3), "Expected a callable value, got 3"),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_scopes_change_neither_results_nor_programs():
    @jax.named_scope("inner")
    def f(x):
        with jax.named_scope("doubled"):
            return x * 2

    assert jax.jit(f)(3.0) == 6.0
    assert str(jax.make_jaxpr(jax.named_call(lambda x: x + 1, name="foo"))(1.0)) == (
        "{ lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }"
    )
    with pytest.raises(TypeError, match="must be a string"):
        jax.named_scope(1)
