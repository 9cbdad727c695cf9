"""What each family reads from objects as its MIB describes them, and the SET that it sends."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.strips.family import NOT_METERED, Channel, OutletReading, StripReading
from eee_testbed.controller.strips.gude import power_of
from eee_testbed.controller.strips.outlet_names import wrong_names
from eee_testbed.controller.strips.outlets import Meter, Silent, outlets_named
from eee_testbed.controller.strips.table import METER_FAMILIES
from eee_testbed.lab.errors import Ignored, LabError, Unreadable
from eee_testbed.lab.model import Lab, Outlet, Strip, StripFamily, Switch

FAMILIES: list[StripFamily] = sorted(METER_FAMILIES)
E = "1.3.6.1.4.1."


def strip(family: StripFamily, outlets: int = 2, model: str = "8226") -> Strip:
    return Strip("pdu1", family, model, "127.0.0.1", 161, "", outlets)


# family, objects of outlet 2 of 2 and of the mains -> (on, W, step W, J, step J) of outlet 2, (W, step, J, step) in all
MIBS = {
    "apc_rpdu": (
        {E + "318.1.1.12.3.5.1.1.4.2": 1, E + "318.1.1.12.1.16.0": 312},
        (True, None, None, None, None),
        (312.0, 1.0, None, None),
    ),
    "apc_rpdu2": (
        {
            E + "318.1.1.26.9.2.3.1.5.2": 2, E + "318.1.1.26.9.4.3.1.7.2": 97, E + "318.1.1.26.9.4.3.1.11.2": 7,
            E + "318.1.1.26.4.3.1.5.1": 31, E + "318.1.1.26.4.3.1.9.1": 12,
        },
        (True, 97.0, 1.0, 7 * 360e3, 360e3),
        (310.0, 10.0, 12 * 360e3, 360e3),
    ),
    "servertech_sentry3": (
        {
            E + "1718.3.2.3.1.10.1.1.2": 4, E + "1718.3.2.3.1.14.1.1.2": 0, E + "1718.3.2.3.1.18.1.1.2": 55,
            E + "1718.3.2.2.1.12.1.1": 1205, E + "1718.3.2.2.1.16.1.1": 3,
        },
        (False, 0.0, 1.0, 55 * 3600.0, 3600.0),
        (1205.0, 1.0, 3 * 360e3, 360e3),
    ),
    "servertech_sentry4": (
        {
            E + "1718.4.1.8.3.1.1.1.1.2": 2, E + "1718.4.1.8.3.1.7.1.1.2": 3, E + "1718.4.1.8.3.1.14.1.1.2": 9,
            E + "1718.4.1.3.3.1.3.1.1": 44, E + "1718.4.1.3.3.1.10.1.1": 5,
        },
        (False, 3.0, 1.0, 9 * 3600.0, 3600.0),
        (44.0, 1.0, 5 * 360e3, 360e3),
    ),
    "raritan_px": (
        {
            E + "13742.6.4.1.2.1.3.1.2": 7, E + "13742.6.5.4.3.1.4.1.2.5": 1234, E + "13742.6.3.5.4.1.7.1.2.5": 1,
            E + "13742.6.5.4.3.1.4.1.2.8": 77, E + "13742.6.3.5.4.1.7.1.2.8": 0, E + "13742.6.5.4.3.1.2.1.2.5": 1,
            E + "13742.6.5.2.3.1.4.1.1.5": 500, E + "13742.6.3.3.4.1.7.1.1.5": 0,
        },
        (True, 123.4, 0.1, 77 * 3600.0, 3600.0),
        (500.0, 1.0, None, None),
    ),
    "eaton_g3": (
        {
            E + "534.6.6.7.6.6.1.2.0.2": 1, E + "534.6.6.7.6.5.1.3.0.2": 61, E + "534.6.6.7.6.5.1.4.0.2": 8,
            E + "534.6.6.7.3.5.1.4.0.1": 900, E + "534.6.6.7.3.5.1.5.0.1": 6,
        },
        (True, 61.0, 1.0, 8 * 3600.0, 3600.0),
        (900.0, 1.0, 6 * 3600.0, 3600.0),
    ),
    "cyberpower_epdu": (
        {E + "3808.1.1.3.3.5.1.1.4.2": 2},
        (False, None, None, None, None),
        (None, None, None, None),
    ),
    "cyberpower_epdu2": (
        {
            E + "3808.1.1.6.6.1.4.1.5.2": 1, E + "3808.1.1.6.6.2.4.1.7.2": 70, E + "3808.1.1.6.6.2.4.1.11.2": 4,
            E + "3808.1.1.6.3.4.1.18.1": 140, E + "3808.1.1.6.3.4.1.9.1": 8,
        },
        (True, 70.0, 1.0, 4 * 360e3, 360e3),
        (140.0, 1.0, 8 * 360e3, 360e3),
    ),
    "gude": (
        {
            E + "28507.58.1.3.1.2.1.3.2": 1,
            **{E + f"28507.58.1.5.5.2.1.{c}.2": v for c, v in ((2, 1), (3, 5), (4, 50), (5, 234), (6, 230), (8, 930))},
            **{E + f"28507.58.1.5.1.2.1.{c}.{bank}": v for bank in (1, 2) for c, v in {2: 1, 3: 9, 4: 70}.items()},
        },
        (True, 0.234 * 230 * 0.93, 0.2139, 5 * 3600.0, 3600.0),
        (140.0, 2.0, 18 * 3600.0, 3600.0),
    ),
}  # fmt: skip

SETS = {
    "apc_rpdu": {True: (E + "318.1.1.12.3.3.1.1.4.2", 1), False: (E + "318.1.1.12.3.3.1.1.4.2", 2)},
    "apc_rpdu2": {True: (E + "318.1.1.26.9.2.4.1.5.2", 1), False: (E + "318.1.1.26.9.2.4.1.5.2", 2)},
    "servertech_sentry3": {True: (E + "1718.3.2.3.1.11.1.1.2", 1), False: (E + "1718.3.2.3.1.11.1.1.2", 2)},
    "servertech_sentry4": {True: (E + "1718.4.1.8.5.1.2.1.1.2", 1), False: (E + "1718.4.1.8.5.1.2.1.1.2", 2)},
    "raritan_px": {True: (E + "13742.6.4.1.2.1.2.1.2", 1), False: (E + "13742.6.4.1.2.1.2.1.2", 0)},
    "eaton_g3": {True: (E + "534.6.6.7.6.6.1.4.0.2", 0), False: (E + "534.6.6.7.6.6.1.3.0.2", 0)},
    "cyberpower_epdu": {True: (E + "3808.1.1.3.3.3.1.1.4.2", 1), False: (E + "3808.1.1.3.3.3.1.1.4.2", 2)},
    "cyberpower_epdu2": {True: (E + "3808.1.1.6.6.1.5.1.5.2", 1), False: (E + "3808.1.1.6.6.1.5.1.5.2", 2)},
    "gude": {True: (E + "28507.58.1.3.1.2.1.3.2", 1), False: (E + "28507.58.1.3.1.2.1.3.2", 0)},
}


def test_every_family_is_tried() -> None:
    assert sorted(MIBS) == sorted(SETS) == FAMILIES
    for row in METER_FAMILIES.values():
        assert row.title
        assert row.verified


@pytest.mark.parametrize("family", FAMILIES)
def test_watts_and_joules(family: StripFamily) -> None:
    found, expected, total = MIBS[family]
    known, pdu = METER_FAMILIES[family].family, strip(family)
    asked = {*known.objects(pdu, {}), *known.constants(pdu, {})}
    assert set(found) <= asked, "everything that is read was asked for"
    reading = known.reading(pdu, found)
    second = reading.outlet(2)
    meter = second.meter
    assert second.on is expected[0]
    values = (meter.power_watt, meter.power_step_watt, meter.energy_joule, meter.energy_step_joule)
    assert values == pytest.approx(expected[1:])
    whole = reading.total
    values = (whole.power_watt, whole.power_step_watt, whole.energy_joule, whole.energy_step_joule)
    assert values == pytest.approx(total)
    first = reading.outlet(1)
    assert (first.on, first.meter) == (None, NOT_METERED), "objects that are missing show nothing"
    with pytest.raises(KeyError):
        reading.outlet(3)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("on", [True, False])
def test_the_set_that_switches(family: StripFamily, *, on: bool) -> None:
    order = METER_FAMILIES[family].family.switch(strip(family), 2, {}, on=on)
    oid, value = SETS[family][on]
    assert order.objects == ((oid, value),)
    assert order.what == f"switch outlet 2 {'on' if on else 'off'}"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_word_where_a_number_should_be_is_unreadable(family: StripFamily) -> None:
    known, pdu = METER_FAMILIES[family].family, strip(family)
    found = dict.fromkeys(MIBS[family][0], "n/a")
    with pytest.raises(Unreadable):
        known.reading(pdu, found)


def test_minus_one_is_not_available() -> None:
    found = {E + "1718.3.2.3.1.14.1.1.1": -1, E + "1718.3.2.3.1.18.1.1.1": -1, E + "1718.3.2.3.1.10.1.1.1": 10}
    outlet = METER_FAMILIES["servertech_sentry3"].family.reading(strip("servertech_sentry3"), found).outlet(1)
    assert (outlet.on, outlet.meter) == (None, NOT_METERED), "pendOn is between the two"


def test_a_raritan_sensor_that_is_not_available() -> None:
    found = dict(MIBS["raritan_px"][0])
    found[E + "13742.6.5.4.3.1.2.1.2.5"] = 2
    meter = METER_FAMILIES["raritan_px"].family.reading(strip("raritan_px"), found).outlet(2).meter
    assert (meter.power_watt, meter.energy_joule) == (None, 77 * 3600.0)


@pytest.mark.parametrize("state", [-1, 14])
def test_a_raritan_sensor_that_is_there_and_cannot_be_read_shows_nothing(state: int) -> None:
    """Its value is 0 then (PDU2-MIB, measurementsInletSensorValue); the inlet is unread, so there is no total."""
    held: dict[str, int | bytes | str] = dict(MIBS["raritan_px"][0])
    for inlet, watt in ((1, 500), (2, 0)):
        held |= {
            E + f"13742.6.3.3.3.1.2.1.{inlet}": f"I{inlet}".encode(),
            **{E + f"13742.6.5.2.3.1.{column}.1.{inlet}.5": value for column, value in ((2, 1), (3, 4), (4, watt))},
            E + f"13742.6.3.3.4.1.7.1.{inlet}.5": 0,
        }
    assert Meter(strip("raritan_px"), Strange(held)).read().total.power_watt == 500
    held |= {E + "13742.6.5.2.3.1.3.1.2.5": state, E + "13742.6.5.4.3.1.3.1.2.5": state}
    reading = Meter(strip("raritan_px"), Strange(held)).read()
    assert (reading.total.power_watt, reading.unread) == (None, ("I2",))
    assert (reading.outlet(2).on, reading.outlet(2).meter.power_watt) == (True, None)
    held[E + "13742.6.5.2.3.1.3.1.2.5"] = 5  # above a threshold, and read
    assert Meter(strip("raritan_px"), Strange(held)).read().total.power_watt == 500


@pytest.mark.parametrize("unit", [0, 1, 2])
def test_a_strip_is_one_unit_of_a_chain(unit: int) -> None:
    """Three strips behind one address: outlets and total are of the same one."""
    watts = {0: (40, 60), 1: (70, 130), 2: (5, 15)}
    eaton: dict[str, int | bytes | str] = {}
    raritan: dict[str, int | bytes | str] = {}
    for n, (first, second) in watts.items():
        eaton |= {E + f"534.6.6.7.3.5.1.4.{n}.1": first + second, E + f"534.6.6.7.6.6.1.2.{n}.2": 1}
        eaton |= {E + f"534.6.6.7.6.5.1.3.{n}.{outlet}": watt for outlet, watt in ((1, first), (2, second))}
        pdu = n + 1
        raritan |= {E + f"13742.6.5.2.3.1.4.{pdu}.1.5": first + second, E + f"13742.6.3.3.4.1.7.{pdu}.1.5": 0}
        for outlet, watt in ((1, first), (2, second)):
            raritan |= {E + f"13742.6.5.4.3.1.4.{pdu}.{outlet}.5": watt, E + f"13742.6.3.5.4.1.7.{pdu}.{outlet}.5": 0}
    for family, held in (("eaton_g3", eaton), ("raritan_px", raritan)):
        chained = replace(strip(family), unit=unit)  # type: ignore[arg-type]
        reading = Meter(chained, Strange(held)).read()
        assert (reading.total.power_watt, reading.summed) == (sum(watts[unit]), ())
        assert [outlet.meter.power_watt for outlet in reading.outlets] == list(watts[unit])
        assert reading.excess_watt == 0
    (oid, _), *_ = (
        METER_FAMILIES["eaton_g3"].family.switch(replace(strip("eaton_g3"), unit=unit), 2, {}, on=True).objects
    )
    assert oid == E + f"534.6.6.7.6.6.1.4.{unit}.2"


def test_outlets_that_draw_more_than_the_whole_strip_are_said() -> None:
    """APC Network Port Sharing: outlets of the guests count on, the total is the host's alone."""

    def reading(total: float | None, *outlets: float | None) -> StripReading:
        meters = [NOT_METERED if watt is None else Channel(watt, 1.0) for watt in outlets]
        numbered = tuple(OutletReading(n, True, meter) for n, meter in enumerate(meters, 1))
        return StripReading(numbered, NOT_METERED if total is None else Channel(total, 10.0))

    assert reading(300.0, 150.0, 140.0, 250.0).excess_watt == pytest.approx(540 - 315 - 13)
    assert reading(300.0, 150.0, 155.0).excess_watt == 0
    assert reading(300.0, 150.0).excess_watt == 0  # other outlets are not metered
    assert reading(None, 150.0).excess_watt == reading(300.0, None).excess_watt == 0


