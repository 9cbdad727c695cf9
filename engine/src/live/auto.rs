//! Sets the rate of a lab's clock by what is done in the lab: feeds the regulator of `lab_clock`.
//!
//! While nobody measures, the rate is the wall's whatever happens, and its thread waits until somebody does.
//!
//! It lives in the wall's time. What it sees: who measures, the lateness of a trial's deliveries, processor time of the
//! hosts' control groups and of this process, and how long threads of the hosts waited for a processor
//! (`/proc/PID/schedstat`).

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use lab_clock::regulator::{Observation, Regulator, TrialLateness, Work};
use lab_clock::writer::now_ns;
use lab_clock::{Bound, Keeper, Rate, raw};
use parking_lot::{Condvar, Mutex};

use crate::live::control::Control;
use crate::live::lateness::Lateness;
use crate::live::room::threads_in;
use crate::os::clock::process_cpu_ns;
use crate::os::kernel_timers::KernelTimers;
use crate::os::quota::Quotas;
use crate::os::sched::waits_of;

static TICK: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 10_000_000,
};
/// Terminals of hosts are looked for that often.
const TICKS_A_LOOK: u32 = 100;
/// Waits of a trial's processes, and whether those who measure still live, are looked at that often.
const TICKS_OF_A_TRIAL: u32 = 10;
/// The share of frames that must be on time.
const SHARE: f64 = 0.99;

/// The clock of a lab, and what follows its rate.
pub struct Clockwork {
    keeper: Keeper,
    quotas: Quotas,
    timers: KernelTimers,
}

impl Clockwork {
    /// A clock, the quotas of the hosts' processors, and their kernels' timers.
    #[must_use]
    pub fn new(keeper: Keeper, quotas: Quotas, timers: KernelTimers) -> Self {
        Self {
            keeper,
            quotas,
            timers,
        }
    }

    /// The clock.
    #[must_use]
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// Set the rate.
    ///
    /// # Errors
    /// A quota or a timer cannot be set; the rate is.
    pub fn set(&self, rate: Rate) -> std::io::Result<()> {
        self.set_for(rate, rate)
    }

    /// The same, with kernels' timers that last into a trial of another rate.
    fn set_for(&self, rate: Rate, lasting: Rate) -> std::io::Result<()> {
        self.keeper.set(rate);
        let quotas = self.quotas.follow(rate.factor());
        self.timers
            .apply(rate.factor(), lasting.factor())
            .and(quotas)
    }

    /// Change what differs from a rate, and from that of kernels' timers that last.
    fn follow(&self, rate: Rate, lasting: Rate) -> std::io::Result<()> {
        if rate == self.keeper.rate() {
            self.timers.apply(rate.factor(), lasting.factor())
        } else {
            self.set_for(rate, lasting)
        }
    }
}

/// What the thread shares with those who hold the rate.
struct Shared {
    clockwork: Arc<Clockwork>,
    control: Arc<Control>,
    groups: PathBuf,
    state: Mutex<State>,
    /// Somebody begins to measure, or the thread has to end.
    begun: Condvar,
    ends: AtomicBool,
}

struct State {
    regulator: Regulator,
    trial: Option<Trial>,
    /// Processes that measure in the lab.
    workers: HashSet<i32>,
}

impl State {
    fn work(&self) -> Work {
        if self.trial.is_some() {
            Work::Meters // or one that holds the rate, whatever is observed
        } else if self.workers.is_empty() {
            Work::None
        } else {
            Work::Between
        }
    }

    /// The rate of which kernels' timers are that last into a trial: programs connect while one is prepared, at the
    /// wall's pace, and a connection keeps the least time before TCP sends again of when it was made, if that becomes
    /// longer.
    fn lasting_rate(&self) -> Rate {
        let rate = self.regulator.rate();
        let trial_rate = self.regulator.trial_rate();
        if self.work() != Work::None && trial_rate.factor() < rate.factor() {
            trial_rate
        } else {
            rate
        }
    }
}

/// A trial of a process, from its begin on.
struct Trial {
    process: i32,
    /// Only of one that times frames or ranks.
    window: Option<Window>,
}

