"""CyberPower: the ePDU and ePDU2 branches of CPS-MIB (1.3.6.1.4.1.3808.1.1.3 and .6)."""

from eee_testbed.controller.strips.columns import TENTH_KWH_JOULE, ColumnFamily, Quantity, one_column
from eee_testbed.controller.strips.family import FamilyRow

_EPDU = "1.3.6.1.4.1.3808.1.1.3"
_EPDU2 = "1.3.6.1.4.1.3808.1.1.6"

# ePDUOutletStatusOutletState (1 on, 2 off) and -OutletName, ePDUOutletControlOutletCommand
EPDU_FAMILY = FamilyRow(
    title="CyberPower switched PDU",
    family=ColumnFamily(
        state=f"{_EPDU}.3.5.1.1.4.{{n}}",
        state_on=frozenset({1}),
        state_off=frozenset({2}),
        switching=one_column(f"{_EPDU}.3.3.1.1.4.{{n}}", {True: 1, False: 2}),
        power=None,
        energy=None,
        names=f"{_EPDU}.3.5.1.1.2.{{n}}",
    ),
    verified="nothing but its MIB",
    from_memory="",
)

# ePDU2OutletSwitchedStatusState, ePDU2OutletSwitchedControlCommand, ePDU2OutletMeteredStatusActivePower and -Energy,
# ePDU2DeviceStatusPowerLoad and -Energy
EPDU2_FAMILY = FamilyRow(
    title="CyberPower metered-by-outlet PDU (ePDU2)",
    family=ColumnFamily(
        state=f"{_EPDU2}.6.1.4.1.5.{{n}}",
        state_on=frozenset({1}),
        state_off=frozenset({2}),
        switching=one_column(f"{_EPDU2}.6.1.5.1.5.{{n}}", {True: 1, False: 2}),
        power=Quantity(f"{_EPDU2}.6.2.4.1.7.{{n}}", 1.0),
        energy=Quantity(f"{_EPDU2}.6.2.4.1.11.{{n}}", TENTH_KWH_JOULE),
        total_power=Quantity(f"{_EPDU2}.3.4.1.18.1", 1.0),
        total_energy=Quantity(f"{_EPDU2}.3.4.1.9.1", TENTH_KWH_JOULE),
    ),
    verified="nothing but the numbers of its MIB's objects",
    from_memory="units of power (W) and energy (0.1 kWh)",
)
