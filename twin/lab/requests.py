"""What commands ask of a running lab through its control socket."""

import os
from collections.abc import Mapping
from typing import Any

from eee_engine import FabricError

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.lab.account import LabView, status_of, truth_of
from eee_testbed.twin.lab.clock_keeper import not_kept
from eee_testbed.twin.machine.control import Handler


class Requests:
    """Answers requests about one lab."""

    def __init__(self, view: LabView) -> None:
        self._view = view
        self._captures: dict[int, str] = {}

    def handlers(self) -> dict[str, Handler]:
        """By the name of a request."""
        return {
            "status": lambda _request, _fd: status_of(self._view),
            "truth": lambda _request, _fd: truth_of(self._view),
            "fault": lambda request, _fd: self._view.faults.inject(request),
            "faults": lambda _request, _fd: self._view.faults.active(),
            "clear": lambda request, _fd: self._view.faults.clear(request.get("number")),
            "capture": self._capture,
            "stop_capture": self._stop_capture,
            "rate": self._set_rate,
            "work": self._work,
            "begin_trial": self._begin_trial,
            "end_trial": self._end_trial,
            "read_slower": self._read_slower,
            "reset_lateness": lambda _request, _fd: self._view.engine.reset_lateness(),
        }

    def _set_rate(self, request: Mapping[str, Any], _descriptor: int) -> str:
        if self._view.clock_keeper is None:
            raise LabError("this lab has no clock of its own.")
        try:
            self._view.clock_keeper.set_rate(str(request.get("rate", "")))
        except ValueError as error:
            raise LabError(f"{error}.") from error
        except OSError as error:
            raise not_kept(error) from error
        return self._view.clock_keeper.rate()

    def _work(self, request: Mapping[str, Any], _descriptor: int) -> None:
        """A process measures here: between its trials an automatic rate is the wall's, a rate that was set stays."""
        if self._view.clock_keeper is not None:
            self._view.clock_keeper.work(int(request["process"]))

    def _begin_trial(self, request: Mapping[str, Any], _descriptor: int) -> None:
        """A trial of a process begins; while it times frames or ranks an automatic rate is held."""
        if self._view.clock_keeper is not None:
            self._view.clock_keeper.hold(int(request["process"]), timed=bool(request["timed"]))

    def _end_trial(self, _request: Mapping[str, Any], _descriptor: int) -> float | None:
        return None if self._view.clock_keeper is None else self._view.clock_keeper.release()

    def _read_slower(self, _request: Mapping[str, Any], _descriptor: int) -> None:
        if self._view.clock_keeper is not None:
            self._view.clock_keeper.read_slower()

    def _capture(self, request: Mapping[str, Any], descriptor: int) -> dict[str, Any]:
        if descriptor < 0:
            raise LabError("the request has no descriptor: a capture needs one to write to.")
        try:
            link = self._view.lab.find_link(str(request["cable"]))
            capture = self._view.engine.capture(self._view.topology.cables[link.number], descriptor)
        except KeyError as error:
            os.close(descriptor)
            raise LabError(
                f"unknown cable '{request['cable']}': name a host, an end such as {self._view.lab.links[0].a}, or a "
                "line of cables.csv."
            ) from error
        except FabricError as error:
            raise LabError(f"the capture could not start: {error}.") from error
        self._captures[capture] = link.name
        return {"capture": capture, "cable": link.name}

    def _stop_capture(self, request: Mapping[str, Any], _descriptor: int) -> dict[str, Any]:
        capture = int(request["capture"])
        cable = self._captures.pop(capture, "")
        try:
            lost = self._view.engine.stop_capture(capture)
        except FabricError as error:
            raise LabError(f"the capture had already ended: {error}.") from error
        return {"lost": lost, "cable": cable}
