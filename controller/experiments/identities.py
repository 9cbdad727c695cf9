"""What the switches of a run say that they are: model and firmware, which papers name."""

from collections.abc import Callable, Mapping
from typing import Final

from controller.applying.observe import ask_switches
from controller.drivers.driver import Driver
from controller.transports.session import Connect, Session
from lab.errors import DeviceError
from lab.model import Lab, Switch

FACT: Final = "switches"
"""The fact of a run that has them."""


def identities(lab: Lab, connect: Connect, driver_of: Callable[[Switch], Driver]) -> Mapping[str, Mapping[str, str]]:
    """Model and firmware by switch. Those that do not answer, or say neither, are left out: a run goes on without.

    Serial numbers are not kept, as run folders are given away.
    """

    def identity(switch: Switch, session: Session) -> Mapping[str, str]:
        driver = driver_of(switch)
        said = driver.identity(switch, session.ask(driver.identity_queries(switch)))
        return {"model": said.model, "firmware": said.firmware}

    answers = ask_switches(lab, identity, connect)
    found = {name: answer for name, answer in answers.items() if not isinstance(answer, DeviceError)}
    return {name: said for name, said in found.items() if any(said.values())}
