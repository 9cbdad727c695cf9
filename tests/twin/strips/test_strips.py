"""Power strips as their MIBs show them: objects, units, commands, refusals; on a virtual clock."""

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.strips import FAMILIES
from eee_testbed.twin.truth.truth import StripTruth
from tests.support.twin.strip_bench import Bench, bench

APC = "1.3.6.1.4.1.318.1.1.26"
SENTRY = "1.3.6.1.4.1.1718.4.1"
GUDE = "1.3.6.1.4.1.28507.58.1"
WRONG_TYPE, WRONG_LENGTH, WRONG_VALUE, NO_CREATION, NOT_WRITABLE = 7, 8, 10, 11, 17

EVERY_MODEL = [(family.name, model.name) for family in FAMILIES.values() for model in family.models]


def apc() -> Bench:
    return bench("apc_rpdu2", "AP8659")


def sentry() -> Bench:
    return bench("servertech_sentry4", "C2WG24SN")


def gude() -> Bench:
    return bench("gude", "Expert Power Control 8226")


@pytest.mark.parametrize(
    ("family", "object_id"),
    [
        ("apc_rpdu2", "1.3.6.1.4.1.318.1.3.4.6"),
        ("servertech_sentry4", "1.3.6.1.4.1.1718.4"),
        ("gude", "1.3.6.1.4.1.28507.58"),
    ],
)
def test_system_group(family: str, object_id: str) -> None:
    agent = bench(family, FAMILIES[family].models[0].name).agent
    assert agent.values["1.3.6.1.2.1.1.2.0"] == ("oid", object_id)
    assert agent.value("1.3.6.1.2.1.1.5.0") == b"pdu1"


def test_an_unknown_model_names_the_known_ones() -> None:
    with pytest.raises(LabError, match="take one of AP8653, AP8659, AP8941"):
        FAMILIES["apc_rpdu2"].model("AP7900")


@pytest.mark.parametrize(("family", "model"), EVERY_MODEL)
def test_every_value_has_the_python_type_of_its_smi_type(family: str, model: str) -> None:
    found = bench(family, model)
    found.measure({1: 37.3, 2: 250.0}, 10.0)
    python = {"int": int, "uint": int, "ticks": int, "octets": bytes, "oid": str}
    for oid, (kind, value) in found.agent.values.items():
        assert type(value) is python[kind], oid
        assert kind not in {"uint", "ticks"} or value >= 0, oid
        assert all(part.isdigit() for part in oid.split(".")), oid


@pytest.mark.parametrize(("family", "model"), EVERY_MODEL)
def test_every_writable_instance_can_be_read(family: str, model: str) -> None:
    found = bench(family, model)
    assert set(found.strip._writable) <= set(found.agent.values)


@pytest.mark.parametrize(("family", "model"), EVERY_MODEL)
def test_same_seed_same_bytes(family: str, model: str) -> None:
    def walk(seed: int) -> bytes:
        found = bench(family, model, StripTruth(noise_watt=2.0), seed=seed)
        found.measure({1: 37.3, 7: 250.0}, 30.0)
        return repr(sorted(found.agent.values.items())).encode()

    assert walk(3) == walk(3)
    assert walk(3) != walk(4)


def test_only_changed_values_are_set() -> None:
    found = apc()
    found.measure({1: 100.0}, 4.0)
    before = found.agent.puts
    found.measure({1: 100.0}, 1.0)
    assert found.agent.puts - before == 1  # sysUpTime; the next refresh is a second away


# -- APC -------------------------------------------------------------------------------------------------------------


def test_apc_device_power_has_steps_of_ten_watts_and_outlets_of_one() -> None:
    found = apc()
    found.measure({1: 37.3, 2: 250.6}, 4.0)
    assert found.agent.value(f"{APC}.4.3.1.5.1") == 29  # hundredths of kW
    assert found.agent.value(f"{APC}.9.4.3.1.7.1") == 37
    assert found.agent.value(f"{APC}.9.4.3.1.7.2") == 251
    assert found.agent.value(f"{APC}.9.4.3.1.6.2") == round(250.6 / (230 * 0.95) * 10)  # tenths of an ampere
    found.measure({1: 41.0, 2: 250.6}, 4.0)
    assert found.agent.value(f"{APC}.4.3.1.5.1") == 29  # 3.7 W more cannot be seen


