"""Physics of Brax: a system of its own XML is stepped, and an action is improved by gradients through the steps."""

import jax
import jax.numpy as jnp
from brax.generalized import pipeline
from brax.io import mjcf

TOLERANCE = 5e-3  # contacts and constraint solvers over tens of steps in float32

XML = """<mujoco><option timestep="0.01"/><worldbody>
<body pos="0 0 1"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size="0.05 0.3" pos="0 0 -0.3" mass="1"/>
<body pos="0 0 -0.6"><joint name="elbow" type="hinge" axis="0 1 0" damping="0.1"/>
<geom type="capsule" size="0.05 0.2" pos="0 0 -0.2" mass="0.5"/>
</body></body></worldbody><actuator><motor joint="elbow" gear="2"/></actuator></mujoco>"""


def main():
    system = mjcf.loads(XML)
    state = jax.jit(pipeline.init)(system, jnp.array([0.5, -0.3]), jnp.zeros(2))

    def final(action):
        out, path = jax.lax.scan(
            lambda s, _: (lambda n: (n, n.q))(pipeline.step(system, s, action)), state, None, length=10
        )
        return jnp.sum(out.q**2), path

    step = jax.jit(jax.value_and_grad(final, has_aux=True))
    action, values = jnp.zeros(1), []
    for _ in range(3):
        (value, path), gradient = step(action)
        action, values = action - 5.0 * gradient, [*values, value]
    return {"values": jnp.stack(values), "path": path[::5], "action": action}
