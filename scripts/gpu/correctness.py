"""The stages that ask whether results on the device are right: each a generator of items `(name, function)`.

They use the project's own tests: the samples and tolerances of the laws, recorded answers of real JAX for random nests
of transformations, the documented rules of the divergence report, and the specification beside the checkout.
"""

import importlib
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from recording import Skip

ROOT = Path(__file__).resolve().parents[2]
SPECIFICATION = ROOT.parent / "shared" / "spec"
CUDA = {"provider": "cuda"}


def use_the_tests():
    """Makes the modules of tests/ importable."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))


def laws():
    """Every primitive with samples: all its samples in one program on the device, against its kernel."""
    use_the_tests()
    import onax as jax
    from laws import test_laws
    from laws.runtime import unsupported_reason

    def check(primitive, samples):
        reason = unsupported_reason(primitive)
        if reason:
            raise Skip(reason)
        with jax.enable_x64(True):
            for sample, got in run_on_device(jax, primitive, samples):
                wanted = test_laws.viewed(
                    sample, test_laws.arrays(test_laws.as_list(primitive, sample.bind(*sample.operands)))
                )
                for g, w in zip(test_laws.viewed(sample, got), wanted, strict=True):
                    test_laws.assert_as_sampled(sample, g, w, sample.operands, f"{sample} on the device")

    for primitive, samples in test_laws.SAMPLES.items():
        yield primitive.name, lambda p=primitive, s=samples: check(p, s)


def run_on_device(jax, primitive, samples):
    """Pairs (sample, results as ndarrays): one compiled program for all samples; one each where that is refused."""
    try:
        return _run_together(jax, primitive, samples)
    except jax.errors.LoweringError:
        if len(samples) == 1:
            raise Skip(f"no form for {samples[0]}") from None
    found = []
    for sample in samples:
        try:
            found += _run_together(jax, primitive, [sample])
        except jax.errors.LoweringError:
            continue  # the laws check the reasons of refusals
    return found


def _run_together(jax, primitive, samples):
    def together(operands):
        return [
            list(out) if primitive.multiple_results else [out]
            for out in (s.bind(*xs) for s, xs in zip(samples, operands, strict=True))
        ]

    placed = jax.device_put([list(map(jax.numpy.asarray, s.operands)) for s in samples], jax.devices("gpu")[0])
    results = jax.jit(together)(placed)
    return [(s, [np.asarray(x) for x in outs]) for s, outs in zip(samples, results, strict=True)]


def nests():
    """Random nests of transformations and control flow, compiled for the device, against recorded answers of JAX."""
    use_the_tests()
    import nests as programs
    import onax as jax

    recorded = programs.read()

    def check(seed):
        drawn, wanted = programs.drawn(seed), recorded[seed]
        if isinstance(wanted, str):
            raise Skip(f"JAX refuses it: {wanted}")
        text = programs.text_of(drawn)
        with jax.enable_x64(drawn[0] == "float64"):
            inner, argument = programs.inner_function(jax, text)
            got = jax.jit(inner, compiler_options=CUDA)(argument)
        programs.assert_close(got, wanted, drawn[0], f"on the device: {text}")

    for seed in recorded:
        yield f"nest {seed}", lambda seed=seed: check(seed)


def device_arrays():
    """Arrays that stay on the device: chains of calls, donation, other libraries, a recorded program."""
    import onax as jax

    jnp, device = jax.numpy, jax.devices("gpu")[0]
    x = np.linspace(-1, 1, 4096, dtype=np.float32).reshape(64, 64)
    step = lambda w: w - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(w @ x) ** 2))(w)

    def run(steps=20, **options):
        compiled, w = jax.jit(step, **options), jax.device_put(x, device)
        for _ in range(steps):
            w = compiled(w)
        return w

    def check(got):
        wanted = jnp.asarray(x)
        for _ in range(20):
            wanted = step(wanted)
        assert got.devices() == {device}
        np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=2e-4, atol=1e-5)

    def exchange(package):
        try:
            library = importlib.import_module(package)
        except ImportError:
            raise Skip(f"{package} is not installed") from None
        y = jax.jit(lambda v: v * 2)(jax.device_put(x, device))
        theirs = library.from_dlpack(y)
        assert jnp.from_dlpack(theirs).unsafe_buffer_pointer() == y.unsafe_buffer_pointer()
        np.testing.assert_allclose(np.asarray(jnp.from_dlpack(theirs + theirs)), 4 * x, rtol=1e-6)

    yield "twenty steps", lambda: check(run())
    yield "donated", lambda: check(run(donate_argnums=0))
    yield "through the host", lambda: check(run(compiler_options={"io_binding": False}))
    yield "a CUDA graph", lambda: check(run(compiler_options={"cuda_graph": True}))
    for package in ("torch", "cupy"):
        yield f"DLPack with {package}", lambda package=package: exchange(package)


def sharded():
    """Programs over cuda:0 and the CPU, and over all CUDA devices: collectives, gradients, loops."""
    import onax as jax

    jnp, lax = jax.numpy, jax.lax
    x = jnp.asarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8)
    ring = [(0, 1), (1, 0)]
    programs = {
        "psum": lambda v: lax.psum(v, "i"),
        "all_gather": lambda v: lax.all_gather(v, "i", tiled=True),
        "ppermute": lambda v: lax.ppermute(v, "i", ring),
        "matrix product and pmean": lambda v: lax.pmean(v @ v.T, "i"),
        "axis_index": lambda v: v + lax.axis_index("i"),
        "scan with psum": lambda v: lax.scan(lambda c, r: (c + lax.psum(r, "i"), c), v[0], v)[1],
        "gradient through psum": jax.grad(lambda v: jnp.sum(jnp.sin(lax.psum(v, "i")) * v)),
        "cond": lambda v: lax.cond(lax.axis_index("i") == 0, jnp.sin, jnp.cos, v),
    }

    def check(function, devices):
        got = jax.pmap(function, axis_name="i", devices=devices)(x)
        wanted = jax.vmap(function, axis_name="i")(x)
        assert got.devices() == set(devices), f"lies on {got.devices()}"
        np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-5, atol=1e-6)

    cuda, cpu = jax.devices("gpu"), jax.devices("cpu")
    groups = {"cuda:0 and cpu:0": [cuda[0], cpu[0]]}
    if len(cuda) > 1:
        groups["cuda:0 and cuda:1"] = cuda[:2]
    for (group, devices), (name, function) in itertools.product(groups.items(), programs.items()):
        yield f"{name} over {group}", lambda f=function, d=devices: check(f, d)


def divergence():
    """The documented rules of the divergence report on the CUDA provider, one item a case."""
    from onax._divergence import report
    from onax._divergence.families import FAMILIES
    from onax._divergence.runners import BACKENDS

    backend = BACKENDS["onnx-cuda"]()

    def check(family):
        done = report.run_family(family, [backend])
        if done.missing:
            raise Skip(done.missing)
        departures = [
            f"{row.key}: {row.results[name].text}, documented {row.documented}" for row, name in done.departures()
        ]
        assert not departures, f"{len(departures)} of {len(done.rows)} cases depart:\n" + "\n".join(departures[:40])
        return {"cases": len(done.rows)}

    for family in FAMILIES:
        yield family.name, lambda family=family: check(family)


def specification():
    """The specification's test files with the device as the default one."""
    environment = {**os.environ, "SPEC_MODULE": "onax", "JAX_PLATFORMS": "cuda"}

    def check(path):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=line", str(path)]
        done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
        closing = done.stdout.strip().splitlines()[-1:] or [done.stderr[-500:]]
        assert done.returncode == 0, done.stdout[-3500:]
        return {kind: int(n) for n, kind in re.findall(r"(\d+) (passed|skipped|failed)", closing[0])}

    paths = sorted(SPECIFICATION.glob("test_*.py"))
    if not paths:
        yield "all", lambda: _skip("there is no specification beside this checkout")
    for path in paths:
        yield path.stem, lambda path=path: check(path)


def _skip(reason):
    raise Skip(reason)
