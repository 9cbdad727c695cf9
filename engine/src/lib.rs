//! The fabric on a wall clock or a virtual clock, with TAP devices, packet capture, SNMP agents and Python bindings.
//!
//! | module | contents |
//! | --- | --- |
//! | `os` | clocks, locks, scheduling classes, signals |
//! | `core` | the fabric, its clock, and the lock between its users |
//! | `wire` | TAP devices, TCP segmentation and coalescing, pcap |
//! | `live` | the thread that runs the fabric on the wall clock |
//! | `schedule` | frames to send at given times on the virtual clock |
//! | `mib`, `agent` | MIB groups of a switch, and the thread that serves SNMP |
//! | `python` | the module `eee_engine` |
//!
//! A module uses modules above it in this table, and no module below it.

mod agent;
mod core;
mod live;
mod mib;
mod os;
mod python;
mod schedule;
mod wire;

use fabric::phy::Phy;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Name -> `speed_mbps` and EEE times at that speed in microseconds, 0 for none.
#[pyfunction]
fn phy_profiles(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let profiles = PyDict::new(py);
    for phy in Phy::all() {
        profiles.set_item(phy.name, python::show::phy(py, phy)?)?;
    }
    Ok(profiles)
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add(
        "FabricError",
        module.py().get_type::<python::error::FabricError>(),
    )?;
    module.add_class::<python::fabric::PyFabric>()?;
    module.add_class::<python::engine::PyEngine>()?;
    module.add_class::<python::virtual_engine::PyVirtualEngine>()?;
    module.add_class::<python::agent::SnmpAgent>()?;
    module.add_class::<python::lab_clock::LabClock>()?;
    module.add_class::<python::echo_walk::EchoWalk>()?;
    module.add_function(wrap_pyfunction!(python::lab_clock::cap_processors, module)?)?;
    module.add_function(wrap_pyfunction!(
        python::echo_walk::densities_of_errors,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(
        python::lab_clock::lab_clock_library,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(python::lab_clock::lab_clock_rate, module)?)?;
    module.add_function(wrap_pyfunction!(python::lab_clock::read_lab_clock, module)?)?;
    module.add_function(wrap_pyfunction!(phy_profiles, module)?)?;
    module.add(
        "SimulationError",
        module.py().get_type::<python::error::SimulationError>(),
    )?;
    module.add_class::<python::interconnect::NetworkSimulation>()?;
    module.add_class::<python::replay::ProgramReplay>()?;
    module.add(
        "TraceError",
        module.py().get_type::<python::trace::TraceError>(),
    )?;
    module.add_function(wrap_pyfunction!(
        python::trace::read_time_independent,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(
        python::interconnect::network_facts,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(
        python::interconnect::prove_deadlock_free,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(
        python::interconnect::zero_load_cycles,
        module
    )?)?;
    Ok(())
}
