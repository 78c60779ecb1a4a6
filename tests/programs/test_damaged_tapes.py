"""Tapes with changed words are refused, or touch nothing outside their memory: tried in a process of their own."""

import subprocess
import sys

import pytest

PROGRAM = """
import random, sys
import numpy as np
import onax as jax, onax.numpy as jnp
from onax import lax
from onax._native.tape import PythonKernel, Tape
from onax._prims.linalg import geqrf
from onax._tape import layout
from onax._tape.build import build_tape

seed, rounds, which = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = random.Random(seed)
made = []

def remember(words, operands, results, kernels, name):
    made.append((np.array(words), operands, results))
    return Tape(words, operands, results, kernels, name)

layout.Tape = remember
X = np.linspace(0.1, 1, 16, dtype=np.float32).reshape(4, 4)
I = np.array([0, 3, 1], np.int32)
A = np.eye(70, dtype=np.float32) * 9 + np.linspace(0, 1, 4900, dtype=np.float32).reshape(70, 70)
C = A[:3, :3] + 1j * A[3:6, 3:6]
la = lax.linalg
LAPACK = [  # which computes all spectra, and matrices in blocks
    (la.cholesky, A),
    (lambda x: la.lu(x[:, :66]), A),
    (lambda x: la.lu(x[:66] + 1j), A),
    (lambda x: la.triangular_solve(x, x[:, :2], left_side=True, lower=True), A),
    (lambda x: la.triangular_solve(x, x[:3], transpose_a=True, conjugate_a=True, unit_diagonal=True), A * 1j),
    (lambda x: la.triangular_solve(x, x[:0]), A),
    (lambda x: la.qr(x[:, :5], full_matrices=True), A),
    (lambda x: la.qr(x[:5], full_matrices=False), A * 1j),
    (lambda x: la.householder_product(*geqrf(x[:, :9])), A),
    *[(lambda x: la.eigh(jnp.stack([x, x])), x) for x in (X, C, A)],
    *[(lambda x: la.svd(x[:, :2], full_matrices=True), x) for x in (X, C, A)],
    *[(lambda x: la.svd(x[:2], full_matrices=False), x) for x in (X, C, A)],
    *[(lambda x: la.svd(x, compute_uv=False), x) for x in (X, C)],
    *[(la.eig, x) for x in (X, C)],
    (lambda x: la.eig(x, compute_left_eigenvectors=False), X),
    *[(la.schur, x) for x in (X, C)],
    (lambda x: la.schur(x, compute_schur_vectors=False), X),
    (lambda x: la.ormqr(*geqrf(x[:, :35]), x[:, :40]), A),
    (lambda x: la.ormqr(*geqrf(x[:, :5]), x[:3], left=False, transpose=True), A * 1j),
    *[(lambda x: (la.hessenberg(x), la.tridiagonal(x), la.qr(x[:, :2], pivoting=True)), x) for x in (X, C)],
    (lambda x: la.svd(x[:, :2], algorithm=la.SvdAlgorithm.QR), X),
    (lambda x: lax.fori_loop(0, 2, lambda i, c: la.eigh(c @ c)[0], x), X),
]
PROGRAMS = LAPACK if which == "lapack" else [
    (lambda x: (lambda q: jnp.exp(q @ q.T / -1e3) @ q)(jnp.tile(x, (4, 1))), A),
    (lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c @ x) + x[i], x), X),
    (lambda x: lax.scan(lambda c, r: (c.at[1].add(r), jnp.cumsum(r)), x, x, reverse=True), X),
    (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.sort(c[1])), (0, x)), X),
    (lambda x: lax.cond(x[0, 0] > 0, lambda: jnp.max(x, 0), lambda: x[1] * 2), X),
    (lambda x, i: (x[i], x.at[i].mul(2), jnp.argmax(x, 1), lax.top_k(x, 2)), X, I),
    (lambda x: (jnp.linalg.solve(x + 4 * jnp.eye(4), x), jnp.linalg.qr(x)[1], jnp.fft.fft(x)), X),
    (lambda x: (jnp.convolve(x[0], x[1, :3]), jnp.pad(x, 2), jnp.roll(x, 1), x.T.reshape(-1)[::-2]), X),
    (lambda k: (jax.random.normal(k, (3,)), jax.random.split(k), jax.random.gamma(k, 2.0)), jax.random.key(0)),
    (lambda x, i: (x[i, i], x[:, i[jnp.arange(9) % 3]], x.at[:, i].add(x[:, :3]), x[jnp.arange(4), i[0]]), X, I),
    (lambda x, i: (x.at[i].get(mode="fill"), x.at[:, i].get(mode="fill"), x.at[i[:, None], i].max(x[:3, :3])), X, I),
    (lambda x, v: (jnp.searchsorted(x[:, 0], v), jnp.searchsorted(x[0].astype("float16"), v, side="right")), A, A[:9]),
    (lambda x: (jnp.fft.rfft(x[:9, :64]), jnp.fft.fft(x[:8, :24]), jnp.fft.irfft(x[:9]), jnp.fft.ifft2(x[:9, :11])), A),
    (lambda x: (x.astype(jnp.float16) * 2, (x * 1j) ** 2, x.astype(jnp.int8), jnp.prod(x.astype(jnp.bfloat16), 0)), X),
]
for fn, *args in PROGRAMS:
    build_tape(jax.make_jaxpr(fn)(*args))
refused = ran = 0
values = [-1, 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 63, 64, 65, 255, 1 << 16, 1 << 31, 1 << 40, (1 << 62), -(1 << 63)]
for _ in range(rounds):
    words, operands, results = rng.choice(made)
    words = words.copy()
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(words))
        near, other = int(words[at]) + rng.choice([-8, -1, 1, 8]), int(words[rng.randrange(len(words))])
        words[at] = max(-(1 << 63), min(rng.choice([rng.choice(values), near, other]), (1 << 63) - 1))
    try:
        tape = Tape(words, operands, results)
    except (ValueError, MemoryError):
        refused += 1
        continue
    if tape.work > 1e6 or tape.memory > 1 << 26:  # a loop that may be endless, or large memory that is its own
        continue
    try:
        tape([np.ones(s, d) if d.kind != "V" else np.zeros(s, d) for s, d in operands])
    except (MemoryError, TypeError):
        pass
    ran += 1
print(refused, ran)
"""


@pytest.mark.parametrize(
    "which, seed, rounds",
    [
        ("all", 0, 4000),
        ("lapack", 0, 1000),
        pytest.param("all", 1, 200_000, marks=pytest.mark.slow),
        pytest.param("lapack", 1, 20_000, marks=pytest.mark.slow),
    ],
)
def test_damaged_tapes(which, seed, rounds):
    command = [sys.executable, "-c", PROGRAM, str(seed), str(rounds), which]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-6000:]
    assert "On entry to" not in done.stderr  # LAPACK's complaint about arguments; some versions of it end the process
    refused, ran = map(int, done.stdout.split())
    assert refused > rounds // 4 and ran > rounds // 50
