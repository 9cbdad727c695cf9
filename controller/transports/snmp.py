"""SNMP to one agent: walks that survive lost datagrams, and SETs that are never repeated blindly.

gufo-snmp reads (GETBULK); pysnmp writes, and is imported for the first write. SNMPv3 is used where the inventory gives
a user, v2c where it gives a community.

A read without a response is repeated. Some agents put whatever was asked for into one answer, though it exceeds the
reader's 4 KB or travels as IP fragments that get lost: 30 rows of a switch's PortLists are 9 KB. After an answer that
cannot be decoded half as many rows or objects are asked for, after repeated silence a quarter, later where as many came
before; what was needed is remembered. An agent that answers nothing short either may be slow: it is asked for all
again, with more patience.

After a SET without a response the objects are read first. If they have the new
values, only the response was lost. Otherwise the SET is sent again. This is safe: every SET here gives objects absolute
values, and no other program writes while a lab is locked. A SET that is refused when repeated counts as done if the
objects have the new values.

Simplification: a datagram that the network delays for seconds and delivers after a later SET of the same object would
undo that one. In one broadcast domain nothing queues for so long; reading back at the end of an apply detects it.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from gufo.snmp import (
    Aes128Key,
    Aes192Key,
    Aes256Key,
    BaseAuthKey,
    BasePrivKey,
    DesKey,
    KeyExpansion,
    Md5Key,
    NoSuchInstance,
    Sha1Key,
    Sha224Key,
    Sha256Key,
    Sha384Key,
    Sha512Key,
    SnmpAuthError,
    SnmpDecodeError,
    SnmpError,
    User,
)
from gufo.snmp.sync import SnmpSession

from eee_testbed.controller.drivers.driver import SnmpSet, SnmpValue
from eee_testbed.controller.transports.snmp_access import SnmpAccess
from eee_testbed.controller.transports.snmp_set import PysnmpSetter, Setter
from eee_testbed.lab.credentials import read_secret
from eee_testbed.lab.errors import AccessDenied, Rejected, Unreachable, Unreadable

_PATIENCE: Final = ((0.5, 6), (2.0, 6))
"""(seconds, tries): first as agents usually answer, then, and from then on, as one with a busy processor does.

As many tries, since a path that loses requests does not lose fewer when its agent is slow.
"""

_SET_TRIES: Final = 6
_ROWS: Final = 30  # of one answer; what does not fit into its datagram the agent leaves out
_LESS_IF_GARBLED: Final = 2
_LESS_IF_SILENT: Final = 4
_LESS_WITH_TRIES_LEFT: Final = frozenset((3, 1))
_LESS_ALTHOUGH_IT_CAME: Final = 1
"""Of requests that are lost by chance, every fifth at that, few are lost three times in a row, but a long table takes
many: where an answer to as much has come, its length is the last thing to doubt. One row an answer makes a table 30
times as long, and gufo-snmp cannot go on in the middle of one."""
_FRESH_S: Final = 120.0  # an SNMPv3 engine's time is known for 150 s (RFC 3414, section 2.2.3)

_AUTH: Final[Mapping[str, type[BaseAuthKey]]] = {
    "md5": Md5Key,
    "sha": Sha1Key,
    "sha224": Sha224Key,
    "sha256": Sha256Key,
    "sha384": Sha384Key,
    "sha512": Sha512Key,
}
_PRIVACY: Final[Mapping[str, type[BasePrivKey]]] = {
    "des": DesKey,
    "aes": Aes128Key,
    "aes192": Aes192Key,
    "aes256": Aes256Key,
}


class _Silent(Exception):
    """No try of one request got a response."""


class _TooLong(Exception):
    """The answer to one request did not come, or cannot be decoded; a shorter one may do."""


class _Tries:
    """How often one request may be repeated; an answer starts the count anew."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0

    @property
    def left(self) -> int:
        """How many are left after the one that just failed."""
        return self._limit - self._used - 1

    def answered(self) -> None:
        """Something came."""
        self._used = 0

    def spend(self) -> None:
        """Nothing came; _Silent if that was the last try."""
        self._used += 1
        if self._used >= self._limit:
            raise _Silent


