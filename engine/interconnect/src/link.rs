//! One direction of a link: its rate, its low-power idle, and the time it spends in each state.
//!
//! The machine is that of the twin's [`fabric::lpi::LpiTx`], in cycles instead of picoseconds, and the tests compare the
//! two call by call. It is written anew because a simulation has a hundred thousand of them: this one
//! stores when the link became idle, and computes everything else when a flit comes. A link that is awake costs
//! one comparison.
//!
//! ```text
//! idle_from ── hold ──┬── Ts ──┬── Tq, Tr, Tq, … ──┬── Tw ──> idle_from      deep
//!                     ├── fast wake's low power ───┼── Tw ──> idle_from      fast
//!                     └── fast, deep_after, Ts ────┴── Tw ──> idle_from      hybrid
//! ```

pub use fabric::lpi::{Mode, Timing};

use crate::error::SimulationError;

/// What a link does when it is idle, and how fast it is. Times are in cycles; `coalesce_byte` counts flits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LinkPolicy {
    /// Low-power modes.
    pub mode: Mode,
    /// Times of the modes.
    pub timing: Timing,
    /// Cycles that a flit occupies the link: 1 at full rate, 2 and 4 at half and quarter rate.
    pub flit_cycles: u32,
    /// A flit that comes in Ts ends it, and pays the wake alone (Georgakoudis et al. 2019, Table II). A transmitter of IEEE
    /// 802.3 clause 78 sends the whole of Ts first: a first flit in Ts that comes late by less than the rest of Ts would show
    /// which of the two an adapter does.
    pub ends_sleep: bool,
}

impl Default for LinkPolicy {
    /// Full rate, never asleep.
    fn default() -> Self {
        Self {
            mode: Mode::Off,
            timing: Timing::default(),
            flit_cycles: 1,
            ends_sleep: false,
        }
    }
}

impl LinkPolicy {
    /// Refuse what cannot be simulated.
    ///
    /// # Errors
    /// If a flit takes no time.
    pub fn check(&self) -> Result<(), SimulationError> {
        if self.flit_cycles == 0 {
            return SimulationError::parameter("a flit occupies a link for at least 1 cycle");
        }
        Ok(())
    }

    /// The longest wake of its mode, after the rest of Ts.
    pub(crate) const fn longest_wake(&self) -> u64 {
        let timing = &self.timing;
        match self.mode {
            Mode::Off => 0,
            Mode::Fast => timing.fast_wake,
            Mode::Deep | Mode::Hybrid => timing.wake,
        }
    }

    /// When LPI is asserted on a link that is idle from `idle_from` on.
    pub(crate) const fn asleep_from(&self, idle_from: u64) -> u64 {
        match self.mode {
            Mode::Off => u64::MAX,
            _ => idle_from.saturating_add(self.timing.hold),
        }
    }

    /// Account for the time from `idle_from` to the end of a wake that was requested at `at`, in LPI. When the wake
    /// begins, and when it ends.
    pub(crate) fn wake(&self, idle_from: u64, at: u64, ledger: &mut LinkLedger) -> (u64, u64) {
        let low = self.asleep_from(idle_from);
        ledger.idle += low - idle_from;
        let (mut from, length) = low_power(self.mode, &self.timing, low, at, ledger);
        if self.ends_sleep {
            ledger.sleep -= from - at;
            from = at;
        }
        ledger.sleeps += 1;
        ledger.wakes += 1;
        ledger.wake += length;
        (from, from.saturating_add(length))
    }

    /// Account for the time from `idle_from` to `now`, in which nothing was asked for.
    pub(crate) fn rest(&self, idle_from: u64, now: u64, ledger: &mut LinkLedger) {
        let low = self.asleep_from(idle_from);
        ledger.idle += now.min(low) - idle_from;
        if now > low {
            ledger.sleeps += 1;
            let (reached, _) = low_power(self.mode, &self.timing, low, now, ledger);
            // Ts is not over.
            ledger.sleep -= reached - now;
        }
    }
}

