"""The ONNX lowering of each primitive; one file per family, in the order of `_prims`."""
