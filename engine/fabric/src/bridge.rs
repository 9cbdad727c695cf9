//! The 802.1Q bridge of a switch: VLANs, forwarding database, LAG hash, frame budget.

pub(crate) mod budget;
pub(crate) mod fdb;
pub(crate) mod lag;
pub(crate) mod switch;
pub(crate) mod vlan;
