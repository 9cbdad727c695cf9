"""SNMP SET by pysnmp, one request and at most one answer; who repeats what is decided in `controller.transports.snmp`.

pysnmp is imported when the first setter is made, as many commands only read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

from eee_testbed.controller.transports.snmp_access import SnmpAccess
from eee_testbed.lab.credentials import read_secret
from eee_testbed.lab.errors import AccessDenied, Unreachable
from eee_testbed.lab.model import SnmpUser

_ANSWER_S: Final = 1.0

Objects = Sequence[tuple[str, int]]
"""(OID in dotted form, value of an INTEGER)."""

_Outcome = tuple[Any, Any, Any, Any]
"""Error indication, error status, index of the offending object from 1, objects; pysnmp has no types."""


class Setter(Protocol):
    """Sets objects of one agent, from one thread at a time."""

    def set(self, objects: Objects) -> str | None:
        """Send one SET: empty if it was done, None without an answer, else what the agent says is wrong."""

    def close(self) -> None:
        """End it; harmless when it is closed already."""


class PysnmpSetter:
    """Sets objects of one agent, from one thread at a time."""

    def __init__(self, access: SnmpAccess) -> None:
        self._access = access
        self._runner = asyncio.Runner()
        self._close: Callable[[], None] = _nothing
        try:
            self._send: Callable[..., Awaitable[_Outcome]] = self._runner.run(
                self._user(access.user) if access.user else self._community()
            )
        except BaseException:
            self._runner.close()
            raise

    def set(self, objects: Objects) -> str | None:
        """Send one SET: empty if it was done, None without an answer, else what the agent says is wrong.

        AccessDenied if the agent does not know the SNMPv3 user or its keys; Unreachable if nothing could be sent.
        """
        from pysnmp.error import PySnmpError  # noqa: PLC0415 - see the head of this file
        from pysnmp.proto import errind, rfc1902  # noqa: PLC0415 - ditto

        pairs = [(rfc1902.ObjectName(oid), rfc1902.Integer32(value)) for oid, value in objects]
        try:
            indication, status, index, _ = self._runner.run(self._sent(pairs))
        except (PySnmpError, OSError) as error:
            raise Unreachable(self._access.device, f"no SNMP request could be sent to it ({error}).") from error
        if isinstance(indication, errind.RequestTimedOut):
            return None
        if indication:
            sentence = f"its SNMP agent refuses the user ({indication}): correct snmp_v3."
            raise AccessDenied(self._access.device, sentence)
        if not int(status):
            return ""
        at = int(index)
        return str(status.prettyPrint()) + (f" at {objects[at - 1][0]}" if 0 < at <= len(objects) else "")

    async def _sent(self, pairs: Sequence[Any]) -> _Outcome:
        return await self._send(*pairs)

    def close(self) -> None:
        """End it; harmless when it is closed already."""
        self._close()
        self._close = _nothing
        self._runner.close()

    async def _community(self) -> Callable[..., Awaitable[_Outcome]]:
        from pysnmp.hlapi.v1arch import asyncio as plain  # noqa: PLC0415 - see the head of this file

        where = (self._access.address, self._access.port)
        community = read_secret(self._access.community, self._access.device)
        dispatcher = plain.SnmpDispatcher()
        self._close = dispatcher.close
        who = plain.CommunityData(community, mpModel=1)  # noqa: S508 - many switches know nothing newer
        to = await plain.UdpTransportTarget.create(where, timeout=_ANSWER_S, retries=0)
        return lambda *pairs: plain.set_cmd(dispatcher, who, to, *pairs, lookupMib=False)

    async def _user(self, user: SnmpUser) -> Callable[..., Awaitable[_Outcome]]:
        from pysnmp.hlapi.v3arch import asyncio as full  # noqa: PLC0415 - see the head of this file

        auth = {
            "md5": full.USM_AUTH_HMAC96_MD5,
            "sha": full.USM_AUTH_HMAC96_SHA,
            "sha224": full.USM_AUTH_HMAC128_SHA224,
            "sha256": full.USM_AUTH_HMAC192_SHA256,
            "sha384": full.USM_AUTH_HMAC256_SHA384,
            "sha512": full.USM_AUTH_HMAC384_SHA512,
        }
        privacy = {
            "des": full.USM_PRIV_CBC56_DES,
            "aes": full.USM_PRIV_CFB128_AES,
            "aes192": full.USM_PRIV_CFB192_AES,
            "aes256": full.USM_PRIV_CFB256_AES,
        }
        device = self._access.device
        keys: dict[str, Any] = {}
        if user.auth_key:
            keys |= {"authKey": read_secret(user.auth_key, device), "authProtocol": auth[user.auth_protocol]}
        if user.privacy_key:
            keys |= {"privKey": read_secret(user.privacy_key, device)}
            keys |= {"privProtocol": privacy[user.privacy_protocol]}
        engine = full.SnmpEngine()
        self._close = engine.close_dispatcher
        who = full.UsmUserData(user.name, **keys)  # noqa: S509 - whether there are keys, the inventory says
        context = full.ContextData()
        where = (self._access.address, self._access.port)
        to = await full.UdpTransportTarget.create(where, timeout=_ANSWER_S, retries=0)
        return lambda *pairs: full.set_cmd(engine, who, to, context, *pairs, lookupMib=False)


def _nothing() -> None:
    """What closing something that is closed does."""
