"""Exports a function to an ONNX file; see `python scripts/export.py --help`."""

import sys

if sys.path and sys.path[0] and sys.path[0].rstrip("/\\").endswith("scripts"):
    del sys.path[0]  # this folder holds no modules, and this file is called like one

from onax._commands import export_main

if __name__ == "__main__":
    sys.exit(export_main())
