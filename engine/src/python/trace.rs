//! Traces of other programs as calls, in Python.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use replay::ti;

pyo3::create_exception!(
    eee_engine,
    TraceError,
    PyException,
    "A line that cannot be used: number of the file, of the line (0: the whole file), a sentence, a remedy or None."
);

/// The calls of SimGrid's time-independent traces.
#[pyfunction]
pub fn read_time_independent<'py>(
    py: Python<'py>,
    texts: Vec<PyBackedBytes>,
    ns_per_operation: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let read = py.detach(|| {
        let texts: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
        ti::read(&texts, ns_per_operation)
    });
    let trace = read.map_err(|refusal| {
        TraceError::new_err((refusal.file, refusal.line, refusal.sentence, refusal.remedy))
    })?;
    let out = PyDict::new(py);
    out.set_item("rows", PyBytes::new(py, &trace.calls.rows))?;
    out.set_item("lists", PyBytes::new(py, &trace.calls.lists))?;
    out.set_item("ends", trace.calls.ends)?;
    out.set_item("makes_communicators", trace.makes_communicators)?;
    out.set_item("tests", trace.tests)?;
    out.set_item("older_lists", trace.older_lists)?;
    Ok(out)
}
