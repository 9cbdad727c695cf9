//! The MIB groups that an agent can serve of a switch, and which module serves each.

use fabric::{Fabric, FabricError, Ps, SwitchId};
use snmp::TableBuilder;

use crate::mib::copy::{PortPlace, SwitchCopier};
use crate::mib::{bridge, eee, ether, interfaces, lldp, mau, qbridge};

/// A MIB group that the engine serves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MibGroup {
    /// IF-MIB ifTable.
    If,
    /// IF-MIB ifXTable.
    IfX,
    /// EtherLike-MIB dot3StatsTable and dot3PauseTable.
    EtherLike,
    /// BRIDGE-MIB.
    Bridge,
    /// Q-BRIDGE-MIB.
    QBridge,
    /// MAU-MIB.
    Mau,
    /// LLDP-MIB.
    Lldp,
    /// The EEE MIB of RADLAN/ROS switches.
    RosEee,
}

impl MibGroup {
    /// The group with this name in `Group.groups`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "if" => Self::If,
            "ifx" => Self::IfX,
            "etherlike" => Self::EtherLike,
            "bridge" => Self::Bridge,
            "qbridge" => Self::QBridge,
            "mau" => Self::Mau,
            "lldp" => Self::Lldp,
            "ros_eee" => Self::RosEee,
            _ => return None,
        })
    }
}

/// What an agent serves of one switch.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The switch.
    pub switch: SwitchId,
    /// Its ports in the order of ifIndex.
    pub ports: Vec<PortPlace>,
    /// The groups served.
    pub groups: Vec<MibGroup>,
}

/// The MIB groups of one switch.
#[derive(Debug)]
pub struct SwitchMib {
    groups: Vec<MibGroup>,
    copier: SwitchCopier,
}

impl SwitchMib {
    /// The groups of `layout`.
    ///
    /// # Errors
    /// The layout names a port or switch that the fabric does not have.
    pub fn new(layout: Layout, fabric: &mut Fabric, now: Ps) -> Result<Self, FabricError> {
        Ok(Self {
            groups: layout.groups,
            copier: SwitchCopier::new(layout.switch, layout.ports, fabric, now)?,
        })
    }

    /// The copy from which the groups are served, to be renewed.
    pub fn copier(&mut self) -> &mut SwitchCopier {
        &mut self.copier
    }

    /// Add the variables of all groups.
    pub fn put_into(&self, table: &mut TableBuilder) {
        let copy = self.copier.copy();
        for group in &self.groups {
            match group {
                MibGroup::If => interfaces::put_table(table, copy),
                MibGroup::IfX => interfaces::put_extension(table, copy),
                MibGroup::EtherLike => ether::put(table, copy),
                MibGroup::Bridge => bridge::put(table, copy),
                MibGroup::QBridge => qbridge::put(table, copy),
                MibGroup::Mau => mau::put(table, copy),
                MibGroup::Lldp => lldp::put(table, copy),
                MibGroup::RosEee => eee::put(table, copy),
            }
        }
    }
}
