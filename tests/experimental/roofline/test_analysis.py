"""Walking programs: sums of costs, memory that is alive, gradients, rules of the user's."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax.experimental import roofline

R = roofline.RooflineResult
X = onax.ShapeDtypeStruct((4,), jnp.float32)
SINE = R(unfused_flops=4, unfused_hbm_bytes=32)


def costs(f, *args, **options):
    return roofline.roofline(f, **options)(*args)[1]


@onax.custom_jvp
def _custom(x):
    return jnp.sin(x)


_custom.defjvp(lambda primals, tangents: (_custom(*primals), tangents[0]))


@pytest.mark.parametrize(
    "function, peak",
    [
        (jnp.sin, 16),  # the argument ends where the result begins
        (lambda x: (jnp.sin(x), x), 32),
        (onax.jit(jnp.sin), 16),
        (onax.checkpoint(jnp.sin), 16),
        (_custom, 16),
        (lambda x: (jnp.cos(x), jnp.sin(x))[1], 16),  # what is not read is not run
    ],
)
def test_programs_and_those_that_they_hold(function, peak):
    assert costs(function, X) == SINE + R(peak_hbm_bytes=peak)


def test_loops_count_one_step():
    step = costs(lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x), X)
    assert (step.unfused_flops, step.unfused_hbm_bytes) == (2, 24)


def test_results_have_types():
    shapes, _ = roofline.roofline(lambda x: {"a": x[:2]})(X)
    assert shapes == {"a": onax.ShapeDtypeStruct((2,), jnp.float32)}


def test_products_whose_operands_stay_in_fast_memory():
    a, b = jnp.ones((2, 3)), jnp.ones((3, 4))
    got = [costs(jnp.dot, a, b, **{name: True}).hbm_bytes for name in ("pin_lhs_in_vmem", "pin_rhs_in_vmem")]
    assert got == [48, 56] and costs(jnp.dot, a, b).hbm_bytes == 104


def test_vjp_and_printed_program(capsys):
    args = jnp.ones((2, 3), jnp.bfloat16), jnp.ones((3, 4), jnp.bfloat16)
    got = costs(jnp.dot, *args, vjp=True, print_jaxpr=True)
    assert got.flops == 3 * 48 and "dot_general" in capsys.readouterr().out


def test_gradient_of_a_mapped_function():
    mesh, spec = onax.make_mesh((1,), ("x",)), onax.P("x")
    args = jnp.ones((2, 2)), jnp.ones((2, 2))
    shape, forward, backward = roofline.roofline_and_grad(jnp.matmul, mesh, (spec, spec), spec)(*args)
    assert shape.sharding == onax.NamedSharding(mesh, spec)
    assert (forward.flops, forward.hbm_bytes) == (16, 48)
    assert (backward.flops, backward.hbm_bytes) == (32, 48)  # in bfloat16


def test_rules_of_the_user():
    p = onax.extend.core.Primitive("made_up")
    p.def_abstract_eval(lambda x: x)
    assert costs(p.bind, X) == R(peak_hbm_bytes=16)

    @roofline.register_roofline(p)
    def _rule(ctx, x, **params):
        assert ctx.primitive is p and ctx.mesh is None and ctx.avals_out[0].shape == x.shape
        assert str(ctx.name_stack) == "s"
        return R(flops=x.bytes)

    assert costs(onax.named_scope("s")(p.bind), X).flops == 16
    roofline.register_standard_roofline(p)
    assert costs(p.bind, X).flops == 0


def test_sums_and_multiples():
    total = R(flops=1, ici_bytes={"x": 1}, peak_hbm_bytes=5) + R(flops=2, ici_bytes={"x": 2, "y": 3}, peak_hbm_bytes=4)
    assert total == R(flops=3, ici_bytes={"x": 3, "y": 3}, peak_hbm_bytes=5)
    assert 1.5 * R(unfused_flops=3, ici_latency={"x": 3}) == R(unfused_flops=4, ici_latency={"x": 4})
    assert R.zeros() == R()


def test_shapes():
    shape = roofline.RooflineShape(shape=(2, 3), dtype=np.dtype("float32"))
    assert (shape.size, shape.bytes) == (6, 24)
    with pytest.raises(TypeError, match="Expected ShapedArray"):
        roofline.RooflineShape.from_aval(3)
