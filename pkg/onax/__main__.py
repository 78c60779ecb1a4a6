"""`python -m onax script.py` runs a program written for JAX: see `onax.interop`."""

import sys

from onax.interop.command import main

if __name__ == "__main__":
    sys.exit(main())
