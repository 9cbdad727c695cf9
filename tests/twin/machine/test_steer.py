"""A listener behind another's wildcard port is reached at its own address, and only there."""

import socket

import pytest

from eee_testbed.twin.machine.steer import Steering, SteeringUnavailable, listen_tcp
from tests.support.needs import lacking, needs_root


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


@pytest.fixture(name="root")
def _root() -> None:
    needs_root("loading a BPF program")


@pytest.mark.usefixtures("root")
def test_a_wildcard_listener_is_passed_over_for_the_steered_address_alone() -> None:
    with _listener("0.0.0.0") as machine, _listener("127.18.99.1") as ours:  # noqa: S104 - that is the case
        taken = machine.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            _listener("127.18.99.1", taken)
        try:
            steering = Steering({("127.18.99.1", taken): ours.fileno()})
        except SteeringUnavailable as error:
            lacking(f"this kernel cannot steer: {error}")
        with steering:
            assert _answers(ours, ("127.18.99.1", taken))
            assert not _answers(ours, ("127.18.99.2", taken))
            assert not _answers(ours, ("127.0.0.1", taken))
        assert not _answers(ours, ("127.18.99.1", taken))


@pytest.mark.usefixtures("root")
def test_a_port_behind_a_wildcard_is_listened_on_and_one_behind_its_like_is_not() -> None:
    with _listener("0.0.0.0") as machine:  # noqa: S104 - that is the case
        taken = machine.getsockname()[1]
        ours, steering = listen_tcp("127.18.99.1", taken)
        with ours:
            assert steering is not None
            with steering:
                assert _answers(ours, ("127.18.99.1", taken))
    with _listener("127.18.99.1") as other, pytest.raises(OSError, match="in use"):
        listen_tcp("127.18.99.1", other.getsockname()[1])


def test_a_free_port_needs_no_steering() -> None:
    ours, steering = listen_tcp("127.18.99.1", 0)
    with ours:
        assert steering is None
        assert _answers(ours, ours.getsockname())
