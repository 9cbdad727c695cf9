"""Windows of a switch from a run's folder: what counts as traffic, and what is left out."""

from pathlib import Path

import pytest

from eee_testbed.analysis.power.port_states import PortReader
from eee_testbed.analysis.power.power_windows import SwitchWindows, meters_of, switch_windows
from eee_testbed.analysis.power.switch_power import fit_switch_power
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import read_trials
from tests.support.measured.power_bench import PORTS, STAGES, Stage, without
from tests.support.measured.stage_run import PORT_NAMES, StageRun
from tests.support.measured.synthetic_run import write_run

KINDS = dict.fromkeys(PORT_NAMES, "copper")
QUIET = without(STAGES, "large frames", "small frames")


def _windows(root: Path, run: StageRun) -> SwitchWindows:
    samples = RunSamples(write_run(root, run, name="power"))
    return switch_windows(read_trials(samples.folder), PortReader(samples, "sw1"), meters_of(samples)["sw1"], KINDS)


def test_ports_are_counted_by_state_and_kind_of_cable(tmp_path: Path) -> None:
    found = _windows(tmp_path, StageRun(blocks=1))
    by_stage = dict(zip((stage.name for stage in STAGES), found.windows, strict=True))
    assert by_stage["half up"].ports["copper"].up_by_mbps == {1000: PORTS // 2}
    assert by_stage["asleep"].ports["copper"].lpi_by_mbps == {1000: PORTS}
    assert by_stage["shut again"].ports["copper"].left == PORTS
    assert by_stage["large frames"].ports["copper"].carrying_by_mbps == {1000: 1.0}
    assert by_stage["large frames"].rate_bps == pytest.approx(10e9, rel=1e-6)
    assert by_stage["up"].ports["copper"].carrying_by_mbps == {1000: 0.0}


def test_chatter_is_no_traffic(tmp_path: Path) -> None:
    """2 kb/s of LLDP and ARP: no bits are fitted to them."""
    found = _windows(tmp_path, StageRun(QUIET, chatter_byte=120.0, chatter_hz=2.0))
    assert {window.rate_bps for window in found.windows} == {0.0}
    fit = fit_switch_power(found.windows, step_watt=0.1)
    assert fit.bit_picojoule is None
    assert any("No window had traffic" in sentence for sentence in fit.unknown)
    assert fit.ports["copper"][1000].link is not None


def test_a_switch_that_counts_no_frames_carries_its_bits_all_the_same(tmp_path: Path) -> None:
    """900 Mb/s in no frame: the port is not asleep, and what a packet takes is unknown."""
    load = Stage("load", enabled=PORTS, up=PORTS, asleep=1.0, rate_bps=900e6, rate_pps=0.0)
    found = _windows(tmp_path, StageRun((*QUIET, load)))
    busy = [window for window in found.windows if window.rate_bps > 0]
    assert len(busy) == 4
    assert all(window.rate_pps is None for window in busy)
    assert all(window.ports["copper"].lpi_by_mbps == {1000: PORTS - 1.0} for window in busy)
    fit = fit_switch_power(found.windows, step_watt=0.1)
    assert fit.packet_nanojoule is None
    assert any("does not count frames" in sentence for sentence in fit.unknown)


@pytest.mark.slow
def test_load_with_eee_is_left_out_and_reported_unless_the_port_is_too_busy_to_sleep(tmp_path: Path) -> None:
    """Without LPI counters. At 20 Mb/s a port sleeps for an unknown share, at 900 Mb/s not at all."""

    def loaded(mbps: float) -> Stage:
        rate_bps = mbps * 1e6
        return Stage("load", enabled=PORTS, up=PORTS, asleep=1.0, rate_bps=rate_bps, rate_pps=rate_bps / 12_000)

    slow = _windows(tmp_path / "slow", StageRun((*QUIET, loaded(20))))
    assert len(slow.windows) == 4 * len(QUIET)
    assert slow.warnings[0].startswith("4 windows with traffic and EEE on were left out")
    fast = _windows(tmp_path / "fast", StageRun((*QUIET, loaded(900))))
    assert fast.warnings == ()
    assert len(fast.windows) == 4 * (len(QUIET) + 1)
    busy = [window for window in fast.windows if window.rate_bps > 0]
    assert all(window.ports["copper"].lpi_by_mbps == {1000: PORTS - 1.0} for window in busy)
