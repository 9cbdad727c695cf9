"""An SNMP v2c agent on loopback that answers from a table, however long the answer gets, as some switches do."""

from __future__ import annotations

import socket
import threading
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Self

from pyasn1.codec.ber import decoder, encoder
from pysnmp.proto import rfc1905
from pysnmp.proto.api import v2c

if TYPE_CHECKING:
    from collections.abc import Mapping

ADDRESS = "127.18.250.93"
_LONGEST = 65_507  # of a datagram over IPv4


def _value(value: Any) -> Any:
    if isinstance(value, bytes):
        return v2c.OctetString(value)
    if isinstance(value, str):
        return v2c.ObjectIdentifier(value)
    return v2c.Integer32(value) if -(2**31) <= value < 2**31 else v2c.Counter64(value)


class UdpAgent:
    """`values` by OID in dotted form. `whole_byte`: what is longer than that is lost on the way, as IP fragments are.

    `sizes` are those of the answers that were sent, in bytes; `asked` the number of rows of each GETBULK.
    """

    def __init__(
        self, values: Mapping[str, int | bytes | str], *, whole_byte: int = _LONGEST, address: str = ADDRESS
    ) -> None:
        self._values = sorted((tuple(map(int, oid.split("."))), value) for oid, value in values.items())
        self._names = [name for name, _ in self._values]
        self.whole_byte = whole_byte
        self.ignored = 0  # requests that it does not answer
        self.sizes: list[int] = []
        self.asked: list[int] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, 0))
        self._address = address
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as goodbye:
            goodbye.sendto(b"", (self._address, self.port))
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            data, peer = self._socket.recvfrom(_LONGEST)
            if not data:
                return
            if self.ignored:
                self.ignored -= 1
            else:
                self._answer(data, peer)

    def _answer(self, data: bytes, peer: Any) -> None:
        message, _ = decoder.decode(data, asn1Spec=v2c.Message())
        pdu = v2c.apiMessage.get_pdu(message)
        names = [tuple(name) for name, _ in v2c.apiPDU.get_varbinds(pdu)]
        if isinstance(pdu, rfc1905.GetBulkRequestPDU):
            rows = int(v2c.apiBulkPDU.get_max_repetitions(pdu))
            self.asked.append(rows)
            found = self._after(names[0], rows)
        elif isinstance(pdu, rfc1905.GetNextRequestPDU):
            found = self._after(names[0], 1)
        else:
            held = dict(self._values)
            found = [(name, _value(held[name]) if name in held else v2c.NoSuchInstance("")) for name in names]
        answer = v2c.apiMessage.get_response(message)
        v2c.apiPDU.set_varbinds(v2c.apiMessage.get_pdu(answer), found)
        encoded = encoder.encode(answer)
        self.sizes.append(len(encoded))
        if len(encoded) <= self.whole_byte:
            self._socket.sendto(encoded, peer)

    def _after(self, name: tuple[int, ...], rows: int) -> list[tuple[Any, Any]]:
        start = bisect_right(self._names, name)
        found = [(held, _value(value)) for held, value in self._values[start : start + rows]]
        return found or [(name, v2c.EndOfMibView(""))]
