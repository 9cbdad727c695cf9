"""Eaton ePDU G3: EATON-EPDU-MIB (1.3.6.1.4.1.534.6.6.7). Rows are strapping.outlet; a lone unit is strapping 0."""

from controller.power.columns import WATT_HOUR_JOULE, ColumnFamily, Quantity, Rows, Switching
from controller.power.family import FamilyRow

_EPDU = "1.3.6.1.4.1.534.6.6.7"

# outletControlStatus (0 off, 1 on, 2 and 3 pending), outletControlOnCmd and -OffCmd (seconds until it is done),
# outletWatts, outletWh, inputTotalWatts, inputTotalWh (summed over inputs), outletName
G3_FAMILY = FamilyRow(
    title="Eaton ePDU G3",
    family=ColumnFamily(
        state=f"{_EPDU}.6.6.1.2.0.{{n}}",
        state_on=frozenset({1}),
        state_off=frozenset({0}),
        switching=Switching(f"{_EPDU}.6.6.1.4.0.{{n}}", 0, f"{_EPDU}.6.6.1.3.0.{{n}}", 0),
        power=Quantity(f"{_EPDU}.6.5.1.3.0.{{n}}", 1.0),
        energy=Quantity(f"{_EPDU}.6.5.1.4.0.{{n}}", WATT_HOUR_JOULE),
        total_power=Quantity(f"{_EPDU}.3.5.1.4.{{n}}", 1.0),
        total_energy=Quantity(f"{_EPDU}.3.5.1.5.{{n}}", WATT_HOUR_JOULE),
        names=f"{_EPDU}.6.1.1.3.0.{{n}}",
        feeds=Rows(f"{_EPDU}.3.5.1.4", "0.1"),
    ),
    verified="nothing but its MIB",
    from_memory="the column of outlets' names",
)
