"""How each family lets somebody in over SSH: one row a kind of server.

The rows say what netmiko's classes know of these servers (`tests/controller/drivers/test_login.py` compares them);
importing netmiko itself takes longer than shutting a link.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Login:
    """How a terminal session begins. `netmiko_type` is the device type of the same servers in netmiko."""

    netmiko_type: str
    paging_off: tuple[str, ...]
    """Typed after the login; where there are several, a server may know only one of them."""

    asks_inside: bool = False
    """The server lets everybody in by the SSH method *none* and asks for name and password inside the session."""

    enter: str = "\n"
    """What the Enter key sends."""


DELL_POWERCONNECT: Final = Login(
    "dell_powerconnect", paging_off=("terminal datadump", "terminal length 0"), asks_inside=True
)
DELL_OS6: Final = Login("dell_os6", paging_off=("terminal length 0",))
NETGEAR_PROSAFE: Final = Login("netgear_prosafe", paging_off=("terminal length 0",), enter="\r")
CISCO_S300: Final = Login("cisco_s300", paging_off=("terminal datadump", "terminal width 511"))
CISCO_IOS: Final = Login("cisco_ios", paging_off=("terminal length 0", "terminal width 511"))
