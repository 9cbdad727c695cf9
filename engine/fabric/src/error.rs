//! Errors of the fabric. Each text says what is wrong, where, and what to do.

use crate::id::{CableId, PortId, SwitchId};

/// A request that names something unknown or invalid. It has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FabricError {
    /// No port has this id.
    #[error("the fabric has no port {}: use an id that add_switch or add_nic returned", .0.0)]
    UnknownPort(PortId),
    /// No switch has this id.
    #[error("the fabric has no switch {}: use an id that add_switch returned", .0.0)]
    UnknownSwitch(SwitchId),
    /// No cable has this id.
    #[error("the fabric has no cable {}: use an id that connect returned", .0.0)]
    UnknownCable(CableId),
    /// No PHY profile has this name.
    #[error("unknown PHY {0:?}: use a key of phy_profiles()")]
    UnknownPhy(String),
    /// The port is of the wrong kind for the request.
    #[error("port {name} is {is}: {wants}")]
    WrongKind {
        /// Name of the port.
        name: String,
        /// What it is.
        is: &'static str,
        /// What to use instead, as an instruction.
        wants: &'static str,
    },
    /// The port has a cable already.
    #[error("port {0} already has a cable: use a free port")]
    Occupied(String),
    /// Both ends of a cable are the same port.
    #[error("a cable cannot connect port {0} to itself: name two ports")]
    SamePort(String),
    /// A value outside its range.
    #[error("invalid {what} of {name}: {value}; {allowed}")]
    OutOfRange {
        /// Which attribute.
        what: &'static str,
        /// Of which switch, port or VLAN.
        name: String,
        /// The invalid value.
        value: String,
        /// The valid values, as an instruction.
        allowed: &'static str,
    },
    /// A port that belongs to another switch.
    #[error("port {port} does not belong to switch {switch}: use its own ports and LAGs")]
    Foreign {
        /// Name of the port.
        port: String,
        /// Name of the switch.
        switch: String,
    },
    /// A VLAN that the switch does not have.
    #[error("switch {switch} has no VLAN {vid}: create it with set_vlan first")]
    UnknownVlan {
        /// Name of the switch.
        switch: String,
        /// The VLAN id.
        vid: u16,
    },
    /// A static entry that the switch does not have.
    #[error(
        "switch {switch} has no static entry for {mac} in VLAN {vid}: list the entries with fdb"
    )]
    UnknownEntry {
        /// Name of the switch.
        switch: String,
        /// The VLAN id.
        vid: u16,
        /// The address, colon separated.
        mac: String,
    },
    /// The forwarding database is full.
    #[error(
        "the forwarding database of switch {switch} is full ({size} entries): remove static entries first"
    )]
    TableFull {
        /// Name of the switch.
        switch: String,
        /// Its capacity.
        size: usize,
    },
}