def test_apc_energy_is_in_tenths_of_a_kilowatt_hour() -> None:
    found = apc()
    found.measure({1: 1000.0}, 3600.0)
    assert found.agent.value(f"{APC}.9.4.3.1.11.1") == 10
    assert found.agent.value(f"{APC}.4.3.1.9.1") == 10
    assert found.set((f"{APC}.4.1.1.11.1", "int", 2)) == (0, 0)
    found.measure({1: 1000.0}, 3600.0)
    assert found.agent.value(f"{APC}.4.3.1.9.1") == 10
    assert found.agent.value(f"{APC}.9.4.3.1.11.1") == 20


@pytest.mark.parametrize(("watt", "state"), [(2700.0, 2), (2900.0, 3), (3600.0, 4)])
def test_apc_load_state_follows_the_plate(watt: float, state: int) -> None:
    found = bench("apc_rpdu2", "AP8659")  # 16 A
    found.measure({1: watt}, 4.0)
    assert found.agent.value(f"{APC}.4.3.1.4.1") == found.agent.value(f"{APC}.6.3.1.4.1") == state


def test_apc_refreshes_every_two_seconds() -> None:
    found = apc()
    found.measure({1: 100.0}, 1.0)
    assert found.agent.value(f"{APC}.9.4.3.1.7.1") == 0
    found.measure({1: 100.0}, 1.0)
    assert found.agent.value(f"{APC}.9.4.3.1.7.1") == 100


def test_apc_commands_and_inverted_states() -> None:
    found = apc()
    command, state, pending = (f"{APC}.9.2.{column}.3" for column in ("4.1.5", "3.1.5", "3.1.6"))
    assert (found.agent.value(command), found.agent.value(state)) == (1, 2)  # immediateOn, on
    assert found.set((command, "int", 2)) == (0, 0)
    assert found.agent.value(pending) == 1
    found.wait(0.1)
    assert [found.agent.value(oid) for oid in (command, state, pending)] == [2, 1, 2]  # immediateOff, off
    assert found.set((command, "int", 1)) == (0, 0)
    found.wait(0.1)
    assert found.agent.value(state) == 2


def test_apc_reboot_and_delayed_commands() -> None:
    found = apc()
    config, command, state = f"{APC}.9.2.1.1", f"{APC}.9.2.4.1.5.3", f"{APC}.9.2.3.1.5.3"
    assert found.set((f"{config}.6.3", "int", 10), (f"{config}.7.3", "int", 20), (f"{config}.5.3", "int", 30)) == (0, 0)
    found.set((command, "int", 6))  # delayedOff
    found.wait(9.9)
    assert found.agent.value(state) == 2
    found.wait(0.2)
    assert found.agent.value(state) == 1
    found.set((command, "int", 1))
    found.wait(0.1)
    found.set((command, "int", 3))  # immediateReboot
    found.wait(0.1)
    assert found.agent.value(state) == 1
    found.wait(20.0)
    assert found.agent.value(state) == 2
    found.set((command, "int", 6))
    found.set((command, "int", 8))  # cancelPendingCommand
    found.wait(60.0)
    assert found.agent.value(state) == 2
    found.set((command, "int", 7))  # delayedReboot: off after 10, then 20 + 30
    found.wait(10.1)
    assert found.agent.value(state) == 1
    found.wait(49.0)
    assert found.agent.value(state) == 1
    found.wait(1.0)
    assert found.agent.value(state) == 2


def test_apc_whole_strip_commands() -> None:
    found = apc()
    found.set((f"{APC}.4.4.1.4.1", "int", 3))
    found.wait(0.1)
    assert found.agent.column(f"{APC}.9.2.3.1.5") == [1] * 24
    assert found.agent.value(f"{APC}.4.4.1.4.1") == 6  # reads noCommandAll
    found.set((f"{APC}.4.4.1.4.1", "int", 1))
    found.wait(0.1)
    assert found.agent.column(f"{APC}.9.2.3.1.5") == [2] * 24


def test_apc_switched_only_model_has_no_metered_outlets() -> None:
    found = bench("apc_rpdu2", "AP8941")
    found.measure({1: 500.0}, 4.0)
    assert found.agent.value(f"{APC}.9.3.0") == 0
    assert not found.agent.column(f"{APC}.9.4")
    assert found.agent.value(f"{APC}.4.3.1.5.1") == 50


# -- Sentry4 ---------------------------------------------------------------------------------------------------------


def test_sentry_units() -> None:
    found = sentry()
    found.measure({5: 100.4}, 3600.0)
    monitor = f"{SENTRY}.8.3.1"
    assert found.agent.value(f"{monitor}.7.1.1.5") == 100  # W
    assert found.agent.value(f"{monitor}.3.1.1.5") == round(100 / (230 * 0.95) * 100)  # 0.01 A
    assert found.agent.value(f"{monitor}.6.1.1.5") == 2300  # 0.1 V
    assert found.agent.value(f"{monitor}.10.1.1.5") == 95  # 0.01
    assert found.agent.value(f"{monitor}.14.1.1.5") == 100  # Wh
    assert found.agent.value(f"{SENTRY}.3.3.1.3.1.1") == 100  # W of the cord
    assert found.agent.value(f"{SENTRY}.3.3.1.10.1.1") == 1  # 0.1 kWh


