//! Frames outside the fabric: TAP devices with their offloads, and packet capture.

pub mod capture;
pub(crate) mod checksum;
mod coalesce;
mod pcap;
mod segment;
pub mod tap;
mod tcp;
mod vnet;
