"""Evaluates graphs: each node as operations on arrays, under whatever transformation is current.

A node whose inputs are all known while a program is traced is evaluated at once, so sizes that a graph computes from
the shapes of its values are numbers in the program, not results of it.
"""

from collections import ChainMap
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from onax._core.trace import Tracer, ensure_compile_time_eval, trace_state_clean
from onax._ground.errors import InconclusiveDimensionOperation, OperatorError
from onax.onnx.offsets import Offsets
from onax.onnx.operators import Call, Operator, find_operator
from onax.onnx.reasons import reason_against
from onax.onnx.records import Reference, names_read
from onax.onnx.sizes import are_named, as_numbers
from onax.onnx.sizes import evaluate as evaluate_sizes
from onax.random import fold_in, key

# With the name of a quantized value, the key in a scope of the same numbers as floats that have a gradient.
STRAIGHT_THROUGH = "straight through"


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """What the nodes of a graph or function refer to: values by name, versions of domains, the caller's attributes."""

    values: ChainMap
    opsets: dict
    attributes: dict


def last_uses(nodes):
    """For each node, the names that it reads or computes and no later node reads, of those that the nodes compute."""
    computed, seen, result = {name for node in nodes for name in node.outputs if name}, set(), []
    for node in reversed(nodes):
        read = computed.intersection((*names_read(node), *node.outputs)) - seen
        seen |= read
        result.append(tuple(read))
    return result[::-1]


