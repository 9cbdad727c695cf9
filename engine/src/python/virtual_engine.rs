//! `VirtualEngine` in Python.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use fabric::{Delivery, Fabric, Frame, Ps};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::core::{Clock, Core};
use crate::python::error::FabricError as PyFabricError;
use crate::python::fabric::PyFabric;
use crate::schedule::Schedule;

const HEADER_BYTE: usize = 14;

/// The fabric with a clock that jumps from event to event.
#[pyclass(extends = PyFabric, frozen, name = "VirtualEngine", module = "eee_engine")]
pub struct PyVirtualEngine {
    schedule: Mutex<Schedule>,
}

#[pymethods]
impl PyVirtualEngine {
    #[new]
    #[pyo3(signature = (*, seed = 0, frame_budget_per_s = 0))]
    fn new(seed: u64, frame_budget_per_s: u64) -> PyResult<PyClassInitializer<Self>> {
        let fabric = Fabric::new(seed, frame_budget_per_s);
        let core = Core::new(fabric, Clock::Virtual(AtomicU64::new(0)))?;
        Ok(
            PyClassInitializer::from(PyFabric::new(Arc::new(core))).add_subclass(Self {
                schedule: Mutex::default(),
            }),
        )
    }

    fn send(slf: &Bound<'_, Self>, host: u32, at_ps: Ps, frame: &[u8]) -> PyResult<()> {
        let base = slf.as_super().get();
        let nic = base.host(host)?;
        if frame.len() < HEADER_BYTE {
            return Err(PyFabricError::new_err(format!(
                "invalid frame of {} bytes: a frame has at least {HEADER_BYTE} bytes of header",
                frame.len()
            )));
        }
        let frame = Frame::from_wire(Bytes::copy_from_slice(frame));
        let py = slf.py();
        let this = slf.get();
        py.detach(|| {
            let mut schedule = this.schedule.lock();
            let now_ps = base.core().clock().now();
            if at_ps < now_ps {
                return Err(PyFabricError::new_err(format!(
                    "{at_ps} ps has passed: send at {now_ps} ps or later"
                )));
            }
            schedule.plan(at_ps, nic, frame);
            Ok(())
        })
    }

    fn run_until<'py>(slf: &Bound<'py, Self>, at_ps: Ps) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let core = slf.as_super().get().core();
        let this = slf.get();
        let deliveries = py.detach(|| {
            let mut schedule = this.schedule.lock();
            let mut out: Vec<Delivery> = Vec::new();
            core.with(|fabric, _| schedule.run(fabric, at_ps, &mut out));
            if let Clock::Virtual(now) = core.clock() {
                now.fetch_max(at_ps, Ordering::AcqRel);
            }
            out
        });
        let rows = deliveries.iter().map(|delivery| {
            let (bytes, _) = delivery.frame.to_wire();
            (delivery.nic.0, delivery.at, PyBytes::new(py, &bytes))
        });
        PyList::new(py, rows.collect::<Vec<_>>())
    }
}