impl Shared {
    /// Change the state; the rate that the regulator then wants is in force on return.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock();
        let changed = change(&mut state);
        if let Err(error) = self
            .clockwork
            .follow(state.regulator.rate(), state.lasting_rate())
        {
            self.control.alarm(
                self.control.core.clock().now(),
                format!("a host's processors or timers could not follow the rate: {error}"),
            );
        }
        changed
    }

    fn work(&self, process: i32) {
        self.change(|state| {
            state.workers.insert(process);
            state.regulator.forget();
        });
        self.begun.notify_all();
    }

    fn hold(&self, process: i32, timed: bool) {
        self.change(|state| {
            self.end_trial(state);
            let window = timed.then(|| {
                state.regulator.hold();
                Window::begin(&self.control, &self.groups)
            });
            state.trial = Some(Trial { process, window });
        });
        self.begun.notify_all();
    }

    fn release(&self) -> Option<u64> {
        self.change(|state| self.end_trial(state))
    }

    /// How late the trial was, if it was too late and the next one is slower.
    fn end_trial(&self, state: &mut State) -> Option<u64> {
        let trial = state.trial.take()?;
        let late_ns = trial.window.and_then(|mut window| {
            let late = window.lateness(&self.control, &self.groups);
            state.regulator.release(&late)
        });
        if state.work() == Work::Between {
            state.regulator.prepare();
        }
        late_ns
    }

    /// Wait while nobody measures; whether that was so.
    fn await_work(&self) -> bool {
        let mut state = self.state.lock();
        let waits = state.work() == Work::None;
        while state.work() == Work::None && !self.ends.load(Ordering::Acquire) {
            self.begun.wait(&mut state);
        }
        waits
    }

    /// Look at a trial, if there is one: at waits of processes that may end before it; and at who has ended.
    fn attend_trial(&self) {
        self.change(|state| {
            if let Some(trial) = &mut state.trial {
                if let Some(window) = &mut trial.window {
                    window.look(&self.groups);
                }
                if !lives(trial.process) {
                    self.end_trial(state);
                }
            }
            let worked = !state.workers.is_empty();
            state.workers.retain(|process| lives(*process));
            if worked && state.workers.is_empty() {
                state.regulator.forget(); // also how late the trial was that has died
            }
        });
    }
}

fn lives(process: i32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

/// A thread that sets the rate until it is dropped; the rate then stays.
pub struct Auto {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Auto {
    /// Regulate the clock of a keeper by an engine and the control groups of its hosts.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(crate) fn start(
        clockwork: Arc<Clockwork>,
        control: Arc<Control>,
        groups: PathBuf,
        bound: Bound,
    ) -> std::io::Result<Auto> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                regulator: Regulator::new(bound),
                trial: None,
                workers: HashSet::new(),
            }),
            clockwork,
            control,
            groups,
            begun: Condvar::new(),
            ends: AtomicBool::new(false),
        });
        shared.change(|_| ()); // the wall's pace, whatever it was
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("lab-clock-auto".into())
            .spawn(move || regulate(&own))?;
        Ok(Auto {
            shared,
            thread: Some(thread),
        })
    }

    /// Keep another bound from now on.
    pub fn bind(&self, bound: Bound) {
        self.shared.change(|state| state.regulator.bind(bound));
    }

    /// The bound that is kept.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.shared.state.lock().regulator.bound()
    }

    /// A process begins a run of trials: the first has the usual rate. Between them, until it has ended, it is the wall's.
    pub fn work(&self, process: i32) {
        self.shared.work(process);
    }

    /// A trial of a process begins, until it is released or the process has ended. The rate is held if it is timed.
    pub fn hold(&self, process: i32, timed: bool) {
        self.shared.hold(process, timed);
    }

    /// The trial has ended. How late it was, ns of lab time, if that was too late and the next one is slower; else None.
    #[must_use]
    pub fn release(&self) -> Option<u64> {
        self.shared.release()
    }

    /// Whoever read meters missed samples: they are read more slowly until the run ends.
    pub fn read_slower(&self) {
        self.shared.change(|state| state.regulator.read_slower());
    }
}

