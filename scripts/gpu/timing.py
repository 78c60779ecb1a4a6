"""Times the workloads in one process and prints one JSON object: `python timing.py PEER [--only NAME ...]`.

PEER is one of

    onax-cuda        onax, arguments placed on the CUDA device
    onax-cuda-host   onax, arguments on the host and results fetched: a call with its transfers
    onax-cpu         onax on the CPU
    jax              real JAX on its GPU
    torch, cupy      the workloads that these say in one call

Each workload gives {"seconds": of a call, "first": of the first call, "work": operations}, or {"failed": text}.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from workloads import arguments, functions

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.cases import best


def time_calls(make, names):
    """The figures of every workload; `make(name, args)` gives a function of no arguments that runs it to its end."""
    results = {}
    for name, (args, work) in arguments().items():
        if names and name not in names:
            continue
        try:
            call = make(name, args)
            if call is None:
                continue
            started = time.perf_counter()
            call()
            first = time.perf_counter() - started
            results[name] = {"seconds": best(call, 0.6, 3) / 1e6, "first": first, "work": work}
        except Exception as error:  # one workload that fails must not hide the others
            results[name] = {"failed": f"{type(error).__name__}: {error}"[:2000]}
    return results


def like_jax(jax, device=None, **options):
    """`make` for onax or JAX: arguments placed on the device, or, without one, given and fetched as NumPy arrays."""
    known = functions(jax)

    def make(name, args):
        jitted = jax.jit(known[name], **options)
        if device is None:
            return lambda: jax.tree_util.tree_map(np.asarray, jitted(*args))
        placed = jax.device_put(args, device)
        return lambda: jax.block_until_ready(jitted(*placed))

    return make


def like_torch():
    """`make` for PyTorch, without TF32."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    cast = lambda dtype: lambda a, b: a.to(dtype) @ b.to(dtype)
    calls = {
        "convolution 3x3, 32x64x56x56": lambda x, w: torch.nn.functional.conv2d(x, w, padding=1),
        "attention, 8x16 heads, 1024x64": torch.nn.functional.scaled_dot_product_attention,
        "matmul 4096, float32": torch.matmul,
        "matmul 4096, float16": cast(torch.float16),
        "matmul 4096, bfloat16": cast(torch.bfloat16),
        "elementwise chain, f32[1e7]": lambda v: torch.sin(v) * 2 + v * v - torch.exp(-v * v) / (1 + v * v),
        "softmax, f32[4096, 4096]": lambda v: torch.softmax(v, -1),
    }

    def make(name, args):
        if name not in calls:
            return None
        placed = [torch.from_numpy(a).cuda() for a in args]

        def call():
            calls[name](*placed)
            torch.cuda.synchronize()

        return call

    return make


def like_cupy():
    """`make` for CuPy."""
    import cupy

    def softmax(v):
        e = cupy.exp(v - v.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    calls = {
        "matmul 4096, float32": lambda a, b: a @ b,
        "elementwise chain, f32[1e7]": lambda v: cupy.sin(v) * 2 + v * v - cupy.exp(-v * v) / (1 + v * v),
        "softmax, f32[4096, 4096]": softmax,
    }

    def make(name, args):
        if name not in calls:
            return None
        placed = [cupy.asarray(a) for a in args]

        def call():
            calls[name](*placed)
            cupy.cuda.Stream.null.synchronize()

        return call

    return make


def maker_of(peer):
    """`make` for a peer; ImportError or RuntimeError where it is not there."""
    if peer == "torch":
        return like_torch()
    if peer == "cupy":
        return like_cupy()
    if peer == "jax":
        import jax

        return like_jax(jax, jax.devices("gpu")[0])
    import onax

    if peer == "onax-cpu":
        return like_jax(onax, onax.devices("cpu")[0])
    if peer == "onax-cuda":
        return like_jax(onax, onax.devices("gpu")[0])
    return like_jax(onax, compiler_options={"provider": "cuda"})


PEERS = ("onax-cuda", "onax-cuda-host", "onax-cpu", "jax", "torch", "cupy")


def main():
    parser = argparse.ArgumentParser(description="Times the workloads of the GPU proof in one process.")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--stand-in", action="store_true")
    options = parser.parse_args()
    if options.stand_in:
        import stand_in

        stand_in.install()
    print(json.dumps(time_calls(maker_of(options.peer), options.only)))


if __name__ == "__main__":
    main()