def test_a_strip_that_only_meters_has_no_outlets() -> None:
    found = {E + "318.1.1.26.4.3.1.5.1": 31, E + "318.1.1.26.4.3.1.9.1": 12}
    reading = Meter(strip("apc_rpdu2", 0), Strange(dict(found))).read()
    assert (reading.outlets, reading.total.power_watt) == ((), 310.0)


def test_the_8221_has_a_branch_of_its_own() -> None:
    objects = METER_FAMILIES["gude"].family.objects(strip("gude", model="Expert Power Control 8221"), {})
    assert all(oid.startswith(E + "28507.56.1.") for oid in objects)


@given(watt=st.floats(0, 3_500), volt=st.floats(200, 250), factor=st.floats(0.2, 1.0))
def test_a_gude_strip_tells_fractions_of_a_watt(watt: float, volt: float, factor: float) -> None:
    """Whatever rounding does to amperes, volts and the factor, the product is as near as they allow."""
    ampere = watt / volt / factor
    power_watt, step_watt = power_of(round(watt), round(ampere * 1e3), round(volt), round(factor * 1e3))
    assert abs(power_watt - watt) <= 1.0 + 0.02 * watt
    assert 0 < step_watt <= 1.0, "never coarser than what is shown"
    if factor > 0.9 and 5 < watt < 200:
        assert abs(power_watt - watt) <= 2 * step_watt + 0.5 / volt * watt


