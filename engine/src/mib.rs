//! MIB groups of a switch. `group` lists them, `copy` is the state that they are served from.

mod bridge;
pub mod copy;
mod eee;
mod ether;
pub mod group;
mod interfaces;
mod lldp;
mod mau;
mod qbridge;
