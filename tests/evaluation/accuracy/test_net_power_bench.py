"""The comparison with other people's routers, on a router whose powers are known."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML

from evaluation.accuracy import net_power_bench

TRUTH = {"P_BASE": 40.0, "P_TRX_IN": 1.5, "P_PORT": 0.4, "P_TRX_UP": 0.2, "E_BIT": 20e-12, "E_PKT": 50e-9}
TRUTH |= {"P_OFFSET": 0.3}
PORTS = 8


def _found(random: np.random.Generator, minute: list[int], watt: float, count: int = 5) -> dict[str, Any]:
    begun = datetime(2024, 4, 1, tzinfo=UTC)
    stamps = [(begun + timedelta(minutes=minute[0] + n)).strftime("%Y-%m-%d_%H:%M:%S") for n in range(count)]
    minute[0] += count
    return {"power": [float(watt + random.normal(0, 0.05)) for _ in range(count)], "ts": stamps}


def _write(folder: Path) -> None:
    random, minute = np.random.default_rng(1), [0]
    idle = TRUTH["P_BASE"] + PORTS * TRUTH["P_TRX_IN"]
    up = TRUTH["P_PORT"] + TRUTH["P_TRX_UP"]
    snake: dict[int, dict[float, Any]] = {}
    for size in (256, 1_024, 4_096):
        for gbps in (2.5, 5.0, 10.0, 25.0, 50.0, 100.0):
            pps = gbps * 1e9 / (8 * (size + 58))
            each = up + TRUTH["P_OFFSET"] + TRUTH["E_BIT"] * gbps * 1e9 + TRUTH["E_PKT"] * pps
            snake.setdefault(size, {})[gbps] = _found(random, minute, idle + PORTS * each)
    stages = {
        "idle": {PORTS: _found(random, minute, idle)},
        "switch": {"100G": {n: _found(random, minute, idle + n * TRUTH["P_PORT"]) for n in (1, 2, 3, 4)}},
        "trx": {"100G": {n: _found(random, minute, idle + n * up) for n in (2, 4, 6, 8)}},
        "snake-test": {"100G": {PORTS: snake}},
    }
    folder.mkdir()
    data = {"QSFP": {"LR": stages}, "base": _found(random, minute, TRUTH["P_BASE"]), "device": "toy"}
    YAML().dump(data, folder / "power_data.yml")
    YAML().dump({"metadata": {}, "QSFP28": {"LR": {"100G": TRUTH}}}, folder / "power_model.yml")


def test_a_known_routers_powers_are_found_in_the_conventions_of_its_authors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path / "toy")
    net_power_bench.main([str(tmp_path)])
    (router,) = json.loads(capsys.readouterr().out)
    assert {row["parameter"] for row in router["parameters"]} == set(TRUTH)
    for row in router["parameters"]:
        value, low, high = row["ours"]
        assert row["published"] == TRUTH[row["parameter"]]
        assert value == pytest.approx(row["published"], rel=0.1, abs=0.05 if row["parameter"].startswith("P") else 0)
        assert low <= high
    assert sum(row["holds"] for row in router["parameters"]) >= 6
    figure = net_power_bench.static_figure([router, {"refused": "too little"}])
    assert figure is not None
    assert (figure.n, figure.held) == (5, f"{figure.value:.0f} of 5")
