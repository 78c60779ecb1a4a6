"""Bodies and fields of physics: molecular dynamics, gravity, springs, birds, quantum circuits and waves."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {
        **molecules(jax), **gravity(jax), **cloth(jax), **flock(jax), **circuit(jax), **wave_packet(jax),
        **open_system(jax),
    }  # fmt: skip


def molecules(jax):
    """Lennard-Jones particles in a periodic box: energy, forces, velocity Verlet, a thermostat."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    side, box = 4, 6.0
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3) * (box / side)
    x = jnp.asarray(grid + np.random.default_rng(27).normal(size=grid.shape, scale=0.05), jnp.float32)

    def energy(x):
        gap = x[:, None] - x
        gap = gap - box * jnp.round(gap / box)
        square = jnp.sum(gap**2, -1) + jnp.eye(x.shape[0])
        inverse = jnp.where(square < 6.25, 1 / square, 0.0) ** 3
        return 2.0 * jnp.sum(jnp.where(jnp.eye(x.shape[0], dtype=bool), 0.0, inverse**2 - inverse))

    force = jax.grad(lambda x: -energy(x))

    def verlet(state, _):
        x, v, f = state
        v = v + 0.001 * f
        x = (x + 0.002 * v) % box
        f = force(x)
        v = v + 0.001 * f
        return (x, v, f), 0.5 * jnp.sum(v**2)

    def langevin(x, v, key):
        v = v + 0.002 * force(x)
        v = 0.99 * v + 0.14 * random.normal(key, v.shape)
        return (x + 0.002 * v) % box, v

    start = (x, jnp.zeros_like(x), force(x))
    return {
        "molecular dynamics: forces": (force, (x,)),
        "molecular dynamics: step": (lambda *s: verlet(s, None), start),
        "molecular dynamics: 10 steps": (lambda *s: lax.scan(verlet, s, None, 10)[1], start),
        "molecular dynamics: Langevin step": (langevin, (x, jnp.zeros_like(x), random.key(12))),
    }


def gravity(jax):
    """Bodies under their own gravity by leapfrog steps, and the gradient of where one arrives."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(28)
    x, v = (jnp.asarray(rng.normal(size=(40, 3), scale=s).astype(np.float32)) for s in (1.0, 0.1))
    mass = jnp.full(40, 1 / 40)

    def acceleration(x):
        gap = x - x[:, None]
        return jnp.einsum("ijk,ij,j->ik", gap, (jnp.sum(gap**2, -1) + 0.01) ** -1.5, mass)

    def step(state, _):
        x, v = state
        v = v + 0.005 * acceleration(x)
        x = x + 0.01 * v
        return (x, v + 0.005 * acceleration(x)), None

    def arrival(v, x):
        (x, _), _ = lax.scan(step, (x, v), None, 10)
        return jnp.sum((x[0] - 1) ** 2)

    return {
        "gravity: step": (lambda *s: step(s, None)[0], (x, v)),
        "gravity: 20 steps": (lambda *s: lax.scan(step, s, None, 20)[0], (x, v)),
        "gravity: gradient through 10 steps": (jax.grad(arrival), (v, x)),
    }


def cloth(jax):
    """A cloth of springs over an edge list, forces summed by segments."""
    jnp, lax = jax.numpy, jax.lax
    side = 12
    index = np.arange(side * side).reshape(side, side)
    edges = [(index[:, 1:], index[:, :-1]), (index[1:], index[:-1]), (index[1:, 1:], index[:-1, :-1])]
    first, second = (jnp.asarray(np.concatenate([e[k].ravel() for e in edges])) for k in (0, 1))
    rows, columns = np.divmod(np.arange(side * side), side)
    x = jnp.asarray(np.stack([columns, rows * 0.1, -rows], -1), jnp.float32)
    rest = jnp.linalg.norm(x[first] - x[second], axis=-1)
    free = jnp.asarray(rows > 0, jnp.float32)[:, None]

    def step(state, _):
        x, v = state
        gap = x[first] - x[second]
        size = jnp.sqrt(jnp.sum(gap**2, -1))
        pull = (-40.0 * (size - rest) / size)[:, None] * gap
        force = jax.ops.segment_sum(pull, first, side * side) - jax.ops.segment_sum(pull, second, side * side)
        v = 0.995 * (v + 0.01 * (force + jnp.asarray([0.0, 0.3, -1.0]))) * free
        return (x + 0.01 * v, v), x[-1]

    return {
        "cloth: step": (lambda *s: step(s, None)[0], (x, jnp.zeros_like(x))),
        "cloth: 30 steps": (lambda *s: lax.scan(step, s, None, 30)[1], (x, jnp.zeros_like(x))),
    }


def flock(jax):
    """Birds that keep apart, fly alike and stay together."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(29)
    x, v = (jnp.asarray(rng.uniform(-s, s, (100, 2)).astype(np.float32)) for s in (5.0, 1.0))

    def one(i, x, v):
        gap = x - x[i]
        far = jnp.sqrt(jnp.sum(gap**2, -1) + 1e-6)
        near, close = (far < 2.0) & (jnp.arange(100) != i), (far < 0.5) & (jnp.arange(100) != i)
        mean = lambda rows, mask: jnp.sum(rows * mask[:, None], 0) / jnp.maximum(mask.sum(), 1)
        return 0.5 * mean(gap, near) + 0.3 * (mean(v, near) - v[i]) - 1.5 * mean(gap / far[:, None], close)

    def step(_, state):
        x, v = state
        v = v + 0.1 * jax.vmap(one, (0, None, None))(jnp.arange(100), x, v)
        v = v * jnp.minimum(1.0, 2.0 / jnp.linalg.norm(v, axis=-1, keepdims=True))
        return x + 0.1 * v, v

    return {
        "flock: step": (lambda *s: step(0, s), (x, v)),
        "flock: 10 steps": (lambda *s: lax.fori_loop(0, 10, step, s), (x, v)),
    }


