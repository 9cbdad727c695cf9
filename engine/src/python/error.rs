//! How Rust's refusals reach Python.

use fabric::FabricError as Refusal;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

use crate::live::engine::LiveError;

pyo3::create_exception!(
    eee_engine,
    FabricError,
    PyValueError,
    "The engine names something unknown or impossible in one sentence."
);

/// A refusal of the fabric as Python's `FabricError`.
#[must_use]
pub fn refused(error: Refusal) -> PyErr {
    FabricError::new_err(error.to_string())
}

/// A refusal of the live engine as Python's `FabricError`.
#[must_use]
pub fn live_refused(error: LiveError) -> PyErr {
    FabricError::new_err(error.to_string())
}