def test_sentry_control() -> None:
    found = sentry()
    action, control, state = f"{SENTRY}.8.5.1.2.1.1.5", f"{SENTRY}.8.5.1.1.1.1.5", f"{SENTRY}.8.3.1.1.1.1.5"
    assert found.agent.value(control) == 5  # wakeOn
    found.set((action, "int", 2))
    assert found.agent.value(control) == 9  # pendOff
    found.wait(0.1)
    assert (found.agent.value(state), found.agent.value(control), found.agent.value(action)) == (2, 10, 0)
    found.set((action, "int", 1))
    found.wait(0.1)
    assert (found.agent.value(state), found.agent.value(control)) == (1, 11)
    found.set((action, "int", 3))
    found.wait(0.1)
    assert (found.agent.value(state), found.agent.value(control)) == (2, 12)  # reboot: preparing to turn on
    found.wait(15.0)
    assert (found.agent.value(state), found.agent.value(control)) == (1, 11)


def test_sentry_queue_is_cleared_or_committed() -> None:
    found = sentry()
    action, state, queue = f"{SENTRY}.8.5.1.2.1.1", f"{SENTRY}.8.3.1.1.1.1", f"{SENTRY}.8.6.1.0"
    found.set((f"{action}.1", "int", 5), (f"{action}.2", "int", 5))
    found.wait(1.0)
    assert (found.agent.value(f"{state}.1"), found.agent.value(queue)) == (1, 1)
    found.set((queue, "int", 0))
    found.wait(1.0)
    assert (found.agent.value(f"{state}.1"), found.agent.value(queue)) == (1, 0)
    found.set((f"{action}.1", "int", 5), (f"{action}.2", "int", 5))
    found.set((queue, "int", 1))
    found.wait(0.1)
    assert (found.agent.value(f"{state}.1"), found.agent.value(f"{state}.2")) == (2, 2)
    found.set((f"{action}.1", "int", 4), (f"{action}.2", "int", 4))
    found.set((queue, "int", 1))
    found.wait(0.1)
    assert (found.agent.value(f"{state}.1"), found.agent.value(f"{state}.2")) == (1, 2)  # one after the other
    found.wait(2.0)
    assert found.agent.value(f"{state}.2") == 1


# -- Gude ------------------------------------------------------------------------------------------------------------


def test_gude_has_fractions_of_a_watt_in_its_factors() -> None:
    found = gude()
    found.measure({1: 37.34}, 2.0)
    single = f"{GUDE}.5.5.2.1"
    milliampere, volt, permille = (found.agent.value(f"{single}.{column}.1") for column in (5, 6, 8))
    assert found.agent.value(f"{single}.4.1") == 37
    assert milliampere * volt * permille / 1e6 == pytest.approx(37.34, abs=0.12)  # half a mA
    assert (volt, permille) == (230, 950)


def test_gude_banks_are_metered_too() -> None:
    found = gude()
    found.measure({1: 100.0, 6: 50.0, 7: 25.0}, 3600.0)
    assert found.agent.column(f"{GUDE}.5.1.2.1.4") == [150, 25]
    assert found.agent.column(f"{GUDE}.5.1.2.1.3") == [150, 25]  # Wh


def test_gude_resettable_energy() -> None:
    found = gude()
    found.measure({1: 100.0}, 3600.0)
    counter, since = f"{GUDE}.5.5.2.1.13.1", f"{GUDE}.5.5.2.1.15.1"
    assert found.agent.values[counter] == ("uint", 100)
    assert found.set((counter, "uint", 0)) == (0, 0)
    found.measure({1: 100.0}, 36.0)
    assert (found.agent.value(counter), found.agent.value(since)) == (1, 36)
    assert found.agent.value(f"{GUDE}.5.5.2.1.3.1") == 101


def test_gude_switching_counts_and_repower() -> None:
    found = gude()
    state, count = f"{GUDE}.3.1.2.1.3.4", f"{GUDE}.3.1.2.1.4.4"
    found.set((state, "int", 1))
    found.wait(0.1)
    assert found.agent.value(count) == 0  # it was on
    found.set((f"{GUDE}.3.1.2.1.7.4", "int", 5))
    found.set((state, "int", 0))
    found.wait(0.1)
    assert (found.agent.value(state), found.agent.value(count)) == (0, 1)
    found.wait(5.0)
    assert (found.agent.value(state), found.agent.value(count)) == (1, 2)