def circuit(jax):
    """A quantum circuit of eight qubits: its energy, and a step of a variational search."""
    jnp = jax.numpy
    qubits = 8

    def gate(state, matrix, *targets):
        count = len(targets)
        state = jnp.tensordot(matrix.reshape((2,) * (2 * count)), state, (tuple(range(count, 2 * count)), targets))
        return jnp.moveaxis(state, range(count), targets)

    def rotation(angle, axis):
        half = angle / 2
        if axis == "y":
            return jnp.array([[jnp.cos(half), -jnp.sin(half)], [jnp.sin(half), jnp.cos(half)]]).astype(jnp.complex64)
        return jnp.diag(jnp.exp(1j * jnp.stack([-half, half])))

    flip = jnp.asarray([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], jnp.complex64)

    def run(angles):
        state = jnp.zeros((2,) * qubits, jnp.complex64).at[(0,) * qubits].set(1)
        for layer in angles:
            for q in range(qubits):
                state = gate(gate(state, rotation(layer[q, 0], "y"), q), rotation(layer[q, 1], "z"), q)
            for q in range(qubits - 1):
                state = gate(state, flip, q, q + 1)
        return state

    def energy(angles):
        state = run(angles)
        share = jnp.abs(state) ** 2
        bits = [1 - 2 * jnp.arange(2.0).reshape([2 if i == q else 1 for i in range(qubits)]) for q in range(qubits)]
        bonds = sum(jnp.sum(share * bits[q] * bits[q + 1]) for q in range(qubits - 1))
        fields = sum(jnp.vdot(state, jnp.flip(state, q)).real for q in range(qubits))
        return -bonds - 0.5 * fields

    def train(angles):
        value, slope = jax.value_and_grad(energy)(angles)
        return angles - 0.1 * slope, value

    angles = jnp.asarray(np.random.default_rng(30).uniform(0, 1, (2, qubits, 2)).astype(np.float32))
    return {
        "quantum circuit: state": (run, (angles,)),
        "quantum circuit: energy": (energy, (angles,)),
        "quantum circuit: training step": (train, (angles,)),
    }


def wave_packet(jax):
    """Schroedinger's equation by split steps with Fourier transforms."""
    jnp, lax = jax.numpy, jax.lax
    x = np.linspace(-10, 10, 128, endpoint=False)
    packet = jnp.asarray(np.exp(-((x + 4) ** 2) / 2 + 2j * x), jnp.complex64)
    kinetic = jnp.asarray(np.exp(-0.5j * 0.02 * (2 * np.pi * np.fft.fftfreq(128, 20 / 128)) ** 2), jnp.complex64)
    barrier = jnp.asarray(3.0 * np.exp(-(x**2) * 4), jnp.float32)

    def step(psi, _):
        half = jnp.exp(-0.5j * 0.02 * barrier)
        psi = half * jnp.fft.ifft(kinetic * jnp.fft.fft(half * psi))
        return psi, jnp.sum(jnp.abs(psi[64:]) ** 2)

    return {
        "wave packet: step": (lambda psi: step(psi, None)[0], (packet,)),
        "wave packet: 50 steps": (lambda psi: lax.scan(step, psi, None, 50)[1], (packet,)),
    }


def open_system(jax):
    """Lindblad's equation of a driven atom with four levels, by Runge-Kutta steps of density matrices."""
    jnp, lax = jax.numpy, jax.lax
    lower = jnp.asarray(np.diag(np.sqrt([1.0, 2.0, 3.0]), 1), jnp.complex64)
    upper = lower.conj().T

    def rate(rho, drive):
        h = 0.5 * upper @ lower + drive * (lower + upper)
        loss = upper @ lower
        jump = lower @ rho @ upper - 0.5 * (loss @ rho + rho @ loss)
        return -1j * (h @ rho - rho @ h) + 0.2 * jump

    def step(rho, drive, h=0.05):
        k1 = rate(rho, drive)
        k2 = rate(rho + h / 2 * k1, drive)
        k3 = rate(rho + h / 2 * k2, drive)
        k4 = rate(rho + h * k3, drive)
        rho = rho + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return rho, jnp.trace(rho @ upper @ lower).real

    rho, drives = jnp.zeros((4, 4), jnp.complex64).at[0, 0].set(1), jnp.sin(jnp.linspace(0, 3, 40))
    return {
        "Lindblad: step": (step, (rho, drives[5])),
        "Lindblad: 40 steps": (lambda rho, drives: lax.scan(step, rho, drives)[1], (rho, drives)),
    }
