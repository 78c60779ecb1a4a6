"""Passes over a finished graph: an ordered list of small functions that preserve results exactly.

    share_equal_constants     where functions are recognized: one constant for several of equal bytes
    share_equal_nodes         common subexpression elimination in the outermost graph
    drop_dead_nodes           removes nodes and constants whose values nobody reads
    fold_transposed_products  rewrites the transpose of a matrix product as a Gemm with transposed operands

    expand_formulas           after recognition: builds what remains of `Graph.formula`
    cast_halves               and puts casts around operators that have no kernel for 16-bit floats

and, when the graph is complete,

    break_reference_cycles    drops references that only building needs, so that a graph is freed at once

Little is left for passes: builders emit no redundant nodes, constants and casts are cached, and ONNX Runtime's own
optimizer folds constants and fuses.  Each pass pays for itself: a node less saves 20 to 30 microseconds of session
creation, ten times the cost of finding it.
"""

from onax.export.graph.value import Graph

# The operators that have subgraphs.
_FIRST = 16  # elements of constants that are compared first
_HOLDERS = frozenset(("If", "Loop", "Scan"))


def bodies(node):
    """The subgraphs in a node's attributes."""
    return [x for x in node.attributes.values() if type(x) is Graph] if node.op_type in _HOLDERS else ()


# ---- equal nodes


def _key(node, same):
    """A key that equal nodes share; None for a node that must stay: one of another domain or with subgraphs."""
    if node.domain:
        return None
    inputs = tuple([same.get(id(v), id(v)) for v in node.inputs])
    attributes = node.attributes
    if not attributes:
        return node.op_type, inputs
    try:
        items = tuple([(k, tuple(x) if type(x) is list else x) for k, x in attributes.items()])
        hash(items)
    except TypeError:  # an ndarray
        return None
    return None if bodies(node) else (node.op_type, inputs, items)


def share_equal_nodes(graph):
    """Keeps the first of several equal nodes of the outermost graph, and redirects the users of the others to it."""
    seen, same, values = {}, {}, {}
    outputs = {id(v) for v in graph.outputs}
    for node in graph.nodes:
        key = _key(node, same)
        first = None if key is None else seen.setdefault(key, node)
        if first is None or first is node or any(id(v) in outputs for v in node.outputs):
            continue
        for duplicate, original in zip(node.outputs, first.outputs):
            same[id(duplicate)] = id(original)
            values[id(duplicate)] = original
    if values:
        _replace(graph, values)


def _replace(graph, values):
    """Replaces operands of nodes; `values` maps the id of a value to its replacement."""
    for node in graph.nodes:
        if any(id(v) in values for v in node.inputs):
            node.inputs = tuple([values.get(id(v), v) for v in node.inputs])
        for body in bodies(node):
            _replace(body, values)


def share_equal_constants(graph):
    """Keeps the first of several constants of equal bytes that have no name of the caller's."""
    first, values = {}, {}
    for value in graph.initializers.values():
        array = value.const
        if array.size == 0 or value.name in graph.model.names:
            continue
        key = array.dtype, array.shape, array.flat[:_FIRST].tobytes()
        for other in first.setdefault(key, []):
            if array is other.const or array.tobytes() == other.const.tobytes():
                values[id(value)] = other
                break
        else:
            first[key].append(value)
    if values:
        _replace(graph, values)


# ---- dead nodes


def _live_nodes(graph, used):
    """Drops dead nodes of a graph; adds the ids of all values that are read to `used`."""
    used.update([id(v) for v in graph.outputs])
    live = []
    for node in reversed(graph.nodes):
        for v in node.outputs:
            if id(v) in used:
                break
        else:
            continue
        live.append(node)
        used.update([id(v) for v in node.inputs])
        for body in bodies(node):
            _live_nodes(body, used)
    live.reverse()
    graph.nodes = live


def drop_dead_nodes(graph):
    """Removes nodes whose results nobody reads, also in subgraphs, then constants that nobody reads."""
    used = set()
    _live_nodes(graph, used)
    graph.initializers = {name: v for name, v in graph.initializers.items() if id(v) in used}
    constants = graph.model.constants
    graph.model.constants = {key: v for key, v in constants.items() if id(v) in used}


