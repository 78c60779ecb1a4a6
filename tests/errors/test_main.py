"""The command at the end of a message."""

import subprocess
import sys

from onax import errors


def test_the_command_that_a_message_names_explains_it(tmp_path):
    pointer = str(errors.LoweringError("no form")).splitlines()[-1]
    command = pointer.partition(": python -m ")[2].split()
    done = subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    assert done.stdout.startswith("## LoweringError\n")
