"""Dashboards: up to date, readable by Grafana's SDK, and with data from a real Prometheus in every panel."""

import json
import math
import os
import re
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from ruamel.yaml import YAML

from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.measuring.collecting.collect import Collector
from eee_testbed.measuring.collecting.lab_sources import sources_of
from eee_testbed.measuring.experiments.experiment import ProbeRun
from eee_testbed.measuring.experiments.probing import probe
from eee_testbed.measuring.live.export.attach import Views, attach
from eee_testbed.measuring.live.export.view_options import ViewOptions
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.run_tail import Update
from eee_testbed.record.store import Run
from eee_testbed.record.trial_events import TrialBegun, TrialEnded, trial_folder
from playbooks.monitoring.dashboards import _ANNOTATION_KEYS, FOLDER, dashboards, text_of
from tests.support.labs.toy_view import LAB as TOY_LAB
from tests.support.labs.toy_view import begun, ended, watts
from tests.support.needs import needs
from tests.support.ports import reserved_ports
from tests.support.waiting import eventually

_FILES = FOLDER.parents[1]
_RULES = _FILES / "prometheus" / "eee-testbed.rules.yml"
_NAMES = ("lab.json", "run.json", "link.json")
_SPAN_S = 8


def _read(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / name).read_text(encoding="utf-8")))


def test_the_files_are_up_to_date() -> None:
    made = dashboards()
    assert sorted(made) == sorted(path.name for path in FOLDER.glob("*.json")) == sorted(_NAMES)
    for name, plain in made.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text_of(plain), (
            "python -m playbooks.monitoring.dashboards"
        )


@pytest.mark.parametrize("name", _NAMES)
def test_grafanas_sdk_reads_every_key_and_writes_the_same(name: str) -> None:
    """Its models drop unknown keys; only those of the Prometheus annotations may be among them."""
    plain = _read(name)
    again = json.loads(json.dumps(Dashboard.from_json(plain), cls=JSONEncoder))
    for settings in (plain, again):
        for annotation in settings["annotations"]["list"]:
            for key in (*_ANNOTATION_KEYS, "target"):
                annotation.pop(key, None)
    assert again == plain


def test_panels_have_a_title_and_a_description_and_do_not_overlap() -> None:
    for name in _NAMES:
        taken: set[tuple[int, int]] = set()
        for panel in _read(name)["panels"]:
            assert panel["title"]
            assert panel["description"].endswith(".")
            at = panel["gridPos"]
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            assert at["x"] + at["w"] <= 24
            assert not cells & taken, panel["title"]
            taken |= cells


def test_a_dashboard_takes_any_data_source_of_the_provisioned_kind() -> None:
    yaml = YAML(typ="safe")
    source = yaml.load((_FILES.parent / "templates" / "datasources.yml.j2").read_text())["datasources"][0]
    used = set(re.findall(r'"uid": "([^"]*)"', "".join((FOLDER / name).read_text() for name in _NAMES)))
    assert used - {"eee-lab", "eee-run", "eee-link"} == {"${datasource}"}
    for name in _NAMES:
        variables = {one["name"]: one for one in _read(name)["templating"]["list"]}
        assert variables["datasource"]["query"] == source["type"]
    assert yaml.load((_FILES / "grafana/provisioning/dashboards/eee.yml").read_text())["providers"][0]["type"] == "file"


# -- with a real Prometheus and a run on the twin


class _Prometheus:
    """Debian's server, scraping one target each half second."""

    def __init__(self, folder: Path, target: str, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}/api/v1"
        scrape = [{"job_name": "eee", "static_configs": [{"targets": [target]}]}]
        often = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
        settings = {"global": often, "scrape_configs": scrape, "rule_files": [str(_RULES)]}
        (folder / "prometheus.yml").write_text(json.dumps(settings))
        listen = self.base.removeprefix("http://").removesuffix("/api/v1")
        argv = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb"]
        with (folder / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                ["prometheus", *argv, f"--web.listen-address={listen}"], stdout=log, stderr=log
            )

    def ask(self, what: str, **query: str) -> Any:
        url = f"{self.base}/{what}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - ours
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it is starting
                raise
            pytest.fail(f"{query}: {error.read().decode()}")

    def wait_for(self, expression: str) -> None:
        def scraped() -> bool:
            try:
                return bool(self.ask("query", query=expression)["result"])
            except OSError:
                assert self._process.poll() is None
                return False

        eventually(f"{expression} is not empty", scraped)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(20)


@pytest.mark.slow
def test_the_energy_by_trial_is_that_of_all_strips_since_the_run_began(tmp_path: Path) -> None:
    needs("prometheus")
    panel = next(one for one in _read("run.json")["panels"] if one["title"] == "Energy by trial")
    expression = _filled(panel["targets"][0]["expr"], {"lab": "toy", "run": "toy"})
    samples = tuple(watts(second, 25.0, 60.0) for second in range(11))
    trials = (begun(1, 1), ended(4, 1), begun(5, 2), ended(9, 2, "failed"))
    with ExitStack() as opened:
        views = Views(TOY_LAB, ViewOptions(prometheus="127.0.0.1:0"), "toy")
        opened.callback(views.close)
        (port,) = opened.enter_context(reserved_ports())
        server = _Prometheus(tmp_path, views.url.split("/")[2], port)
        opened.callback(server.close)
        facts = {"name": "toy", "state": "running", "experiment": {"name": "x"}, "slot_count": 2}
        views.take_update(Update(samples, trials[:1]), facts)
        server.wait_for("eee_strip_measured_joules_total")
        assert server.ask("query", query=expression)["result"] == [], "no trial has ended"
        views.take_update(Update((), trials[1:]), facts)
        server.wait_for("sum(eee_run_trials_total) == 2")
        (row,) = server.ask("query", query=expression)["result"]
    assert float(row["value"][1]) == pytest.approx(85.0 * 10 / 2)