def test_a_gude_strip_without_a_sound_factor_shows_whole_watts() -> None:
    assert power_of(40, 500, 230, 0) == (40.0, 1.0)
    assert power_of(40, 500, 230, 1_000) == (40.0, 1.0), "500 mA at 230 V are not 40 W"
    assert power_of(-40, 187, 230, -930) == pytest.approx((40.0, 0.2139), abs=0.1)


class Toy:
    """A strip of the APC kind that obeys after being looked at a few times, or never."""

    def __init__(self, looks: int) -> None:
        self._looks, self._wanted = looks, 2
        self.orders: list[int] = []

    def get(self, _oids: object) -> dict[str, int | bytes | str]:
        self._looks -= 1
        return {E + "318.1.1.26.9.2.3.1.5.1": self._wanted if self._looks < 0 else 3 - self._wanted}

    def walk(self, _oid: object) -> dict[str, int | bytes | str]:
        return {}

    def put(self, order: object) -> tuple[int, int]:
        value = int(order.objects[0][1])  # type: ignore[attr-defined]
        self.orders.append(value)
        self._wanted = {1: 2, 2: 1}[value]
        return 1, 2

    def close(self) -> None:
        pass


OUTLET = Outlet("pdu1", 1, "sw1")


def test_switching_waits_until_the_strip_says_so() -> None:
    toy = Toy(looks=2)
    switched = Meter(strip("apc_rpdu2", 1), toy).switch(OUTLET, on=False)
    assert (switched.on, switched.sent_ns, switched.acknowledged_ns) == (False, 1, 2)
    with pytest.raises(Ignored, match="outlet 1 off, found on"):
        Meter(strip("apc_rpdu2", 1), Toy(looks=10**6), patience_s=0.1).switch(OUTLET, on=False)


