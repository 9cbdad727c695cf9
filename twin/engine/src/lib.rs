//! The twin's engine: live clock, TAP devices, SNMP agent and Python bindings around the fabric core.

use pyo3::prelude::*;

#[pymodule]
fn _engine(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
