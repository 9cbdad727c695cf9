//! The live engine: the fabric on the wall clock, driven by its own thread.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use fabric::{CableId, FabricError, PortId, Ps};
use lab_clock::{Bound, SharedRate};
use parking_lot::Mutex;

use crate::core::Core;
use crate::live::auto::{Auto, Clockwork};
use crate::live::control::{Command, Control};
use crate::live::driver::Driver;
use crate::live::lateness::Lateness;
use crate::live::room::make_room;
use crate::os::signals::block_signals;
use crate::wire::capture::Capture;
use crate::wire::tap::Tap;

/// Errors of a live engine.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Of the fabric.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The descriptor is not a suitable TAP.
    #[error("the descriptor for port {} cannot be attached: {source}", .nic.0)]
    Tap {
        /// The NIC.
        nic: PortId,
        /// Cause.
        source: io::Error,
    },
    /// The system has no thread, descriptor or memory left.
    #[error("the live engine failed: {0}")]
    System(#[from] io::Error),
    /// The engine was stopped; it cannot start again.
    #[error("this engine was stopped and its TAPs are closed: make a new Engine")]
    Stopped,
    /// Unknown capture.
    #[error("the engine has no capture {0}: use a number that capture() returned, once")]
    UnknownCapture(u32),
}

enum Phase {
    Made,
    Running(JoinHandle<()>),
    Stopped,
}

