//! The fabric: switches, NICs, cables and their EEE state, without clock, thread or I/O.

mod agenda;
mod bridge;
mod budget;
mod cable;
mod error;
mod fabric;
mod fdb;
pub mod frame;
mod lag;
pub mod ledger;
pub mod link;
pub mod lpi;
mod observe;
mod pause;
pub mod phy;
mod port;
mod receiving;
pub mod report;
mod sending;
pub mod spec;
mod store;
mod switch;
pub mod time;
mod vlan;

pub use error::FabricError;
pub use fabric::Fabric;
pub use frame::{CsumOffload, Frame, MAX_FRAME_BYTE, Mac, Tag};
pub use ledger::{Ledger, LpiState};
pub use lpi::Mode;
pub use report::{Alarm, BridgeState, Delivery, FdbEntry, Frames, PortCounters, PortState, Tapped, VlanPorts};
pub use spec::{
    Acceptable, BridgeChange, LpiChange, NicSpec, PortChange, PortVlanChange, SwitchHandle, SwitchSpec,
};
pub use time::Ps;

/// A port: of a switch, a LAG of a switch, or a host's NIC. Dense, numbered from 0 in order of creation; the ports
/// of a switch follow one another, its LAGs behind them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// A switch, numbered from 0 in order of creation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

/// A cable, numbered from 0 in order of creation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CableId(pub u32);
