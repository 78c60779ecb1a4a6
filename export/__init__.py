"""Ahead-of-time export to standard ONNX files."""
