"""Transfers of arrays between processes, under the names of jax.experimental.transfer; onax has one process."""

from typing import Any, NoReturn

from onax._ground.unavailable import unavailable as _unavailable

_REASON = "transfers between processes need XLA's runtime; send NumPy arrays by any library for messages instead"


class TransferServer:
    """A server of arrays for other processes: it cannot be made.

    Args:
      args: anything.
      kwargs: anything.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> from onax.experimental import transfer
      >>> transfer.TransferServer()
      Traceback (most recent call last):
          ...
      NotImplementedError: TransferServer: transfers between processes need XLA's ...
    """

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"TransferServer: {_REASON}")


class TransferConnection(TransferServer):
    """A connection to another process: it cannot be made.

    Args:
      args: anything.
      kwargs: anything.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> from onax.experimental import transfer
      >>> transfer.TransferConnection()
      Traceback (most recent call last):
          ...
      NotImplementedError: TransferServer: transfers between processes need XLA's ...
    """


def start_transfer_server(
    client: Any, address: str = "[::]:0", transport_addresses: Any = (), *args: Any, **kwargs: Any
) -> NoReturn:
    """Raises NotImplementedError: there is no runtime that sends arrays.

    Args:
      client: anything.
      address: anything.
      transport_addresses: anything.
      args: anything.
      kwargs: anything.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> from onax.experimental import transfer
      >>> transfer.start_transfer_server(None)
      Traceback (most recent call last):
          ...
      NotImplementedError: start_transfer_server: transfers between processes need ...
    """
    raise NotImplementedError(f"start_transfer_server: {_REASON}")


__getattr__ = _unavailable(
    __name__,
    {
        "TYPE_CHECKING": "it is typing.TYPE_CHECKING",
        "make_error_array": (
            "an array whose reading fails needs XLA's runtime; onax raises an error when a transfer fails"
        ),
    },
)

__all__ = ["TransferConnection", "TransferServer", "start_transfer_server"]
