"""`python -m onax.errors NAME` explains an error."""

import sys

from onax.errors.explain import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
