"""A cell of Jaxley with Hodgkin-Huxley channels is stimulated; conductances are fitted by gradients."""

import jax
import jax.numpy as jnp
import jaxley as jx
from jaxley.channels import HH

jax.config.update("jax_enable_x64", True)


def main():
    compartment = jx.Compartment()
    branch = jx.Branch(compartment, ncomp=2)
    cell = jx.Cell(branch, parents=[-1, 0, 0])
    cell.insert(HH())
    cell.set("v", -65.0)
    current = jx.step_current(i_delay=1.0, i_dur=2.0, i_amp=0.3, delta_t=0.025, t_max=6.0)
    cell.branch(0).comp(0).stimulate(current)
    cell.branch(1).comp(0).record()
    voltage = jx.integrate(cell, delta_t=0.025)
    cell.make_trainable("HH_gNa")
    parameters = cell.get_parameters()

    @jax.jit
    @jax.value_and_grad
    def loss(parameters):
        return jnp.mean((jx.integrate(cell, params=parameters, delta_t=0.025) + 60.0) ** 2)

    value, gradient = loss(parameters)
    return {"voltage": voltage[0, ::20], "value": value, "gradient": gradient[0]["HH_gNa"]}


TOLERANCE = 1e-5  # float64
