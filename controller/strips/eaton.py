"""Eaton ePDU G3: EATON-EPDU-MIB (1.3.6.1.4.1.534.6.6.7).

Every table is indexed by strapping first, which is the unit of a daisy chain behind one address; a lone unit is
strapping 0. A strip of the inventory is one unit: its outlets and its inputs, not those of the others.
"""

from eee_testbed.controller.strips.columns import WATT_HOUR_JOULE, ColumnFamily, Quantity, Rows, Switching
from eee_testbed.controller.strips.family import FamilyRow

_EPDU = "1.3.6.1.4.1.534.6.6.7"

# outletControlStatus (0 off, 1 on, 2 and 3 pending), outletControlOnCmd and -OffCmd (seconds until it is done),
# outletWatts, outletWh, inputTotalWatts, inputTotalWh (summed over inputs), outletName
G3_FAMILY = FamilyRow(
    title="Eaton ePDU G3",
    family=ColumnFamily(
        state=f"{_EPDU}.6.6.1.2.{{u}}.{{n}}",
        state_on=frozenset({1}),
        state_off=frozenset({0}),
        switching=Switching(f"{_EPDU}.6.6.1.4.{{u}}.{{n}}", 0, f"{_EPDU}.6.6.1.3.{{u}}.{{n}}", 0),
        power=Quantity(f"{_EPDU}.6.5.1.3.{{u}}.{{n}}", 1.0),
        energy=Quantity(f"{_EPDU}.6.5.1.4.{{u}}.{{n}}", WATT_HOUR_JOULE),
        total_power=Quantity(f"{_EPDU}.3.5.1.4.{{n}}", 1.0),
        total_energy=Quantity(f"{_EPDU}.3.5.1.5.{{n}}", WATT_HOUR_JOULE),
        names=f"{_EPDU}.6.1.1.3.{{u}}.{{n}}",
        feeds=Rows(f"{_EPDU}.3.5.1.4", "{u}.1", head="{u}."),
    ),
    verified="nothing but its MIB",
    from_memory="the column of outlets' names",
)
