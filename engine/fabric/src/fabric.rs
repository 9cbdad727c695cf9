//! The fabric and its operations, from the bottom up:
//!
//! - `agenda`, `topology`, `outbox`, `tally`: the parts that a fabric consists of; `state` holds them together.
//! - `sending`, `receiving`, `linking`: what a transmitter, a receiver and a link do at an event.
//! - `announcing`: the LLDP agents of the ports.
//! - `polling`: passes time by running due events; hosts hand in frames and collect deliveries here.
//! - `building`, `port_config`, `bridge_config`, `observe`: configuration and observation.

mod agenda;
mod announcing;
mod bridge_config;
mod building;
mod linking;
mod observe;
mod outbox;
mod polling;
mod port_config;
mod receiving;
mod sending;
mod state;
mod tally;
mod topology;

pub use state::Fabric;
