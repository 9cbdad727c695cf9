//! The twin's engine: live clock, TAP devices, SNMP agent and Python bindings around the fabric core.

pub mod capture;
pub mod checksum;
pub mod clock;
pub mod coalesce;
pub mod core;
pub mod inherit;
pub mod lateness;
pub mod pcap;
pub mod segment;
pub mod tap;
pub mod tcp;
pub mod vnet;
pub mod wake;

use pyo3::prelude::*;

#[pymodule]
fn _engine(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
