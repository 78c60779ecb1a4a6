"""Where onax differs from NumPy, each backend run live; see `python scripts/divergence_report.py --help`."""

import sys

from onax._divergence.cli import main

if __name__ == "__main__":
    sys.exit(main())
