"""ONNX Runtime in Node, from Python: `run(runtime, cases, folder)`.

The npm packages are looked for in the folder that ONAX_NODE_PACKAGES names, or in build/node (`make node`).
"""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
PACKAGES = Path(os.environ.get("ONAX_NODE_PACKAGES") or HERE.parents[1] / "build" / "node")
RUNTIMES = ("onnxruntime-web", "onnxruntime-node")


def missing(runtime):
    """Why a runtime cannot be used here, or None."""
    if shutil.which("node") is None:
        return "there is no Node on this machine: exported models were not run in it"
    if not (PACKAGES / "node_modules" / runtime).is_dir():
        return f"{runtime} is not installed (`make node`): exported models were not run in it"
    return None


def _encode(array):
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"type": array.dtype.name, "dims": list(array.shape), "data": data}


def _decode(tensor):
    return np.frombuffer(base64.b64decode(tensor["data"]), np.dtype(tensor["type"])).reshape(tensor["dims"])


def run(runtime, cases, folder):
    """{name: {output: array}, or the error's text} of (name, model's bytes, [{input: array}], carry) cases."""
    manifest = []
    for i, (name, model, runs, carry) in enumerate(cases):
        (folder / f"{i}.onnx").write_bytes(model)
        inputs = [{"inputs": {key: _encode(x) for key, x in feeds.items()}} for feeds in runs]
        manifest.append({"name": name, "model": f"{i}.onnx", "runs": inputs, "carry": carry})
    (folder / "manifest.json").write_text(json.dumps(manifest))
    command = ["node", HERE / "run.mjs", PACKAGES, runtime, folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"node ended with code {done.returncode}: {done.stderr[-2000:]}")
    answers = json.loads((folder / "results.json").read_text())
    return {
        a["name"]: a["error"] if "error" in a else {key: _decode(t) for key, t in a["outputs"].items()} for a in answers
    }
