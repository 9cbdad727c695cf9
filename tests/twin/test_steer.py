"""A listener behind another's wildcard port is reached at its own address, and only there."""

import os
import socket

import pytest

from twin.steer import Steering, SteeringUnavailable


def _listener(address: str, port: int = 0) -> socket.socket:
    listener = socket.create_server((address, port))
    listener.settimeout(5)
    return listener


def _answers(listener: socket.socket, address: tuple[str, int]) -> bool:
    """Whether a connection to `address` lands on `listener` rather than elsewhere."""
    listener.setblocking(False)
    with socket.create_connection(address, timeout=5):
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return False
        connection.close()
        return True


@pytest.mark.skipif(os.geteuid() != 0, reason="loading a BPF program needs root")
def test_a_wildcard_listener_is_passed_over_for_the_steered_address_alone() -> None:
    with _listener("0.0.0.0") as machine, _listener("127.18.99.1") as ours:  # noqa: S104 - that is the case
        taken = machine.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            _listener("127.18.99.1", taken)
        try:
            steering = Steering({("127.18.99.1", taken): ours.fileno()})
        except SteeringUnavailable as error:
            pytest.skip(f"this kernel cannot steer: {error}")
        with steering:
            assert _answers(ours, ("127.18.99.1", taken))
            assert not _answers(ours, ("127.18.99.2", taken))
            assert not _answers(ours, ("127.0.0.1", taken))
        assert not _answers(ours, ("127.18.99.1", taken))
