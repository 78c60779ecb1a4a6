"""The version as numbers and as text."""

import onax
from onax import version


def test_numbers_and_text_are_one_version():
    assert ".".join(map(str, version.__version_info__)) == version.__version__ == onax.__version__
    assert len(version.__version_info__) == 3
