"""Rewrites of a finished graph: an ordered list of small functions, each exact.

    share_equal_nodes         one node for equal operators on the same operands
    drop_dead_nodes           nodes whose results nobody reads, and constants that nobody reads any more
    fold_transposed_products  the transpose of a matrix product is a product of transposes, which Gemm reads in place

and, when nothing will be added any more,

    settle                    references that only building needs, so that a graph is freed when it is dropped

Rules do not leave much to do: builders emit nothing where there is nothing to do, constants and casts are kept once,
and ONNX Runtime's own optimiser folds constants and fuses.  What is done here pays for itself: a node less saves the
session 20 to 30 microseconds of creation, ten times what finding it costs.
"""

from onax.export.graph.value import Graph

# The operators that have subgraphs.
_HOLDERS = frozenset(("If", "Loop", "Scan"))


def _bodies(node):
    """The subgraphs in a node's attributes."""
    return [x for x in node.attributes.values() if type(x) is Graph] if node.op_type in _HOLDERS else ()


# ---- equal nodes


def _key(node, same):
    """What makes two nodes equal, or None for a node that must stay: of another domain, or with subgraphs."""
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
    return None if _bodies(node) else (node.op_type, inputs, items)


def share_equal_nodes(graph):
    """Keeps one of several equal nodes of the outermost graph; what read the others reads that one."""
    seen, same, values = {}, {}, {}
    outputs = {id(v) for v in graph.outputs}
    for node in graph.nodes:
        key = _key(node, same)
        first = None if key is None else seen.setdefault(key, node)
        if first is None or first is node or any(id(v) in outputs for v in node.outputs):
            continue
        for mine, kept in zip(node.outputs, first.outputs):
            same[id(mine)] = id(kept)
            values[id(mine)] = kept
    if values:
        _replace(graph, values)


def _replace(graph, values):
    """Has nodes read other values: `values` maps the id of one to what stands for it."""
    for node in graph.nodes:
        if any(id(v) in values for v in node.inputs):
            node.inputs = tuple([values.get(id(v), v) for v in node.inputs])
        for body in _bodies(node):
            _replace(body, values)


# ---- dead nodes


def _live_nodes(graph, used):
    """Drops a graph's dead nodes; `used` gets the ids of all values read."""
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
        for body in _bodies(node):
            _live_nodes(body, used)
    live.reverse()
    graph.nodes = live


def drop_dead_nodes(graph):
    """Removes nodes whose results nobody reads, in subgraphs too; then constants that nobody reads."""
    used = set()
    _live_nodes(graph, used)
    graph.initializers = {name: v for name, v in graph.initializers.items() if id(v) in used}


# ---- transposed products


def _is_plain_product(node):
    """Whether a node is a product of two matrices and nothing else."""
    if node is None or node.op_type not in ("Gemm", "MatMul") or node.domain or len(node.inputs) != 2:
        return False
    return all(v.ndim == 2 for v in node.inputs) and node.attributes.keys() <= {"transA", "transB"}


def _reads(graph):
    """How often each value of the outermost graph is read, by id; a subgraph counts as often as it likes."""
    count = {}
    for node in graph.nodes:
        for v in node.inputs:
            count[id(v)] = count.get(id(v), 0) + 1
        for body in _bodies(node):
            for key, n in _reads(body).items():
                count[key] = count.get(key, 0) + n
    for v in graph.outputs:
        count[id(v)] = count.get(id(v), 0) + 1
    return count


def fold_transposed_products(graph):
    """(A @ B).T becomes B.T @ A.T, in one Gemm, where nothing else reads A @ B."""
    turned = [n for n in graph.nodes if n.op_type == "Transpose" and _is_plain_product(n.inputs[0].node)]
    if not turned:
        return
    reads, runs = _reads(graph), graph.runs
    gone = set()
    for node in turned:  # a matrix has one transpose, so `perm` is (1, 0)
        inner = node.inputs[0].node
        if reads[id(node.inputs[0])] != 1 or not runs("Gemm", node.outputs[0].dtype, directly=True):
            continue
        a, b = inner.inputs
        flags = {"transA": 1 - inner.attributes.get("transB", 0), "transB": 1 - inner.attributes.get("transA", 0)}
        node.op_type, node.inputs = "Gemm", (b, a)
        node.attributes = {name: 1 for name, on in flags.items() if on}
        gone.add(id(inner))
    graph.nodes = [n for n in graph.nodes if id(n) not in gone]


PASSES = (share_equal_nodes, drop_dead_nodes, fold_transposed_products)


def run(graph):
    """Runs all passes over the outermost graph."""
    for rewrite in PASSES:
        rewrite(graph)
    return graph


def break_reference_cycles(graph):
    """Cuts the references back from values to nodes and graphs: large constants must not wait for the collector."""
    for value in (*graph.inputs, *graph.outputs, *graph.initializers.values()):
        value.node = value.graph = None
    for node in graph.nodes:
        for value in node.outputs:
            value.node = value.graph = None
        for body in _bodies(node):
            break_reference_cycles(body)
            body.parent = None
    graph.casts.clear()
    graph.token = None
    if graph.parent is None:  # constants that nobody reads any more are still known to it
        graph.model.constants.clear()
        graph.model.resolved.clear()
    return graph
