"""A profile holds what the trials recorded, also if parts are missing; invalid files are reported in one sentence."""

import json
from pathlib import Path

import pytest

from eee_testbed.analysis.programs.profile import Profile, ProfileError, load_profile, save_profile
from eee_testbed.analysis.programs.profile_reading import profiles_of, read_gaps
from eee_testbed.analysis.run_lab import link_mbps, run_folder
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import RunSamples
from tests.support.measured.synthetic_run import HOSTS, Writer, alltoall_times, gaps_text, write_run


def _one(profiles: tuple[Profile, ...], sleep_us: int, array_byte: int) -> Profile:
    wanted = {"sleep_us": sleep_us, "array_byte": array_byte}
    return next(one for one in profiles if wanted.items() <= dict(one.parameters).items())


def test_each_configuration_has_a_profile(sweep: Path) -> None:
    profiles = profiles_of(RunSamples(sweep))
    assert len(profiles) == 16
    one = _one(profiles, 1_100, 4_096)
    gap_us, base_us, _ = alltoall_times(1_100, 4_096)
    assert (one.program, one.hosts, one.ranks_per_host, one.trial_count) == ("alltoall", HOSTS, 1, 3)
    assert one.call_count == 1_000
    assert one.message_byte == 3_072
    assert one.base_s.value == pytest.approx(1_000 * base_us * 1e-6, rel=0.01)
    assert one.base_s.low < one.base_s.value < one.base_s.high
    assert one.idle_us == pytest.approx(one.base_s.value * 1e3 - 8 * 3_072 / 1e3)
    transmit = one.gaps["n02"].transmit
    assert transmit.frame_count == 3_000
    assert sum(transmit.count) == pytest.approx(3_000)
    assert any(low <= gap_us < high for low, high in zip(transmit.low_us, transmit.high_us, strict=True))
    assert one.traffic is not None
    assert one.traffic.bytes[0] == (0, 1_024_000, 1_024_000, 1_024_000)


def test_gaps_add_up_to_the_idle_time(sweep: Path) -> None:
    one = _one(profiles_of(RunSamples(sweep)), 2_000, 256)
    gap_us, _, _ = alltoall_times(2_000, 256)
    assert one.gaps["n01"].receive.idle_us == pytest.approx(1_000 * gap_us * 1.025 + 2_000 * 5, rel=0.05)


def test_a_profile_survives_its_file(sweep: Path, tmp_path: Path) -> None:
    one = profiles_of(RunSamples(sweep))[3]
    save_profile(tmp_path / "profile.yaml", one)
    assert load_profile(tmp_path / "profile.yaml") == one


def test_without_figures_the_matrix_says_how_often_and_how_much(tmp_path: Path) -> None:
    each = [[0, 5, 10, 10], [5, 0, 10, 10], [10, 10, 0, 5], [10, 10, 5, 0]]

    def part(writer: Writer) -> None:
        matrix = {"messages": each, "bytes": [[100 * count for count in row] for row in each]}
        files = {"traffic.json": json.dumps(matrix)}
        hosts = ("n01", "n02")
        writer.write({"eee": "off"}, 2.0, files=files, program="any", hosts=hosts, ranks_per_host=2)

    (one,) = profiles_of(RunSamples(write_run(tmp_path, part)))
    # Ranks 0 and 1 share a node: their messages to each other never cross a link.
    assert one.call_count == 40
    assert one.message_byte == 100
    assert one.base_s.value == pytest.approx(2.0)


def test_only_trials_that_saved_nothing_count(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        for levels in ({"eee": "on"}, {"eee": "off", "trunks": "off"}):
            writer.write(levels, 1.0, program="any", hosts=HOSTS, ranks_per_host=1)
        writer.write({"eee": "off"}, 1.0, program="any", hosts=HOSTS, state="invalid", why="late")

    with pytest.raises(ProfileError, match="no valid trial of a program with EEE off among its 3"):
        profiles_of(RunSamples(write_run(tmp_path, part)))


def test_rows_outside_the_window_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "gaps-n01.jsonl"
    path.write_text(gaps_text({100.0: 7}, 1.0).replace("BEGUN", "1000000000").replace("ENDED", "2000000000"))
    inside = read_gaps(path, 1_000_000_000, 2_000_000_000)
    assert inside is not None
    assert inside.transmit.count == (7.0,)
    assert read_gaps(path, 2_000_000_000, 3_000_000_000) is None


def test_where_no_row_is_within_those_that_overlap_count(tmp_path: Path) -> None:
    path = tmp_path / "gaps-n01.jsonl"
    path.write_text(gaps_text({100.0: 7}, 1.0).replace("BEGUN", "1000000000").replace("ENDED", "2000000000"))
    within = read_gaps(path, 1_900_000_000, 1_950_000_000)
    assert within is not None
    assert within.transmit.count == (7.0,)


def test_gaps_are_those_of_the_programs_own_loop(tmp_path: Path) -> None:
    """The recorder's rows are of the first second; a loop of later has none."""

    def part(writer: Writer) -> None:
        files = {"gaps-n01.jsonl": gaps_text({100.0: 7}, 1.0)}
        writer.write({"eee": "off"}, 1.0, program="any", hosts=HOSTS, ranks_per_host=1, files=files)

    folder = write_run(tmp_path, part)
    (whole,) = profiles_of(RunSamples(folder))
    assert whole.gaps
    events = folder / "events.jsonl"
    logged = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    for event in logged:
        if event["kind"] == EventKind.TRIAL_ENDED:
            event["loop_ns"] = [event["ended_ns"] + 10**9, event["ended_ns"] + 2 * 10**9]
    events.write_text("".join(json.dumps(event) + "\n" for event in logged), encoding="utf-8")
    (later,) = profiles_of(RunSamples(folder))
    assert not later.gaps


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "is not YAML"),
        ("hello", "has no key `format`"),
        ("format: 9", "has format 9, not 1"),
        ("format: 1\nname: x", "program: Field required"),
    ],
)
def test_invalid_files_are_reported(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(text)
    with pytest.raises(ProfileError, match=sentence):
        load_profile(path)


def test_a_damaged_recording_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "gaps-n01.jsonl"
    path.write_text('{"kind": "rows", "rows": [[1]]}\n')
    with pytest.raises(LabError, match=r"is not what agents/idle_gaps\.py writes"):
        read_gaps(path, 0, 1)


def test_the_link_rate_is_the_labs() -> None:
    lab = load_lab(find_lab("virtual"))
    assert link_mbps(lab) == min(host.rate_mbps for host in lab.hosts)
    assert link_mbps(None) == 1_000


def test_a_missing_run_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"is not a run's folder"):
        run_folder(str(tmp_path))


def test_profiles_and_trials_are_of_one_reading_of_the_events(tmp_path: Path) -> None:
    def part(writer: Writer) -> None:
        writer.write({"eee": "off"}, 1.0, figures=[("time", 1.0, "s")], program="p")

    run = RunSamples(write_run(tmp_path, part))
    assert [trial.program for trial in run.trials] == ["p"]
    (run.folder / "events.jsonl").unlink()
    (profile,) = profiles_of(run)
    assert profile.trial_count == len(run.trials)
