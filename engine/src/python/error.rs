//! Conversion of errors to Python.

use fabric::FabricError as RustError;
use interconnect::SimulationError as Contradiction;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

use crate::live::engine::LiveError;

pyo3::create_exception!(
    eee_engine,
    FabricError,
    PyValueError,
    "A request names something unknown or invalid; the text says what is wrong and what to do."
);

/// An error of the fabric as Python's `FabricError`.
#[must_use]
pub fn fabric_error(error: RustError) -> PyErr {
    FabricError::new_err(error.to_string())
}

/// An error of the live engine as Python's `FabricError`.
#[must_use]
pub fn live_error(error: LiveError) -> PyErr {
    FabricError::new_err(error.to_string())
}

pyo3::create_exception!(
    eee_engine,
    SimulationError,
    PyValueError,
    "A simulation's description contradicts itself; the text says what is wrong and what would be right."
);

/// A description that contradicts itself as Python's `SimulationError`.
#[must_use]
pub fn refused(error: Contradiction) -> PyErr {
    SimulationError::new_err(error.to_string())
}