/// When a link can take a flit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ready {
    /// From this cycle on, which is not before the request's.
    At(u64),
    /// Too few flits wait for a wake. Request again when more wait, and at `until` (`u64::MAX`: no timer).
    Coalescing {
        /// When the link wakes for those that wait.
        until: u64,
    },
}

/// Cycles by state. All but `wakes` and `sleeps` add up to the age of the link.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkLedger {
    /// Sending.
    pub transmit: u64,
    /// Idle at full power, hold included.
    pub idle: u64,
    /// Ts.
    pub sleep: u64,
    /// Tq.
    pub quiet: u64,
    /// Tr.
    pub refresh: u64,
    /// Fast wake's low power.
    pub fast: u64,
    /// Tw.
    pub wake: u64,
    /// Number of wakes.
    pub wakes: u64,
    /// Number of times LPI was asserted.
    pub sleeps: u64,
}

impl LinkLedger {
    /// Sum of all states.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.transmit + self.idle + self.sleep + self.quiet + self.refresh + self.fast + self.wake
    }

    /// Cycles at low power: quiet, refresh, fast.
    #[must_use]
    pub const fn low_power(&self) -> u64 {
        self.quiet + self.refresh + self.fast
    }
}

/// What the link does, or did last, up to `idle_from`.
#[derive(Copy, Clone, Debug)]
enum Busy {
    Sending,
    /// Waking from this cycle on; before it, Ts runs out.
    Waking {
        from: u64,
    },
}

/// The transmitter of one direction. Calls are in order of time.
///
/// What a flit needs while the link is awake stands together, for the cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct LinkTx {
    /// Ready and idle from here on; may lie ahead.
    idle_from: u64,
    /// LPI is asserted here if no flit comes.
    asleep_from: u64,
    /// The policy's, or `u64::MAX` if it has no low power.
    hold: u64,
    flit_cycles: u64,
    /// Time up to `idle_from`.
    ledger: LinkLedger,
    busy: Busy,
    /// The first flit that waits for a wake came here.
    waiting_since: Option<u64>,
    /// The wake begins here without further flits.
    wake_at: u64,
    policy: LinkPolicy,
}

impl LinkTx {
    /// A link that became idle at `now`.
    #[must_use]
    pub fn new(now: u64, policy: LinkPolicy) -> Self {
        Self {
            idle_from: now,
            asleep_from: policy.asleep_from(now),
            hold: policy.asleep_from(0),
            flit_cycles: u64::from(policy.flit_cycles),
            policy,
            busy: Busy::Sending,
            waiting_since: None,
            wake_at: u64::MAX,
            ledger: LinkLedger::default(),
        }
    }

    /// Cycles that a flit occupies the link.
    #[must_use]
    pub const fn flit_cycles(&self) -> u64 {
        self.flit_cycles
    }

    /// Whether it ever goes into low power.
    pub(crate) const fn can_sleep(&self) -> bool {
        self.hold != u64::MAX
    }

    /// When it is idle and ready, after all that it has been asked for; may lie ahead.
    #[must_use]
    pub const fn idle_from(&self) -> u64 {
        self.idle_from
    }

    fn idle(&mut self, from: u64) {
        self.idle_from = from;
        self.asleep_from = from.saturating_add(self.hold);
    }

    /// In low power, or on the way into it; a link that wakes is awake.
    #[must_use]
    pub fn is_asleep(&self, now: u64) -> bool {
        now > self.asleep_from && now < self.wake_at
    }

    /// `queued` flits wait. Asking again changes nothing, unless more wait. Ask before every [`Self::send`].
    pub fn request(&mut self, now: u64, queued: u32) -> Ready {
        if now <= self.asleep_from {
            return Ready::At(self.idle_from.max(now));
        }
        self.wake_for(now, queued)
    }

