"""Who is at an address: strips of every size, and strips that only meter."""

from collections.abc import Sequence

import pytest

from eee_testbed.controller.checking.discovery.asking import Credentials, _identified
from eee_testbed.controller.checking.discovery.found import FoundOther, FoundStrip
from eee_testbed.controller.drivers.driver import SnmpSet, SnmpValue
from eee_testbed.controller.drivers.makers import SYSTEM

_E = "1.3.6.1.4.1."
Objects = dict[str, SnmpValue]


class _Agent:
    """Answers what it holds."""

    def __init__(self, held: Objects) -> None:
        self._held = held

    def walk(self, oid: str, rows: int = 0, /) -> Objects:
        del rows
        return {name.removeprefix(f"{oid}."): value for name, value in self._held.items() if name.startswith(f"{oid}.")}

    def get(self, oids: Sequence[str], /) -> Objects:
        return {oid: self._held[oid] for oid in oids if oid in self._held}

    def put(self, request: SnmpSet, /) -> tuple[int, int]:
        raise AssertionError(request)

    def close(self) -> None:
        return


def _sentry3(outlets: int) -> Objects:
    head = _E + "1718.3.2."
    held: Objects = {f"{head}2.1.2.1.1": b"AA", f"{head}2.1.12.1.1": 140}
    for n in range(1, outlets + 1):
        held |= {f"{head}3.1.2.1.1.{n}": b"AA%d" % n, f"{head}3.1.3.1.1.{n}": b"node%d" % n, f"{head}3.1.10.1.1.{n}": 1}
    return held


def _sentry4(outlets: int) -> Objects:
    head = _E + "1718.4.1."
    held: Objects = {f"{head}3.2.1.2.1.1": b"AA", f"{head}3.3.1.3.1.1": 140}
    for n in range(1, outlets + 1):
        held |= {
            f"{head}8.2.1.2.1.1.{n}": b"AA%d" % n,
            f"{head}8.2.1.3.1.1.{n}": b"node%d" % n,
            f"{head}8.3.1.1.1.1.{n}": 1,
        }
    return held


_METERED: dict[str, tuple[str, Objects]] = {
    "apc_rpdu2": ("318.1.3.4.6", {_E + "318.1.1.26.4.3.1.5.1": 31}),
    "raritan_px": ("13742.6", {_E + "13742.6.5.2.3.1.4.1.1.5": 500, _E + "13742.6.3.3.4.1.7.1.1.5": 0}),
    "eaton_g3": ("534.10.1", {_E + "534.6.6.7.3.5.1.4.0.1": 900}),
    "servertech_sentry3": ("1718.3", _sentry3(0)),
    "servertech_sentry4": ("1718.4", _sentry4(0)),
    "cyberpower_epdu2": ("3808.1", {_E + "3808.1.1.6.3.4.1.18.1": 140}),
}


def _found(number: str, held: Objects) -> object:
    system: Objects = {"1.0": b"a strip", "2.0": _E + number, "5.0": b"pdu7.example.org"}
    return _identified("192.0.2.7", Credentials(), {SYSTEM: system}, _Agent(held))  # type: ignore[arg-type]


@pytest.mark.parametrize("outlets", [1, 8, 24, 64])
@pytest.mark.parametrize("family", ["servertech_sentry3", "servertech_sentry4"])
def test_a_strip_has_the_outlets_that_it_lists(family: str, outlets: int) -> None:
    number, held = ("1718.3", _sentry3(outlets)) if family == "servertech_sentry3" else ("1718.4", _sentry4(outlets))
    found = _found(number, held)
    assert isinstance(found, FoundStrip)
    assert (found.family, found.name) == (family, "pdu7")
    assert found.outlets == tuple(f"node{n}" for n in range(1, outlets + 1))


@pytest.mark.parametrize("family", sorted(_METERED))
def test_a_strip_that_only_meters_is_a_strip_without_outlets(family: str) -> None:
    found = _found(*_METERED[family])
    assert isinstance(found, FoundStrip)
    assert (found.family, found.outlets) == (family, ())


def test_another_device_of_a_maker_of_strips_is_none() -> None:
    assert isinstance(_found("318.1.3.27", {_E + "318.1.1.1.1.1.1.0": b"a UPS"}), FoundOther)
