"""Partitioned products and convolutions: which dimensions keep their axes, and which sums devices take."""

import numpy as np
import pytest

import onax as jax
from sharded_programs import P, check, collectives, jnp, lax

Z = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)
B = np.cos(np.arange(256, dtype=np.float32)).reshape(4, 8, 8)
IMAGES = np.sin(np.arange(8 * 4 * 25, dtype=np.float32)).reshape(8, 4, 5, 5)
WEIGHTS = np.cos(np.arange(2 * 4 * 9, dtype=np.float32)).reshape(2, 4, 3, 3)
conv = lambda a, w: lax.conv_general_dilated(a, w, (1, 1), "SAME")
PROGRAMS = {  # function, arguments, their specs, specs of the results, collectives
    "rows": (jnp.matmul, (Z, Z), [P("x"), P()], [P("x")], []),
    "columns": (jnp.matmul, (Z, Z), [P(), P(None, "x")], [P(None, "x")], []),
    "rows and columns": (jnp.matmul, (Z, Z), [P("x"), P(None, "y")], [P("x", "y")], []),
    "partial sums": (jnp.matmul, (Z, Z), [P(None, "x"), P("x")], [P()], [("psum", ("x",))]),
    "one operand split where it is contracted": (jnp.matmul, (Z, Z), [P(None, "x"), P()], [P()], [("psum", ("x",))]),
    "weights are gathered": (jnp.matmul, (Z, Z), [P("x"), P("x")], [P("x")], [("all_gather", ("x",))]),
    "the left operand keeps its axis": (
        jnp.matmul, (Z, Z), [P("x"), P(None, "x")], [P("x")], [("all_gather", ("x",))],
    ),
    "a batch": (jnp.matmul, (B, B), [P("x"), P("x", None, "y")], [P("x", None, "y")], []),
    "another sharding of the batch": (
        jnp.matmul, (B, B), [P("x"), P(None, "x")], [P("x")], [("all_to_all", ("x",))],
    ),
    "convolution of a batch": (conv, (IMAGES, WEIGHTS), [P("x"), P()], [P("x")], []),
    "output features": (conv, (IMAGES, WEIGHTS), [P("x"), P("y")], [P("x", "y")], []),
    "spatial dimensions": (conv, (IMAGES[..., :4, :], WEIGHTS), [P(None, None, "x"), P()], [P(None, None, "x")],
                           [("ppermute", ("x",))] * 2),
    "the gradient of the weights": (
        jax.grad(lambda w, a: conv(a, w).sum()), (WEIGHTS, IMAGES), [P(), P("x")], [P()], [("psum", ("x",))],
    ),
    "a convolution in groups": (
        lambda a, w: lax.conv_general_dilated(a, w, (1, 1), "SAME", feature_group_count=2),
        (IMAGES, WEIGHTS[:, :2]), [P("x", "y"), P()], [P("x")], [("all_gather", ("y",))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_products(name):
    function, args, in_specs, out_specs, wanted = PROGRAMS[name]
    program, specs = check(function, *args, in_specs=in_specs, rtol=1e-4)
    assert specs == out_specs
    assert collectives(program) == wanted
