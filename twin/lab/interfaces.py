"""Where a lab's devices are met: the switches' SSH and SNMP, the strips' SNMP."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import asyncssh

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import Lab
from eee_testbed.twin.cli.ssh_face import SshFace
from eee_testbed.twin.families.table import FAMILIES
from eee_testbed.twin.hosts.hosts import Progress
from eee_testbed.twin.lab.agents import strip_agent, switch_face
from eee_testbed.twin.machine.credentials import Credentials
from eee_testbed.twin.strips import Strip
from eee_testbed.twin.switch.device import SwitchDevice

if TYPE_CHECKING:
    from eee_engine import SnmpAgent

    from eee_testbed.twin.snmp.face import SnmpFace


class Interfaces:
    """Those of one lab. `agents` are the SNMP agents by device, once they have been started."""

    def __init__(
        self, lab: Lab, devices: Mapping[str, SwitchDevice], strips: Mapping[str, Strip], credentials: Credentials
    ) -> None:
        self._lab = lab
        self._devices = devices
        self._strips = strips
        self._credentials = credentials
        self._host_keys = {name: asyncssh.generate_private_key("ssh-ed25519") for name in devices}
        self._faces: dict[str, SshFace] = {}
        self._snmp_faces: list[SnmpFace] = []
        self._strip_agents: list[SnmpAgent] = []
        self.agents: dict[str, SnmpAgent] = {}

    def host_keys(self) -> dict[str, str]:
        """Public SSH host keys of the switches, as known_hosts writes them."""
        return {
            name: " ".join(key.export_public_key("openssh").decode().split()[:2])
            for name, key in self._host_keys.items()
        }

    def start_agents(self) -> None:
        """Start the agents of all switches and strips; LabError if an address or port is taken."""
        try:
            for switch in self._lab.switches:
                snmp = switch_face(switch, self._devices[switch.name], self._credentials)
                self._snmp_faces.append(snmp)
                self.agents[switch.name] = snmp.agent
            for strip in self._lab.strips:
                device = self._strips[strip.name]
                agent = strip_agent(strip, device, self._credentials)
                self.agents[strip.name] = agent
                device.bind(agent)
                self._strip_agents.append(agent)
                agent.start()
        except OSError as error:
            raise LabError(f"an SNMP agent could not start: {error}.") from error

    async def start_faces(self, progress: Progress) -> None:
        """Let all switches listen for SSH; LabError if an address or port is taken."""
        for switch in self._lab.switches:
            device = self._devices[switch.name]
            cli = FAMILIES[switch.family].cli(device)
            face = SshFace(
                device,
                cli,
                address=switch.address,
                port=switch.ssh_port,
                host_key=self._host_keys[switch.name],
            )
            try:
                await face.start()
            except OSError as error:
                raise LabError(
                    f"{switch.name} cannot listen at {switch.address}:{switch.ssh_port}: {error.strerror}; stop the "
                    "program that has that address, or change ansible_port in hosts.yml."
                ) from error
            self._faces[switch.name] = face
            progress("starting switches", len(self._faces), len(self._lab.switches))

    def rekey(self, name: str, other: bool) -> None:  # noqa: FBT001 - the faults' callback
        """Let a switch show another SSH host key, or its own again."""
        key = asyncssh.generate_private_key("ssh-ed25519") if other else self._host_keys[name]
        self._faces[name].use_key(key)

    async def stop(self) -> None:
        """Stop all that was started; idempotent."""
        for face in self._faces.values():
            await face.stop()
        for snmp in self._snmp_faces:
            snmp.close()
        for agent in self._strip_agents:
            agent.stop()
