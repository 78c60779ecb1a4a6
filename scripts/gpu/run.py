"""Proves onax on a CUDA device in one command and writes what it found.

    python scripts/gpu/run.py [--stages laws nests ...] [--seconds 570] [--out docs] [--jobs 4]

It needs the checkout and what pip brought, nothing else.  The stages are processes of their own, so that a failure or a
crash in one leaves the others alone; a stage that crashes goes on behind the item that it crashed in.  Results go to
OUT/gpu.md and OUT/gpu.json.  Exit status: 0 everything passed, 1 something failed, 2 there is no device: nothing was
proven, nothing is written.

    --stand-in    tries the logic of this script where there is no device; the files say that nothing was proven
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import correctness
import timing
from environment import describe, device_memory_used
from recording import Recording, read_json, write_json
from report import write_report

HERE = Path(__file__).resolve().parent
STAGES = {  # name -> (items, share of the time)
    "laws": (correctness.laws, 0.45),
    "specification": (correctness.specification, 0.45),
    "nests": (correctness.nests, 0.45),
    "device_arrays": (correctness.device_arrays, 0.1),
    "sharded": (correctness.sharded, 0.2),
    "divergence": (correctness.divergence, 0.3),
    "benchmark": (None, 0.45),
}
RESTARTS = 5  # of a stage whose process crashed


def run_stage(name, path, seconds, options):
    """Runs one correctness stage in processes of its own until it is through; its results."""
    deadline = time.monotonic() + seconds
    for _ in range(RESTARTS + 1):
        left = deadline - time.monotonic()
        command = [sys.executable, str(HERE / "run.py"), "--stage", name, "--result", str(path), "--seconds", str(left)]
        command += ["--stand-in"] * options.stand_in + ["--at-most", str(options.at_most)] * bool(options.at_most)
        try:
            done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=left + 20, check=False)
        except subprocess.TimeoutExpired:
            return _ended(path, "the process was ended: it had more than the time of its stage")
        found = read_json(path) or {"items": {}, "current": None, "finished": False}
        if found["finished"]:
            return found
        reason = f"the process ended with status {done.returncode}\n{done.stderr[-2000:]}"
        _ended(path, reason)
        if found["current"] is None:
            break
    return read_json(path)


def _ended(path, reason):
    """Marks the item at which a process ended as failed."""
    found = read_json(path) or {"items": {}, "current": None, "finished": False}
    found["items"][found["current"] or "start"] = {"failed": reason}
    found["current"] = None
    write_json(path, found)
    return found


def run_benchmark(seconds, options, folder):
    """peer -> {workload -> figures}, or {"missing": why}; one peer after the other on an otherwise idle device."""
    deadline, found = time.monotonic() + seconds, {}
    for peer in options.peers:
        for python in _pythons(peer):
            left = deadline - time.monotonic()
            if left < 10:
                found[peer] = {"missing": "the time of the stage was up"}
                break
            command = [python, str(HERE / "timing.py"), peer, *["--stand-in"] * options.stand_in]
            command += ["--only", *options.only] if options.only else []
            memory = PeakMemory()
            try:
                with memory:
                    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=left, check=False)
            except subprocess.TimeoutExpired:
                found[peer] = {"missing": "the time of the stage was up"}
                break
            if done.returncode == 0:
                found[peer] = json.loads(done.stdout.splitlines()[-1]) | {"peak": memory.peak}
                break
            found[peer] = {"missing": (done.stderr.strip().splitlines() or ["no words"])[-1]}
        write_json(folder / "benchmark.json", found)
    return found


def _pythons(peer):
    """The interpreters in which a peer may be found: our own, then those that others use."""
    if peer.startswith("onax"):
        return [sys.executable]
    return list(dict.fromkeys(filter(None, [os.environ.get("ONAX_GPU_PEER_PYTHON"), sys.executable, "python3"])))


class PeakMemory:
    """Context that watches the device's memory; `peak` is the most that was in use beyond the start, in bytes."""

    def __enter__(self):
        self.peak = None
        self._start = device_memory_used()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self):
        while self._start is not None and not self._done.wait(0.2):
            used = device_memory_used()
            self.peak = max(self.peak or 0, (used or 0) - self._start)

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()


def child(options):
    """Inside a stage's process: runs the items that have no result yet."""
    if options.stand_in:
        import stand_in

        stand_in.install()
    items = STAGES[options.stage][0]()
    if options.at_most:
        items = (item for item, _ in zip(items, range(options.at_most)))
    Recording(options.result).run(items, options.seconds)


def prove(options):
    """Runs the stages, the benchmark last and alone; everything found, as a dictionary."""
    started, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="onax-gpu-"))
    found = {"environment": describe(), "stand_in": options.stand_in, "stages": {}, "benchmark": None}
    timed = "benchmark" in options.stages
    correct = [s for s in options.stages if s != "benchmark"]
    budget = options.seconds * ((1 - STAGES["benchmark"][1]) if timed and correct else 1)

    def one(name):
        return name, run_stage(name, folder / f"{name}.json", budget * 0.95, options)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, results in pool.map(one, correct):
            found["stages"][name] = results
            print(f"{name}: {summary(results)}", flush=True)
    if timed:
        left = options.seconds - (time.monotonic() - started)
        found["benchmark"] = run_benchmark(left, options, folder)
        print(f"benchmark: {', '.join(found['benchmark'])}", flush=True)
    found["seconds"] = time.monotonic() - started
    return found


def summary(results):
    """Counts of a stage as text."""
    items = results["items"].values()
    counts = {kind: sum(kind in item for item in items) for kind in ("passed", "failed", "skipped")}
    text = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    return text if results["finished"] else f"{text}; not finished"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", nargs="+", default=list(STAGES), choices=list(STAGES))
    parser.add_argument("--seconds", type=float, default=570, help="for everything (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "docs")
    parser.add_argument("--jobs", type=int, default=3, help="stages at a time (default: %(default)s)")
    parser.add_argument("--peers", nargs="+", default=list(timing.PEERS), choices=timing.PEERS)
    parser.add_argument("--only", nargs="+", default=[], help="workloads to time")
    parser.add_argument("--at-most", type=int, default=0, help="items of each stage (default: all)")
    parser.add_argument("--stand-in", action="store_true")
    parser.add_argument("--stage", choices=[s for s in STAGES if s != "benchmark"], help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        return child(options)
    if not options.stand_in:
        missing = describe()["missing"]
        if missing:
            print(f"Nothing was proven: {missing}")
            return 2
    found = prove(options)
    options.out.mkdir(parents=True, exist_ok=True)
    write_json(options.out / "gpu.json", found)
    write_report(options.out / "gpu.md", found)
    print(f"written: {options.out / 'gpu.md'}, {options.out / 'gpu.json'}")
    if options.stand_in:
        print("Nothing was proven: a stand-in took the place of the device.")
    failed = any("failed" in item for s in found["stages"].values() for item in s["items"].values())
    return int(failed or not all(s["finished"] for s in found["stages"].values()))


if __name__ == "__main__":
    sys.exit(main())