def test_a_cycle_that_is_interrupted_ends_with_the_outlet_on() -> None:
    toy = Toy(looks=0)

    def interrupted(_pause_s: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Meter(strip("apc_rpdu2", 1), toy).cycle(OUTLET, 5.0, interrupted)
    assert toy.orders == [2, 1]
    waited: list[float] = []
    assert Meter(strip("apc_rpdu2", 1), toy).cycle(OUTLET, 5.0, waited.append).on
    assert waited == [5.0]


def test_a_strip_of_another_family_is_told() -> None:
    with pytest.raises(Silent, match="correct its `family`"):
        Meter(strip("eaton_g3", 1), _Empty()).read()


class _Empty(Toy):
    def __init__(self) -> None:
        super().__init__(0)

    def get(self, _oids: object) -> dict[str, int | bytes | str]:
        return {}


def test_outlets_by_number_or_by_what_they_feed() -> None:
    outlets = (Outlet("pdu1", 1, "sw1"), Outlet("pdu1", 2, "n01"))
    lab = Lab("x", "", "", "", (), (), (), (strip("gude", 12),), outlets)
    assert outlets_named(lab, "pdu1:2") == (outlets[1],)
    assert outlets_named(lab, "pdu1:12") == (Outlet("pdu1", 12, ""),)
    assert outlets_named(lab, "sw1") == (outlets[0],)
    for wrong in ("pdu1:13", "pdu1:0", "pdu2:1", "n02", "pdu1:x", ""):
        with pytest.raises(LabError, match="pdu1:1-12"):
            outlets_named(lab, wrong)


S3, S4 = E + "1718.3.2.", E + "1718.4.1."
PHASES = {f"1.{n}": (f"A{letter}", watt) for n, letter, watt in ((1, "A", 147), (2, "B", 61), (3, "C", 70))}
THREE_PHASE = {
    **{f"{S3}2.1.2.{row}": name.encode() for row, (name, _) in PHASES.items()},
    **{f"{S3}2.1.12.{row}": watt for row, (_, watt) in PHASES.items()},
    **{f"{S3}3.1.2.{row}.{n}": f"{name}{n}".encode() for row, (name, _) in PHASES.items() for n in range(1, 9)},
    **{f"{S3}3.1.3.{row}.{n}": f"Outlet_{name}{n}".encode() for row, (name, _) in PHASES.items() for n in range(1, 9)},
    **{f"{S3}3.1.10.{row}.{n}": 1 for row in PHASES for n in range(1, 9)},
    **{f"{S3}3.1.14.{row}.{n}": 10 * int(row[-1]) + n for row in PHASES for n in range(1, 9)},
}


class Strange(Toy):
    """An agent with a table of objects."""

    def __init__(self, held: dict[str, int | bytes | str]) -> None:
        super().__init__(0)
        self.held = held
        self.sets: list[object] = []

    def get(self, oids: object) -> dict[str, int | bytes | str]:
        return {oid: self.held[oid] for oid in oids if oid in self.held}  # type: ignore[attr-defined]

    def walk(self, oid: object) -> dict[str, int | bytes | str]:
        return {name.removeprefix(f"{oid}."): value for name, value in self.held.items() if name.startswith(f"{oid}.")}

    def put(self, order: object) -> tuple[int, int]:
        self.sets += order.objects  # type: ignore[attr-defined]
        self.held[S3 + "3.1.10.1.3.8"] = 0
        return 1, 2


def test_a_three_phase_strip_is_read_whole() -> None:
    """Shape of a Sentry3 CDU with an infeed for each phase."""
    toy = Strange(dict(THREE_PHASE))
    meter = Meter(strip("servertech_sentry3", 24), toy)
    reading = meter.read()
    assert reading.total.power_watt == 147 + 61 + 70
    assert reading.summed == ("AA", "AB", "AC")
    assert not reading.unread
    assert [reading.outlet(n).meter.power_watt for n in (1, 8, 9, 24)] == [11, 18, 21, 38]
    assert (reading.outlet(1).name, reading.outlet(24).name) == ("Outlet_AA1", "Outlet_AC8")
    assert meter.switch(Outlet("pdu1", 24, "sw1"), on=False).on is False
    assert toy.sets == [(S3 + "3.1.11.1.3.8", 2)]


@pytest.mark.parametrize("power", [-1, None])
def test_a_sum_that_is_not_whole_is_none(power: int | None) -> None:
    found = {**THREE_PHASE, S3 + "2.1.12.1.2": power}
    held: dict[str, int | bytes | str] = {oid: value for oid, value in found.items() if value is not None}
    reading = Meter(strip("servertech_sentry3", 24), Strange(held)).read()
    assert reading.total.power_watt is None
    assert reading.unread == ("AB",)


def test_the_cords_of_a_chain_are_summed() -> None:
    """Shape of a Sentry4 chain: a master's cord and a link's, no switched outlet."""
    cords = {"1.1": (b"AA", 1701), "2.1": (b"BA", 1265)}
    held: dict[str, int | bytes | str] = {
        **{f"{S4}3.2.1.2.{row}": name for row, (name, _) in cords.items()},
        **{f"{S4}3.3.1.3.{row}": watt for row, (_, watt) in cords.items()},
        **{f"{S4}3.3.1.10.{row}": 5 for row in cords},
    }
    reading = Meter(strip("servertech_sentry4", 36), Strange(held)).read()
    assert (reading.total.power_watt, reading.total.power_step_watt, reading.summed) == (2966, 2.0, ("AA", "BA"))
    assert reading.total.energy_joule == 2 * 5 * 360e3


def test_two_inlets_are_summed_and_two_inputs_are() -> None:
    px: dict[str, int | bytes | str] = {}
    for inlet, watt in ((1, 242), (2, 58)):
        px |= {
            E + f"13742.6.3.3.3.1.2.1.{inlet}": f"I{inlet}".encode(),
            E + f"13742.6.5.2.3.1.4.1.{inlet}.5": watt,
            E + f"13742.6.3.3.4.1.7.1.{inlet}.5": 0,
        }
    reading = Meter(strip("raritan_px", 2), Strange(px)).read()
    assert (reading.total.power_watt, reading.summed) == (300, ("I1", "I2"))
    eaton: dict[str, int | bytes | str] = {E + f"534.6.6.7.3.5.1.4.0.{n}": 100 * n for n in (1, 2)}
    reading = Meter(strip("eaton_g3", 2), Strange(eaton)).read()
    assert (reading.total.power_watt, reading.summed) == (300, ("feed 0.1", "feed 0.2"))


def test_more_outlets_than_the_strip_has_are_refused() -> None:
    with pytest.raises(Unreadable, match=r"24 outlets, and hosts\.yml says 30"):
        Meter(strip("servertech_sentry3", 30), Strange(dict(THREE_PHASE))).read()


def test_names_on_the_strip_are_compared_with_the_file() -> None:
    switches = tuple(Switch(name, "cisco_sg", "", "", 22, 161, "", "", "", ()) for name in ("sw1", "sw10"))
    outlets = tuple(Outlet("pdu1", n, "sw1") for n in (1, 2, 3))
    lab = Lab("x", "", "", "", switches, (), (), (strip("apc_rpdu", 5),), outlets)
    names = {1: "SW1", 2: "rack 4, sw10 (left)", 3: "Outlet 3", 4: "feed of sw1", 5: "sw1 and sw10"}
    readings = tuple(OutletReading(n, True, NOT_METERED, name) for n, name in names.items())
    found = list(wrong_names(lab, "pdu1", StripReading(readings, NOT_METERED)))
    assert found == [
        "pdu1:2 is called 'rack 4, sw10 (left)' on the strip, and outlets.csv says that it feeds sw1: correct one.",
        "pdu1:4 is called 'feed of sw1' on the strip, and outlets.csv says nothing about it: correct one.",
    ]


def test_names_are_read_with_the_outlets() -> None:
    column = {
        "apc_rpdu": "318.1.1.12.3.5.1.1.2",
        "apc_rpdu2": "318.1.1.26.9.2.3.1.3",
        "cyberpower_epdu": "3808.1.1.3.3.5.1.1.2",
        "raritan_px": "13742.6.3.5.3.1.3.1",
        "gude": "28507.58.1.3.1.2.1.2",
    }
    for family, oid in column.items():
        some = {**MIBS[family][0], f"{E}{oid}.2": b"sw2\0"}
        reading = Meter(strip(family), Strange(some)).read()  # type: ignore[arg-type]
        assert (reading.outlet(2).name, reading.outlet(1).name) == ("sw2", "")
