//! Configuration of an agent.

use crate::pdu::Access;
use crate::usm::UserConfig;

/// Minimum datagram size that every SNMP entity must accept (RFC 3417 §3.2).
pub const SIZE_MIN_BYTE: usize = 484;
/// Largest payload of a UDP datagram over IPv4.
pub const SIZE_MAX_BYTE: usize = 65_507;

/// Configuration of an agent.
#[derive(Debug, Clone)]
pub struct AgentConfig {
    /// snmpEngineID, 5 to 32 octets.
    pub engine_id: Vec<u8>,
    /// snmpEngineBoots at the first start.
    pub boots: u32,
    /// Communities of v1 and v2c.
    pub communities: Vec<(String, Access)>,
    /// Users of v3.
    pub users: Vec<UserConfig>,
    /// Maximum size of a datagram in both directions, as UDP payload.
    pub size_max_byte: usize,
    /// Start of the counter in the salts of the privacy protocols; use another value after each boot.
    pub salt_seed: u64,
}

/// Invalid configuration of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The engine id's size is out of range.
    #[error("invalid SNMP engine id of {0} octets: use 5 to 32 octets (RFC 3411 §5)")]
    EngineId(usize),
    /// The datagram size is out of range.
    #[error("invalid SNMP datagram size of {0} byte: use {SIZE_MIN_BYTE} to {SIZE_MAX_BYTE} byte")]
    Size(usize),
    /// A user has privacy without authentication.
    #[error("SNMP user {0:?} has privacy without authentication: add an authentication protocol")]
    PrivacyOnly(String),
}
