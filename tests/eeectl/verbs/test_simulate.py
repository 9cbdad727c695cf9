"""`eeectl simulate`: from a file to points, and refusals in one sentence."""

import contextlib
import io
import json
import signal
from pathlib import Path

import pytest

from eee_testbed.eeectl.cli import run as eeectl

_FILE = """\
name: ring
network: {kind: torus, radix: [4]}
routing: dor
router: {vcs: 2}
loads: [0.1, 0.2]
precision: {within_percent: 5, batch_cycles: 50}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ring.yaml"
    path.write_text(_FILE, encoding="utf-8")
    return path


def test_points_are_printed_and_kept(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [point["load"] for point in found["points"]] == [0.1, 0.2]
    assert found["folder"] == "simulations/ring"
    assert [(one["load"], one["model"]) for one in found["power"]] == [
        (load, model) for load in (0.1, 0.2) for model in ("TCEP", "Georgakoudis", "Andujar")
    ]
    assert all(one["ratio"] == {"value": 1.0, "low": 1.0, "high": 1.0} for one in found["power"])
    assert Path("simulations/ring/points.parquet").is_file()
    assert "4 nodes, 4 routers, 4 links, diameter 2; flit engine" in " ".join(err.split())
    assert "(the packet engine is not for it: switching is wormhole)" in " ".join(err.split())
    assert "No packets can wait for each other in a circle." in err
    assert "[2 of 2]" in err
    # Again: nothing is simulated, and the table is printed.
    assert eeectl(["simulate", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "load 0.1 seed" not in err
    assert "points: simulations/ring/points.parquet" in out


def test_a_network_of_single_links_is_read_back(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = "{kind: graph, routers: 3, nodes: [0, 1, 2], links: [[0, 1], [1, 2]]}"
    text = _FILE.replace("{kind: torus, radix: [4]}", graph).replace("dor", "up_down")
    file.write_text(text, encoding="utf-8")
    assert eeectl(["simulate", str(file)]) == 0
    assert "points: simulations/ring/points.parquet" in capsys.readouterr().out


def test_a_network_that_can_deadlock_is_refused_with_the_cycle(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        _FILE.replace("radix: [4]", "radix: [5]")
        .replace("routing: dor", "routing: shortest")
        .replace("vcs: 2", "vcs: 1")
    )
    file.write_text(text, encoding="utf-8")
    assert eeectl(["simulate", str(file)]) == 1
    err = capsys.readouterr().err
    assert "packets can deadlock (router" in err
    assert err.count("\n") == 1


def test_mistakes_are_one_sentence(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(_FILE.replace("vcs: 2", "vcs: 1"), encoding="utf-8")
    assert eeectl(["simulate", str(file)]) == 1
    assert "needs at least 2 virtual channels" in capsys.readouterr().err
    assert eeectl(["simulate", "none.yaml"]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_an_mpi_job_without_its_option_is_refused_once(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    assert eeectl(["simulate", str(file)]) == 1
    assert "mpirun started 3 processes that would all simulate the same: add --mpi." in capsys.readouterr().err
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    assert eeectl(["simulate", str(file)]) == 0
    assert capsys.readouterr() == ("", "")
    assert not Path("simulations").exists()


def test_mpi_takes_no_jobs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--mpi", "--jobs", "2"]) == 1
    assert "leave --jobs out" in capsys.readouterr().err


def test_the_engine_is_chosen(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(_FILE.replace("vcs: 2", "vcs: 2, switching: cut_through"), encoding="utf-8")
    assert eeectl(["simulate", str(file), "--engine", "flit", "-o", "flit"]) == 0
    assert "flit engine (as asked)" in " ".join(capsys.readouterr().err.split())
    assert eeectl(["simulate", str(file), "--engine", "auto", "-o", "packet"]) == 0
    assert "packet engine (cut-through" in " ".join(capsys.readouterr().err.split())


class _CtrlC(io.StringIO):
    """A terminal at which somebody presses Ctrl-C when the first point is shown."""

    def write(self, text: str) -> int:
        if "load " in text and "load " not in self.getvalue():
            super().write(text)
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


def test_ctrl_c_keeps_points(file: Path) -> None:
    with contextlib.redirect_stderr(_CtrlC()) as said:
        assert eeectl(["simulate", str(file)]) == 130
    kept = "interrupted; 1 point is kept in simulations/ring: run the same command again to continue."
    assert kept in said.getvalue()


@pytest.mark.slow
def test_a_report_leaves_json_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eeectl(["simulate", str(file), "--json", "--report"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["report"] == "simulations/ring/report.html"
    assert Path(found["report"]).is_file()
