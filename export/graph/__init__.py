"""The graph a lowering writes: typed values, nodes, measured kernels, model bytes."""