@contextmanager
def _recorded(lab: Lab, folder: Path) -> Iterator[Run]:
    """A run with samples, a trial that ended, one with a probe that goes on, and an actuation."""
    facts = {"lab": lab.name, "experiment": {"name": "probe"}, "slot_count": 2}
    ending = threading.Event()
    with Run.create(folder, "probe", facts) as run, Collector(sources_of(lab, period_s=0.5, lpi_period_s=1.0), run):
        now_ns = run.clock.now_ns()
        begun = TrialBegun(1, 1, 1, 0, {"eee": "off"}, "idle")
        run.event(EventKind.TRIAL_BEGUN, **begun.plain())
        ended = TrialEnded(1, "valid", "", now_ns - 1_500_000_000, now_ns, figures=[("time", 1.5, "s")])
        run.event(EventKind.TRIAL_ENDED, **ended.plain())
        link = lab.find_link("sw1:gi1/0/11").name
        run.event(EventKind.ACTUATION, what="eee", link=link, after="on", begun_ns=now_ns, ended_ns=now_ns)
        loop = {"active": 8, "links": {"off": [link]}, "busiest_share": 0.1, "slowdown": 0.01}
        run.event(EventKind.LOOP_EPOCH, epoch=1, **loop, backs_off=False, undecided="")
        run.event(EventKind.TRIAL_BEGUN, **TrialBegun(2, 2, 1, 0, {"eee": "on"}, "probe").plain())
        trial_folder(run.folder, 2).mkdir(parents=True)

        def go() -> None:
            ask = ProbeRun(source="n01", target="n03", count=1_000, gap_us=(5_000.0, 20_000.0))
            probe(
                lab.host("n01"), lab.host("n03"), ask, trial_folder(run.folder, 2), seed=1, now=run.clock.now_ns,
                user="root",
            )  # fmt: skip
            ending.set()

        thread = threading.Thread(target=go)
        thread.start()
        try:
            yield run
        finally:
            thread.join()


@pytest.mark.lab
def test_no_query_of_any_panel_is_empty(
    running_lab: tuple[Path, Path], eeectl: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("prometheus")
    folder, state = running_lab
    settings = ["eee", "on", "sw1:gi1/0/11", "--lab", str(folder), "--may-flap", "--yes", "--no-host-check"]
    done = eeectl(
        *settings, env={**os.environ, "EEE_STATE_DIR": str(state.parent), "EEE_CONTROLLER_DIR": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr  # else no port enters LPI
    monkeypatch.setenv("EEE_STATE_DIR", str(state.parent))
    lab = load_lab(folder)
    with ExitStack() as opened:
        run = opened.enter_context(_recorded(lab, tmp_path / "runs"))
        views = opened.enter_context(attach(run.folder, lab, ViewOptions(prometheus="127.0.0.1:0"), print))
        assert views is not None
        (port,) = opened.enter_context(reserved_ports())
        server = _Prometheus(tmp_path, views.url.split("/")[2], port)
        opened.callback(server.close)
        server.wait_for("eee_port_lpi_seconds_total")
        server.wait_for(f"count_over_time(eee_probe_round_trip_seconds_count[{_SPAN_S}s]) > {_SPAN_S}")
        empty = [
            f"{name}: {title}: {expression}"
            for name in _NAMES
            for title, expression, instant in _queries(server, _read(name), lab)
            if not _has_data(server, expression, instant=instant)
        ]
        rules = [rule for group in server.ask("rules")["groups"] for rule in group["rules"]]
    assert not empty, "\n".join(empty)
    assert rules
    assert not [rule["name"] for rule in rules if rule["health"] != "ok"]


def _queries(server: _Prometheus, plain: Mapping[str, Any], lab: Lab) -> Iterator[tuple[str, str, bool]]:
    """(title, PromQL as Grafana would send it, whether for one moment) of every panel and annotation."""
    values = {"__rate_interval": "6s", "__range": f"{_SPAN_S}s", "__range_s": str(_SPAN_S), "__interval": "1s"}
    for variable in plain["templating"]["list"]:
        if variable["type"] == "datasource":
            continue
        match = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
        assert match, variable["query"]
        found = server.ask(f"label/{match[2]}/values", **{"match[]": _filled(match[1], values)})
        assert found, variable["name"]
        wanted = lab.find_link("sw1:gi1/0/11").name
        values[variable["name"]] = wanted if wanted in found else found[0]
    for panel in plain["panels"]:
        for target in panel["targets"]:
            yield panel["title"], _filled(target["expr"], values), bool(target.get("instant"))
    for annotation in plain["annotations"]["list"]:
        yield annotation["name"], _filled(annotation["target"]["expr"], values), False


def _filled(expression: str, values: Mapping[str, str]) -> str:
    filled = re.sub(r"\$([a-z_]\w*)", lambda match: values[match[1]], expression)
    assert "$" not in filled.replace('"$1"', "")
    return filled


def _has_data(server: _Prometheus, expression: str, *, instant: bool) -> bool:
    now_s = time.time()
    if instant:
        rows = server.ask("query", query=expression, time=f"{now_s:.3f}")["result"]
        values = [row["value"] for row in rows]
    else:
        asked = {"start": f"{now_s - _SPAN_S:.3f}", "end": f"{now_s:.3f}", "step": "1"}
        rows = server.ask("query_range", query=expression, **asked)["result"]
        values = [value for row in rows for value in row["values"]]
    return any(math.isfinite(float(value)) for _, value in values)
