//! SNMP agents on UDP sockets: the variables of each agent, and the thread that serves all.

pub mod server;
pub mod view;
