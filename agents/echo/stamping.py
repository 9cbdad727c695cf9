"""Which time stamps an interface gives, and asking its card for its own where that is permitted."""

from __future__ import annotations

from typing import Any

from eee_testbed.agents.ethtool import Ethtool, StampAbility


class Stamping:
    """Asks for the card's stamps unless it is switched off. `weaker` says what the measurement lacks, in sentences."""

    def __init__(self, interface: str, *, hardware: bool) -> None:
        self._ethtool = Ethtool(interface)
        self.weaker: list[str] = []
        self.hardware = False
        self._restore: tuple[int, int] | None = None
        self._refusal = ""
        try:
            self._ability: StampAbility | None = self._ethtool.stamp_ability()
        except OSError:
            self._ability = None
        self.departures = self._ability is None or self._ability.transmit_software
        if not self.departures:
            self.weaker.append(
                f"{interface}'s driver does not stamp departures: they are stamped by the program before it sends, "
                "and round trips hold the sending too"
            )
        if hardware and self._ability is not None and self._ability.hardware:
            self._ask_card()

    def _ask_card(self) -> None:
        try:
            before = self._ethtool.hardware_stamping()
            if before != (1, 1):
                self._ethtool.stamp_in_hardware()
                self._restore = before
        except OSError as error:
            self._refusal = error.strerror or ""
            self.weaker.append(f"the card could stamp frames itself, and may not: {self._refusal}")
        else:
            self.hardware = True

    def as_dict(self) -> dict[str, Any]:
        """For a header."""
        ability = self._ability
        return {
            "used": "hardware and kernel" if self.hardware else "kernel",
            "departures": "kernel" if self.departures else "program",
            "card_can": None if ability is None else ability.hardware,
            "card_clock": None if ability is None or ability.clock < 0 else f"/dev/ptp{ability.clock}",
        }

    def card(self) -> dict[str, Any]:
        """The card, for a header; empty where the driver does not say."""
        try:
            driver, rate_mbps = self._ethtool.driver(), self._ethtool.rate_mbps()
        except OSError:
            return {}
        return {"driver": driver.name, "firmware": driver.firmware, "bus": driver.bus, "rate_mbps": rate_mbps}

    def restore(self) -> None:
        """Have the card stamp what it stamped before."""
        if self._restore is not None:
            self._ethtool.stamp_in_hardware(*self._restore)
            self._restore = None
        self._ethtool.close()
