"""JAX on NumPy and ONNX Runtime."""
