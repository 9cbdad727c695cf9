"""Selection of valid echoes."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from eee_testbed.agents import echo_probe
from eee_testbed.analysis.links.fit_links import read_probes
from eee_testbed.analysis.links.probes import ECHO_WIRE_BYTE, Probes, echo_wire_byte
from eee_testbed.eeectl.verbs.probe import probe
from eee_testbed.measuring.experiments.experiment import ProbeRun
from eee_testbed.record.store import Run
from eee_testbed.record.trials import read_trials
from tests.support.measured.synthetic_run import Writer, echoes_text

NAN = float("nan")


def test_an_echo_counts_if_it_was_punctual_and_it_and_the_one_before_were_answered() -> None:
    probes = Probes.of([0, 10, 20, 30, 40, 50], [5, 5, NAN, 5, 5, 5], punctual=[True, True, True, True, False, True])
    assert probes.usable.tolist() == [False, True, False, False, False, True]
    assert Probes.of([0, 10], [5, 5]).usable.tolist() == [False, True]
    assert np.array_equal(probes.gap_us[1:], np.full(5, 10.0))


@pytest.mark.parametrize(("payload_byte", "wire_byte"), [(56, 122.0), (1_472, 1_538.0), (0, 84.0)])
def test_an_echo_takes_its_payload_headers_and_the_gap_behind_it_on_the_wire(
    payload_byte: int, wire_byte: float
) -> None:
    assert echo_wire_byte(payload_byte) == wire_byte


def test_echoes_have_64_bytes_of_data_of_which_8_are_icmp() -> None:
    """Miwa 2013, section 5.1.1, wherever a payload is a default."""
    by_command = inspect.signature(probe).parameters["payload_byte"].default
    by_file = ProbeRun.model_fields["payload_byte"].default
    by_agent = re.search(r'"--payload-byte", type=int, default=(\d+)', inspect.getsource(echo_probe))
    assert by_agent is not None
    assert {by_command, by_file, int(by_agent[1])} == {64 - 8}
    assert echo_wire_byte(by_file) == ECHO_WIRE_BYTE


@pytest.mark.parametrize("payload_byte", [56, 1_000])
def test_the_wire_time_of_echoes_is_that_of_the_payload_they_were_sent_with(tmp_path: Path, payload_byte: int) -> None:
    with Run.create(tmp_path, "sizes", {}) as run:
        writer = Writer(run)
        text = echoes_text("off", writer.random, count=40)
        text = text.replace('"payload_byte": 56', f'"payload_byte": {payload_byte}')
        writer.write({}, 5.0, what="probe", files={"echoes.jsonl": text}, hosts=("n01", "n02"))
    probes = read_probes(read_trials(run.folder))
    assert set(probes.burst_byte.tolist()) == {echo_wire_byte(payload_byte)}
