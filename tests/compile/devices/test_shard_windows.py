"""Partitioned windows and convolutions whose dimensions are split: blocks with rows of the neighbours."""

import numpy as np
import pytest

import onax as jax
from onax._compile.devices.shard_windows import halo_of
from sharded_programs import P, check, collectives, jnp, lax

A = np.sin(np.arange(32 * 8, dtype=np.float32) * 1.7).reshape(32, 8)
PERMUTE = ("ppermute", ("x",))
windows = lambda init, op, size, stride, padding, **more: (
    lambda a: lax.reduce_window(a, init, op, (size, 1), (stride, 1), padding, **more)
)
largest = windows(-np.inf, lax.max, 2, 2, "VALID")
PROGRAMS = {  # function of a value split P("x"), the number of exchanges between neighbours
    "blocks of windows": (largest, 0),
    "the sum of three": (windows(0.0, lax.add, 3, 1, "SAME"), 2),
    "the largest of three": (windows(-np.inf, lax.max, 3, 1, "SAME"), 2),
    "the least of three": (windows(np.inf, lax.min, 3, 1, "SAME"), 2),
    "the largest of four": (windows(-np.inf, lax.max, 4, 1, ((3, 0), (0, 0))), 1),
    "every other": (windows(-np.inf, lax.max, 3, 2, ((0, 1), (0, 0))), 1),
    "with gaps": (windows(0.0, lax.add, 3, 1, ((2, 2), (0, 0)), window_dilation=(2, 1)), 2),
    "integers": (lambda a: windows(-(2**31), lax.max, 3, 1, "SAME")((a * 100).astype(int)), 2),
    "the gradient of the largest": (jax.grad(lambda a: (largest(a) ** 2).sum()), 0),
    "a tangent": (lambda a: jax.jvp(largest, (a,), (a * 2,))[1], 0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_windows(name):
    function, exchanges = PROGRAMS[name]
    program, specs = check(function, A, in_specs=[P("x")])
    assert specs == [P("x")]
    assert collectives(program) == [PERMUTE] * exchanges


@pytest.mark.parametrize(
    "function",
    [windows(0.0, lax.add, 3, 1, "VALID"), windows(0.0, lax.add, 21, 1, "SAME"), windows(0.0, lax.add, 3, 3, "SAME")],
    ids=["fewer windows", "more than neighbours have", "windows across blocks"],
)
def test_windows_that_do_not_fit_blocks_are_gathered(function):
    program, _ = check(function, A, in_specs=[P("x")])
    assert collectives(program) == [("all_gather", ("x",))]


IMAGE = np.sin(np.arange(2 * 3 * 32 * 8, dtype=np.float32)).reshape(2, 3, 32, 8)
KERNEL = np.cos(np.arange(4 * 3 * 3 * 3, dtype=np.float32)).reshape(4, 3, 3, 3)
conv = lambda strides=(1, 1), padding="SAME", **more: (
    lambda a, w: lax.conv_general_dilated(a, w, strides, padding, **more)
)
CONVOLUTIONS = {
    "SAME": (conv(), 2),
    "strides": (conv((2, 2)), 1),
    "strides as long as windows": (conv((4, 1), ((0, 0), (1, 1))), None),
    "gaps": (conv((1, 1), "SAME", rhs_dilation=(2, 1)), 2),
    "before": (conv((1, 1), ((2, 0), (1, 1))), 1),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("spec", [P(None, None, "x"), P(None, None, "x", "y"), P("y", None, "x")], ids=str)
def test_convolutions(name, spec):
    function, exchanges = CONVOLUTIONS[name]
    program, specs = check(function, IMAGE, KERNEL, in_specs=[spec, P()], rtol=1e-4)
    assert specs == [spec]
    if exchanges is not None:
        assert collectives(program).count(PERMUTE) == exchanges
        assert ("all_gather", ("x",)) not in collectives(program)


@pytest.mark.parametrize("strides", [(1, 1), (2, 1)], ids=str)
def test_gradients_of_convolutions(strides):
    loss = lambda w, a: (conv(strides)(a, w) ** 2).sum()
    program, _ = check(jax.grad(loss), KERNEL, IMAGE, in_specs=[P(), P(None, None, "x")], rtol=1e-3)
    found = collectives(program)
    assert found[-1] == ("psum", ("x",))
    assert {name for name, _ in found} == {"ppermute", "psum"}
    program, specs = check(
        jax.grad(lambda a, w: loss(w, a)), IMAGE, KERNEL, in_specs=[P(None, None, "x"), P()], rtol=1e-3
    )
    assert specs == [P(None, None, "x")]


def test_a_network_of_images_split_by_rows():
    def network(w, a):
        a = jax.nn.relu(conv()(a, w))
        a = lax.reduce_window(a, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return (a**2).mean()

    program, _ = check(jax.grad(network), KERNEL, IMAGE, in_specs=[P(), P(None, None, "x")], rtol=1e-3)
    assert "all_gather" not in {name for name, _ in collectives(program)}


def test_halos():
    assert halo_of(32, 4, window=3, stride=1, dilation=1, before=1) == (1, 1)
    assert halo_of(32, 4, window=3, stride=1, dilation=2, before=2) == (2, 2)
    assert halo_of(32, 4, window=2, stride=2, dilation=1, before=0) == (0, 0)
    assert halo_of(32, 4, window=3, stride=2, dilation=1, before=1) == (1, 0)
    assert halo_of(30, 4, window=3, stride=1, dilation=1, before=1) is None
    assert halo_of(32, 4, window=19, stride=1, dilation=1, before=9) is None
    assert halo_of(32, 4, window=1, stride=2, dilation=1, before=0) is None
