//! What the live thread and its callers share besides the fabric, and the commands that callers send.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};

use fabric::{CableId, PortId, Ps};
use lab_clock::SharedRate;
use parking_lot::Mutex;

use crate::core::Core;
use crate::live::lateness::Lateness;
use crate::live::room::ClaimedCore;
use crate::os::clock::{clock_ns, own_cpu_clock, thread_cpu_ns};
use crate::os::inherit::InheritMutex;
use crate::wire::capture::Capture;
use crate::wire::tap::Tap;

const MOST_ALARMS: usize = 1_000;
const NO_CLOCK: i32 = i32::MIN;

/// A request to the live thread.
pub(crate) enum Command {
    /// Bind a NIC to a TAP.
    Attach(PortId, Tap),
    /// Write the frames of a cable to a capture, under this number.
    Capture(u32, CableId, Capture),
    /// End the capture of this number.
    StopCapture(u32),
}

/// State shared between the live thread and its callers.
pub(crate) struct Control {
    pub(crate) core: Arc<Core>,
    pub(crate) stop: AtomicBool,
    pub(crate) lateness: InheritMutex<Lateness>,
    pub(crate) claimed_core: Arc<ClaimedCore>,
    commands: Mutex<Vec<Command>>,
    alarms: Mutex<VecDeque<(Ps, String)>>,
    /// Packets lost, by capture that has ended.
    ended: Mutex<BTreeMap<u32, u64>>,
    /// Callers that wait for the end of a capture.
    waiting: Mutex<BTreeMap<u32, mpsc::Sender<()>>>,
    cpu_clock: AtomicI32,
    cpu_ns: AtomicU64,
    /// The clock's rate, and the rate below which the hosts' quotas leave the live thread a core.
    rate: OnceLock<(Arc<SharedRate>, f64)>,
}

impl Control {
    /// For a thread that does not run yet.
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub(crate) fn new(core: Arc<Core>) -> io::Result<Self> {
        Ok(Self {
            core,
            claimed_core: Arc::new(ClaimedCore::new()?),
            stop: AtomicBool::new(false),
            lateness: InheritMutex::new(Lateness::new()),
            commands: Mutex::default(),
            alarms: Mutex::default(),
            ended: Mutex::default(),
            waiting: Mutex::default(),
            cpu_clock: AtomicI32::new(NO_CLOCK),
            cpu_ns: AtomicU64::new(0),
            rate: OnceLock::new(),
        })
    }

    /// The engine's clock runs at this rate from now on; the first one given stays. Below `core_left_below` the hosts'
    /// quotas leave the live thread a core.
    pub(crate) fn follow(&self, rate: Arc<SharedRate>, core_left_below: f64) {
        let _ = self.rate.set((rate, core_left_below));
    }

    /// Engine time per wall time, and whether the hosts' quotas leave the live thread a core.
    pub(crate) fn rate(&self) -> (f64, bool) {
        self.rate.get().map_or((1.0, false), |(rate, below)| {
            let rate = rate.get();
            (rate, rate < *below)
        })
    }

    /// Send a command to the live thread.
    pub(crate) fn command(&self, command: Command) {
        self.commands.lock().push(command);
        self.core.wake().signal();
    }

    pub(crate) fn take_commands(&self) -> Vec<Command> {
        std::mem::take(&mut self.commands.lock())
    }

    pub(crate) fn alarm(&self, at: Ps, text: String) {
        let mut alarms = self.alarms.lock();
        if alarms.len() == MOST_ALARMS {
            alarms.pop_front();
        }
        alarms.push_back((at, text));
    }

    /// The last alarms, oldest first.
    pub(crate) fn alarms(&self) -> Vec<(Ps, String)> {
        self.alarms.lock().iter().cloned().collect()
    }

    pub(crate) fn capture_ended(&self, number: u32, lost: u64) {
        self.ended.lock().insert(number, lost);
        self.answer(number);
    }

    /// Packets that a capture lost, if it has ended; can be taken once.
    pub(crate) fn take_ended(&self, number: u32) -> Option<u64> {
        self.ended.lock().remove(&number)
    }

    /// A receiver that disconnects when a capture has ended or is unknown.
    pub(crate) fn await_end(&self, number: u32) -> mpsc::Receiver<()> {
        let (sender, answered) = mpsc::channel();
        self.waiting.lock().insert(number, sender);
        answered
    }

    /// Disconnect the caller that waits for the end of a capture.
    pub(crate) fn answer(&self, number: u32) {
        self.waiting.lock().remove(&number);
    }

    /// Disconnect all callers that wait.
    pub(crate) fn answer_all(&self) {
        self.waiting.lock().clear();
    }

    /// The calling thread is the live thread: its CPU clock counts from now on.
    pub(crate) fn thread_begins(&self) {
        let clock = own_cpu_clock().unwrap_or(NO_CLOCK);
        self.cpu_clock.store(clock, Ordering::Release);
    }

    /// The live thread ends: keep the CPU time that it used.
    pub(crate) fn thread_ends(&self) {
        self.cpu_ns.store(thread_cpu_ns(), Ordering::Release);
        self.cpu_clock.store(NO_CLOCK, Ordering::Release);
    }

    /// CPU time of the live thread in nanoseconds.
    pub(crate) fn cpu_ns(&self) -> u64 {
        match self.cpu_clock.load(Ordering::Acquire) {
            NO_CLOCK => self.cpu_ns.load(Ordering::Acquire),
            clock => clock_ns(clock),
        }
    }
}
