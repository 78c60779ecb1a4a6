"""Without `initialize` there is one process."""

import subprocess
import sys

from onax._ground import processes


def test_one_process():
    assert processes.current() is None
    assert (processes.process_index(), processes.process_count()) == (0, 1)


def test_one_process_imports_nothing_of_several():
    script = (
        "import sys, onax; onax.distributed.initialize(); onax.devices();"
        "print([m for m in ('mpi4py', 'onax._ground.process_group', 'onax._ground.watchdog') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
