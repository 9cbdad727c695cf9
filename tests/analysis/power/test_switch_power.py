"""Switch power on synthetic stages with known answers, and on data that cannot answer."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.interval import Interval, NotEnoughData
from eee_testbed.analysis.power.drift_fit import Readings, fit_drifting
from eee_testbed.analysis.power.fit_power import switch_power
from eee_testbed.analysis.power.plausible import CabledPorts
from eee_testbed.analysis.power.stage_columns import columns_of
from eee_testbed.analysis.power.stage_window import PortCounts, StageWindow
from eee_testbed.analysis.power.switch_power import SwitchPowerFit, fit_switch_power
from tests.support.laws import law
from tests.support.measured.power_bench import (
    FAMILIES,
    PORTS,
    STAGES,
    Drift,
    MeterFamily,
    Stage,
    Truth,
    measure,
    without,
)

TRUTH = Truth(left=0.05)


def _fit(family: MeterFamily = FAMILIES["fine"], seed: int = 1, **options: object) -> SwitchPowerFit:
    windows = measure(TRUTH, family, np.random.default_rng(seed), **options)  # type: ignore[arg-type]
    return fit_switch_power(windows, step_watt=family.step)


def _holds(found: Interval | None, truth: float) -> bool:
    return found is not None and found.holds(truth)


def test_every_stage_is_found() -> None:
    fit = _fit()
    port = fit.ports["copper"][1000]
    assert _holds(fit.base_watt, TRUTH.base)
    assert _holds(port.enabled, TRUTH.enabled)
    assert _holds(port.link, TRUTH.link)
    assert _holds(port.lpi_fraction, TRUTH.lpi_fraction)
    assert _holds(port.residual, TRUTH.left)
    assert _holds(fit.bit_picojoule, TRUTH.bit)
    assert _holds(fit.packet_nanojoule, TRUTH.packet)
    assert port.link is not None
    assert port.link.half_width < 0.03
    assert fit.explained > 0.98
    assert port.cable is None
    assert "same cables" in fit.unknown[0]


@pytest.mark.parametrize("drift", [Drift(1.0, 300.0), Drift(0.0, slope_watt_s=2.0 / 1800)])
def test_a_drift_of_watts_is_taken_out_and_widens_the_interval(drift: Drift) -> None:
    held, calm = [], _fit(drift=Drift(0.02, 900.0)).ports["copper"][1000].link
    for seed in range(5):
        link = _fit(seed=seed, drift=drift).ports["copper"][1000].link
        held.append(_holds(link, TRUTH.link))
    assert sum(held) >= 4
    wide = _fit(drift=Drift(1.0, 300.0)).ports["copper"][1000].link
    assert calm is not None
    assert wide is not None
    assert wide.half_width > 2 * calm.half_width


def test_the_interval_of_the_base_accounts_for_a_drift() -> None:
    """Blocks do not separate the base from a drift, as all stages have both."""
    bases = [_fit(seed=seed, drift=Drift(1.0, 1000.0), blocks=4).base_watt for seed in range(6)]
    assert sum(base.holds(TRUTH.base) for base in bases) >= 5
    assert min(base.half_width for base in bases) > 0.5


def test_a_coarse_meter_gives_wide_intervals_and_no_wrong_numbers() -> None:
    coarse = MeterFamily(step=5.0, noise=0.0)
    for seed in range(3):
        port = _fit(coarse, seed=seed, drift=Drift(0.05, 900.0)).ports["copper"][1000]
        assert _holds(port.link, TRUTH.link)
        assert port.link is not None
        assert port.link.half_width > 0.1


def test_the_meters_class_widens_the_intervals() -> None:
    windows = measure(TRUTH, FAMILIES["fine"], np.random.default_rng(2))
    plain, classed = fit_switch_power(windows, 0.01), fit_switch_power(windows, 0.01, accuracy_share=0.05)
    assert classed.base_watt.half_width > 1.5
    assert plain.base_watt.half_width < 0.5


# -- stages that are missing


def test_without_enabled_ports_without_link_both_parameters_are_fitted_as_one_and_reported() -> None:
    shut = replace(STAGES[4], enabled=PORTS // 2)
    stages = (*without(STAGES, "enabled", "half enabled", "half up"), shut)
    fit = _fit(stages=stages)
    port = fit.ports["copper"][1000]
    assert port.enabled is None
    assert _holds(port.link, TRUTH.link + TRUTH.enabled)
    assert _holds(port.lpi_fraction, TRUTH.lpi_fraction)
    assert any("includes the enabled port" in sentence for sentence in fit.unknown)


def test_without_low_power_idle_its_fraction_is_unknown() -> None:
    fit = _fit(stages=without(STAGES, "asleep"))
    assert fit.ports["copper"][1000].lpi_fraction is None
    assert _holds(fit.ports["copper"][1000].link, TRUTH.link)
    assert any("EEE on and off" in sentence for sentence in fit.unknown)


def test_without_traffic_bits_and_packets_are_unknown() -> None:
    fit = _fit(stages=without(STAGES, "large frames", "small frames"))
    assert (fit.bit_picojoule, fit.packet_nanojoule) == (None, None)
    assert any("No window had traffic" in sentence for sentence in fit.unknown)


def test_traffic_of_one_size_does_not_separate_bits_from_packets() -> None:
    fit = _fit(stages=without(STAGES, "small frames"))
    assert fit.packet_nanojoule is None
    assert _holds(fit.bit_picojoule, TRUTH.bit + TRUTH.packet * 1e3 / 12_000)
    assert any("share of a packet" in sentence for sentence in fit.unknown)


def test_without_ports_shut_again_residual_power_is_unknown() -> None:
    fit = _fit(stages=without(STAGES, "shut again"))
    assert fit.ports["copper"][1000].residual is None
    assert any("residual power is unknown" in sentence for sentence in fit.unknown)


def test_ports_that_are_always_up_are_refused() -> None:
    up = [stage for stage in STAGES if stage.up == PORTS and not stage.asleep]
    with pytest.raises(NotEnoughData, match="base and port are one"):
        _fit(stages=up)


@pytest.mark.slow
def test_of_ports_that_are_always_up_what_they_save_asleep_is_found() -> None:
    held = []
    for seed in range(12):
        fit = _fit(seed=seed, stages=[stage for stage in STAGES if stage.up == PORTS])
        port = fit.ports["copper"][1000]
        assert port.link is None
        assert port.lpi_fraction is None
        assert any("their power is in the base" in sentence for sentence in fit.unknown)
        held.append(_holds(port.lpi_saved, (TRUTH.enabled + TRUTH.link) * (1 - TRUTH.lpi_fraction)))
    assert sum(held) >= 10


def test_a_link_that_draws_nothing_has_no_fraction() -> None:
    windows = measure(replace(TRUTH, link=0.0, enabled=0.0), FAMILIES["gude"], np.random.default_rng(3))
    fit = fit_switch_power(windows, 0.1)
    assert fit.ports["copper"][1000].lpi_fraction is None
    assert any("too little to determine" in sentence for sentence in fit.unknown)


# -- meters that cannot answer


def test_a_meter_that_shows_one_value_is_refused() -> None:
    with pytest.raises(NotEnoughData, match="shows 0 W in every window"):
        _fit(MeterFamily(step=100.0, noise=0.0), drift=Drift(0.0), stages=STAGES[:6])
    windows = [
        replace(window, power_watt=40.0) for window in measure(TRUTH, FAMILIES["gude"], np.random.default_rng(4))
    ]
    with pytest.raises(NotEnoughData, match="has stopped"):
        fit_switch_power(windows, 0.1)


@pytest.mark.parametrize("noise", [0.1, 0.0])
def test_a_meter_at_its_limit_is_refused(noise: float) -> None:
    limited = MeterFamily(step=0.01, noise=noise, limit=43.0)
    with pytest.raises(NotEnoughData, match="at its limit"):
        _fit(limited)


def test_too_few_windows_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="too few"):
        _fit(blocks=1)
    with pytest.raises(NotEnoughData, match="no window"):
        fit_switch_power([])


def test_a_run_with_base_windows_only_is_reported() -> None:
    def window(number: int) -> StageWindow:
        return StageWindow(40.0 * number, 40.0 + 0.01 * (number % 3), 0.02, 0.1, (39.8, 40.2), {})

    fit = fit_switch_power([window(number) for number in range(8)], 0.1)
    assert fit.base_watt.holds(40.01)
    assert fit.ports == {}
    assert "No port was ever up" in fit.unknown[0]


def test_cables_plugged_in_by_hand_are_a_stage() -> None:
    random = np.random.default_rng(6)
    calm, family = Drift(0.0), FAMILIES["fine"]
    none = [replace(one, ports={}) for one in measure(TRUTH, family, random, stages=STAGES[:1], drift=calm)]
    some = measure(replace(TRUTH, base=TRUTH.base + 3.0), family, random, drift=calm)
    both = none + [replace(window, at_s=window.at_s + 300.0) for window in some]
    fit = fit_switch_power(both, 0.01)
    assert _holds(fit.ports["copper"][1000].cable, 3.0 / PORTS)
    assert _holds(fit.ports["copper"][1000].residual, 3.0 / PORTS + TRUTH.left)


# -- windows that cannot be believed


@pytest.mark.parametrize("wrong_watt", [70.0, 0.0, 45.0])
@pytest.mark.parametrize("number", [0, 17, 40])
def test_one_bad_window_is_left_out_and_reported(wrong_watt: float, number: int) -> None:
    windows = measure(TRUTH, FAMILIES["fine"], np.random.default_rng(5), drift=Drift(0.05, 900.0))
    clean = fit_switch_power(windows, 0.01)
    windows[number] = replace(windows[number], power_watt=windows[number].power_watt + wrong_watt - 40.0)
    fit = fit_switch_power(windows, 0.01)
    assert fit.windows == len(windows) - 1
    assert sum("was left out" in sentence for sentence in fit.warnings) == 1
    for found, truth in (
        (fit.base_watt, TRUTH.base),
        (fit.ports["copper"][1000].link, TRUTH.link),
        (fit.ports["copper"][1000].enabled, TRUTH.enabled),
    ):
        assert _holds(found, truth)
        assert found is not None
        assert found.half_width < 2 * clean.base_watt.half_width


@pytest.mark.slow
def test_no_window_is_left_out_of_clean_ones() -> None:
    for family in FAMILIES.values():
        for seed in range(4):
            windows = measure(TRUTH, family, np.random.default_rng(seed))
            fit = fit_switch_power(windows, family.step)
            assert fit.windows == len(windows)
            assert not any("left out" in sentence or "from the others" in sentence for sentence in fit.warnings)


def test_two_levels_of_one_stage_are_reported_and_kept() -> None:
    """The fans ran faster in four of twelve windows of the base."""
    windows = measure(TRUTH, FAMILIES["fine"], np.random.default_rng(6), drift=Drift(0.02, 900.0), blocks=12)
    base = [number for number, window in enumerate(windows) if not window.ports["copper"].enabled_by_mbps[0]]
    base = [number for number in base if not windows[number].ports["copper"].left]
    for number in base[-4:]:
        windows[number] = replace(windows[number], power_watt=windows[number].power_watt + 6.0)
    fit = fit_switch_power(windows, 0.01)
    assert fit.windows == len(windows)
    assert any(sentence.startswith("4 of 12 windows of one stage lie") for sentence in fit.warnings)


def test_stages_that_contradict_each_other_are_refused() -> None:
    """The whole switch draws 30 W more for some of the blocks, in which the ports were down only."""
    random = np.random.default_rng(8)
    windows = [
        _still(at_s=float(number * 3_600), watt=40.0 + float(random.normal(0, 0.1)) + more, up=up)
        for number, (more, up) in enumerate([(0, 0)] * 3 + [(30, 0)] * 3 + [(0, 4)] * 3 + [(30, 4)] * 2 + [(0, 1)] * 2)
    ]
    with pytest.raises(NotEnoughData, match=r"explains nothing|whatever the ports do"):
        fit_switch_power(windows, 0.01)


def _still(at_s: float, watt: float, up: int) -> StageWindow:
    ports = PortCounts(cabled=4, enabled_by_mbps={0: up}, up_by_mbps={1000: up})
    return StageWindow(at_s, watt, 0.01, 0.02, (watt - 0.05, watt + 0.05), {"copper": ports})


@pytest.mark.parametrize("seed", range(5))
def test_a_constant_meter_with_noise_is_refused(seed: int) -> None:
    """It feeds another device, or has stopped but for its last digit: +-0.02 W whatever the ports do."""
    random = np.random.default_rng(seed)
    windows = []
    for window in measure(TRUTH, FAMILIES["fine"], random):
        watt = 40.0 + float(random.normal(0, 0.02))
        windows.append(replace(window, power_watt=watt, shown_watt=(watt - 0.02, watt + 0.02)))
    with pytest.raises(NotEnoughData, match="whatever the ports do"):
        fit_switch_power(windows, 0.01)


def test_a_stage_that_was_measured_in_one_stretch_of_time_is_reported() -> None:
    in_blocks = _fit()
    assert not any("one stretch of time" in sentence for sentence in in_blocks.warnings)
    windows = measure(TRUTH, FAMILIES["fine"], np.random.default_rng(1))
    apart = [window for window in windows if window.ports["copper"].lpi_by_mbps[1000]]
    rest = [window for window in windows if not window.ports["copper"].lpi_by_mbps[1000]]
    month_s = 30 * 86_400.0
    later = fit_switch_power([*rest, *(replace(one, at_s=one.at_s + month_s) for one in apart)], 0.01)
    (sentence,) = [sentence for sentence in later.warnings if "one stretch of time" in sentence]
    assert sentence.startswith("The power in low-power idle at 1000 Mb/s")


def test_a_negative_power_of_ports_is_reported() -> None:
    windows = measure(replace(TRUTH, link=-0.3), FAMILIES["fine"], np.random.default_rng(1), drift=Drift(0.02, 900.0))
    fit = fit_switch_power(windows, 0.01)
    assert any("The power of a link at 1000 Mb/s is negative" in sentence for sentence in fit.warnings)
    assert not any("is negative" in sentence for sentence in _fit().warnings)


# -- more than one kind of port, and traffic


def test_several_kinds_of_transceivers_in_one_fit() -> None:
    """Copper and optical ports go up and down independently; each keeps its own powers."""
    random, windows = np.random.default_rng(4), []
    truth = {"copper": (0.0, 0.1, 0.6), "fibre": (2.8, 1.9, 0.3)}
    for number in range(80):
        cabled = {"copper": 12, "fibre": int(random.integers(0, 3)) * 2}
        ports, watt = {}, 60.0
        for kind, (cable, enabled, link) in truth.items():
            on = int(random.integers(0, cabled[kind] + 1))
            up = int(random.integers(0, on + 1))
            ports[kind] = PortCounts(cabled[kind], {0: on}, {10_000: up})
            watt += cable * cabled[kind] + enabled * on + link * up
        watt += float(random.normal(0, 0.05))
        windows.append(StageWindow(60.0 * number, watt, 0.02, 0.1, (watt - 0.2, watt + 0.2), ports))
    fit = fit_switch_power(windows, 0.01)
    for kind, (cable, enabled, link) in truth.items():
        port = fit.ports[kind][10_000]
        assert _holds(port.enabled, enabled)
        assert _holds(port.link, link)
        assert _holds(port.cable, cable) if kind == "fibre" else port.cable is None


def test_enabled_ports_draw_by_the_speed_that_they_are_set_to() -> None:
    """As those of an NCS-55A1 do: 0.32 W at 100 Gb/s, 0.10 W at 25 Gb/s."""
    random, windows = np.random.default_rng(5), []
    truth = {25_000: (0.10, 0.08), 100_000: (0.32, 0.19)}
    for number in range(60):
        mbps = int(random.choice(list(truth)))
        on = int(random.integers(0, 13))
        up = int(random.integers(0, on + 1))
        watt = 320.0 + truth[mbps][0] * on + truth[mbps][1] * up + float(random.normal(0, 0.05))
        counts = PortCounts(12, {mbps: on}, {mbps: up})
        windows.append(StageWindow(60.0 * number, watt, 0.02, 0.1, (watt - 0.2, watt + 0.2), {"dac": counts}))
    fit = fit_switch_power(windows, 0.01)
    for mbps, (enabled, link) in truth.items():
        assert _holds(fit.ports["dac"][mbps].enabled, enabled)
        assert _holds(fit.ports["dac"][mbps].link, link)


def test_ports_that_are_always_up_are_in_the_base_where_others_are_not() -> None:
    windows = []
    for window in measure(TRUTH, FAMILIES["fine"], np.random.default_rng(4)):
        both = {**window.ports, "dac": PortCounts(cabled=2, enabled_by_mbps={0: 2}, up_by_mbps={10_000: 2})}
        windows.append(replace(window, power_watt=window.power_watt + 3.0, ports=both))
    fit = fit_switch_power(windows, 0.01)
    assert _holds(fit.base_watt, TRUTH.base + 3.0)
    assert _holds(fit.ports["copper"][1000].link, TRUTH.link)
    assert fit.ports["dac"][10_000].link is None
    assert any(sentence.startswith("Ports at 10000 Mb/s with dac were up in equal numbers") for sentence in fit.unknown)


LOADS = (
    *without(STAGES, "large frames", "small frames"),
    *(
        Stage(f"{mbps}", enabled=PORTS, up=PORTS, rate_bps=mbps * 1e6, rate_pps=mbps * 1e6 / size, carrying=4)
        for mbps, size in ((2_000, 12_000), (4_000, 12_000), (2_000, 1_000), (3_000, 4_000))
    ),
)


def test_what_a_port_draws_once_it_carries_traffic_is_told_from_its_bits() -> None:
    truth = replace(TRUTH, carrying=0.15)
    windows = measure(truth, FAMILIES["fine"], np.random.default_rng(2), stages=LOADS, drift=Drift(0.05, 900.0))
    fit = fit_switch_power(windows, 0.01)
    assert _holds(fit.ports["copper"][1000].carrying, truth.carrying)
    assert _holds(fit.bit_picojoule, truth.bit)
    assert _holds(fit.packet_nanojoule, truth.packet)


def test_the_energy_of_a_bit_is_per_bit_forwarded_and_half_per_interface() -> None:
    """NetPowerBench counts a bit where it is received and where it is sent."""
    found = switch_power(_fit(), "toy")
    bit, packet = found.per_interface
    assert found.bit_picojoule is not None
    assert found.packet_nanojoule is not None
    assert bit is not None
    assert packet is not None
    assert (2 * bit.value, 2 * bit.low, 2 * bit.high) == pytest.approx(
        (found.bit_picojoule.value, found.bit_picojoule.low, found.bit_picojoule.high)
    )
    assert bit.interval.holds(TRUTH.bit / 2)
    assert packet.interval.holds(TRUTH.packet / 2)


def test_rates_of_terabits_beside_numbers_of_ports() -> None:
    """3 Tb/s: columns of the design differ by twelve orders of magnitude."""
    terabit = [
        replace(stage, rate_bps=stage.rate_bps * 300, rate_pps=stage.rate_pps * 300) if stage.rate_bps else stage
        for stage in STAGES
    ]
    truth = replace(TRUTH, bit=0.4, packet=0.8)
    fit = _fit_of(truth, terabit)
    assert _holds(fit.bit_picojoule, truth.bit)
    assert _holds(fit.packet_nanojoule, truth.packet)
    assert _holds(fit.ports["copper"][1000].link, truth.link)


def _fit_of(truth: Truth, stages: Sequence[Stage]) -> SwitchPowerFit:
    return fit_switch_power(measure(truth, FAMILIES["fine"], np.random.default_rng(1), stages=stages), 0.01)


@pytest.mark.slow
@given(st.floats(-6, 14), st.floats(-6, 14))
@law(20)
def test_a_fit_does_not_depend_on_the_units_of_its_columns(one: float, other: float) -> None:
    windows = measure(TRUTH, FAMILIES["fine"], np.random.default_rng(3), stages=STAGES[:4])
    columns = columns_of(windows)
    value = np.array([window.power_watt for window in windows])
    sigma = np.full(len(windows), 0.01)
    scale = np.array([1.0, 10**one, 10**other])
    readings = Readings(np.arange(len(windows)) * 40.0, value, sigma, 0.003, columns.states, columns.matrix)
    plain = fit_drifting(readings)
    scaled = fit_drifting(replace(readings, design=columns.matrix * scale))
    np.testing.assert_allclose(scaled.draws * scale, plain.draws, rtol=1e-5, atol=1e-7)


def test_columns_that_do_not_determine_their_coefficients_are_refused_in_one_sentence() -> None:
    twice = np.column_stack([np.ones(9), np.arange(9.0), 1e12 * np.arange(9.0)])
    readings = Readings(np.arange(9.0), np.arange(9.0), np.ones(9), 0.0, np.arange(9), twice)
    with pytest.raises(NotEnoughData, match="9 windows do not determine 3 powers"):
        fit_drifting(readings)


# -- parameters that are lost in the meter


def test_a_load_that_the_meter_cannot_see_gives_no_energy_of_bits() -> None:
    """2 kb/s fitted as bits gave an energy of -94 uJ: no switch's line rate takes so much."""
    chatter = [replace(stage, rate_bps=2e3, rate_pps=2.0) if stage.rate_bps else stage for stage in STAGES]
    fit = _fit_of(TRUTH, chatter)
    assert fit.bit_picojoule is None
    assert any("a bit" in sentence and "lost in the meter" in sentence for sentence in fit.unknown)