    #[cold]
    fn wake_for(&mut self, now: u64, queued: u32) -> Ready {
        // A wake by timer lies behind: it took place, and the link may be asleep again.
        while self.wake_at <= now {
            self.wake(self.wake_at);
            if now <= self.asleep_from {
                return Ready::At(self.idle_from.max(now));
            }
        }
        let timing = &self.policy.timing;
        let since = *self.waiting_since.get_or_insert(now);
        let (flits, time) = (timing.coalesce_byte, timing.coalesce);
        if flits == 0 && time == 0 || flits != 0 && queued >= flits {
            self.wake(now);
            return Ready::At(self.idle_from);
        }
        self.wake_at = if time == 0 {
            u64::MAX
        } else {
            since.saturating_add(time).max(now)
        };
        if self.wake_at <= now {
            self.wake(now);
            return Ready::At(self.idle_from);
        }
        Ready::Coalescing {
            until: self.wake_at,
        }
    }

    /// Wake, asked for at `at`, in LPI.
    fn wake(&mut self, at: u64) {
        let (from, ready) = self.policy.wake(self.idle_from, at, &mut self.ledger);
        self.busy = Busy::Waking { from };
        self.idle(ready);
        self.waiting_since = None;
        self.wake_at = u64::MAX;
    }

    /// A flit begins; the link was ready at `at` ([`Ready::At`]).
    pub fn send(&mut self, at: u64) {
        self.send_packet(at, 1);
    }

    /// So many flits begin, one behind the other.
    pub fn send_packet(&mut self, at: u64, flits: u32) {
        debug_assert!(
            at >= self.idle_from && at <= self.asleep_from,
            "a flit began at {at} on a link that was not ready"
        );
        self.ledger.idle += at - self.idle_from;
        let length = self.flit_cycles() * u64::from(flits);
        self.ledger.transmit += length;
        self.busy = Busy::Sending;
        self.idle(at + length);
    }

    /// Time in state up to `now`, which is not before the last call.
    #[must_use]
    pub fn ledger(&self, now: u64) -> LinkLedger {
        let mut machine = self.clone();
        while machine.wake_at <= now && machine.wake_at != u64::MAX {
            machine.wake(machine.wake_at);
        }
        let mut ledger = machine.ledger;
        if now < machine.idle_from {
            // What lies ahead has been accounted for already.
            match machine.busy {
                Busy::Sending => ledger.transmit -= machine.idle_from - now,
                Busy::Waking { from } => {
                    ledger.wake -= machine.idle_from - from.max(now);
                    ledger.sleep -= from.saturating_sub(now);
                    ledger.wakes -= u64::from(now < from);
                }
            }
            return ledger;
        }
        machine.policy.rest(machine.idle_from, now, &mut ledger);
        ledger
    }
}

/// Account for low power from `low` to a wake requested at `at`. When the wake begins (not before Ts is over), and how
/// long it takes.
fn low_power(
    mode: Mode,
    timing: &Timing,
    low: u64,
    at: u64,
    ledger: &mut LinkLedger,
) -> (u64, u64) {
    let deep = match mode {
        Mode::Off | Mode::Deep => low,
        Mode::Hybrid => low.saturating_add(timing.deep_after),
        Mode::Fast => u64::MAX,
    };
    if mode != Mode::Deep && at <= deep {
        ledger.fast += at - low;
        return (at, timing.fast_wake);
    }
    ledger.fast += deep - low;
    ledger.sleep += timing.sleep;
    let asleep = deep.saturating_add(timing.sleep);
    if at < asleep {
        return (asleep, timing.wake_during_sleep);
    }
    let elapsed = at - asleep;
    let quiet = if timing.quiet == 0 {
        elapsed
    } else {
        let cycle = timing.quiet.saturating_add(timing.refresh);
        elapsed / cycle * timing.quiet + (elapsed % cycle).min(timing.quiet)
    };
    ledger.quiet += quiet;
    ledger.refresh += elapsed - quiet;
    (at, timing.wake)
}
