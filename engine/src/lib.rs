//! The twin's engine: live clock, TAP devices, SNMP agent and Python bindings around the fabric core.

pub mod agent;
pub mod agent_book;
pub mod agent_thread;
pub mod capture;
pub mod checksum;
pub mod clock;
pub mod coalesce;
pub mod core;
mod driver;
pub mod inherit;
pub mod jump;
pub mod lateness;
pub mod live;
pub mod mib_bridge;
pub mod mib_eee;
pub mod mib_ether;
pub mod mib_if;
pub mod mib_mau;
pub mod mib_ports;
pub mod mib_qbridge;
pub mod pace;
pub mod pcap;
pub mod py_engine;
pub mod py_error;
pub mod py_fabric;
pub mod py_read;
pub mod py_show;
pub mod py_virtual;
pub mod room;
pub mod sched;
pub mod segment;
pub mod tap;
pub mod tcp;
pub mod vnet;
pub mod wake;

use fabric::phy::Phy;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Name -> `speed_mbps` and EEE times at that speed in microseconds, 0 for none.
#[pyfunction]
fn phy_profiles(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let profiles = PyDict::new(py);
    for phy in Phy::all() {
        profiles.set_item(phy.name, py_show::phy(py, phy)?)?;
    }
    Ok(profiles)
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add(
        "FabricError",
        module.py().get_type::<py_error::FabricError>(),
    )?;
    module.add_class::<py_fabric::PyFabric>()?;
    module.add_class::<py_engine::PyEngine>()?;
    module.add_class::<py_virtual::PyVirtualEngine>()?;
    module.add_class::<agent::SnmpAgent>()?;
    module.add_function(wrap_pyfunction!(phy_profiles, module)?)?;
    Ok(())
}
