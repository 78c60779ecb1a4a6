"""The table of primitives and their rules in docs/ is what the registries say."""

import subprocess
import sys
from pathlib import Path

import onax
import public_names

ROOT = Path(__file__).parent.parent.parent


def test_the_table_is_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "write_coverage.py", "--check"], capture_output=True)
    assert done.returncode == 0, "docs/coverage.md is out of date: run `make tables`"


def test_names_are_found_missing_or_refused():
    def only_raises(x):
        """A name that is there to say why it is not."""
        raise NotImplementedError(f"{x} has no meaning here")

    def raises_sometimes(x):
        if x:
            raise NotImplementedError("not this one")
        return x

    assert public_names.refusal(only_raises) == " has no meaning here"
    assert public_names.refusal(raises_sometimes) is public_names.refusal(3) is None
    assert public_names.find(onax, "jax.numpy.linalg.norm") is onax.numpy.linalg.norm
    assert public_names.find(onax, "jax.numpy.no_such_name") is None
    assert public_names.is_none(onax, "jax.numpy", "newaxis")
