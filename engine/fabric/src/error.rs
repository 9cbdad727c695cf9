//! What the fabric refuses, in one sentence each: what, where and the way out.

use crate::{CableId, PortId, SwitchId};

/// A request that names something unknown or impossible. Nothing has changed when one of these is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FabricError {
    /// No port has this id.
    #[error("there is no port {}: use an id that add_switch or add_nic returned", .0.0)]
    UnknownPort(PortId),
    /// No switch has this id.
    #[error("there is no switch {}: use an id that add_switch returned", .0.0)]
    UnknownSwitch(SwitchId),
    /// No cable has this id.
    #[error("there is no cable {}: use an id that connect returned", .0.0)]
    UnknownCable(CableId),
    /// No PHY profile has this name.
    #[error("there is no PHY called {0:?}: use a key of phy_profiles()")]
    UnknownPhy(String),
    /// The port is of another kind than the request needs.
    #[error("port {name} is {is}, and {wants}")]
    WrongKind {
        /// Name of the port.
        name: String,
        /// What it is.
        is: &'static str,
        /// What the request needs, as a clause.
        wants: &'static str,
    },
    /// The port has a cable already.
    #[error("port {0} has a cable already: a port takes one")]
    Occupied(String),
    /// Both ends of a cable are the same port.
    #[error("a cable cannot join port {0} with itself: name two ports")]
    SamePort(String),
    /// A value outside its range.
    #[error("{what} of {name} cannot be {value}: {allowed}")]
    OutOfRange {
        /// Which attribute.
        what: &'static str,
        /// Of which switch, port or VLAN.
        name: String,
        /// The refused value.
        value: String,
        /// What would be right.
        allowed: &'static str,
    },
    /// A port that belongs to another switch.
    #[error("port {port} does not belong to switch {switch}: name one of its own ports or LAGs")]
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
    /// The forwarding table holds no more.
    #[error(
        "the forwarding table of switch {switch} is full ({size} entries): remove static entries first"
    )]
    TableFull {
        /// Name of the switch.
        switch: String,
        /// Its capacity.
        size: usize,
    },
}
