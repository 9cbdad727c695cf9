"""The family as a lab uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_engine import phy_profiles

from eee_testbed.twin.families.fastpath.loader import execute
from eee_testbed.twin.families.fastpath.personality import FastpathPersonality
from eee_testbed.twin.families.fastpath.ports import LAG_COUNT, lag_ports, model_named, physical_ports
from eee_testbed.twin.families.fastpath.table import grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eee_testbed.twin.switch.personality import DeviceSpec, Personality, Port, PortPlan


class FastpathFamily:
    """See `twin.switch.personality.Family`."""

    name = "netgear_m4300"

    def ports(self, model: str) -> tuple[PortPlan, ...]:
        """Return the physical ports of a model; ValueError for an unknown one."""
        return physical_ports(model_named(model))

    def lags(self, model: str) -> tuple[PortPlan, ...]:
        """Return all port channels."""
        model_named(model)
        return lag_ports()

    def personality(self, spec: DeviceSpec, ports: Sequence[Port]) -> Personality:
        """Make a switch with factory settings."""
        wakes = {name: profile["wake_us"] for name, profile in phy_profiles().items()}
        return FastpathPersonality(spec, ports, grammar(len(ports) - LAG_COUNT), wakes, execute)
