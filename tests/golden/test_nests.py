"""Nests of transformations and control flow: eager, as one tape, compiled, in a session of ONNX Runtime, and exported
(through the runtime alone) they agree with real JAX in value, dtype, shape.

Programs are `nests.py`'s.  Those of the first seeds are replayed against recorded answers; hypothesis draws others,
which are compared among the ways, and with real JAX where it is installed.  `make test-all` goes on to 20,000
seeds against live JAX (hours): it shows its progress, and goes on where it stopped (build/nests-progress.json).
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tqdm import tqdm

import nests
import onax as jax
import oracle
from onax._ground.config import direct_tapes
from onax._tape.build import build_tape
from onax.export import export

RECORDED = nests.read()
CHUNK = 50
RUNTIME_EVERY = 5
ASKED_AT_MOST = 500  # programs of one process of real JAX, which keeps a megabyte of each
MANY = int(os.environ.get("ONAX_NESTS", "20000"))
PROGRESS = Path(__file__).parents[2] / "build" / "nests-progress.json"


def ways(program, in_runtime):
    """(name, result) of each way of running a program; `in_runtime`: those that open sessions, too."""
    text = nests.text_of(program)
    function, args = nests.cases(jax)[text]
    yield "eager", function(*args)
    with jax.enable_x64(program[0] == "float64"):
        inner, argument = nests.inner_function(jax, text)
        yield "jit", jax.jit(inner)(argument)
        tape, constants = build_tape(jax.make_jaxpr(inner)(argument))
        yield "one tape", tape([np.asarray(argument), *constants])[0]
        if in_runtime:
            with direct_tapes(False):
                yield "jit in a session", jax.jit(inner)(argument)
            yield "exported", export(inner)(argument).call(argument)


def refuses(program, name):
    """Whether eager evaluation raises an error of that name."""
    function, args = nests.cases(jax)[nests.text_of(program)]
    try:
        function(*args)
    except Exception as error:
        return type(error).__name__ == name
    return False


def check(program, wanted, in_runtime=False):
    """Every way gives the wanted result; without one, that of eager evaluation."""
    if isinstance(wanted, str):  # JAX refuses it: so does onax, or (pmax has a derivative here) the ways agree
        if refuses(program, wanted):
            return
        wanted = None
    for name, got in ways(program, in_runtime):
        wanted = np.asarray(got) if wanted is None else wanted
        nests.assert_close(got, wanted, program[0], f"{name} of {nests.text_of(program)}")


@pytest.mark.parametrize("first", range(0, len(RECORDED), CHUNK))
def test_recorded_programs(first):
    for seed in range(first, min(first + CHUNK, len(RECORDED))):
        check(nests.drawn(seed), RECORDED[seed], in_runtime=seed % RUNTIME_EVERY == 0)


def test_the_recording_covers_every_construct():
    found = set()

    def visit(program):
        name, _, *inner = program
        found.add(name)
        for part in inner:
            visit(part)

    for seed in RECORDED:
        visit(nests.drawn(seed)[1])
    assert found == {*nests.LEAVES, *nests.NODES}
    assert len(RECORDED) >= 500


@st.composite
def programs(draw, depth=4):
    """A nest, drawn by hypothesis so that a failing one is made smaller."""
    choose = lambda items: draw(st.sampled_from(list(items)))
    return [choose(("float64", "float32")), nests.draw(choose, depth)]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(programs())
def test_drawn_programs(program):
    check(program, None, in_runtime=True)


@pytest.fixture(scope="module")
def live():
    python = oracle.python()
    if python is None:
        pytest.skip("real JAX is not there: nests were compared with recorded answers only")
    asked, count = oracle.Oracle(python), 0

    def answer(program):
        nonlocal asked, count
        count += 1
        if count % ASKED_AT_MOST == 0:
            asked, used = oracle.Oracle(python), asked
            used.close()
        return ask(asked, program)

    yield answer
    asked.close()


def ask(asked, program):
    """Real JAX's answer: an array, or the name of its error's class."""
    request = {"kind": "call", "module": nests.__file__, "case": nests.text_of(program)}
    answer = asked.ask(request)
    if "error" in answer:
        return answer["error"]
    ((value, _),) = oracle.decoded(answer)
    return value


@pytest.mark.oracle
def test_a_few_live(live):
    for seed in range(len(RECORDED), len(RECORDED) + 5):
        program = nests.drawn(seed)
        check(program, live(program))


@pytest.mark.slow
@pytest.mark.oracle
def test_many_live(live):
    at = json.loads(PROGRESS.read_text()) if PROGRESS.exists() else {"done": len(RECORDED), "failed": {}}
    PROGRESS.parent.mkdir(exist_ok=True)
    again = sorted(map(int, at["failed"]))  # what failed before the run was stopped is asked once more
    left = [*again, *range(at["done"], MANY)]
    for seed in tqdm(left, initial=at["done"] - len(again), total=MANY, desc="nests", unit="program"):
        failed_before = at["failed"].pop(str(seed), None)
        program = nests.drawn(seed)
        try:  # one failure does not stop a run of hours: it is told at the end, and kept in the file until then
            # XLA on the CPU may write an update in place over what it still reads: the first of ROWS times INPUT
            # through dynamic_update_slice(v, v[:2] * 0.4, (2,)) in lax.map gave [.035, .014, .0056] for [.., .., .224].
            wanted = live(program)
            if '"update"' in nests.text_of(program) and not isinstance(wanted, str):
                wanted = None
            check(program, wanted, in_runtime=seed % RUNTIME_EVERY == 0)
        except Exception as error:
            at["failed"][str(seed)] = f"{type(error).__name__}: {str(error)[:300]}"
        at["done"] = max(at["done"], seed + 1)
        if seed % 20 == 0 or failed_before or str(seed) in at["failed"]:
            PROGRESS.write_text(json.dumps(at))
    PROGRESS.unlink(missing_ok=True)
    assert not at["failed"], "\n".join(f"seed {seed}: {text}" for seed, text in at["failed"].items())
