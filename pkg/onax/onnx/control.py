"""Control flow: nodes that hold graphs become `cond`, `while_loop` and `scan`.

Where what decides is known, a branch is chosen and a loop of few or changing shapes runs step by step.
"""

import numpy as np

import onax.numpy as jnp
from onax import lax
from onax._core.trace import Tracer
from onax.onnx.operators import operator


@operator("If", holds_graphs=True)
def _if(call, condition):
    if not isinstance(condition, Tracer):
        chosen = bool(np.reshape(np.asarray(condition), ()))
        return call.run_graph("then_branch" if chosen else "else_branch")
    branches = [lambda name=name: _arrays(call.run_graph(name)) for name in ("then_branch", "else_branch")]
    return lax.cond(jnp.reshape(condition, ()), *branches)


def _arrays(values):
    return tuple(jnp.asarray(value) for value in values)


@operator("Loop", holds_graphs=True)
def _loop(call, limit=None, condition=None, *carried):
    body = call["body"]
    count = len(carried)
    if len(body.inputs) != count + 2:
        call.refuse(f"its body has {len(body.inputs)} inputs; {count + 2} are needed")
    stacks = len(body.outputs) - 1 - count
    known = not isinstance(limit, Tracer) and not isinstance(condition, Tracer)
    unending = limit is None or (not isinstance(limit, Tracer) and int(np.reshape(limit, ())) > 2**31)
    if known and (not any(isinstance(x, Tracer) for x in carried) or stacks):
        return _run_steps(call, limit, condition, carried, stacks)
    if stacks:
        call.refuse("the number of steps of a loop with stacked results must be known while the program is traced")
    limit = jnp.asarray(2**62 if unending else limit, jnp.int64).reshape(())
    start = jnp.asarray(True if condition is None else condition).reshape(())
    key = call.evaluation.random_key

    def goes_on(state):
        return (state[0] < limit) & state[1]

    def step(state):
        i, going, *values = state
        with call.evaluation.step(key, i):
            going, *values = call.run_graph("body", i, going, *values)
        return (i + 1, jnp.asarray(going).reshape(()), *_arrays(values))

    return lax.while_loop(goes_on, step, (jnp.zeros((), jnp.int64), start, *_arrays(carried)))[2:]


def _run_steps(call, limit, condition, carried, stacks):
    """The loop, step by step; only while its condition stays known."""
    limit = None if limit is None else int(np.reshape(limit, ()))
    going = True if condition is None else bool(np.reshape(condition, ()))
    rows: list = [[] for _ in range(stacks)]
    key, i = call.evaluation.random_key, 0
    while going and (limit is None or i < limit):
        with call.evaluation.step(key, i):
            proceed, *values = call.run_graph("body", np.array(i, np.int64), np.array(going), *carried)
        carried, new = values[: len(carried)], values[len(carried) :]
        for row, value in zip(rows, new):
            row.append(value)
        if isinstance(proceed, Tracer):
            call.refuse("a loop with stacked results ends by a condition that is not known while the program is traced")
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
    """Version 8: every input has a leading batch dimension; a loop over the batch."""
    if lengths is not None:
        call.refuse("Scan with lengths of sequences (opset 8)")
    results = [_scan(call, *[x[b] for x in inputs]) for b in range(inputs[0].shape[0])]
    return tuple(jnp.stack(parts) for parts in zip(*results))


@operator("Scan", since=9, holds_graphs=True)
def _scan(call, *inputs):
    body, scanned = call["body"], call["num_scan_inputs"]
    states, xs = len(inputs) - scanned, inputs[len(inputs) - scanned :]
    stacks = len(body.outputs) - states
    backward = call.get("scan_input_directions", call.get("directions", (0,) * scanned))
    axes = call.get("scan_input_axes", (0,) * scanned)
    out_backward = call.get("scan_output_directions", (0,) * stacks)
    out_axes = call.get("scan_output_axes", (0,) * stacks)
    xs = [jnp.moveaxis(jnp.asarray(x), axis, 0) for x, axis in zip(xs, axes)]
    xs = [jnp.flip(x, 0) if back else x for x, back in zip(xs, backward)]
    key = call.evaluation.random_key

    def step(state, elements):
        i, *values = state
        with call.evaluation.step(key, i):
            results = _arrays(call.run_graph("body", *values, *elements[0]))
        return (i + 1, *results[:states]), results[states:]

    first = (jnp.zeros((), jnp.int32), *_arrays(inputs[:states]))
    last, ys = lax.scan(step, first, (tuple(xs),))
    ys = [jnp.flip(y, 0) if back else y for y, back in zip(ys, out_backward)]
    return (*last[1:], *[jnp.moveaxis(y, 0, axis) for y, axis in zip(ys, out_axes)])