/// A live engine.
pub struct Live {
    control: Arc<Control>,
    spin: Ps,
    phase: Mutex<Phase>,
    captures_made: AtomicU32,
    room_threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Live {
    /// An engine whose thread does not run yet. The thread spins for `spin` after each frame.
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub fn new(core: Arc<Core>, spin: Ps) -> io::Result<Self> {
        Ok(Self {
            control: Arc::new(Control::new(core)?),
            spin,
            phase: Mutex::new(Phase::Made),
            captures_made: AtomicU32::new(0),
            room_threads: Mutex::default(),
        })
    }

    /// Keep the processes of all control groups in a folder off the core that the live thread has claimed.
    ///
    /// # Errors
    /// The engine was stopped, or the system cannot start a thread.
    pub fn make_room(&self, groups: PathBuf) -> Result<(), LiveError> {
        let phase = self.phase.lock();
        if matches!(*phase, Phase::Stopped) {
            return Err(LiveError::Stopped);
        }
        let thread = make_room(Arc::clone(&self.control.claimed_core), groups)?;
        self.room_threads.lock().push(thread);
        Ok(())
    }

    /// Start the thread; no effect if it runs.
    ///
    /// # Errors
    /// The engine was stopped, or the system cannot start a thread.
    pub fn start(&self) -> Result<(), LiveError> {
        let mut phase = self.phase.lock();
        match *phase {
            Phase::Running(_) => return Ok(()),
            Phase::Stopped => return Err(LiveError::Stopped),
            Phase::Made => {}
        }
        let control = Arc::clone(&self.control);
        let spin = self.spin;
        let (ready, started) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("twin-live".into())
            .spawn(move || {
                let _at_end = ThreadEnd(Arc::clone(&control));
                control.thread_begins();
                block_signals();
                match Driver::new(control, spin) {
                    Ok(driver) if ready.send(Ok(())).is_ok() => driver.run(),
                    Ok(_) => {}
                    Err(error) => drop(ready.send(Err(error))),
                }
            })?;
        started.recv().map_err(io::Error::other)??;
        *phase = Phase::Running(thread);
        Ok(())
    }

    /// Stop the thread, close TAPs and captures.
    pub fn stop(&self) {
        let mut phase = self.phase.lock();
        self.control.stop.store(true, Ordering::Release);
        self.control.core.wake().signal();
        if let Phase::Running(thread) = std::mem::replace(&mut *phase, Phase::Stopped) {
            if thread.join().is_err() {
                let now = self.control.core.clock().now();
                self.control.alarm(
                    now,
                    "the live thread panicked: see the message on standard error".into(),
                );
            }
        }
        self.control.claimed_core.end();
        for thread in self.room_threads.lock().drain(..) {
            drop(thread.join());
        }
        drop(self.control.take_commands());
        self.control.answer_all();
    }

    /// Bind a NIC to a TAP.
    ///
    /// # Errors
    /// The descriptor is not a suitable TAP, or the engine was stopped.
    pub fn attach(&self, nic: PortId, fd: OwnedFd) -> Result<(), LiveError> {
        let phase = self.phase.lock();
        if matches!(*phase, Phase::Stopped) {
            return Err(LiveError::Stopped);
        }
        let tap = Tap::new(fd).map_err(|source| LiveError::Tap { nic, source })?;
        self.control.command(Command::Attach(nic, tap));
        Ok(())
    }

    /// Write the frames of a cable to `fd`; returns a number for [`Live::stop_capture`].
    ///
    /// # Errors
    /// Unknown cable, no thread left, or the engine was stopped.
    pub fn capture(&self, cable: CableId, fd: OwnedFd) -> Result<u32, LiveError> {
        let phase = self.phase.lock();
        if matches!(*phase, Phase::Stopped) {
            return Err(LiveError::Stopped);
        }
        let capture = Capture::start(fd, self.epoch_ps())?;
        self.control
            .core
            .with(|fabric, _| fabric.set_tapped(cable, true))?;
        let number = self.captures_made.fetch_add(1, Ordering::Relaxed) + 1;
        self.control
            .command(Command::Capture(number, cable, capture));
        Ok(number)
    }

    /// End a capture and return how many packets it lost; also if it ended because its reader closed.
    ///
    /// # Errors
    /// Unknown capture, or the thread does not run.
    pub fn stop_capture(&self, number: u32) -> Result<u64, LiveError> {
        let phase = self.phase.lock();
        if let Some(lost) = self.control.take_ended(number) {
            return Ok(lost);
        }
        if !matches!(*phase, Phase::Running(_)) {
            return Err(LiveError::Stopped);
        }
        let answered = self.control.await_end(number);
        self.control.command(Command::StopCapture(number));
        // Nothing is sent: the sender is dropped when the capture has ended.
        let _ = answered.recv();
        let lost = self.control.take_ended(number);
        lost.ok_or(LiveError::UnknownCapture(number))
    }

    /// The engine's clock is a lab's, which runs at this rate: spans of the machine are converted. The first one stays.
    /// Below `core_left_below` the hosts' quotas leave the live thread a core.
    pub fn follow(&self, rate: Arc<SharedRate>, core_left_below: f64) {
        self.control.follow(rate, core_left_below);
    }

    /// Let a thread set the rate of the lab's clock by what is done here.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn regulate(
        &self,
        clockwork: Arc<Clockwork>,
        groups: PathBuf,
        bound: Bound,
    ) -> io::Result<Auto> {
        let control = Arc::clone(&self.control);
        Auto::start(clockwork, control, groups, bound)
    }

    /// Lateness of the deliveries so far.
    #[must_use]
    pub fn lateness(&self) -> Lateness {
        self.control.lateness.lock().clone()
    }

    /// Reset the lateness histogram.
    pub fn reset_lateness(&self) {
        let empty = Lateness::new();
        *self.control.lateness.lock() = empty;
    }

    /// The last alarms, oldest first.
    #[must_use]
    pub fn alarms(&self) -> Vec<(Ps, String)> {
        self.control.alarms()
    }

    /// CPU time of the live thread in nanoseconds.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.control.cpu_ns()
    }

    /// UTC of engine time 0 in picoseconds since 1970, from the present readings of both clocks.
    fn epoch_ps(&self) -> u128 {
        let now = u128::from(self.control.core.clock().now());
        let utc_ns = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        (utc_ns * 1_000).saturating_sub(now)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Cleans up when the live thread ends, even by a panic.
struct ThreadEnd(Arc<Control>);

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        let Self(control) = self;
        control.thread_ends();
        control.answer_all();
        if std::thread::panicking() {
            let now = control.core.clock().now();
            control.alarm(
                now,
                "the live thread panicked: see the message on standard error".into(),
            );
        }
    }
}
