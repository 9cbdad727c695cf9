//! An SNMP agent without sockets, threads or clock: datagrams in, datagrams out.
//!
//! | module | contents |
//! | --- | --- |
//! | [`ber`] | the part of the Basic Encoding Rules that SNMP uses (X.690, RFC 3417 §8) |
//! | [`value`] | the SMIv2 types of a variable's value |
//! | [`table`] | all variables of an agent at one moment, sorted and already encoded |
//! | [`pdu`] | the operations GET, GETNEXT, GETBULK, SET (RFC 3416, RFC 1157) |
//! | [`keys`] | USM's keys, digests and ciphers (RFC 3414, 3826, 7860) |
//! | [`usm`] | the User-based Security Model's checks, in their order (RFC 3414 §3.2) |
//! | [`counters`] | counters of the agent itself (SNMPv2-MIB, USM, MPD) |
//! | [`config`], [`identity`] | what an agent is told, and who it is |
//! | [`agent`] | messages of v1, v2c and v3: from a datagram to the response |
//!
//! Time is an argument: the time since the last boot of the agent. Variables are held as a [`Table`], which stores
//! every variable binding encoded and in the order of its name, so that GETBULK is little more than a copy.

pub mod agent;
pub mod ber;
pub mod config;
pub mod counters;
pub mod identity;
pub mod keys;
pub mod pdu;
pub mod table;
pub mod usm;
pub mod value;

pub use agent::{Agent, PendingSet, Step, Variables};
pub use config::{AgentConfig, ConfigError};
pub use pdu::{Access, Bind, ErrorStatus};
pub use table::{Table, TableBuilder};
pub use usm::UserConfig;
pub use value::Value;
