"""Energy and power that a node measures itself: RAPL, its management controller by IPMI, and by Redfish on request."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import shutil
import ssl
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eee_testbed.agents.metrics import Series, Source, Value
from eee_testbed.agents.stream import AgentError

_POWERCAP = Path("/sys/class/powercap")
_IPMI_DEVICES = ("/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0")
_DCMI_WATT = re.compile(r"Instantaneous power reading:\s*(\d+)\s*Watts")
_DCMI_STATE = re.compile(r"Power reading state is:\s*(\S+)")
_REDFISH_ENABLED = ("Enabled", "Updating", "Quiesced", "")
"""Status.State of a sensor that measures; Disabled, Absent, UnavailableOffline, StandbyOffline and others do not."""

_SLOW_S = 20.0


def rapl_source(folder: Path = _POWERCAP) -> Source:
    """Energy counters of the processors' zones (Documentation/power/powercap), joined over their wraps.

    A counter wraps once in minutes to hours; sampled at least once in between, none is missed.
    """
    zones = sorted(folder.glob("*rapl*:*")) if folder.is_dir() else []
    if not zones:
        return Source("RAPL", absent="the kernel has no RAPL energy counters")
    try:
        counters = [_Wrapping(zone) for zone in zones]
    except OSError as error:
        return Source("RAPL", absent=f"RAPL energy counters may not be read: {error.strerror}")
    series = tuple(
        Series("rapl_energy_joules_total", "J", "energy since the sampler started", {"zone": c.path, "name": c.name})
        for c in counters
    )
    return Source("RAPL", series, lambda: [counter.joule() for counter in counters])


class _Wrapping:
    """One zone's counter of microjoules."""

    def __init__(self, zone: Path) -> None:
        self.path = zone.name
        self.name = (zone / "name").read_text(encoding="ascii").strip()
        self._file = zone / "energy_uj"
        self._span_uj = int((zone / "max_energy_range_uj").read_text(encoding="ascii")) + 1
        self._last_uj = self._now_uj()
        self._sum_uj = 0

    def _now_uj(self) -> int:
        return int(self._file.read_text(encoding="ascii"))

    def joule(self) -> float:
        """Energy since the start."""
        now_uj = self._now_uj()
        self._sum_uj += (now_uj - self._last_uj) % self._span_uj
        self._last_uj = now_uj
        return self._sum_uj / 1e6


class Background:
    """Polls a slow source in a thread of its own, so that it does not delay other sources; keeps the last answer.

    `ask` raises OSError (or a subclass) or ValueError without an answer.
    """

    def __init__(self, ask: Callable[[], float], every_s: float) -> None:
        self._ask = ask
        self._every_s = every_s
        self._answer: tuple[float, float] | None = None
        self._problem = "it has not answered yet"
        threading.Thread(target=self._run, name="power", daemon=True).start()

    def _run(self) -> None:
        wait = threading.Event()
        while True:
            began_s = time.monotonic()
            try:
                value = self._ask()
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                self._problem = str(error)
                self._answer = None
            else:
                self._answer = (value, time.monotonic())
            wait.wait(max(0.0, began_s + self._every_s - time.monotonic()))

    def read(self) -> list[Value]:
        """The last answer, and how old it is in seconds; OSError while there is none."""
        answer = self._answer
        if answer is None:
            raise OSError(self._problem)
        return [answer[0], time.monotonic() - answer[1]]


def _power_series(source: str) -> tuple[Series, ...]:
    label = {"source": source}
    return (
        Series("power_watts", "W", "power of the node as its management controller measures it", label),
        Series("power_age_seconds", "s", "how long ago that was asked for", label),
    )


def parse_dcmi(text: str) -> float:
    """Watts from `ipmitool dcmi power reading`; ValueError if there are none.

    A controller whose power reading state is not "activated" measures no power (DCMI 1.5, Get Power Reading, bit 6).
    What it shows all the same, 0 or some watts, is not taken: nobody says what it is. Nor is 0 W of a node that runs.
    """
    found, state = _DCMI_WATT.search(text), _DCMI_STATE.search(text)
    if found is None:
        raise ValueError("the management controller reports no power")
    if state is not None and state.group(1).lower() != "activated":
        raise ValueError(f"the management controller measures no power (its power reading is {state.group(1)})")
    return _of_running_node(float(found.group(1)))


def _of_running_node(watt: float) -> float:
    """The power; ValueError if no node that runs can draw it."""
    if not 0 < watt < math.inf:
        raise ValueError(f"the management controller reports {watt:g} W of a node that runs")
    return watt


def ipmi_source(every_s: float) -> Source:
    """Power by IPMI (DCMI), through ipmitool."""
    tool = shutil.which("ipmitool")
    device = next((device for device in _IPMI_DEVICES if Path(device).exists()), "")
    if not tool or not device:
        missing = "ipmitool is not installed" if device else "no IPMI device exists"
        return Source("IPMI", absent=f"no power by IPMI: {missing}")
    if not os.access(device, os.R_OK | os.W_OK):
        return Source("IPMI", absent=f"no power by IPMI: {device} is not permitted")

    def ask() -> float:
        argv = [tool, "dcmi", "power", "reading"]
        done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_SLOW_S)
        return parse_dcmi(done.stdout.decode("utf-8", "replace"))

    return Source("IPMI", _power_series("ipmi"), Background(ask, every_s).read)


def parse_redfish(resource: Any) -> float:
    """Watts from a Power resource (DMTF DSP0266, PowerControl) or an EnvironmentMetrics one; ValueError without.

    A part whose Status.State is not that of a sensor that measures is left out.
    """
    if isinstance(resource, dict):
        for control in resource.get("PowerControl") or ():
            if isinstance(control, dict) and _is_number(control.get("PowerConsumedWatts")) and _measures(control):
                return _of_running_node(float(control["PowerConsumedWatts"]))
        reading = resource.get("PowerWatts")
        if isinstance(reading, dict) and _is_number(reading.get("Reading")) and _measures(reading):
            return _of_running_node(float(reading["Reading"]))
    raise ValueError("the resource reports no power")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _measures(part: dict[str, Any]) -> bool:
    """Whether a part of a resource says that it measures now; one without a Status says nothing else."""
    status = part.get("Status")
    return not isinstance(status, dict) or str(status.get("State") or "") in _REDFISH_ENABLED


def redfish_source(url: str, credentials: str, *, verify: bool, every_s: float) -> Source:
    """Power by Redfish: `url` is a Power or EnvironmentMetrics resource, `credentials` a file with USER:PASSWORD."""
    try:
        secret = Path(credentials).read_text(encoding="utf-8").strip()
        mode = Path(credentials).stat().st_mode
    except OSError as error:
        raise AgentError(f"cannot read Redfish credentials from '{credentials}': {error.strerror}.", 2) from None
    if mode & 0o077 or ":" not in secret:
        raise AgentError(f"{credentials} has to hold USER:PASSWORD and be readable by its owner alone: chmod 600.", 2)
    if not url.startswith("https://"):
        raise AgentError(f"'{url}' is not an https address of a Redfish resource.", 2)
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    head = {"Authorization": "Basic " + base64.b64encode(secret.encode()).decode(), "Accept": "application/json"}

    def ask() -> float:
        request = urllib.request.Request(url, headers=head)  # noqa: S310 - https, checked above
        with urllib.request.urlopen(request, timeout=_SLOW_S, context=context) as answer:  # noqa: S310 - as above
            return parse_redfish(json.load(answer))

    return Source("Redfish", _power_series("redfish"), Background(ask, every_s).read)
