"""Switch power on synthetic stages with known answers, and on data that cannot answer."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.interval import Interval, NotEnoughData
from analysis.power.switch_power import StageWindow, SwitchPowerFit, fit_switch_power
from tests.support.measured.power_bench import FAMILIES, PORTS, STAGES, Drift, MeterFamily, Truth, measure, without

TRUTH = Truth(left=0.05)


def _fit(family: MeterFamily = FAMILIES["fine"], seed: int = 1, **options: object) -> SwitchPowerFit:
    windows = measure(TRUTH, family, np.random.default_rng(seed), **options)  # type: ignore[arg-type]
    return fit_switch_power(windows, step_watt=family.step)


def _holds(found: Interval | None, truth: float) -> bool:
    return found is not None and found.holds(truth)


def test_every_stage_is_found() -> None:
    fit = _fit()
    port = fit.ports[1000]
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
    held, calm = [], _fit(drift=Drift(0.02, 900.0)).ports[1000].link
    for seed in range(5):
        link = _fit(seed=seed, drift=drift).ports[1000].link
        held.append(_holds(link, TRUTH.link))
    assert sum(held) >= 4
    wide = _fit(drift=Drift(1.0, 300.0)).ports[1000].link
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
        port = _fit(coarse, seed=seed, drift=Drift(0.05, 900.0)).ports[1000]
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
    port = fit.ports[1000]
    assert port.enabled is None
    assert _holds(port.link, TRUTH.link + TRUTH.enabled)
    assert _holds(port.lpi_fraction, TRUTH.lpi_fraction)
    assert any("includes the enabled port" in sentence for sentence in fit.unknown)


def test_without_low_power_idle_its_fraction_is_unknown() -> None:
    fit = _fit(stages=without(STAGES, "asleep"))
    assert fit.ports[1000].lpi_fraction is None
    assert _holds(fit.ports[1000].link, TRUTH.link)
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
    assert fit.ports[1000].residual is None
    assert any("residual power is unknown" in sentence for sentence in fit.unknown)


def test_ports_that_are_always_up_are_refused() -> None:
    up = [stage for stage in STAGES if stage.up == PORTS]
    with pytest.raises(NotEnoughData, match="base and port are one"):
        _fit(stages=up)


def test_a_link_that_draws_nothing_has_no_fraction() -> None:
    windows = measure(replace(TRUTH, link=0.0, enabled=0.0), FAMILIES["gude"], np.random.default_rng(3))
    fit = fit_switch_power(windows, 0.1)
    assert fit.ports[1000].lpi_fraction is None
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
        return StageWindow(40.0 * number, 40.0 + 0.01 * (number % 3), 0.02, 0.1, (39.8, 40.2), 0.0, {})

    fit = fit_switch_power([window(number) for number in range(8)], 0.1)
    assert fit.base_watt.holds(40.01)
    assert fit.ports == {}
    assert "No port was ever up" in fit.unknown[0]


def test_cables_plugged_in_by_hand_are_a_stage() -> None:
    random = np.random.default_rng(6)
    calm, family = Drift(0.0), FAMILIES["fine"]
    none = [replace(one, cabled=0.0) for one in measure(TRUTH, family, random, stages=STAGES[:1], drift=calm)]
    some = measure(replace(TRUTH, base=TRUTH.base + 3.0), family, random, drift=calm)
    both = none + [replace(window, at_s=window.at_s + 300.0) for window in some]
    fit = fit_switch_power(both, 0.01)
    assert _holds(fit.ports[1000].cable, 3.0 / PORTS)
    assert _holds(fit.ports[1000].residual, 3.0 / PORTS + TRUTH.left)


def test_same_windows_same_answer() -> None:
    assert _fit(seed=3) == _fit(seed=3)
