"""What holds for the whole run of the tests."""

import gc


def pytest_collection_finish():
    """Excludes what the collection made (a million objects that live to the end) from garbage collections.

    The leak checker collects once for each call that it checks: 0.4 s with these objects, 0.02 s without.
    """
    gc.collect()
    gc.freeze()