def test_gude_8221_measures_banks_only() -> None:
    found = bench("gude", "Expert Power Control 8221")
    root = "1.3.6.1.4.1.28507.56.1"
    found.measure({1: 100.0}, 2.0)
    assert not found.agent.column(f"{root}.5.5")
    assert found.agent.column(f"{root}.5.1.2.1.4") == [100, 0]


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "varbind", "status"),
    [
        (apc, (f"{APC}.9.2.4.1.5.3", "int", 9), WRONG_VALUE),
        (apc, (f"{APC}.9.2.4.1.5.3", "int", 4), WRONG_VALUE),  # outletUnknown cannot be asked for
        (apc, (f"{APC}.9.2.4.1.5.3", "octets", b"2"), WRONG_TYPE),
        (apc, (f"{APC}.9.2.4.1.5.25", "int", 2), NO_CREATION),
        (apc, (f"{APC}.9.2.3.1.5.3", "int", 2), NOT_WRITABLE),
        (apc, (f"{APC}.4.3.1.5.1", "int", 0), NOT_WRITABLE),
        (apc, (f"{APC}.9.2.1.1.7.3", "int", 4), WRONG_VALUE),  # reboot duration: 5 to 60
        (apc, (f"{APC}.9.2.1.1.5.3", "int", 7201), WRONG_VALUE),
        (apc, (f"{APC}.9.2.1.1.3.3", "octets", b"x" * 65), WRONG_LENGTH),
        (apc, (f"{APC}.9.2.1.1.3.3", "octets", b"a\nb"), WRONG_VALUE),
        (sentry, (f"{SENTRY}.8.5.1.2.1.1.5", "int", 7), WRONG_VALUE),
        (sentry, (f"{SENTRY}.8.5.1.2.1.5", "int", 1), NO_CREATION),
        (sentry, (f"{SENTRY}.8.3.1.1.1.1.5", "int", 1), NOT_WRITABLE),
        (sentry, (f"{SENTRY}.8.1.11.0", "int", 4), WRONG_VALUE),  # reboot delay: 5 to 600
        (gude, (f"{GUDE}.3.1.2.1.3.4", "int", 2), WRONG_VALUE),
        (gude, (f"{GUDE}.3.1.2.1.3.13", "int", 1), NO_CREATION),
        (gude, (f"{GUDE}.3.1.2.1.2.4", "octets", b"sixteen letters!"), WRONG_LENGTH),
        (gude, (f"{GUDE}.5.5.2.1.13.1", "int", 0), WRONG_TYPE),  # Gauge32
        (gude, (f"{GUDE}.5.5.2.1.13.1", "uint", 1), WRONG_VALUE),
        (gude, ("1.3.6.1.2.1.1.1.0", "octets", b"mine"), NOT_WRITABLE),
    ],
)
def test_a_wrong_set_is_refused_with_the_right_error_and_does_nothing(make, varbind, status) -> None:  # noqa: ANN001
    found = make()
    found.wait(1.0)
    before = dict(found.agent.values)
    assert found.set(("1.3.6.1.2.1.1.5.0", "octets", b"new"), varbind) == (status, 2)
    found.strip.publish(found.clock.now_s)
    assert found.agent.values == before


def test_names_contact_and_location_can_be_set() -> None:
    found = gude()
    assert found.set((".1.3.6.1.2.1.1.6.0", "octets", b"rack 2"), (f"{GUDE}.3.1.2.1.2.4", "octets", b"sw4")) == (0, 0)
    assert found.agent.value("1.3.6.1.2.1.1.6.0") == b"rack 2"
    assert found.agent.value(f"{GUDE}.3.1.2.1.2.4") == b"sw4"


def test_a_set_asks_for_a_wake_up_when_something_is_due() -> None:
    found = apc()
    asked: list[float] = []
    found.strip.wake = asked.append
    found.set((f"{APC}.9.2.4.1.5.3", "int", 3))
    assert asked == [pytest.approx(0.02)]


def test_a_frozen_strip_shows_what_it_showed() -> None:
    found = gude()
    found.measure({1: 100.0}, 3.0)
    found.strip.freeze(on=True)
    found.measure({1: 10.0}, 30.0)
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.1") == 100
    found.strip.freeze(on=False)
    found.measure({1: 10.0}, 1.0)
    assert found.agent.value(f"{GUDE}.5.5.2.1.4.1") == 10