impl Drop for Auto {
    fn drop(&mut self) {
        {
            let _state = self.shared.state.lock(); // else the thread may begin to wait after this
            self.shared.ends.store(true, Ordering::Release);
        }
        self.shared.begun.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn regulate(shared: &Shared) {
    let groups = shared.groups.as_path();
    let mut before = Counts::read(groups);
    let mut ticks = 0u32;
    let mut attended = false;
    loop {
        if shared.await_work() {
            (before, ticks) = (Counts::read(groups), 0);
            attended = terminal_is_open(groups);
        }
        if shared.ends.load(Ordering::Acquire) {
            return;
        }
        // SAFETY: a constant time, and no address to write to.
        unsafe {
            let clock = libc::CLOCK_MONOTONIC as usize;
            raw::call(
                libc::SYS_clock_nanosleep,
                clock,
                0,
                (&raw const TICK) as usize,
                0,
                0,
                0,
            );
        }
        ticks += 1;
        if ticks % TICKS_A_LOOK == 0 {
            attended = terminal_is_open(groups);
        }
        if ticks % TICKS_OF_A_TRIAL == 0 {
            shared.attend_trial();
        }
        let now = Counts::read(groups);
        shared.change(|state| {
            let work = state.work();
            state.regulator.observe(&Observation {
                work,
                attended,
                ..now.since(&before)
            });
        });
        before = now;
    }
}

/// Counts up to one moment.
struct Counts {
    wall_ns: i64,
    cpu_ns: u64,
}

impl Counts {
    fn read(groups: &Path) -> Counts {
        Counts {
            wall_ns: now_ns(),
            cpu_ns: process_cpu_ns() + group_cpu_ns(groups),
        }
    }

    fn since(&self, before: &Counts) -> Observation {
        let wall_ns = (self.wall_ns - before.wall_ns).max(1);
        Observation {
            wall_ns,
            cores: self.cpu_ns.saturating_sub(before.cpu_ns) as f64 / wall_ns as f64,
            ..Observation::default()
        }
    }
}

/// Processor time of all groups below a folder, in either version of the hierarchy.
fn group_cpu_ns(groups: &Path) -> u64 {
    if let Ok(text) = fs::read_to_string(groups.join("cpuacct.usage")) {
        return text.trim().parse().unwrap_or(0);
    }
    let text = fs::read_to_string(groups.join("cpu.stat")).unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("usage_usec "))
        .and_then(|count| count.parse::<u64>().ok())
        .map_or(0, |us| us * 1_000)
}

/// What lateness is counted from.
struct Window {
    frames: Lateness,
    /// Of each thread at the last look.
    waits: HashMap<i32, Wait>,
    /// Of all threads up to the last look.
    waited: Wait,
}

#[derive(Copy, Clone, Debug, Default)]
struct Wait {
    ns: u64,
    turns: u64,
}

impl Window {
    fn begin(control: &Control, groups: &Path) -> Window {
        Window {
            frames: control.lateness.lock().clone(),
            waits: waits(groups),
            waited: Wait::default(),
        }
    }

    /// Add the waits since the last look. Those of a thread that has ended since are not known.
    fn look(&mut self, groups: &Path) {
        let now = waits(groups);
        for (thread, wait) in &now {
            let before = self.waits.get(thread).copied().unwrap_or_default();
            self.waited.ns += wait.ns.saturating_sub(before.ns);
            self.waited.turns += wait.turns.saturating_sub(before.turns);
        }
        self.waits = now;
    }

    fn lateness(&mut self, control: &Control, groups: &Path) -> TrialLateness {
        self.look(groups);
        let late_us = control
            .lateness
            .lock()
            .clone()
            .quantile_since_us(&self.frames, SHARE);
        TrialLateness {
            frames_ns: (late_us * 1e3) as u64,
            waited_ns: self.waited.ns.checked_div(self.waited.turns).unwrap_or(0),
        }
    }
}

/// Whether a process of the hosts has a terminal: somebody has a shell open there.
fn terminal_is_open(groups: &Path) -> bool {
    threads_in(groups).into_iter().any(|thread| {
        let text = fs::read_to_string(format!("/proc/{thread}/stat")).unwrap_or_default();
        // After the name in parentheses: state, parent, group, session, terminal (proc(5)).
        text.rsplit_once(')')
            .and_then(|(_, rest)| rest.split_ascii_whitespace().nth(4))
            .is_some_and(|terminal| terminal != "0")
    })
}

/// How long each thread of the hosts has waited for a processor, and for how many turns.
fn waits(groups: &Path) -> HashMap<i32, Wait> {
    let read = |thread: i32| {
        let text = fs::read_to_string(format!("/proc/{thread}/schedstat")).ok()?;
        let (ns, turns) = waits_of(&text)?;
        Some((thread, Wait { ns, turns }))
    };
    threads_in(groups).into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_of_either_hierarchy_is_read() {
        let folder = std::env::temp_dir().join(format!("auto-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(group_cpu_ns(&folder), 0);
        fs::write(folder.join("cpu.stat"), "usage_usec 12\nuser_usec 5\n").unwrap();
        assert_eq!(group_cpu_ns(&folder), 12_000);
        fs::write(folder.join("cpuacct.usage"), "77\n").unwrap();
        assert_eq!(group_cpu_ns(&folder), 77);
        fs::write(
            folder.join("tasks"),
            format!("{}\n999999999\n", std::process::id()),
        )
        .unwrap();
        fs::create_dir_all(folder.join("host")).unwrap();
        fs::write(
            folder.join("host/tasks"),
            format!("{}\n999999999\n", std::process::id()),
        )
        .unwrap();
        let waits = waits(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(waits.len(), 1);
        assert!(waits.values().all(|wait| wait.turns > 0));
    }
}
