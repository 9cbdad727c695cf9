"""The first screen: sentences with numbers and intervals, each linked to what shows it; nothing said without data."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eee_testbed.analysis.calibration import Calibration, LinkPolicy, PortPower
from eee_testbed.analysis.power.trial_energy import period_s
from eee_testbed.analysis.report.doubts import doubts_of
from eee_testbed.analysis.report.energies import energy_of_trial, meters_of
from eee_testbed.analysis.report.estimates import estimated
from eee_testbed.analysis.report.findings.finding import Finding
from eee_testbed.analysis.report.findings.slept import longer_gaps
from eee_testbed.analysis.report.findings.table import findings_of
from eee_testbed.analysis.report.page import page, report_of
from eee_testbed.analysis.report.report_data import read_report_data, slower_percents
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.series import series_of, slower_percent
from tests.support.measured.synthetic_run import (
    HOSTS,
    Writer,
    about,
    calibration,
    write_alltoall,
    write_probe,
    write_regulation,
    write_run,
)


def _found(folder: Path, fitted: Calibration | None) -> Mapping[str, Finding]:
    data = read_report_data([folder], fitted, "calibration.yaml" if fitted else "")
    return {one.topic: one for one in findings_of(data)}


@pytest.fixture(scope="module")
def found(study: Path) -> Mapping[str, Finding]:
    return _found(study, calibration())


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*\.?\d*", text)]


@pytest.mark.slow
def test_all_are_answered_with_intervals(found: Mapping[str, Finding]) -> None:
    assert list(found) == [
        "What EEE costs and saves",
        "Which links had EEE, and slept",
        "When links sleep",
        "What a port draws",
        "Which links could be off",
        "How well it is predicted",
    ]
    assert not any(one.command for one in found.values())
    for topic in (name for name in list(found)[:5] if name != "Which links had EEE, and slept"):
        assert re.search(r"\(-?[\d,.]+ to -?[\d,.]+\)", found[topic].sentence), topic


@pytest.mark.slow
def test_the_cost_is_that_of_the_worst_gap_and_where_it_begins(found: Mapping[str, Finding]) -> None:
    """The synthetic program loses most just after the hold of 1 ms, and nothing below."""
    sentence = found["What EEE costs and saves"].sentence
    assert "up to 33." in sentence
    assert "with gaps of 1.18 ms between" in sentence
    assert "1 % or more with mean gaps of 1.18 ms to 4.29 ms" in sentence
    assert "the other gaps, 186 µs to 1.09 ms" in sentence


def test_what_a_port_draws_is_the_sum_of_its_stages(found: Mapping[str, Finding]) -> None:
    """Cable 0.05, enabled 0.1, link 0.6, a fifth of the last two asleep, 0.06 shut."""
    sentence = found["What a port draws"].sentence
    assert "0.750 W (0.738 to 0.762) with its link up" in sentence
    assert "0.1900 W (0.1862 to 0.1938) asleep" in sentence
    assert "0.0600 W (0.0588 to 0.0612) shut" in sentence


@pytest.mark.slow
def test_without_a_stage_of_its_own_a_shut_port_is_the_reference(study: Path) -> None:
    fitted = calibration()
    ports = fitted.power.switches["sw1"].port_by_mbps
    port = ports[1000].model_copy(update={"residual_watt": None, "cable_watt": None})
    switch = fitted.power.switches["sw1"].model_copy(update={"port_by_mbps": {1000: port}})
    power = fitted.power.model_copy(update={"switches": {"sw1": switch}})
    sentence = _found(study, fitted.model_copy(update={"power": power}))["What a port draws"].sentence
    assert "draws, beyond what it draws shut, 0.700 W" in sentence
    assert not sentence.rstrip(".").endswith("shut")


@pytest.mark.slow
def test_of_ports_that_were_never_shut_what_sleep_saves_is_said_and_of_cards(study: Path) -> None:
    fitted = calibration()
    switch = fitted.power.switches["sw1"].model_copy(
        update={"port_by_mbps": {1000: PortPower(lpi_saved_watt=about(0.42))}}
    )
    cards = {"n01": about(0.9, 0.5), "n02": about(0.7, 0.1), "n03": about(0.6, 0.3)}
    nodes = {
        name: fitted.power.nodes["n01"].model_copy(update={"card_mbps": 1_000, "card_saved_watt": saved})
        for name, saved in cards.items()
    }
    power = fitted.power.model_copy(update={"switches": {"sw1": switch}, "nodes": nodes})
    sentence = _found(study, fitted.model_copy(update={"power": power}))["What a port draws"].sentence
    assert "saves 0.4200 W (0.4116 to 0.4284) asleep; its power with the link up is unknown" in sentence
    assert "The card of n02 saves 0.700 W (0.630 to 0.770) asleep; those of 2 others 0.6 to 0.9 W." in sentence
    two = power.model_copy(update={"nodes": {name: nodes[name] for name in ("n01", "n02")}})
    sentence = _found(study, fitted.model_copy(update={"power": two}))["What a port draws"].sentence
    assert sentence.endswith("asleep; that of n01 0.9 W.")


@pytest.mark.parametrize("truth", [0.0, 0.12])
@pytest.mark.parametrize("alike", ["time", "share"])
def test_two_trials_of_each_configuration_make_an_interval_together(truth: float, alike: str) -> None:
    """Scatter is the same share of each time, or the same time: intervals hold in each configuration as they say."""
    pauses_us = np.geomspace(200.0, 4_000.0, 10)
    held = np.zeros(pauses_us.size)
    for seed in range(60):
        random = np.random.default_rng(seed)

        def twice(time_us: float, random: np.random.Generator = random) -> list[float]:
            scatter_us = 5.0 if alike == "time" else 0.01 * time_us
            return [float(time_us + random.normal(0, scatter_us)) for _ in range(2)]

        found = slower_percents([(twice(pause), twice(pause * (1 + truth))) for pause in pauses_us])
        held += [one is not None and one.interval.holds(100 * truth) for one in found]
    assert held.min() >= 0.8 * 60
    assert 0.9 <= held.mean() / 60 <= 0.99


@pytest.mark.slow
def test_every_link_of_a_finding_is_on_the_page(study: Path) -> None:
    data = read_report_data([study], calibration(), "calibration.yaml")
    text = page(data, report_of(data))
    first = text[text.index('id="findings"') : text.index("<nav")]
    linked = re.findall(r'<a href="#([^"]+)">(?:Figure \d+|Power|Errors of the models)</a>', first)
    assert len(linked) == 5  # EEE at links has no figure
    assert all(f'id="{anchor}"' in text for anchor in linked)
    assert "figure-saving-hpl-4x2" in linked


@pytest.mark.slow
def test_findings_come_first_and_provenance_last(study: Path) -> None:
    data = read_report_data([study], calibration(), "calibration.yaml")
    text = page(data, report_of(data))
    order = [text.index(f'id="{name}"') for name in ("findings", "delay", "parameters", "doubts", "measured")]
    assert order == sorted(order)
    assert text.index("figure-headline") < text.index('id="delay"')


def test_without_data_a_finding_says_how_to_measure_it(tmp_path: Path) -> None:
    for one in _found(write_run(tmp_path), None).values():
        assert one.command.startswith("eeectl ")
        assert not one.shown_in
        assert not _numbers(one.sentence)


def _policy(**more: Any) -> LinkPolicy:
    return calibration().links["path n01 - n02"].model_copy(update=more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (_policy(kind="off"), ("no link of n01-n02 slept in pauses of up to 20 ms",)),
        (_policy(card_wake_us=about(16.5)), ("the switch's port wakes in 60.0", "a host's card in 16.5")),
        (
            _policy(wake_us=about(60.0), card_wake_us=about(16.5), which=False),
            ("two groups of transmitters wake in 16.50 µs", "and 60.0 µs", "echoes do not show which"),
        ),
    ],
)
def test_a_policy_claims_no_more_than_was_found(study: Path, policy: LinkPolicy, words: tuple[str, ...]) -> None:
    sentence = _found(study, calibration(links={"n01-n02": policy}))["When links sleep"].sentence
    for part in words:
        assert part in sentence
    assert "netgear m4300 were not probed" in sentence


@pytest.mark.slow
def test_a_path_with_eee_on_everywhere_speaks_for_its_family_if_all_of_it_is_known(study: Path) -> None:
    ports, both = _policy(), _policy(card_wake_us=about(16.5))
    links = {"n01-n03 cards=off eee=on": ports, "n01-n02": both}
    assert "n01-n02: " in _found(study, calibration(links=links))["When links sleep"].sentence
    links["n01-n02"] = both.model_copy(update={"which": False})
    assert "n01-n03 cards=off eee=on: " in _found(study, calibration(links=links))["When links sleep"].sentence


@pytest.mark.slow
def test_cards_that_were_probed_alone_have_a_sentence_of_their_own(study: Path) -> None:
    cards = _policy(kind="off", ends=("n01:eth0", "n02:eth0"))
    links = {"n01-n02": _policy(), "n01-n02 eee=on stream_from=n03": cards}
    sentence = _found(study, calibration(links=links))["When links sleep"].sentence
    assert "n01-n02: a link sleeps after" in sentence
    assert "The cards of n01 and n02 did not sleep in pauses of up to 20 ms." in sentence


@pytest.mark.slow
def test_a_pair_that_may_be_exchanged_is_told_the_same_either_way(study: Path) -> None:
    one = _policy(wake_us=about(60.0), card_wake_us=about(16.5), which=False)
    other = _policy(wake_us=about(16.5), card_wake_us=about(60.0), which=False)
    sentences = {
        _found(study, calibration(links={"a-b": policy}))["When links sleep"].sentence for policy in (one, other)
    }
    assert len(sentences) == 1


def _slow_meter(time_s: float) -> Any:
    def part(writer: Writer) -> None:
        from_ns = writer.now_ns - 5_000_000_000
        for eee in ("off", "on"):
            figures = [("time", time_s, "s"), ("communications", 100.0, "call")]
            writer.write({"eee": eee}, time_s, figures=figures, program="p", hosts=HOSTS)
        writer.watts(from_ns, writer.now_ns + 5_000_000_000, 60.0)

    return part


@pytest.mark.slow
def test_a_trial_shorter_than_the_meters_period_has_no_joules(tmp_path: Path) -> None:
    for time_s, known in ((0.4, False), (4.0, True)):
        (run,) = read_report_data([write_run(tmp_path / str(time_s), _slow_meter(time_s))], None, "").runs
        meters = meters_of(run)
        assert [period_s(meter.series) for meter in meters] == pytest.approx([1.0])
        for trial in run.trials:
            assert (energy_of_trial(run, trial, meters).network_joule is not None) == known


def test_what_ran_once_costs_an_unknown_amount(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        for eee, time_s in (("off", 1.0), ("on", 1.32)):
            figures = [("time", time_s, "s"), ("communications", 100.0, "call")]
            writer.write({"eee": eee}, time_s, figures=figures, program="p", hosts=HOSTS)

    told = _found(write_run(tmp_path, part), None)["What EEE costs and saves"]
    assert "in 1 block, too few to know how much of that is chance" in told.sentence
    assert "+32 %" in told.sentence
    assert "slower" not in told.sentence
    assert "--blocks" in told.command


def test_a_sum_that_lacks_a_meter_is_unknown(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        for number in range(2):
            begun_ns, ended_ns = writer.write({}, 20.0, figures=[("time", 20.0, "s")], program="p", hosts=HOSTS)
            writer.watts(begun_ns, ended_ns, 60.0)
            if not number:
                writer.watts(begun_ns, ended_ns, 40.0, feeds="sw2", outlet=3)

    (run,) = read_report_data([write_run(tmp_path, part)], None, "").runs
    whole, lacking = (energy_of_trial(run, trial, meters_of(run)).network_watt for trial in run.trials)
    assert whole is not None
    assert whole.holds(100.0)
    assert lacking is None


@pytest.mark.slow
def test_predicted_joules_are_of_the_switches_that_were_measured(tmp_path: Path) -> None:
    """Sw5, of another family without fitted power, is metered: its joules are on neither side of the comparison."""

    def second_switch(writer: Writer) -> None:
        begun_ns = writer.now_ns
        write_alltoall(writer, repetitions=1)
        writer.watts(begun_ns, writer.now_ns + 2_000_000_000, 500.0, feeds="sw5", outlet=5)

    data = read_report_data([write_run(tmp_path, second_switch)], calibration(), "c.yaml")
    compared = [one.network_joule for one in estimated(data) if one.network_joule is not None]
    assert compared
    for measured, predicted in compared:
        assert predicted.value == pytest.approx(measured.value, rel=0.4)


def test_levels_are_in_their_natural_order(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        for size in (1_000, 20, 300):
            for trunks, uplink in (("off", "off"), ("on", "on"), ("off", "on"), ("on", "off")):
                figures = [("time", 20.0, "s")]
                parameters = {"size": size}
                levels = {"trunks": trunks, "uplink": uplink, "size": size}
                begun_ns, ended_ns = writer.write(
                    levels, 20.0, figures=figures, program="p", parameters=parameters, hosts=HOSTS
                )
                writer.watts(begun_ns, ended_ns, 60.0)

    series = series_of(read_report_data([write_run(tmp_path, part)], None, ""))
    assert [dict(one.configuration.parameters)["size"] for one in series] == [20, 300, 1_000]
    for one in series:
        levels = [tuple(level for _, level in point.state) for point in one.points]
        assert levels == [("on", "on"), ("on", "off"), ("off", "on"), ("off", "off")]


def test_run_times_that_scatter_by_more_than_themselves_make_a_slowdown_with_ends(tmp_path: Path) -> None:
    """Of three trials each, on a machine that did something else meanwhile; that was a division by zero."""

    def part(writer: Writer) -> None:
        for uplink, times_s in (("on", (2.0, 2.1, 9.0)), ("off", (0.5, 0.6, 3.0))):
            for block, time_s in enumerate(times_s):
                writer.write(
                    {"uplink": uplink}, time_s, figures=[("time", time_s, "s")], program="p", hosts=HOSTS, block=block
                )

    (one,) = series_of(read_report_data([write_run(tmp_path, part)], None, ""))
    _, off = one.points
    slower = slower_percent(one, off).interval
    assert -100.0 <= slower.low < slower.value < slower.high < math.inf


def test_a_doubt_is_told_once_where_it_is_first_met() -> None:
    sections = (
        Section("a", "A", warnings=("The meter was slow.", "Hosts waited.")),
        Section("b", "B", warnings=("the meter  was slow.",)),
        Section("c", "C", warnings=("Links flapped.",)),
    )
    found = doubts_of(sections)
    assert [(one.section, one.sentences) for one in found] == [
        ("a", ("The meter was slow.", "Hosts waited.")),
        ("c", ("Links flapped.",)),
    ]


@pytest.mark.slow
def test_links_off_are_named_with_what_they_cost(tmp_path: Path) -> None:
    sentence = _found(write_run(tmp_path, write_regulation, write_probe), None)["Which links could be off"].sentence
    assert re.match(
        r"With all trunks and uplink off, hpl on 4 hosts with 2 ranks each took 2[23]\.\d+ % \(.* to .*\) longer; ",
        sentence,
    )
    assert "less power" in sentence


def test_gaps_of_a_program_that_ran_with_several_settings_are_told_once() -> None:
    assert longer_gaps({"alltoall": [0.074, 50.2, 0.45], "halo": [12.0]}) == [
        "of alltoall's gaps 0.074 to 50 %, by its settings, are longer than the fitted hold",
        "of halo's gaps 12 % are longer than the fitted hold",
    ]
