"""Control flow: nodes that hold graphs become `cond`, `while_loop` and `scan`.

Where what decides is known, a branch is chosen and a loop of few or changing shapes runs step by step.

The other direction: `export/lower/control.py`.
"""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax._core.trace import Tracer
from onax._ground.errors import OperatorError
from onax._transforms.abstract import eval_shape
from onax.onnx.operators import operator
from onax.onnx.records import names_read
from onax.onnx.sizes import as_numbers


@operator("If", holds_graphs=True)
def _if(call, condition):
    key = call.evaluation.key_of_steps()

    def branch(name):
        with call.evaluation.step(key, 0):
            return call.run_graph(name)

    if not isinstance(condition, Tracer):
        return branch("then_branch" if bool(np.reshape(np.asarray(condition), ())) else "else_branch")

    def arrays(name):
        results = branch(name)
        if any(value is None for value in results):
            call.refuse("whether an optional value is there would be decided while the model runs; call it without jit")
        return _arrays(results)

    branches = [lambda name=name: arrays(name) for name in ("then_branch", "else_branch")]
    return lax.cond(jnp.reshape(condition, ()), *branches)


def _arrays(values):
    return tuple(jnp.asarray(as_numbers(value)) for value in values)


def _decides_rows(node):
    """The inputs of a Loop that decide how many rows it stacks, if it stacks any: the limit and the first condition."""
    return (0, 1) if len(node.outputs) > len(node.inputs) - 2 else ()


@operator("Loop", static=_decides_rows, holds_graphs=True)
def _loop(call, limit=None, condition=None, *carried):
    body = call["body"]
    count = len(carried)
    if len(body.inputs) != count + 2:
        call.refuse(f"its body has {len(body.inputs)} inputs; {count + 2} are needed")
    stacks = len(body.outputs) - 1 - count
    key = call.evaluation.key_of_steps()
    known = not isinstance(limit, Tracer) and not isinstance(condition, Tracer)
    traced = any(isinstance(call.scope.values.get(name), Tracer) for name in names_read(call.node))
    counted = known and limit is not None and _hands_on_condition(body)
    if counted and traced and (results := _counted(call, limit, condition, carried, key)) is not None:
        return results
    if known and (counted or stacks or not traced):
        return _run_steps(call, limit, condition, carried, stacks, key)
    unending = limit is None or (not isinstance(limit, Tracer) and int(np.reshape(limit, ())) > 2**31)
    limit = jnp.asarray(2**62 if unending else limit, jnp.int64).reshape(())
    start = jnp.asarray(True if condition is None else condition).reshape(())

    def goes_on(state):
        return (state[0] < limit) & state[1]

    def step(state):
        i, going, *values = state
        with call.evaluation.step(key, i):
            going, *values = call.run_graph("body", i, going, *values)
        return (i + 1, jnp.asarray(going).reshape(()), *_arrays(values))

    return lax.while_loop(goes_on, step, (jnp.zeros((), jnp.int64), start, *_arrays(carried)))[2:]


def _counted(call, limit, condition, carried, key):
    """A loop of a known number of steps as a `scan`, which has gradients.

    None if its values change their types, or if a shape depends on the number of the step.
    """
    going = True if condition is None else bool(np.reshape(np.asarray(condition), ()))
    count = max(int(np.reshape(limit, ())), 0) if going else 0

    def step(state, i):
        with call.evaluation.step(key, i):
            _, *values = call.run_graph("body", i, np.array(True), *state)
        values = _arrays(values)
        return values[: len(carried)], values[len(carried) :]

    first = _arrays(carried)
    try:
        last, _ = eval_shape(step, first, np.array(0, np.int64))
    except OperatorError:
        return None  # step by step the number of the step is known
    if [(x.shape, x.dtype) for x in last] != [(x.shape, x.dtype) for x in first]:
        return None
    last, rows = lax.scan(step, first, jnp.arange(count, dtype=jnp.int64))
    return (*last, *rows)