# ---- transposed products


def _is_plain_product(node):
    """Whether a node is a plain product of two matrices."""
    if node is None or node.op_type not in ("Gemm", "MatMul") or node.domain or len(node.inputs) != 2:
        return False
    return all(v.ndim == 2 for v in node.inputs) and node.attributes.keys() <= {"transA", "transB"}


def _reads(graph):
    """The number of reads of each value, by id, including the reads of subgraphs."""
    count = {}
    for node in graph.nodes:
        for v in node.inputs:
            count[id(v)] = count.get(id(v), 0) + 1
        for body in bodies(node):
            for key, n in _reads(body).items():
                count[key] = count.get(key, 0) + n
    for v in graph.outputs:
        count[id(v)] = count.get(id(v), 0) + 1
    return count


def fold_transposed_products(graph):
    """Rewrites (A @ B).T as B.T @ A.T in one Gemm where nothing else reads A @ B."""
    turned = [n for n in graph.nodes if n.op_type == "Transpose" and _is_plain_product(n.inputs[0].node)]
    if not turned:
        return
    reads, runs = _reads(graph), graph.runs
    removed = set()
    for node in turned:  # `perm` of a matrix can only be (1, 0)
        inner = node.inputs[0].node
        if reads[id(node.inputs[0])] != 1 or not runs("Gemm", node.outputs[0].dtype, directly=True):
            continue
        a, b = inner.inputs
        flags = {"transA": 1 - inner.attributes.get("transB", 0), "transB": 1 - inner.attributes.get("transA", 0)}
        node.op_type, node.inputs = "Gemm", (b, a)
        node.attributes = {name: 1 for name, on in flags.items() if on}
        removed.add(id(inner))
    graph.nodes = [n for n in graph.nodes if id(n) not in removed]


PASSES = (share_equal_nodes, drop_dead_nodes, fold_transposed_products)


def run(graph):
    """Runs all passes over the outermost graph."""
    for rewrite in PASSES:
        rewrite(graph)
    return graph


def expand_formulas(graph):
    """Builds the nodes of the formulas that no rule of recognition took, also in subgraphs."""
    nodes, graph.nodes = graph.nodes, []
    model = graph.model
    for node in nodes:
        for body in bodies(node):
            expand_formulas(body)
        if node.domain != "formula":
            graph.nodes.append(node)
            continue
        before = model.prefix, model.location
        model.prefix, model.location = node.name.rpartition("_")[0], node.location
        _take_over(graph, node, node.attributes["build"](graph, *node.inputs))
        model.prefix, model.location = before


def cast_halves(graph):
    """Puts casts around the nodes of 16-bit floats that have no kernel, also in subgraphs, when recognition is over."""
    graph.model.recognizes = False
    nodes, graph.nodes = graph.nodes, []
    graph.casts = {}
    model = graph.model
    for node in nodes:
        for body in bodies(node):
            cast_halves(body)
        before = model.prefix, model.location
        model.prefix, model.location = node.name.rpartition("_")[0] or node.op_type, node.location
        graph.carry_halves(node)
        model.prefix, model.location = before


def _take_over(graph, node, result):
    """Makes `result` the value that the readers of a node read."""
    (old,) = node.outputs
    last = graph.nodes[-1] if graph.nodes else None
    fresh = last is not None and result.node is last and not any(result is v for v in node.inputs)
    if not fresh or last.op_type == "Cast":  # a cast may be in the graph's table
        result = graph.node("Identity", result, out=result.aval)
    old.node = result.node
    result.node.outputs = (old,)


def break_reference_cycles(graph):
    """Drops references from values to nodes and graphs, so that reference counting frees large constants."""
    for value in (*graph.inputs, *graph.outputs, *graph.initializers.values()):
        value.node = value.graph = None
    for node in graph.nodes:
        for value in node.outputs:
            value.node = value.graph = None
        for body in bodies(node):
            break_reference_cycles(body)
            body.parent = None
    graph.casts.clear()
    graph.token = None
    if graph.parent is None:  # its caches may hold constants that no node reads any more
        graph.model.constants.clear()
        graph.model.resolved.clear()
    return graph
