"""Collectives that do not depend on one another become neighbours, and the program stays the same."""

import numpy as np

import onax as jax
import onax.numpy as jnp
import processes
from onax._compile.devices.rounds import order_in_rounds
from onax._core.evaluate import interpreter_of
from onax._prims.elementwise import sin_p


def program(x, y):
    a = jnp.sin(x) * 2  # sin stands for a meeting
    b = jnp.sin(y) + a
    c = jnp.cos(y)
    d = jnp.sin(c)
    return jnp.sin(b) + d, c


def test_meetings_of_a_round_are_neighbours():
    closed = jax.make_jaxpr(program)(1.0, 2.0)
    ordered = order_in_rounds(closed, lambda eqn: eqn.primitive is sin_p)
    names = [eqn.primitive.name for eqn in ordered.eqns]
    assert names == ["cos", "sin", "sin", "sin", "mul", "add", "sin", "add"]
    args = [jnp.float32(1.0), jnp.float32(2.0)]
    for got, want in zip(interpreter_of(ordered).run([], args), program(*args), strict=True):
        np.testing.assert_array_equal(got, want)


def test_effects_keep_their_order():
    def printing(x):
        jax.debug.print("{}", jnp.sin(x), ordered=True)
        jax.debug.print("{}", x, ordered=True)
        return x

    closed = jax.make_jaxpr(printing)(1.0)
    ordered = order_in_rounds(closed, lambda eqn: eqn.primitive is sin_p)
    kept = lambda jaxpr: [eqn for eqn in jaxpr.eqns if eqn.effects]
    assert kept(ordered) == kept(closed)
    assert len(kept(ordered)) == 2


TEXT = """
from onax import lax
from onax._compile.devices import rendezvous
from onax.sharding import PartitionSpec as P
asked, arrive = [], rendezvous._Scheduler._arrive

def counting(scheduler, index, requests):
    asked.append(len(requests) if type(requests) is list else 1)
    return arrive(scheduler, index, requests)

rendezvous._Scheduler._arrive = counting
f = lambda x: (lax.psum(x, "x"), lax.psum(jax.numpy.sin(x) * 2, "x"), lax.pmax(x + 1, "x"))
x = np.arange(8.0, dtype=np.float32)
outs = jax.shard_map(f, mesh=mesh(x=4), in_specs=P("x"), out_specs=P())(x)
found["asked"] = asked
found["values"] = [np.asarray(a).tolist() for a in outs]
"""


def test_messages_are_under_way_together():
    for own in processes.in_each(2, TEXT, 2):
        assert own["asked"] == [3, 3]
        assert own["values"][0] == [12.0, 16.0] and own["values"][2] == [7.0, 8.0]
