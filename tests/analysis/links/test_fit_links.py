"""Which policies of a run's probes are claimed, and which are refused."""

import json
from pathlib import Path

import pytest

from eee_testbed.analysis.interval import NotEnoughData
from eee_testbed.analysis.links.fit_links import _fitted, fit_links
from eee_testbed.analysis.links.probed_path import EEE_FILE, probed_path
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.record.samples import RunSamples
from tests.support.measured.synthetic_run import BASE_NS, WAKE_US, Writer, echoes_text, write_run

PAIR = ("n01", "n02")
PORTS = ("sw1:gi1/0/1", "sw1:gi1/0/2")


def _shown(*, active: bool | None, enabled: bool = True) -> str:
    return json.dumps({port: {"enabled": enabled, "active": active} for port in PORTS})


def _run(root: Path, name: str, *probes: tuple[str, str, str]) -> RunSamples:
    """A run with probes of (EEE of the factor, EEE of the echoes, what the switches showed)."""

    def write(writer: Writer) -> None:
        for level, echoes, shown in probes:
            files = {"echoes.jsonl": echoes_text(echoes, writer.random, count=60)} | (
                {EEE_FILE: shown} if shown else {}
            )
            writer.write({"eee": level} if level else {}, 5.0, what="probe", files=files, hosts=PAIR)

    return RunSamples(write_run(root, write, name=name))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> RunSamples:
    """A pair with EEE on and off, which is fitted once in a process."""
    off = ("off", "off", _shown(active=None, enabled=False))
    return _run(tmp_path_factory.mktemp("runs"), "both", ("on", "on", _shown(active=True)), off)


@pytest.mark.slow
def test_a_policy_is_claimed_against_the_same_path_with_eee_off(both: RunSamples) -> None:
    found, refused = fit_links(both)
    assert refused == ()
    link = found["n01-n02"]
    assert link.kind == "hold"
    assert link.path_wake_us is not None
    assert link.path_wake_us.low <= 2 * WAKE_US <= link.path_wake_us.high


@pytest.mark.slow
def test_a_pair_without_new_echoes_is_not_fitted_again(tmp_path: Path, both: RunSamples) -> None:
    first, _ = fit_links(both)
    before = _fitted.cache_info().misses
    again, _ = fit_links(both)
    assert again == first
    assert _fitted.cache_info().misses == before
    fit_links(_run(tmp_path, "more", ("on", "on", _shown(active=False))))
    assert _fitted.cache_info().misses == before + 1


def test_without_echoes_with_eee_off_nothing_is_claimed(tmp_path: Path) -> None:
    found, (refused,) = fit_links(_run(tmp_path, "alone", ("", "on", _shown(active=True))))
    assert found == {}
    assert "never probed with EEE off" in refused


@pytest.mark.slow
def test_echoes_with_eee_off_may_be_those_of_another_run(tmp_path: Path) -> None:
    alone = _run(tmp_path, "alone", ("", "on", _shown(active=True)))
    off = _run(tmp_path, "off", ("", "off", _shown(active=False, enabled=False)))
    found, refused = fit_links(alone, [off])
    assert refused == ()
    assert found["n01-n02"].kind == "hold"


@pytest.mark.slow
def test_runs_that_probed_one_path_are_fitted_together_with_the_last_of_them(tmp_path: Path, both: RunSamples) -> None:
    shown = _shown(active=True)
    hour_ns = 3_600_000_000_000

    def write(writer: Writer) -> None:
        writer.now_ns = BASE_NS + hour_ns
        text = echoes_text("on", writer.random, count=60, at_ns=writer.now_ns)
        writer.write({"eee": "on"}, 5.0, what="probe", files={"echoes.jsonl": text, EEE_FILE: shown}, hosts=PAIR)

    second = RunSamples(write_run(tmp_path, write, name="second"))
    assert fit_links(both, [second]) == ({}, ())
    together, refused = fit_links(second, [both])
    assert refused == ()
    alone, _ = fit_links(both)
    assert together["n01-n02"].echo_count > 1.8 * alone["n01-n02"].echo_count - 5
    wide, narrow = alone["n01-n02"].path_wake_us, together["n01-n02"].path_wake_us
    assert wide is not None
    assert narrow is not None
    assert narrow.interval.half_width < wide.interval.half_width
    assert narrow.interval.holds(2 * WAKE_US)


def test_a_baseline_on_which_eee_stayed_in_force_is_none(tmp_path: Path) -> None:
    stayed = _run(tmp_path, "stayed", ("on", "on", _shown(active=True)), ("off", "on", _shown(active=True)))
    found, (refused,) = fit_links(stayed)
    assert found == {}
    assert "never probed with EEE off" in refused


@pytest.mark.slow
def test_a_link_on_which_eee_is_not_in_force_has_no_policy(tmp_path: Path) -> None:
    """Even if round trips rise after pauses as if it had one."""
    found, refused = fit_links(_run(tmp_path, "inactive", ("on", "on", _shown(active=False))))
    assert refused == ()
    link = found["n01-n02"]
    assert (link.kind, link.hold_us, link.wake_us) == ("off", None, None)
    assert any("not in force" in sentence for sentence in link.unknown)


def test_probes_in_different_states_of_eee_are_not_fitted_together(tmp_path: Path) -> None:
    mixed = _run(tmp_path, "mixed", ("on", "on", _shown(active=True)), ("on", "off", _shown(active=False)))
    with pytest.raises(NotEnoughData, match="different EEE settings"):
        fit_links(mixed)


def test_a_path_is_the_inventorys() -> None:
    lab = load_lab(find_lab("virtual"))
    near = probed_path(lab, PAIR, {})
    assert [one.end for one in near.transmitters] == ["n01:eth0", PORTS[1], "n02:eth0", PORTS[0]]
    assert [one.card for one in near.transmitters] == [True, False, True, False]
    far = next(host.name for host in lab.hosts if all(cable.a.device != "sw1" for cable in lab.links_of(host.name)))
    path = [one.end for one in probed_path(lab, ("n01", far), {}).transmitters]
    assert len(path) == 6
    assert path[0] == "n01:eth0"
    assert path[1].startswith("sw1:")
    assert path[3] == f"{far}:eth0"
    assert path[5] == PORTS[0]


def test_eee_that_one_end_has_not_in_force_lets_both_ends_stay_awake() -> None:
    lab = load_lab(find_lab("virtual"))
    shown = {PORTS[0]: {"enabled": True, "active": True}, PORTS[1]: {"enabled": True, "active": False}}
    path = probed_path(lab, PAIR, shown)
    assert [one.may_sleep for one in path.transmitters] == [None, False, False, None]
    assert len(path.in_force) == len(path.not_in_force) == 1