def _hands_on_condition(body):
    """Whether the condition that a body computes is the one that it gets, or a constant that is true."""
    name = body.outputs[0].name
    copies = {node.outputs[0]: node for node in body.nodes if node.op_type in ("Identity", "Constant") and node.outputs}
    while name in copies and copies[name].op_type == "Identity":
        name = copies[name].inputs[0]
    value = copies[name].attributes.get("value") if name in copies else body.constants.get(name)
    return name == body.inputs[1].name or (isinstance(value, np.ndarray) and bool(np.all(value)))


def _run_steps(call, limit, condition, carried, stacks, key):
    """The loop, step by step; only while its condition stays known."""
    limit = None if limit is None else int(np.reshape(limit, ()))
    going = True if condition is None else bool(np.reshape(condition, ()))
    rows: list = [[] for _ in range(stacks)]
    i = 0
    while going and (limit is None or i < limit):
        with call.evaluation.step(key, i):
            proceed, *values = call.run_graph("body", np.array(i, np.int64), np.array(going), *carried)
        carried, new = values[: len(carried)], values[len(carried) :]
        for row, value in zip(rows, new):
            row.append(value)
        if isinstance(proceed, Tracer):
            call.refuse(
                "the number of rows that it stacks depends on a condition that is not known while the program is "
                "traced; call the model without jit"
            )
        going = bool(np.reshape(np.asarray(proceed), ()))
        i += 1
    return (*carried, *[_stack(call, row, i) for i, row in enumerate(rows)])


def _stack(call, rows, index):
    if rows:
        return jnp.stack([jnp.asarray(row) for row in rows])
    body = call["body"]
    value = body.outputs[len(body.outputs) - (call.output_count - (len(call.node.inputs) - 2)) + index]
    shape = tuple(size if isinstance(size, int) else 0 for size in value.shape or ())
    return jnp.zeros((0, *shape), value.dtype or jnp.float32)


@operator("Scan", holds_graphs=True)
def _scan_of_batches(call, lengths, *inputs):
    """Version 8: every input has a leading batch dimension, and a sequence may be shorter than the axis."""
    lengths = [None] * inputs[0].shape[0] if lengths is None else lengths
    results = [_scan(call, *[x[b] for x in inputs], length=length) for b, length in enumerate(lengths)]
    return tuple(jnp.stack(parts) for parts in zip(*results))


@operator("Scan", since=9, holds_graphs=True)
def _scan(call, *inputs, length=None):
    """A scan; from the step `length` on, the states stay as they are."""
    body, scanned = call["body"], call["num_scan_inputs"]
    states, xs = len(inputs) - scanned, inputs[len(inputs) - scanned :]
    stacks = len(body.outputs) - states
    backward = call.get("scan_input_directions", call.get("directions", (0,) * scanned))
    axes = call.get("scan_input_axes", (0,) * scanned)
    out_backward = call.get("scan_output_directions", (0,) * stacks)
    out_axes = call.get("scan_output_axes", (0,) * stacks)
    xs = [jnp.moveaxis(jnp.asarray(x), axis, 0) for x, axis in zip(xs, axes)]
    xs = [jnp.flip(x, 0) if back else x for x, back in zip(xs, backward)]
    key = call.evaluation.key_of_steps()

    def step(state, elements):
        i, *values = state
        with call.evaluation.step(key, i):
            results = _arrays(call.run_graph("body", *values, *elements[0]))
        new = results[:states]
        if length is not None:
            new = [jnp.where(i < length, after, before) for after, before in zip(new, values)]
        return (i + 1, *new), results[states:]

    first = (jnp.zeros((), jnp.int32), *_arrays(inputs[:states]))
    last, ys = lax.scan(step, first, (tuple(xs),))
    ys = [jnp.flip(y, 0) if back else y for y, back in zip(ys, out_backward)]
    return (*last[1:], *[jnp.moveaxis(y, 0, axis) for y, axis in zip(ys, out_axes)])


@operator("Optional")
def _optional(call, x=None):
    return x


@operator("OptionalGetElement")
def _optional_element(call, x=None):
    if x is None:
        call.refuse("the optional value is not there")
    return x


@operator("OptionalHasElement", typed=(0,))
def _optional_has_element(call, x=None):
    return np.array(x is not None)
