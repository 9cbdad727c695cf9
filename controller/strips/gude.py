"""Gude Expert Power Control 8226 and 8221: GUDEADS-EPC8226-MIB (1.3.6.1.4.1.28507.58) and -EPC8221-MIB (.56).

The strip shows whole watts, but milliamperes times volts times power factor give a fraction of one. That product is
taken where it agrees with the watts that are shown; it is as much too small or large as the volts are rounded, up to
0.3 % at 230 V, as a change of the mains by a volt would show. The difference between two states keeps the error small.
"""

from dataclasses import dataclass

from eee_testbed.controller.drivers.driver import SnmpSet
from eee_testbed.controller.strips.columns import WATT_HOUR_JOULE, number_at, text_at
from eee_testbed.controller.strips.family import NOT_METERED, Channel, FamilyRow, Found, OutletReading, StripReading
from eee_testbed.lab.model import Strip

_GUDE = "1.3.6.1.4.1.28507"
_BRANCHES = (("8221", 56), ("8226", 58))
_BANKS = (1, 2)
_VALID, _ENERGY, _WATT, _MILLIAMPERE, _VOLT, _FACTOR = 2, 3, 4, 5, 6, 8
_COLUMNS = (_VALID, _ENERGY, _WATT, _MILLIAMPERE, _VOLT, _FACTOR)


def power_of(shown_watt: int, milliampere: int, volt: int, thousandths: int) -> tuple[float, float]:
    """(watts, step in watts): from current, voltage and factor if that agrees with what is shown, and is finer."""
    factor = abs(thousandths) / 1e3
    product_watt = milliampere / 1e3 * volt * factor
    step_watt = max(volt * factor, milliampere * volt / 1e3) / 1e3
    if abs(product_watt - abs(shown_watt)) <= 1.0 + 0.02 * abs(shown_watt) and factor > 0 and step_watt < 1.0:
        return product_watt, step_watt
    return float(abs(shown_watt)), 1.0


@dataclass(frozen=True, slots=True)
class GudeFamily:
    """Both models: the 8226 meters each outlet, both meter two banks of six."""

    def _root(self, strip: Strip) -> str:
        number = next((number for model, number in _BRANCHES if model in strip.model), _BRANCHES[-1][1])
        return f"{_GUDE}.{number}.1"

    def _channels(self, strip: Strip) -> tuple[list[str], list[str]]:
        """Patterns of the columns of each outlet's channel and of each bank's."""
        root = self._root(strip)
        outlets = [f"{root}.5.5.2.1.%d.{n}" for n in range(1, strip.outlet_count + 1)]
        return outlets, [f"{root}.5.1.2.1.%d.{bank}" for bank in _BANKS]

    def _state(self, strip: Strip, outlet: int) -> str:
        return f"{self._root(strip)}.3.1.2.1.3.{outlet}"

    def tables(self, strip: Strip) -> tuple[str, ...]:  # noqa: ARG002 - other families need the strip
        """None: the model says what there is."""
        return ()

    def listed_outlets(self, strip: Strip, constants: Found) -> int | None:  # noqa: ARG002 - other families list outlets
        """Outlets are not listed: those that there are answer."""
        return None

    def objects(self, strip: Strip, constants: Found) -> tuple[str, ...]:  # noqa: ARG002 - as above
        """States, and six columns of each channel."""
        states = [self._state(strip, n) for n in range(1, strip.outlet_count + 1)]
        outlets, banks = self._channels(strip)
        return (*states, *(pattern % column for pattern in (*outlets, *banks) for column in _COLUMNS))

    def constants(self, strip: Strip, known: Found) -> tuple[str, ...]:  # noqa: ARG002 - as above
        """Names of the outlets (epc8226PortName)."""
        return tuple(self._name(strip, n) for n in range(1, strip.outlet_count + 1))

    def _name(self, strip: Strip, outlet: int) -> str:
        return f"{self._root(strip)}.3.1.2.1.2.{outlet}"

    def reading(self, strip: Strip, objects: Found) -> StripReading:
        """The total is the sum of both banks."""
        outlet_patterns, bank_patterns = self._channels(strip)
        outlets = tuple(
            OutletReading(
                n,
                _state_of(number_at(strip, objects, self._state(strip, n))),
                _channel(strip, objects, pattern),
                text_at(objects, self._name(strip, n)),
            )
            for n, pattern in enumerate(outlet_patterns, start=1)
        )
        banks = [_channel(strip, objects, pattern) for pattern in bank_patterns]
        names = [f"bank {bank}" for bank in _BANKS]
        silent = tuple(name for name, bank in zip(names, banks, strict=True) if bank.power_watt is None)
        return StripReading(
            outlets, _together(banks), summed=tuple(names), unread=silent if len(silent) < len(banks) else ()
        )

    def switch(self, strip: Strip, outlet: int, constants: Found, *, on: bool) -> SnmpSet:  # noqa: ARG002 - as above
        """The state is what is set (epc8226PortState: 0 off, 1 on)."""
        word = "on" if on else "off"
        return SnmpSet(((self._state(strip, outlet), int(on)),), f"switch outlet {outlet} {word}")


def _state_of(code: int | None) -> bool | None:
    return bool(code) if code in {0, 1} else None


def _channel(strip: Strip, objects: Found, pattern: str) -> Channel:
    values = {column: number_at(strip, objects, pattern % column) for column in _COLUMNS}
    watt, milliampere, volt, factor = (values[column] for column in (_WATT, _MILLIAMPERE, _VOLT, _FACTOR))
    if watt is None or values[_VALID] == 0:
        return NOT_METERED
    if milliampere is None or volt is None or factor is None:
        power_watt, step_watt = float(watt), 1.0
    else:
        power_watt, step_watt = power_of(watt, milliampere, volt, factor)
    energy = values[_ENERGY]
    joule = None if energy is None else energy * WATT_HOUR_JOULE
    return Channel(power_watt, step_watt, joule, None if joule is None else WATT_HOUR_JOULE)


def _together(banks: list[Channel]) -> Channel:
    powers = [bank.power_watt for bank in banks if bank.power_watt is not None]
    energies = [bank.energy_joule for bank in banks if bank.energy_joule is not None]
    whole = len(powers) == len(banks)
    counted = whole and len(energies) == len(banks)
    return Channel(
        sum(powers) if whole else None,
        sum(bank.power_step_watt or 0.0 for bank in banks) if whole else None,
        sum(energies) if counted else None,
        WATT_HOUR_JOULE if counted else None,
    )


FAMILY = FamilyRow(
    title="Gude Expert Power Control 8226 and 8221",
    family=GudeFamily(),
    verified="its MIB and the twin's 8226",
    from_memory="",
)
