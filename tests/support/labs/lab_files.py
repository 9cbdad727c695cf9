"""Writes the folder of a small lab with addresses of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support import ROOT

STATE_ROOT: Final = Path("/run/eee-testbed")


@dataclass(frozen=True, slots=True)
class Model:
    """A switch model, by its family and model name in the inventory."""

    family: str
    name: str
    ports: str


DELL: Final = Model("dell_powerconnect_55xx", "PowerConnect 5524", '{"gi1/0/[1:24]": 1000, "te1/0/[1:2]": 10000}')
NETGEAR: Final = Model("netgear_m4300", "M4300-28G", '{"1/0/[1:24]": 1000, "1/0/[25:28]": 10000}')


@dataclass(frozen=True, slots=True)
class SmallLab:
    """A lab in 198.18.`number`.0/24: switches with their start-up configurations, hosts n01 ... and cables.

    `cables` are rows of cables.csv, with a LAG's number at the end if `has_lags`; `strips` lines of hosts.yml below the
    strips, `outlets` rows of outlets.csv.
    """

    number: int
    switches: Mapping[str, Model]
    host_count: int
    cables: Sequence[str]
    startup: Mapping[str, str]
    strips: Sequence[str] = ()
    outlets: Sequence[str] = ()
    has_lags: bool = False

    def write(self, parent: Path, name: str, truth: str, state_root: Path = STATE_ROOT) -> Path:
        """Write the folder and return it."""
        folder = parent / name
        (folder / "twin" / "startup").mkdir(parents=True)
        (folder / "hosts.yml").write_text(self._hosts(state_root / name), encoding="utf-8")
        head = "end_a,end_b,rate_mbps,kind,switchable" + ",lag" * self.has_lags
        (folder / "cables.csv").write_text("\n".join([head, *self.cables, ""]), encoding="utf-8")
        if self.outlets:
            (folder / "outlets.csv").write_text("\n".join(["strip,outlet,feeds", *self.outlets, ""]), encoding="utf-8")
        (folder / "twin" / "truth.yaml").write_text(truth, encoding="utf-8")
        for switch, text in self.startup.items():
            (folder / "twin" / "startup" / f"{switch}.cfg").write_text(text, encoding="utf-8")
        return folder

    def _hosts(self, state: Path) -> str:
        secrets = f"{state}/secrets"
        lines = [
            "all:",
            "  vars:",
            f"    management_network: 198.18.{self.number}.0/24",
            "    data_network: 198.19.0.0/16",
            "  children:",
            "    switches:",
            "      vars:",
            f"        password_file: {secrets}/cli_password",
            f"        community_file: {secrets}/snmp_write_community",
            f"        known_hosts_file: {state}/known_hosts",
            "      hosts:",
        ]
        lines += (
            f"        {switch}: {{ansible_host: 127.{self.number}.1.{n}, family: {model.family}, model: {model.name}, "
            f"ports: {model.ports}}}"
            for n, (switch, model) in enumerate(self.switches.items(), 1)
        )
        lines += [
            "    nodes:",
            "      vars:",
            "        ansible_user: lab",
            f"        ansible_ssh_common_args: -F {state}/ssh_config",
            "      hosts:",
        ]
        lines += (
            f"        n{n:02}: {{ansible_host: 198.18.{self.number}.{n}, data_address: 198.19.{self.number}.{n}, "
            f'mac: "{mac(self.number, n)}"}}'
            for n in range(1, self.host_count + 1)
        )
        if self.strips:
            lines += ["    strips:", "      vars:", f"        community_file: {secrets}/snmp_write_community"]
            lines += ["      hosts:", *(f"        {strip}" for strip in self.strips)]
        return "\n".join(lines) + "\n"


def mac(number: int, host: int) -> str:
    """Return the MAC address of a lab's host, counted from 1."""
    return f"02:ee:{number:02x}:00:00:{host:02x}"


def virtual_truth() -> str:
    """The virtual lab's truth without the part for a switch that small labs do not have."""
    truth = (ROOT / "inventory" / "virtual" / "twin" / "truth.yaml").read_text(encoding="utf-8")
    kept = [line for line in truth.splitlines() if "sw4:" not in line and line.strip() != "overrides:"]
    return "\n".join(kept) + "\n"
