"""Server Technology: Sentry3-MIB (1.3.6.1.4.1.1718.3) and Sentry4-MIB (.1718.4).

Rows are tower.infeed.outlet and unit.cord.outlet. A strip of the inventory is all that one agent has: every phase of a
three-phase strip (an infeed each in Sentry3), every cord, and the further towers or units of a chain. Its power is the
sum over all of them.
"""

from eee_testbed.controller.strips.columns import (
    TENTH_KWH_JOULE,
    WATT_HOUR_JOULE,
    ColumnFamily,
    Quantity,
    Rows,
    one_column,
)
from eee_testbed.controller.strips.family import FamilyRow

_SENTRY3 = "1.3.6.1.4.1.1718.3.2"  # infeedTable .2, outletTable .3
_SENTRY4 = "1.3.6.1.4.1.1718.4.1"

# outletControlState: idle, wake, plain, locked, minimum and event states; the rest are on their way
_STATE3_ON, _STATE3_OFF = frozenset({1, 3, 5, 7, 13, 15}), frozenset({0, 2, 4, 6, 12, 14})

SENTRY3_FAMILY = FamilyRow(
    title="Server Technology Sentry CDU (Sentry3)",
    family=ColumnFamily(
        state=f"{_SENTRY3}.3.1.10.{{n}}",
        state_on=_STATE3_ON,
        state_off=_STATE3_OFF,
        switching=one_column(f"{_SENTRY3}.3.1.11.{{n}}", {True: 1, False: 2}),
        power=Quantity(f"{_SENTRY3}.3.1.14.{{n}}", 1.0),
        energy=Quantity(f"{_SENTRY3}.3.1.18.{{n}}", WATT_HOUR_JOULE),
        total_power=Quantity(f"{_SENTRY3}.2.1.12.{{n}}", 1.0),
        total_energy=Quantity(f"{_SENTRY3}.2.1.16.{{n}}", TENTH_KWH_JOULE),
        names=f"{_SENTRY3}.3.1.3.{{n}}",
        outlets=Rows(f"{_SENTRY3}.3.1.2", "1.1.{n}"),
        feeds=Rows(f"{_SENTRY3}.2.1.2", "1.1"),
    ),
    verified="nothing but its MIB",
    from_memory="",
)

# st4OutletState (1 on, 2 off), st4OutletControlAction, st4OutletActivePower, st4OutletEnergy, st4InputCord...
SENTRY4_FAMILY = FamilyRow(
    title="Server Technology PRO2 (Sentry4)",
    family=ColumnFamily(
        state=f"{_SENTRY4}.8.3.1.1.{{n}}",
        state_on=frozenset({1}),
        state_off=frozenset({2}),
        switching=one_column(f"{_SENTRY4}.8.5.1.2.{{n}}", {True: 1, False: 2}),
        power=Quantity(f"{_SENTRY4}.8.3.1.7.{{n}}", 1.0),
        energy=Quantity(f"{_SENTRY4}.8.3.1.14.{{n}}", WATT_HOUR_JOULE),
        total_power=Quantity(f"{_SENTRY4}.3.3.1.3.{{n}}", 1.0),
        total_energy=Quantity(f"{_SENTRY4}.3.3.1.10.{{n}}", TENTH_KWH_JOULE),
        names=f"{_SENTRY4}.8.2.1.3.{{n}}",
        outlets=Rows(f"{_SENTRY4}.8.2.1.2", "1.1.{n}"),
        feeds=Rows(f"{_SENTRY4}.3.2.1.2", "1.1"),
    ),
    verified="its MIB and the twin's PRO2",
    from_memory="",
)
