"""Shows that a firmware may lack are empty answers; any other refusal is an error."""

import pytest

from eee_testbed.controller.drivers.driver import Line, Show
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.transports.switches import SwitchSession
from eee_testbed.lab.errors import Rejected
from eee_testbed.lab.model import Switch

_SWITCH = Switch("sw1", "cisco_ios", "", "192.0.2.1", 22, 161, "", "", "", ())


class _ToyLine:
    """A command line that knows one show."""

    def show(self, command: str) -> str:
        if command != "show version":
            raise Rejected("sw1", command, "% Invalid input detected at '^' marker.")
        return "15.2"

    def execute(self, line: Line) -> tuple[int, int]:
        raise AssertionError(line)

    def close(self) -> None:
        return


def _session() -> SwitchSession:
    return SwitchSession(_SWITCH, driver_of(_SWITCH), dial=lambda *_: _ToyLine())


def test_a_show_that_a_firmware_may_lack_is_empty() -> None:
    lacking, known = Show("show eee status interface Gi1/0/1", may_lack=True), Show("show version", may_lack=True)
    assert _session().ask([lacking, known]) == {lacking: "", known: "15.2"}


def test_a_show_that_has_to_be_there_is_an_error() -> None:
    with pytest.raises(Rejected):
        _session().ask([Show("show running-config")])
