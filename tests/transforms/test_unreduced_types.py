"""Unreduced and reduced axes in types: results, refusals and gradients, as JAX 0.10.2 has them."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core.sharding import ShardingTypeError
from onax.sharding import PartitionSpec as P
from virtual_devices import MODES, eight_devices

V = np.arange(4, dtype=np.float32)
M = np.arange(16, dtype=np.float32).reshape(4, 4)
SPECS = {
    "u": (V, P(unreduced={"x"})), "r": (V, P(reduced={"x"})), "xy": (V, P(unreduced={"x", "y"})),
    "w": (V, P()), "v": (V, P("x")), "u2": (M[:, :2], P("y", unreduced={"x"})), "a": (M, P(None, "x")),
    "b": (M, P("x")),
}  # fmt: skip


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]), jax.set_mesh(jax.make_mesh((4, 2), ("x", "y"))):
        yield


def values(names):
    return [jax.device_put(*SPECS[name]) for name in names.split()]


RESULTS = [
    ("u", lambda u: u, "float32[4]{U:x}", V),
    ("r", lambda r: r, "float32[4]{R:x}", V),
    ("xy", lambda u: u, "float32[4]{U:(x,y)}", V),
    ("u2", lambda u: u.T, "float32[2,4@y]{U:x}", M[:, :2].T),
    ("u u", lambda a, b: a + b, "float32[4]{U:x}", 2 * V),
    ("u r", lambda u, r: u * r, "float32[4]{U:x}", V * V),
    ("r u", lambda r, u: r * u, "float32[4]{U:x}", V * V),
    ("r r", lambda a, b: a * b, "float32[4]{R:x}", V * V),
    ("r", lambda r: jnp.tanh(r) * 2 + 1, "float32[4]{R:x}", np.tanh(V) * 2 + 1),
    ("r", lambda r: -r, "float32[4]{R:x}", -V),
    ("u", lambda u: u.sum(), "float32[]{U:x}", 6),
    ("u2", lambda u: u.sum(1), "float32[4@y]{U:x}", M[:, :2].sum(1)),
    ("u", lambda u: u.reshape(2, 2), "float32[2,2]{U:x}", V.reshape(2, 2)),
    ("u", lambda u: u[None], "float32[1,4]{U:x}", V[None]),
    ("u", lambda u: jnp.broadcast_to(u, (3, 4)), "float32[3,4]{U:x}", np.stack([V] * 3)),
    ("u u", lambda a, b: jnp.stack([a, b]), "float32[2,4]{U:x}", np.stack([V, V])),
    ("u u", lambda a, b: jnp.concatenate([a, b]), "float32[8]{U:x}", np.concatenate([V, V])),
    ("u", lambda u: u.astype(jnp.int32), "int32[4]{U:x}", V.astype(np.int32)),
    ("u", lax.stop_gradient, "float32[4]{U:x}", V),
    ("u", lambda u: jax.reshard(u, P("x")), "float32[4@x]", V),
    ("u", lambda u: jax.reshard(u, P()), "float32[4]", V),
    ("w", lambda w: jax.reshard(w, P(reduced={"x"})), "float32[4]{R:x}", V),
    ("u", lambda u: lax.fori_loop(0, 3, lambda i, c: c + u, u), "float32[4]{U:x}", 4 * V),
    ("u", lambda u: lax.cond(True, lambda c: c + c, lambda c: c, u), "float32[4]{U:x}", 2 * V),
    ("u2", jax.vmap(lambda u: u + u), "float32[4@y,2]{U:x}", 2 * M[:, :2]),
    ("a b", lambda a, b: jnp.dot(a, b, out_sharding=P(unreduced={"x"})), "float32[4,4]{U:x}", M @ M),
    ("a b", lambda a, b: jnp.dot(a, b, out_sharding=P("y", unreduced={"x"})), "float32[4@y,4]{U:x}", M @ M),
    ("a", lambda a: lax.reduce_sum(a, (1,), out_sharding=P(unreduced={"x"})), "float32[4]{U:x}", M.sum(1)),
    ("r", jax.grad(lambda r: (r * r).sum()), "float32[4]{U:x}", 2 * V),
    ("r", jax.grad(lambda r: jax.checkpoint(jnp.sin)(r).sum()), "float32[4]{U:x}", np.cos(V)),
    ("w", jax.grad(lambda w: (jax.reshard(w, P(reduced={"x"})) ** 2.0).sum()), "float32[4]", 2 * V),
]


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_results(number, staged):
    names, function, text, wanted = RESULTS[number]
    out = (jax.jit(function) if staged else function)(*values(names))
    assert str(jax.typeof(out)) == text
    np.testing.assert_allclose(out, wanted, rtol=1e-5)


_RULE = "rule for {} is not implemented. Please file an issue"
REFUSED = [
    ("u", jnp.sin, NotImplementedError, "unreduced " + _RULE.format("sin")),
    ("u", lambda u: -u, NotImplementedError, "unreduced " + _RULE.format("neg")),
    ("u u", lambda a, b: a - b, NotImplementedError, "unreduced " + _RULE.format("sub")),
    ("r", lambda r: r**3, NotImplementedError, "unreduced/reduced " + _RULE.format("integer_pow")),
    ("u", lambda u: lax.dynamic_slice(u, (0,), (2,)), NotImplementedError, "rule for dynamic_slice is not"),
    ("u xy", lambda a, b: a + b, ShardingTypeError, "lhs and rhs to `add` must be unreduced along the same mesh axes"),
    ("u w", lambda a, b: a + b, ShardingTypeError, "lhs is unreduced while rhs is not"),
    ("w u", lambda a, b: a + b, ShardingTypeError, "rhs is unreduced while lhs is not"),
    ("u u", lambda a, b: a * b, ShardingTypeError, "cannot be unreduced since mul is bilinear"),
    ("u w", lambda a, b: a * b, ShardingTypeError, "RHS should be reduced along the same axes LHS is unreduced on"),
    ("r w", lambda a, b: a + b, ShardingTypeError, "Inputs cannot be replicated on the same axes"),
    ("r v", lambda a, b: a + b, ShardingTypeError, "Inputs cannot be sharded/varying on the same axes"),
    ("u u", lambda a, b: a @ b, ShardingTypeError, "lhs or rhs passed to dot_general cannot be unreduced"),
    ("u r", lambda a, b: jnp.concatenate([a, b]), ShardingTypeError, "All operands should have the same sharding"),
    ("u w", lambda a, b: lax.dynamic_update_slice(a, b[:2], (0,)), ShardingTypeError, "operand sharding must be equal"),
    ("a b", lambda a, b: jnp.dot(a, b, out_sharding=P(unreduced={"y"})), ShardingTypeError, "be equal to the con"),
    ("a a", lambda a, b: jnp.dot(a, b, out_sharding=P(unreduced={"x"})), ShardingTypeError, "be sharded identically"),
    ("a", lambda a: lax.reduce_sum(a, (1,), out_sharding=P(unreduced={"y"})), ShardingTypeError, "were summed over"),
    ("u", lambda u: lax.reshape(u, (2, 2), out_sharding=P()), ValueError, "must be unreduced over the same mesh axes"),
    ("w", lambda w: lax.reshape(w, (2, 2), out_sharding=P(reduced={"x"})), ValueError, "cannot contain reduced axes"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_is_refused(number):
    names, function, error, text = REFUSED[number]
    arguments = values(names)
    for call in (function, jax.jit(function)):
        with pytest.raises(error) as caught:
            call(*arguments)
        assert text in str(caught.value)


def test_cotangents_have_the_types_of_cotangents():
    u, r, w = values("u r w")
    pull = jax.vjp(lambda x: jax.reshard(x, P(reduced={"x"})), w)[1]
    assert str(jax.typeof(pull(u)[0])) == "float32[4]"
    with pytest.raises(ValueError, match=r"got float32\[4\]\{R:x\}, but expected float32\[4\]\{U:x\}"):
        pull(r)
    assert str(jax.typeof(r).to_ct_aval()) == "float32[4]{U:x}" and jax.typeof(u).to_ct_aval() == jax.typeof(r)


def test_gradients_are_summed_once_after_a_loop():
    weights = jax.device_put(np.stack([np.eye(4, dtype=np.float32) / 2] * 3), P(reduced={"x"}))
    batch = jax.device_put(np.ones((4, 4), np.float32), P("x"))
    loss = lambda ws, b: (lax.scan(lambda xs, w: (jnp.tanh(xs @ w), None), b, ws)[0] ** 2.0).sum()
    g = jax.jit(jax.grad(loss))(weights, batch)
    assert str(jax.typeof(g)) == "float32[3,4,4]{U:x}"
    with jax.set_mesh(None):
        plain = jax.grad(loss)(jnp.asarray(np.asarray(weights)), jnp.asarray(np.asarray(batch)))
    np.testing.assert_allclose(jax.reshard(g, P()), plain, rtol=1e-5)


def test_printed_gradient():
    (a,), loss = values("b"), lambda w, x: ((x @ jax.reshard(w, P(None, None, reduced={"x"}))) ** 2).sum()
    w = jax.device_put(M, P(None, None))
    lines = [line.strip() for line in str(jax.jit(jax.grad(loss)).trace(w, a).jaxpr).splitlines()]
    shown = [line.split(" = ")[1].split("[")[0].split(" ")[0] for line in lines if " = " in line]
    assert shown[:2] == ["reshard", "dot_general"]
    assert shown[-6:] == ["reshard", "broadcast_in_dim", "mul", "dot_general", "transpose", "reshard"]
    assert "f32[4,4]{U:x} = dot_general" in " ".join(lines) and "f32[4,4]{R:x} = reshard" in " ".join(lines)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize(("name", "text"), [("r", "float32[4]{U:x}"), ("u", "float32[4]{R:x}")])
@pytest.mark.parametrize("constant", [lambda x: 0.0, lambda x: jnp.sum(lax.stop_gradient(jax.reshard(x, P())))])
def test_gradients_that_are_zero_have_the_types_of_cotangents(wrap, name, text, constant):
    (x,) = values(name)
    assert str(jax.typeof(wrap(jax.grad(constant))(x))) == text


def _custom():
    f = jax.custom_vjp(lambda v: v * v)
    f.defvjp(lambda v: (v * v, v), lambda v, ct: (2 * v * ct,))
    return f


COTANGENTS = {  # (values, function, types of the gradients)
    "reshape in jit": ("u2", lambda u: jax.reshard(jax.jit(lambda v: v.reshape(2, 2, 2))(u), P()).sum(),
                       ["float32[4@y,2]{R:x}"]),
    "split in jit": ("u", lambda u: jax.reshard(jnp.add(*jax.jit(lambda v: jnp.split(v, 2))(u)), P()).sum(),
                     ["float32[4]{R:x}"]),
    "checkpoint": ("r", lambda r: jax.checkpoint(lambda v: jnp.sin(v))(r).sum(), ["float32[4]{U:x}"]),
    "scan": ("r", lambda r: lax.scan(lambda c, _: (c * c, c), r, None, length=2)[0].sum(), ["float32[4]{U:x}"]),
    "custom_vjp": ("r", lambda r: _custom()(r).sum(), ["float32[4]{U:x}"]),
    "reduced reshape": ("r", lambda r: r.reshape(2, 2).sum(), ["float32[4]{U:x}"]),
}  # fmt: skip


@pytest.mark.parametrize("name", COTANGENTS)
def test_types_of_cotangents(name):
    names, f, types = COTANGENTS[name]
    gradient = jax.jit(jax.grad(f, argnums=tuple(range(len(types)))))(*values(names))
    assert [str(jax.typeof(x)) for x in gradient] == types


@pytest.mark.parametrize("specs, axes, message", [
    ("a b", {"y"}, "unreduced axes should be equal to the contracting specs"),
    ("a w2", {"x"}, "lhs and rhs contracting dims should be sharded identically"),
])  # fmt: skip
def test_einsum_states_its_own_product(specs, axes, message):
    arrays = [jax.device_put(M, P()) if name == "w2" else values(name)[0] for name in specs.split()]
    f = lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=P(unreduced=axes))
    with pytest.raises(ShardingTypeError, match=message):
        jax.jit(f)(*arrays)
    a, b = values("a b")
    turned = lambda a, b: jnp.einsum("ij,jk->ki", a, b, out_sharding=P("y", unreduced={"x"}))
    for way in (turned, jax.jit(turned)):
        out = way(a, b)
        assert str(jax.typeof(out)) == "float32[4@y,4]{U:x}" and np.array_equal(jax.reshard(out, P()), (M @ M).T)
