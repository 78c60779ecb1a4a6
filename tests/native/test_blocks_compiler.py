"""Machine code for runs of operations: programs have the bits of their operations carried out one by one."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import onax
from native.test_blocks import MAGIC, OPERATIONS, R, check_program, instruction_tape, run
from onax._native.tape import TYPES
from tolerance import assert_same_bits, is_float

BOOLS = np.dtype(bool)
BF16 = np.dtype("bfloat16")
RUN_TYPES = {4: [*(np.dtype(d) for d in ("f4", "i4", "u4")), BF16], 8: [np.dtype(d) for d in ("f8", "i8", "u8")]}
UNARY = ["neg", "abs", "sign", "floor", "ceil", "rint", "sqrt", "rsqrt", "not", "is_finite", "move", "to_bool"]
UNARY += ["to_f32", "to_bf16", "to_f64", "to_i32", "to_u32", "to_i64", "to_u64", "exp"]
BINARY = ["add", "sub", "mul", "div", "rem", "max", "min", "and", "or", "xor", "eq", "ne", "lt", "le", "shift_left"]
BINARY += ["shift_right_logical", "shift_right_arithmetic"]


def values(dtype, n, rng):
    """Random numbers of a dtype, awkward ones among them."""
    if dtype == BOOLS:
        return rng.integers(0, 2, n).astype(bool)
    if is_float(dtype):
        x = (rng.normal(size=n) * 10.0 ** rng.integers(-3, 12, n)).astype(dtype)
        special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, 2.0**31, -(2.0**31), 2.0**63], dtype)
    else:
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, n, dtype, endpoint=True) >> rng.integers(0, 30, n).astype(dtype)
        special = np.array([0, 1, 2, 31, 32, 63, 64, info.min, info.max, info.max - 1], dtype)
    return np.where(rng.integers(0, 4, n) == 0, rng.choice(special, n), x)


class Recipe:
    """A program over blocks under construction, and what every register holds when its operations run one by one."""

    def __init__(self, n, inputs, constants):
        self.n, self.inputs = n, inputs
        self.known = [*inputs, *[np.full(n, c) for c in constants]]
        self.constants, self.steps = constants, []

    def add(self, name, operands, out):
        given = [self.known[r] for r in operands]
        self.known.append(run(name, out, *given))  # a run has two steps at least
        self.steps.append((name, operands))

    def outputs(self, wanted):
        """What the program gives for these registers, which steps write."""
        first = len(self.inputs) + len(self.constants)
        ports = [((self.n,), x.dtype) for x in (*self.inputs, *[self.known[r] for r in wanted])]
        words = [MAGIC, len(self.inputs), len(wanted), 0, 1, 1]
        for _, dtype in ports:
            words += [TYPES[dtype], self.n]
        words += [1, 1, 1, len(self.known), len(self.steps), self.n]
        for r, x in enumerate(self.known):
            if r < len(self.inputs):
                words += [TYPES[x.dtype], R.DIRECT, r]
            elif r < first:
                bits = int.from_bytes(x[:1].tobytes(), "little", signed=x.itemsize == 8)
                words += [TYPES[x.dtype], R.CONSTANT, bits]
            elif r in wanted:
                words += [TYPES[x.dtype], R.DIRECT, len(self.inputs) + wanted.index(r)]
            else:
                words += [TYPES[x.dtype], R.BLOCK, 0]
        for i, (name, operands) in enumerate(self.steps):
            words += [OPERATIONS[name].number, first + i, *operands, *(0,) * (3 - len(operands))]
        check_program(words)
        tape = instruction_tape("blocks", ports[: len(self.inputs)], ports[len(self.inputs) :], [len(wanted), *words])
        return tape(self.inputs)


def result_dtype(name, dtype):
    operation = OPERATIONS[name]
    if dtype not in operation.dtypes:
        return None
    return {"C": BOOLS, "P": BOOLS, "V": operation.target}.get(operation.signature, dtype)


def assert_same_but_nans(got, want, what):
    both_nan = (got != got) & (want != want)
    assert np.array_equal(got[~both_nan].view(np.uint8), want[~both_nan].view(np.uint8)), what


SINGLE = [
    (name, dtype)
    for name in (*UNARY, *BINARY)
    for dtype in (*RUN_TYPES[4], *RUN_TYPES[8], BOOLS)
    if result_dtype(name, dtype) is not None
]


@pytest.mark.parametrize("name, dtype", SINGLE, ids=str)
def test_an_operation_within_a_run(name, dtype):
    rng, out = np.random.default_rng(0), result_dtype(name, dtype)
    if out not in (*RUN_TYPES[4], *RUN_TYPES[8], BOOLS):
        pytest.skip("its result takes no part in runs")
    for n in (2, 16, 1500):
        recipe = Recipe(n, [values(dtype, n, rng), values(dtype, n, rng), *[values(BOOLS, n, rng)] * 2], [])
        recipe.add(name, [0] if name in UNARY else [0, 1], out)
        recipe.add("and", [2, 3], BOOLS)
        recipe.add("not" if out == BOOLS else "select", [4] if out == BOOLS else [5, 4, 4], out)
        got = recipe.outputs([4, 5, 6])
        for r, x in zip((4, 5, 6), got):
            assert_same_but_nans(x, recipe.known[r], (name, dtype, n, r))


def random_recipe(width, n, length, rng):
    inputs = [values(d, n, rng) for d in (*RUN_TYPES[width], *RUN_TYPES[width], BOOLS)]
    constants = [values(d, 1, rng)[0] for d in RUN_TYPES[width] for _ in range(6)]
    recipe = Recipe(n, inputs, constants)
    names = [*UNARY, *BINARY, *BINARY, *["select"] * 6]
    while len(recipe.steps) < length:
        name = rng.choice(names)
        x = int(rng.integers(len(recipe.known)))
        dtype = recipe.known[x].dtype
        alike = [r for r, k in enumerate(recipe.known) if k.dtype == dtype]
        bools = [r for r, k in enumerate(recipe.known) if k.dtype == BOOLS]
        out = dtype if name == "select" else result_dtype(name, dtype)
        if out is None or out not in (*RUN_TYPES[width], BOOLS) or (name == "select" and dtype == BOOLS):
            continue
        operands = [x] if name in UNARY else [x, int(rng.choice(alike))]
        recipe.add(name, [int(rng.choice(bools)), *operands] if name == "select" else operands, out)
    return recipe


@pytest.mark.parametrize("width", (4, 8))
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(width, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 3, 15, 16, 17, 33, 1000, 2500]))
    recipe = random_recipe(width, n, int(rng.integers(2, 120)), rng)
    first = len(recipe.inputs) + len(recipe.constants)
    steps = range(first, len(recipe.known))
    wanted = sorted({*rng.choice(steps, min(len(steps), 6), replace=False).tolist(), steps[-1]})
    for r, got in zip(wanted, recipe.outputs(wanted)):
        assert_same_but_nans(got, recipe.known[r], (seed, r, recipe.steps[r - first]))


@pytest.mark.parametrize("dtype", ("int32", "uint32"))
def test_quotients_by_one_number(dtype):
    """They are computed by a reciprocal: multiples of the divisor and their neighbours, the ends of the range, zero."""
    info, rng = np.iinfo(dtype), np.random.default_rng(0)
    both = onax.jit(lambda x, y: (onax.lax.div(x, y), onax.lax.rem(x, y)))
    for divisor in (0, 1, 2, 3, 7, 10, 641, 65537, 2**30, info.max, info.max - 1, info.min, -1, -3, -10):
        if not info.min <= divisor <= info.max:
            continue
        near = (np.arange(-3000, 3000) * divisor + rng.integers(-1, 2, 6000)).astype(dtype)
        x = np.concatenate([near, rng.integers(info.min, info.max, 5000, dtype, endpoint=True)])
        x = np.concatenate([x, np.array([info.min, info.max, 0, 1], dtype)])
        for got, name in zip(both(x, np.asarray(divisor, dtype)), ("div", "rem")):
            assert_same_bits(np.asarray(got), run(name, dtype, x, np.full(x.shape, divisor, dtype)), what=divisor)


def test_loops_of_short_steps():
    """Their micro-operations call the code with addresses that change from step to step."""
    x = np.linspace(-1, 1, 37, dtype=np.float32)
    stepped = onax.jit(lambda v: onax.lax.fori_loop(0, 7, lambda i, v: v + 0.125 * (v - v * v), v))(x)
    want = x
    for _ in range(7):
        want = want + np.float32(0.125) * (want - want * want)
    assert np.array_equal(np.asarray(stepped), want)


def test_the_environment_turns_it_off():
    program = "import numpy, onax; print(onax.jit(lambda v: (v * 3 + 1) / (v - 2.5))(numpy.arange(9, dtype='f4')))"
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program], env=os.environ | wish, capture_output=True, text=True, check=True
        ).stdout
        for wish in ({}, {"ONAX_MACHINE_CODE": "off"}, {"ONAX_MACHINE_CODE": "avx2"})
    ]
    assert outputs[0] == outputs[1] == outputs[2]


def test_the_code_for_avx2_on_a_cpu_with_wider_vectors():
    """Random programs once more, with the vectors that other CPUs have.  There the tests above run this code."""
    program = """if True:
        import warnings
        from native.test_blocks_compiler import test_random_programs
        warnings.simplefilter("ignore")
        for width in (4, 8):
            for seed in range(40):
                test_random_programs(width, seed)
    """
    environment = os.environ | {"ONAX_MACHINE_CODE": "avx2", "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
