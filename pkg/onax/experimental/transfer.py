"""Transfers of arrays between processes, under the names of jax.experimental.transfer; onax has one process."""

_REASON = "transfers between processes need XLA's runtime; send NumPy arrays by any library for messages instead"


class TransferServer:
    """A server of arrays for other processes: it cannot be made."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"TransferServer: {_REASON}")


class TransferConnection(TransferServer):
    """A connection to another process: it cannot be made."""


def start_transfer_server(client, address="[::]:0", transport_addresses=(), *args, **kwargs):
    """Raises NotImplementedError: there is no runtime that sends arrays."""
    raise NotImplementedError(f"start_transfer_server: {_REASON}")


__all__ = ["TransferConnection", "TransferServer", "start_transfer_server"]
