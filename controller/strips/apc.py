"""APC: the rPDU and rPDU2 branches of PowerNet-MIB (1.3.6.1.4.1.318.1.1.12 and .26)."""

from eee_testbed.controller.strips.columns import TENTH_KWH_JOULE, ColumnFamily, Quantity, one_column
from eee_testbed.controller.strips.family import FamilyRow

_RPDU = "1.3.6.1.4.1.318.1.1.12"
_RPDU2 = "1.3.6.1.4.1.318.1.1.26"

# rPDUOutletStatusOutletState (1 on, 2 off) and -OutletName, rPDUOutletControlOutletCommand, rPDUIdentDevicePowerWatts
RPDU_FAMILY = FamilyRow(
    title="APC switched rack PDU, first generation (AP79xx)",
    family=ColumnFamily(
        state=f"{_RPDU}.3.5.1.1.4.{{n}}",
        state_on=frozenset({1}),
        state_off=frozenset({2}),
        switching=one_column(f"{_RPDU}.3.3.1.1.4.{{n}}", {True: 1, False: 2}),
        power=None,
        energy=None,
        total_power=Quantity(f"{_RPDU}.1.16.0", 1.0),
        names=f"{_RPDU}.3.5.1.1.2.{{n}}",
    ),
    verified="nothing but its MIB",
    from_memory="",
)

# rPDU2OutletSwitchedStatusState (1 off, 2 on) and -Name, rPDU2OutletSwitchedControlCommand (1 on, 2 off),
# rPDU2OutletMeteredStatusPower and -Energy, rPDU2DeviceStatusPower (0.01 kW) and -Energy (0.1 kWh)
RPDU2_FAMILY = FamilyRow(
    title="APC rack PDU 2G (AP8xxx)",
    family=ColumnFamily(
        state=f"{_RPDU2}.9.2.3.1.5.{{n}}",
        state_on=frozenset({2}),
        state_off=frozenset({1}),
        switching=one_column(f"{_RPDU2}.9.2.4.1.5.{{n}}", {True: 1, False: 2}),
        power=Quantity(f"{_RPDU2}.9.4.3.1.7.{{n}}", 1.0),
        energy=Quantity(f"{_RPDU2}.9.4.3.1.11.{{n}}", TENTH_KWH_JOULE),
        total_power=Quantity(f"{_RPDU2}.4.3.1.5.1", 10.0),
        total_energy=Quantity(f"{_RPDU2}.4.3.1.9.1", TENTH_KWH_JOULE),
        names=f"{_RPDU2}.9.2.3.1.3.{{n}}",
    ),
    verified="its MIB and the twin's AP8653",
    from_memory="that an outlet's power is in watts (the MIB gives no unit)",
)
