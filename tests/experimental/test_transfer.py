"""There are no transfers between processes."""

import pytest

from onax.experimental import transfer


@pytest.mark.parametrize(
    "call", [lambda: transfer.start_transfer_server(None), transfer.TransferServer, transfer.TransferConnection]
)
def test_refusals(call):
    with pytest.raises(NotImplementedError, match="need XLA's runtime"):
        call()