class _Portion:
    """How much one request may ask for: less once an answer was too long, or did not come.

    What did not come may have been lost by chance: all is asked for once more after the next success, and less for good
    only if that fails too.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self._came = 0  # most that was asked for with an answer
        self._for_good = False
        self._again = False

    def answered(self, asked: int) -> None:
        """Note that a request of this size was answered."""
        self._came = max(self._came, asked)

    def doubted(self, asked: int, tries: _Tries) -> bool:
        """Whether less than `asked` is to be asked for, as the try that just failed got no answer."""
        if asked == 1:
            return False
        return tries.left in _LESS_WITH_TRIES_LEFT and (asked > self._came or tries.left == _LESS_ALTHOUGH_IT_CAME)

    def shrink(self, limit: int, *, for_good: bool) -> None:
        """Ask for at most this much from now on."""
        self.limit = limit
        self._for_good |= for_good or self._again
        self._again = False

    def succeeded(self) -> None:
        """All that was asked for has come."""
        self._again = self.limit is not None and not self._for_good
        if self._again:
            self.limit = None


_Answer = TypeVar("_Answer")
_Question = Callable[[SnmpSession, _Tries], _Answer]


class Agent:
    """One agent, talked to by one thread at a time. Secrets are read when it is first needed."""

    def __init__(
        self,
        access: SnmpAccess,
        patience: Sequence[tuple[float, int]] = _PATIENCE,
        *,
        make_setter: Callable[[SnmpAccess], Setter] = PysnmpSetter,
    ) -> None:
        self.access = access
        self._make_setter = make_setter
        self._patience = patience
        self._level = 0
        self._readers: dict[int, SnmpSession] = {}
        self._rows: defaultdict[str, _Portion] = defaultdict(_Portion)  # of an answer, by column
        self._at_once = _Portion()  # objects of a request
        self._spoken_s = 0.0
        self._setter: Setter | None = None

    def walk(self, oid: str, rows: int = _ROWS) -> dict[str, SnmpValue]:
        """The objects below `oid`: rest of the OID in dotted form to value. Unreachable if the agent is silent.

        `rows` of them are asked for at a time: one more than there are saves a second question.
        """

        def collect(reader: SnmpSession, tries: _Tries) -> dict[str, SnmpValue]:
            while True:
                try:
                    found = self._column(reader, tries, oid, min(rows, self._rows[oid].limit or rows))
                except _TooLong:
                    continue
                self._rows[oid].succeeded()
                return found

        return self._read(f"a walk of {oid}", collect)

    def _column(self, reader: SnmpSession, tries: _Tries, oid: str, rows: int) -> dict[str, SnmpValue]:
        """One walk with so many rows a request; _TooLong if fewer have to be asked for."""
        column: dict[str, SnmpValue] = {}
        portion = self._rows[oid]
        answered = iter(reader.getbulk(oid, rows))
        while True:
            try:
                name, value = next(answered)
            except StopIteration:
                return column
            except SnmpDecodeError as error:
                if rows == 1:
                    raise
                portion.shrink(rows // _LESS_IF_GARBLED, for_good=True)
                raise _TooLong from error
            except OSError as error:
                less = portion.doubted(rows, tries)
                if less:
                    portion.shrink(max(1, rows // _LESS_IF_SILENT), for_good=False)
                self._again(reader, tries)
                if less:
                    raise _TooLong from error
                continue
            tries.answered()
            portion.answered(rows)
            index = name[len(oid) + 1 :]
            if index in column:
                raise Unreadable(self.access.device, f"walk of {oid}", f"{name} came twice")
            if isinstance(value, int | bytes | str):
                column[index] = value

    def get(self, oids: Sequence[str]) -> dict[str, SnmpValue]:
        """Objects by their OIDs; those that do not exist are left out. Unreachable if the agent is silent."""

        def ask(reader: SnmpSession, tries: _Tries) -> dict[str, SnmpValue]:
            objects: dict[str, SnmpValue] = {}
            left = list(oids)
            while left:
                some = left[: self._at_once.limit]
                with suppress(_TooLong):
                    objects |= self._objects(reader, tries, some)
                    left = left[len(some) :]
            self._at_once.succeeded()
            return objects

        return self._read(f"a read of {oids[0]}", ask)

    def _objects(self, reader: SnmpSession, tries: _Tries, oids: Sequence[str]) -> dict[str, SnmpValue]:
        """One request; _TooLong if fewer objects have to be asked for."""
        while True:
            try:
                values = reader.get_many(list(oids))
            except NoSuchInstance:
                return {}
            except SnmpDecodeError as error:
                if len(oids) == 1:
                    raise
                self._at_once.shrink(len(oids) // _LESS_IF_GARBLED, for_good=True)
                raise _TooLong from error
            except OSError as error:
                less = self._at_once.doubted(len(oids), tries)
                if less:
                    self._at_once.shrink(max(1, len(oids) // _LESS_IF_SILENT), for_good=False)
                self._again(reader, tries)
                if less:
                    raise _TooLong from error
            else:
                tries.answered()
                self._at_once.answered(len(oids))
                return {oid: value for oid, value in values.items() if isinstance(value, int | bytes | str)}

    def put(self, request: SnmpSet) -> tuple[int, int]:
        """Set objects, all or none; when it was sent and when it was known to be done, in monotonic nanoseconds.

        Rejected in the agent's words, Unreachable if it stayed silent: then it may or may not have been done.
        """
        if self._setter is None:
            self._setter = self._make_setter(self.access)
        sent_ns = time.monotonic_ns()
        for attempt in range(_SET_TRIES):
            if attempt and self._kept(request):
                return sent_ns, time.monotonic_ns()
            refusal = self._setter.set(request.objects)
            if refusal is None:
                continue
            if refusal and not (attempt and self._kept(request)):
                raise Rejected(self.access.device, request.what, refusal)
            return sent_ns, time.monotonic_ns()
        raise self._no_answer(f"a SET to {request.what}")

    def close(self) -> None:
        """Forget everything that is open; harmless when nothing is."""
        self._readers.clear()
        if self._setter is not None:
            self._setter.close()
            self._setter = None

    def _read(self, what: str, question: _Question[_Answer]) -> _Answer:
        """Ask with the patience that this agent has needed so far, and with more of it if it stays silent."""
        while True:
            tries = _Tries(self._patience[self._level][1])
            try:
                answer = question(self._reader(tries), tries)
            except _Silent:
                if self._level == len(self._patience) - 1:
                    raise self._no_answer(what) from None
                self._level += 1
                self._rows.clear()
                self._at_once = _Portion()
            except SnmpAuthError as error:
                raise AccessDenied(
                    self.access.device, f"its SNMP agent refuses the user ({error}): correct snmp_v3."
                ) from error
            except SnmpError as error:
                raise Unreadable(self.access.device, what, str(error)) from error
            else:
                self._spoken_s = time.monotonic()
                return answer

    def _reader(self, tries: _Tries) -> SnmpSession:
        reader = self._readers.get(self._level)
        if reader is None:
            reader = self._readers[self._level] = self._opened(self._patience[self._level][0])
            self._spoken_s = 0.0
        if self.access.user is not None and time.monotonic() - self._spoken_s > _FRESH_S:
            while True:
                try:
                    reader.refresh()
                except OSError:
                    tries.spend()
                else:
                    break
        return reader

    def _opened(self, timeout_s: float) -> SnmpSession:
        access = self.access
        if access.user is None:
            community = read_secret(access.community, access.device)
            return SnmpSession(access.address, access.port, community=community, timeout=timeout_s)
        user = access.user
        auth = privacy = None
        if user.auth_key:
            auth = _AUTH[user.auth_protocol](read_secret(user.auth_key, access.device).encode())
        if user.privacy_key:
            privacy = _PRIVACY[user.privacy_protocol](read_secret(user.privacy_key, access.device).encode())
        # Switches expand short keys as Cisco does (draft-reeder-snmpv3-usm-3desede), and so does pysnmp.
        who = User(user.name, auth_key=auth, priv_key=privacy, key_expansion=KeyExpansion.Cisco)
        return SnmpSession(access.address, access.port, user=who, timeout=timeout_s)

    def _again(self, reader: SnmpSession, tries: _Tries) -> None:
        """Nothing came; with SNMPv3 the engine may have restarted, and wants its new time said."""
        tries.spend()
        if self.access.user is not None:
            with suppress(OSError):
                reader.refresh()

    def _kept(self, request: SnmpSet) -> bool:
        """Whether the agent already holds the values of this SET."""
        held = self.get([oid for oid, _ in request.objects])
        return all(held.get(oid) == value for oid, value in request.objects)

    def _no_answer(self, what: str) -> Unreachable:
        where = f"{self.access.address}:{self.access.port}"
        means = "user and keys" if self.access.user else "community"
        sentence = f"its SNMP agent at {where} did not answer {what}: check power, address, and the {means}."
        return Unreachable(self.access.device, sentence)
