"""Groups of devices in several processes; what the collectives give is in `test_multi_process.py`."""

import processes

TEXT = """
from onax._compile.devices.process_collectives import Link, link_of
from onax._ground.devices import devices
everything = devices()
link = link_of([0, 1, 2, 3], everything)
found["whole"] = link.processes, link.rows, link.local, link.is_even
found["alternating"] = link_of([0, 2, 1, 3], everything).is_even
found["uneven"] = link_of([0, 1, 2], everything).is_even
found["within one"] = link_of([0, 1], everything), link_of([2, 3], everything)
found["once"] = link_of([0, 1, 2, 3], everything).communicator is link.communicator
"""


def test_links():
    for me, own in enumerate(processes.in_each(2, TEXT, 2)):
        assert own["whole"] == ((0, 1), [[0, 1], [2, 3]], [[0, 1], [2, 3]][me], True)
        assert (own["alternating"], own["uneven"], own["within one"], own["once"]) == (False, False, (None, None), True)