class Evaluation:
    """One call of a model: its functions, its key for random numbers, whether it trains, and how gradients round."""

    def __init__(self, functions, random_key=None, training=False, straight_through=False):
        self.functions = functions
        self.random_key = random_key
        self.training = training
        self.straight_through = straight_through
        self.offsets = Offsets()
        self._keys_used = 0
        self._last_uses = {}  # id of a tuple of nodes -> last_uses(nodes)

    def next_key(self, node, seed):
        """Another key for each node; from the node's own seed where the call has no key."""
        if self.random_key is None:
            if seed is None:
                raise OperatorError(f"{node} draws random numbers: call the model with key=onax.random.key(...)")
            return key(int(np.float32(seed).view(np.uint32)))
        self._keys_used += 1
        return fold_in(self.random_key, self._keys_used)

    def key_of_steps(self):
        """A key for the steps of a loop, or for a branch; None if the call has no key."""
        if self.random_key is None:
            return None
        self._keys_used += 1
        return fold_in(self.random_key, self._keys_used)

    @contextmanager
    def step(self, key_of_steps, index):
        """Nodes of one step draw from a key of that step, however often the step is traced."""
        outer = self.random_key, self._keys_used
        if key_of_steps is not None:
            self.random_key, self._keys_used = fold_in(key_of_steps, index), 0
        try:
            yield
        finally:
            self.random_key, self._keys_used = outer

    def run(self, graph, arguments, scope):
        """The outputs of a graph for values of its inputs; `scope` is that of the graph around it, or of the model."""
        values = dict(graph.constants)
        values.update(zip([value.name for value in graph.inputs], arguments))
        inner = Scope(ChainMap(values, *scope.values.maps), scope.opsets, scope.attributes)
        self.run_nodes(graph.nodes, inner, [value.name for value in graph.outputs])
        return tuple(inner.values[value.name] for value in graph.outputs)

    def run_nodes(self, nodes, scope, results):
        """Evaluates nodes in order; the scope gets their outputs, and keeps those that are among `results`.

        Others are dropped after the last node that reads them, so that eager evaluation frees their memory.
        """
        values, kept = scope.values, frozenset(results)
        if id(nodes) not in self._last_uses:
            self._last_uses[id(nodes)] = last_uses(nodes)
        for node, dropped in zip(nodes, self._last_uses[id(nodes)]):
            inputs = [values[name] if name else None for name in node.inputs]
            results = self.apply(node, inputs, scope)
            if not isinstance(results, (tuple, list)):
                results = (results,)
            if len(results) < len(node.outputs):
                raise OperatorError(f"{node} has {len(node.outputs)} outputs; {len(results)} are computed")
            if results:
                self.offsets.record(node, inputs, results[0])
            for name, result in zip(node.outputs, results):
                if name:
                    values[name] = result
            del inputs, results
            for name in dropped:
                if name not in kept:
                    values.maps[0].pop(name, None)
                    values.maps[0].pop((STRAIGHT_THROUGH, name), None)

    def apply(self, node, inputs, scope):
        """The outputs of a node."""
        attributes = resolve_attributes(node, scope.attributes)
        function = self.functions.get((node.domain, node.op_type, node.overload))
        if function is not None:
            return self.call_function(node, function, inputs, attributes)
        version = scope.opsets.get(node.domain)
        if version is None:
            raise OperatorError(f"{node}: the model does not say which version of the domain {node.domain!r} it uses")
        found = find_operator(node.domain, node.op_type, version)
        if found is None:
            raise OperatorError(f"{node} cannot be evaluated: {reason_against(node.domain, node.op_type)}")
        call = Call(node, version, attributes, self, scope)
        try:
            result = self._evaluate(found, call, inputs)
        except OperatorError:
            raise
        except (TypeError, ValueError, IndexError, InconclusiveDimensionOperation) as error:
            error.add_note(f"This happened in {node} of an ONNX model.")
            raise
        except (KeyError, AttributeError, ZeroDivisionError) as error:
            if node.domain:  # a function of a user's own
                error.add_note(f"This happened in {node} of an ONNX model.")
                raise
            reason = f"its attributes or inputs are none that the operator has ({type(error).__name__}: {error})"
            raise OperatorError(f"{node} cannot be evaluated: {reason}") from error
        if result is None and node.domain:
            raise OperatorError(f"{node}: the registered function returned None; it must return the output")
        return result

    def _evaluate(self, found: Operator, call, inputs):
        if static := found.static_positions(call.node):
            inputs = list(inputs)
            for position in static:
                if position < len(inputs) and inputs[position] is not None:
                    inputs[position] = known_value(call.node, position, inputs[position])
        named = any(map(are_named, inputs))
        if named:
            sizes = evaluate_sizes(call, inputs)
            if sizes is not None:
                return sizes
            kept = {*found.static_positions(call.node), *found.bounds, *found.typed}
            inputs = [x if i in kept else as_numbers(x) for i, x in enumerate(inputs)]
        if found.bounds:
            inputs = [np.asarray(x) if i in found.bounds and _is_known(x) else x for i, x in enumerate(inputs)]
        traced = any(isinstance(x, Tracer) for i, x in enumerate(inputs) if i not in found.typed)
        if traced or named or found.holds_graphs or trace_state_clean():
            return found.function(call, *inputs)
        with ensure_compile_time_eval():
            return found.function(call, *inputs)

    def call_function(self, node, function, inputs, attributes):
        """The outputs of a function that the model, or ONNX's definition of an operator, makes of other operators."""
        if len(inputs) > len(function.inputs):
            raise OperatorError(f"{node} has {len(inputs)} inputs; the function takes {len(function.inputs)}")
        values = dict.fromkeys(function.inputs)
        values.update(zip(function.inputs, inputs))
        scope = Scope(ChainMap(values), function.opsets, {**function.defaults, **attributes})
        self.run_nodes(function.nodes, scope, function.outputs)
        return tuple(scope.values.get(name) for name in function.outputs)


def resolve_attributes(node, outer):
    """A node's attributes, those that stand for attributes of the calling node replaced; unset ones left out."""
    if not any(isinstance(value, Reference) for value in node.attributes.values()):
        return node.attributes
    result = {}
    for name, value in node.attributes.items():
        if not isinstance(value, Reference):
            result[name] = value
        elif value.name in outer:
            result[name] = outer[value.name]
    return result


def _is_known(value):
    return value is not None and not isinstance(value, Tracer)


def known_value(node, position, value):
    """A value as a NumPy array; OperatorError if it is not known while a program is traced."""
    if isinstance(value, Tracer):
        raise OperatorError(
            f"{node} needs the value of its input {position} ({node.inputs[position]!r}) while the program is traced, "
            "because it decides a shape: pass the inputs in model.static_inputs as static arguments of jit "
            "(static_argnames), or call the model without jit"
        )
    return np.asarray(value)
