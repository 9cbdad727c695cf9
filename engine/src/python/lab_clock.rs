//! `LabClock`: lab time, as the lab's daemon keeps it.

use std::path::PathBuf;

use lab_clock::{Keeper, Rate, Reader, Writer};
use parking_lot::Mutex;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// The library that is preloaded into a lab's processes.
pub static LIBRARY: &[u8] = include_bytes!(env!("LAB_CLOCK_LIBRARY"));

fn rate_of(text: &str) -> PyResult<Rate> {
    text.parse::<Rate>()
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A lab's clock: keeps the lease while it lives; when it is dropped, lab time goes on at the wall's pace.
#[pyclass(frozen)]
pub struct LabClock {
    keeper: Mutex<Option<Keeper>>,
}

#[pymethods]
impl LabClock {
    /// Keep the clock on the page of this path. OSError if it cannot be written or is not a lab's clock.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let writer = Writer::open(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Self {
            keeper: Mutex::new(Some(Keeper::start(writer)?)),
        })
    }

    /// Make the page of a clock that shows the wall's time; an existing one is replaced.
    #[staticmethod]
    fn create(path: PathBuf) -> PyResult<()> {
        Writer::create(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(())
    }

    /// Set the rate, such as "1/10"; ValueError outside 1/1000 to 50.
    fn set_rate(&self, rate: &str) -> PyResult<()> {
        let rate = rate_of(rate)?;
        if let Some(keeper) = &*self.keeper.lock() {
            keeper.set(rate);
        }
        Ok(())
    }

    /// The rate that was set last.
    fn rate(&self) -> String {
        self.keeper
            .lock()
            .as_ref()
            .map_or(Rate::WALL, Keeper::rate)
            .to_string()
    }

    /// Lab time runs at the wall's pace from now on.
    fn close(&self) {
        drop(self.keeper.lock().take());
    }
}

/// A rate in lowest terms; ValueError outside 1/1000 to 50.
#[pyfunction]
pub fn lab_clock_rate(text: &str) -> PyResult<String> {
    rate_of(text).map(|rate| rate.to_string())
}

/// (rate in force, lab time in ns, the wall's time in ns), both monotonic, of the page of this path. OSError if it is not
/// a lab's clock.
#[pyfunction]
pub fn read_lab_clock(path: PathBuf) -> PyResult<(String, i64, i64)> {
    let reader = Reader::open(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
    let (timeline, now) = (reader.timeline(), lab_clock::writer::now_ns());
    Ok((timeline.at(now).rate.to_string(), timeline.lab_ns(now), now))
}

/// The library that is preloaded into a lab's processes, to be written to a file.
#[pyfunction]
pub fn lab_clock_library() -> &'static [u8] {
    LIBRARY
}
