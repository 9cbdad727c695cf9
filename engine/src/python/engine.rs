//! `Engine` in Python.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::Arc;

use fabric::{CableId, Fabric, Ps};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::core::{Clock, Core};
use crate::live::engine::Live;
use crate::os::clock::WallClock;
use crate::python::error::{FabricError, live_error};
use crate::python::fabric::PyFabric;
use crate::python::{read, show};

/// The fabric on the wall clock, with TAP devices for the hosts.
#[pyclass(extends = PyFabric, frozen, name = "Engine", module = "eee_engine")]
pub struct PyEngine {
    core: Arc<Core>,
    live: Arc<Live>,
}

impl PyEngine {
    /// The fabric with its clock and lock, for Rust code that reads an engine.
    #[must_use]
    pub fn core(&self) -> Arc<Core> {
        Arc::clone(&self.core)
    }

    /// The live engine, for Rust code that regulates its clock.
    #[must_use]
    pub fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live)
    }
}

/// Take ownership of a descriptor from Python.
fn take_ownership(fd: RawFd) -> PyResult<OwnedFd> {
    if fd < 0 {
        return Err(FabricError::new_err(format!(
            "invalid file descriptor {fd}"
        )));
    }
    // SAFETY: the caller gives up ownership, as the documentation of the method requires.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[pymethods]
impl PyEngine {
    #[new]
    #[pyo3(signature = (*, seed = 0, frame_budget_per_s = 2_000_000, spin_us = 6_000.0))]
    fn new(seed: u64, frame_budget_per_s: u64, spin_us: f64) -> PyResult<PyClassInitializer<Self>> {
        let spin = read::span_us("spin_us", spin_us)?;
        let fabric = Fabric::new(seed, frame_budget_per_s);
        let core = Arc::new(Core::new(fabric, Clock::Wall(WallClock::new()))?);
        Ok(
            PyClassInitializer::from(PyFabric::new(Arc::clone(&core))).add_subclass(Self {
                live: Arc::new(Live::new(Arc::clone(&core), spin)?),
                core,
            }),
        )
    }

    fn attach(slf: &Bound<'_, Self>, host: u32, tap_fd: RawFd) -> PyResult<()> {
        let fd = take_ownership(tap_fd)?;
        let nic = slf.as_super().get().host(host)?;
        let live = &slf.get().live;
        slf.py().detach(|| live.attach(nic, fd)).map_err(live_error)
    }

    fn make_room(&self, py: Python<'_>, groups: PathBuf) -> PyResult<()> {
        py.detach(|| self.live.make_room(groups))
            .map_err(live_error)
    }

    fn start(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.live.start()).map_err(live_error)
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.live.stop());
    }

    fn lateness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lateness = py.detach(|| self.live.lateness());
        show::lateness(py, &lateness)
    }

    fn reset_lateness(&self, py: Python<'_>) {
        py.detach(|| self.live.reset_lateness());
    }

    fn alarms(&self, py: Python<'_>) -> Vec<(Ps, String)> {
        py.detach(|| self.live.alarms())
    }

    fn capture(&self, py: Python<'_>, cable: u32, fd: RawFd) -> PyResult<u32> {
        let fd = take_ownership(fd)?;
        py.detach(|| self.live.capture(CableId(cable), fd))
            .map_err(live_error)
    }

    fn stop_capture(&self, py: Python<'_>, capture: u32) -> PyResult<u64> {
        py.detach(|| self.live.stop_capture(capture))
            .map_err(live_error)
    }

    fn cpu_s(&self) -> f64 {
        self.live.cpu_ns() as f64 / 1e9
    }
}
