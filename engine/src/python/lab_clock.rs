//! `LabClock`: lab time, as the lab's daemon keeps it.

use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;

use lab_clock::{Keeper, Pace, Rate, Reader, Writer};
use parking_lot::Mutex;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::live::auto::{Auto, Clockwork};
use crate::live::engine::Live;
use crate::os::kernel_timers::{HostNetwork, KernelTimers};
use crate::os::quota::Quotas;
use crate::python::engine::PyEngine;

/// The library that is preloaded into a lab's processes.
pub static LIBRARY: &[u8] = include_bytes!(env!("LAB_CLOCK_LIBRARY"));

fn pace_of(text: &str) -> PyResult<Pace> {
    text.parse::<Pace>()
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

fn network_of(
    (netlink, interface, address, prefix): (i32, u32, String, u8),
) -> PyResult<HostNetwork> {
    if netlink < 0 {
        return Err(PyValueError::new_err("a host's netlink socket is not open"));
    }
    // SAFETY: the caller's descriptor is open during the call; a copy of it is kept.
    let netlink = unsafe { BorrowedFd::borrow_raw(netlink) }.try_clone_to_owned()?;
    let address = address
        .parse::<Ipv4Addr>()
        .map_err(|error| PyValueError::new_err(format!("{address}: {error}")))?;
    Ok(HostNetwork {
        netlink,
        interface,
        address,
        prefix,
    })
}

/// A lab's clock: keeps the lease while it lives; when it is dropped, lab time goes on at the wall's pace.
#[pyclass(frozen)]
pub struct LabClock {
    live: Arc<Live>,
    groups: PathBuf,
    reader: Reader,
    clockwork: Mutex<Option<Arc<Clockwork>>>,
    auto: Mutex<Option<Auto>>,
}

#[pymethods]
impl LabClock {
    /// Keep the clock on the page of this path. The engine lives by it; `groups` is the folder of its hosts' control
    /// groups, `quotas` are (folder of a control group, ratio), `networks` (netlink socket, index of the interface,
    /// address, bits of the prefix) of hosts' data networks. OSError if the page cannot be written or is not a lab's
    /// clock, or a quota or a kernel's timer cannot be set; ValueError for what is no IPv4
    /// address or no descriptor.
    #[new]
    fn new(
        path: PathBuf,
        engine: Py<PyEngine>,
        groups: PathBuf,
        quotas: Vec<(PathBuf, f64)>,
        networks: Vec<(i32, u32, String, u8)>,
    ) -> PyResult<Self> {
        let hosts = networks.len();
        let timers = KernelTimers::new(
            networks
                .into_iter()
                .map(network_of)
                .collect::<PyResult<_>>()?,
        );
        let writer = Writer::open(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
        let live = engine.get().live();
        let reader = Reader::open(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
        let keeper = Keeper::start(writer)?;
        let quotas = Quotas::new(quotas);
        live.follow(keeper.shared_rate(), quotas.leave_a_core_below(hosts));
        let clockwork = Clockwork::new(keeper, quotas, timers);
        clockwork.set(Rate::WALL)?;
        Ok(Self {
            live,
            groups,
            reader,
            clockwork: Mutex::new(Some(Arc::new(clockwork))),
            auto: Mutex::default(),
        })
    }

    /// Make the page of a clock that shows the wall's time; an existing one is replaced.
    #[staticmethod]
    fn create(path: PathBuf) -> PyResult<()> {
        Writer::create(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(())
    }

    /// Set the rate, such as "1/10"; ValueError outside 1/1000 to 50. "auto": what happens in the lab sets it, so that
    /// frames and processes are on time within 20 us of lab time; "auto:2us": within 2 us.
    fn set_rate(&self, py: Python<'_>, rate: &str) -> PyResult<()> {
        let pace = pace_of(rate)?;
        py.detach(|| self.set(pace))
    }

    /// The rate that was set last.
    fn rate(&self) -> String {
        self.clockwork
            .lock()
            .as_ref()
            .map_or(Rate::WALL, |clockwork| clockwork.keeper().rate())
            .to_string()
    }

    /// (lab time in s, the wall's time in s), both monotonic.
    fn times_s(&self) -> (f64, f64) {
        let now = lab_clock::writer::now_ns();
        let lab = self.reader.timeline().lab_ns(now);
        (lab as f64 / 1e9, now as f64 / 1e9)
    }

    /// "auto", or "auto:2us", if what happens in the lab sets the rate; else empty.
    fn automatic(&self) -> String {
        let auto = self.auto.lock();
        auto.as_ref()
            .map_or_else(String::new, |auto| Pace::Auto(auto.bound()).to_string())
    }

    /// Under "auto", go at the wall's pace between the trials of this process, until it has ended.
    fn work(&self, py: Python<'_>, process: i32) {
        py.detach(|| {
            if let Some(auto) = &*self.auto.lock() {
                auto.work(process);
            }
        });
    }

    /// Under "auto", a trial of this process begins, until `release` or until the process has ended. While a timed one
    /// lasts the rate is held; while meters alone measure, it is the wall's or faster.
    fn hold(&self, py: Python<'_>, process: i32, timed: bool) {
        py.detach(|| {
            if let Some(auto) = &*self.auto.lock() {
                auto.hold(process, timed);
            }
        });
    }

    /// The trial has ended. How late it was, us of lab time, if "auto" makes the next one slower for it; else None.
    fn release(&self, py: Python<'_>) -> Option<f64> {
        py.detach(|| {
            let auto = self.auto.lock();
            let late_ns = auto.as_ref().and_then(Auto::release);
            late_ns.map(|ns| ns as f64 / 1e3)
        })
    }

    /// Under "auto", samples of meters were missed: from now on, until the run ends, they are read at half the rate.
    fn read_slower(&self, py: Python<'_>) {
        py.detach(|| {
            if let Some(auto) = &*self.auto.lock() {
                auto.read_slower();
            }
        });
    }

    /// Lab time runs at the wall's pace from now on.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            drop(self.auto.lock().take());
            drop(self.clockwork.lock().take());
        });
    }
}

impl LabClock {
    fn set(&self, pace: Pace) -> PyResult<()> {
        let clockwork = self.clockwork.lock();
        let Some(clockwork) = &*clockwork else {
            return Ok(());
        };
        let mut auto = self.auto.lock();
        match (pace, &*auto) {
            (Pace::Set(rate), _) => {
                drop(auto.take());
                clockwork.set(rate)?;
            }
            (Pace::Auto(bound), Some(auto)) => auto.bind(bound),
            (Pace::Auto(bound), None) => {
                let (regulated, groups) = (Arc::clone(clockwork), self.groups.clone());
                *auto = Some(self.live.regulate(regulated, groups, bound)?);
            }
        }
        Ok(())
    }
}

/// A rate in lowest terms, "auto" or "auto:2us"; ValueError for anything else.
#[pyfunction]
pub fn lab_clock_rate(text: &str) -> PyResult<String> {
    pace_of(text).map(|pace| pace.to_string())
}

/// Let control groups use so many of this machine's cores; (folder of a group with a CPU controller, cores). OSError if a
/// quota cannot be set.
#[pyfunction]
pub fn cap_processors(quotas: Vec<(PathBuf, f64)>) -> PyResult<()> {
    Ok(Quotas::new(quotas).cap()?)
}

/// (rate in force, lab time in ns, the wall's time in ns), both monotonic, of the page of this path. OSError if it is not
/// a lab's clock.
#[pyfunction]
pub fn read_lab_clock(path: PathBuf) -> PyResult<(String, i64, i64)> {
    let timeline =
        Reader::read_once(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
    let now = lab_clock::writer::now_ns();
    Ok((timeline.at(now).rate.to_string(), timeline.lab_ns(now), now))
}

/// The library that is preloaded into a lab's processes, to be written to a file.
#[pyfunction]
pub fn lab_clock_library() -> &'static [u8] {
    LIBRARY
}