def test_a_power_whose_interval_is_wider_than_what_the_ports_could_draw_is_refused() -> None:
    """By the inventory: 12 W and their drift shared by 48 ports, or by two."""
    truth = replace(TRUTH, base=8.0, link=0.3, enabled=0.0)
    family = MeterFamily(step=1.0, noise=0.3)
    windows = measure(truth, family, np.random.default_rng(5), blocks=3, drift=Drift(5.0, 60.0))
    few = fit_switch_power(windows, 1.0, cabled=CabledPorts(2, 2e9))
    many = fit_switch_power(windows, 1.0, cabled=CabledPorts(48, 48e9))
    assert few.ports["copper"][1000].enabled is not None
    assert many.ports["copper"][1000].enabled is None
    assert any("The power of an enabled port is lost in the meter's noise" in sentence for sentence in many.unknown)


def test_same_windows_same_answer() -> None:
    assert _fit(seed=3) == _fit(seed=3)


@pytest.mark.slow
def test_columns_that_are_nearly_equal_leave_the_others_alone() -> None:
    """Bits, packets and senders of nearly one load: each is lost, but neither the fit nor the other powers."""
    held = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        loaded = np.tile([0.0, 0.0, 1.0], 6)
        ports = np.tile([12.0, 11.0, 12.0], 6)
        bits = 3e8 * loaded * (1 + 1e-3 * random.standard_normal(18))
        packets = bits / 12_000 * (1 + 1e-6 * random.standard_normal(18))
        design = np.column_stack([np.ones(18), ports, bits, packets, 4.0 * loaded])
        value = 20.0 + 0.6 * ports + 0.1 * loaded + 0.02 * random.standard_normal(18)
        state = np.tile([0, 1, 2], 6)
        fit = fit_drifting(Readings(np.arange(18) * 10.0, value, np.full(18, 0.02), 0.0, state, design))
        held.append(fit.interval(0).holds(20.0) and fit.interval(1).holds(0.6))
        assert fit.interval(1).half_width < 0.1
        assert fit.explained > 0.9
        assert fit.interval(3).half_width * packets.max() > 1.0
    assert sum(held) >= 8


def test_a_window_whose_few_readings_are_equal_is_not_trusted_more_than_others() -> None:
    windows = measure(TRUTH, FAMILIES["fine"], np.random.default_rng(5))
    lucky = [replace(windows[0], noise_watt=0.0), *windows[1:]]
    usual = [replace(windows[0], noise_watt=float(np.median([one.noise_watt for one in windows]))), *windows[1:]]
    kept = fit_switch_power(lucky, step_watt=FAMILIES["fine"].step)
    assert kept.base_watt == fit_switch_power(usual, step_watt=FAMILIES["fine"].step).base_watt
