//! The low-power-idle machine of one transmitter (one direction of a link).
//!
//! ```text
//!             frame                     hold over                Ts over
//!   Active ─────────> Hold (idle, ready) ────────> Sleeping ─────────────> Quiet <─> Refresh
//!     ^                ^  │ mode fast, hybrid         ^                       │
//!     │ began          │  └───────────> Fast ─────────┘ hybrid: deep_after    │ frame, coalescing over
//!     │                │                 │ frame                              v
//!     └────────────────┴──────────── Waking (Tw) <────────────────────────────┘
//! ```
//!
//! No event drives the machine. It stores the *interval* in which it was last observed (activity, start, planned end)
//! and advances interval by interval when it is read or changed. Whole quiet/refresh cycles are computed with one
//! division. So a link that idles for a year costs nothing, and the result equals that of a machine that was stepped.
//!
//! Rules for the cases that the diagram leaves open:
//! - A frame that arrives at the very instant the hold expires is in time.
//! - Ts cannot be interrupted: a frame that arrives during Ts waits for its end, then for `wake_during_sleep`.
//! - A wake may begin at any moment of Quiet or Refresh. (A real PHY finishes a refresh symbol first: tens of ns.)
//! - Coalescing delays frames only in LPI and in Ts. In Hold and Waking the first frame is sent as soon as possible.
//! - A scheduled start is final: once `request` has returned [`Start::At`], a change of policy does not move it.

use std::collections::BTreeMap;

pub use crate::ledger::{Ledger, LpiState};
pub use crate::lpi_policy::{Mode, Timing};
use crate::time::Ps;

/// When a transmitter can send.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// Bits may start at this moment at the earliest; it is not before the `now` of the request.
    At(Ps),
    /// In LPI, and fewer bytes wait than the coalescing limit. Request again when more bytes queue up, and at `until`
    /// (`Ps::MAX`: no timer), when the wake begins without further bytes.
    Coalescing {
        /// When the wake begins without further bytes.
        until: Ps,
    },
    /// The link is down.
    NoLink,
}

/// Time in one activity. `until` is its planned end.
#[derive(Copy, Clone, Debug)]
struct Interval {
    state: Activity,
    from: Ps,
    until: Ps,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Activity {
    Down,
    Sending,
    /// Idle and ready to send; ends when LPI is asserted.
    Hold,
    Sleep,
    Quiet,
    Refresh,
    Fast,
    Waking,
}

/// Frames that wait for a wake since the first request.
#[derive(Copy, Clone, Debug)]
struct Waiting {
    since: Ps,
    queued_byte: u32,
}

/// Time in state, without the map by speed: small enough to copy for a look-ahead.
#[derive(Copy, Clone, Debug, Default)]
struct Totals {
    down: Ps,
    active: Ps,
    transmit: Ps,
    sleep: Ps,
    quiet: Ps,
    refresh: Ps,
    wake: Ps,
    fast: Ps,
    wakes: u64,
    lpi_events: u64,
}

/// The part that advances in time. It is copied to answer `&self` questions about a later moment.
#[derive(Copy, Clone, Debug)]
struct Machine {
    mode: Mode,
    timing: Timing,
    /// Both ends agreed on EEE for the present link.
    eee_active: bool,
    lpi_permitted_from: Ps,
    interval: Interval,
    /// Latest start of the wake; `Ps::MAX`: none planned. Only in Sleep, Quiet, Refresh and Fast.
    wake_at: Ps,
    /// Length of a scheduled wake that waits for the end of Ts.
    scheduled_wake: Option<Ps>,
    waiting: Option<Waiting>,
    totals: Totals,
}

/// The transmitter of one direction. Calls must be in order of time.
#[derive(Clone, Debug)]
pub struct LpiTx {
    machine: Machine,
    born: Ps,
    speed_mbps: u32,
    up_since: Ps,
    up_by_mbps: BTreeMap<u32, Ps>,
}

impl LpiTx {
    /// A transmitter without a link, mode off.
    #[must_use]
    pub fn new(now: Ps) -> Self {
        Self {
            machine: Machine {
                mode: Mode::Off,
                timing: Timing::default(),
                eee_active: false,
                lpi_permitted_from: Ps::MAX,
                interval: Interval {
                    state: Activity::Down,
                    from: now,
                    until: Ps::MAX,
                },
                wake_at: Ps::MAX,
                scheduled_wake: None,
                waiting: None,
                totals: Totals::default(),
            },
            born: now,
            speed_mbps: 0,
            up_since: now,
            up_by_mbps: BTreeMap::new(),
        }
    }

    /// Change mode and times, in any state.
    ///
    /// An interval that has begun and has an end of its own (Ts, Tw, one Tq or Tr) ends as planned. Hold and
    /// `deep_after` are recomputed from the start of the idle time or of the fast wake, but never end before `now`. A
    /// state that the new mode does not have is left by a wake (deep to fast, anything to off) or, from Fast to Deep,
    /// by entering sleep. If frames wait, call [`Self::request`] again: the start may be earlier now.
    pub fn set_policy(&mut self, now: Ps, mode: Mode, timing: Timing) {
        self.machine.set_policy(now, mode, timing);
    }

    /// The link comes up. LPI is asserted only if both ends negotiated EEE (`eee_active`), and not before
    /// `lpi_permitted_from`. A link that was up is taken down first.
    pub fn link_up(&mut self, now: Ps, lpi_permitted_from: Ps, eee_active: bool, speed_mbps: u32) {
        self.link_down(now);
        self.speed_mbps = speed_mbps;
        self.up_since = now;
        let machine = &mut self.machine;
        machine.eee_active = eee_active;
        machine.lpi_permitted_from = lpi_permitted_from;
        machine.enter(Activity::Hold, now);
    }

    /// The link goes down, in any state; a scheduled start is cancelled.
    pub fn link_down(&mut self, now: Ps) {
        let machine = &mut self.machine;
        machine.advance(now);
        if machine.interval.state == Activity::Down {
            return;
        }
        *self.up_by_mbps.entry(self.speed_mbps).or_default() += now - self.up_since;
        machine.enter(Activity::Down, now);
        machine.forget_wake();
    }

    /// Frames wait: when may their bits start? Call it when the first frame queues up at an idle transmitter, when
    /// more queue up, at a scheduled start or the end of coalescing, and before each [`Self::began`] that is later
    /// than the scheduled start (a transmitter that is ready and does not send may fall asleep again). `u32::MAX`
    /// bytes are urgent: they override coalescing.
    pub fn request(&mut self, now: Ps, queued_byte: u32) -> Start {
        self.machine.request(now, queued_byte)
    }

    /// The first bit of a frame leaves at `at`: now, at which the machine is ready.
    ///
    /// # Panics
    /// In debug builds, if the machine is not ready at `at`.
    pub fn began(&mut self, at: Ps) {
        self.machine.advance(at);
        debug_assert_eq!(
            self.machine.interval.state,
            Activity::Hold,
            "a frame began at {at} ps on a transmitter that was not ready"
        );
        self.machine.enter(Activity::Sending, at);
    }

    /// The last bit of the frame leaves at `at`, which may lie ahead. Idle time counts from there.
    pub fn ended(&mut self, at: Ps) {
        if self.machine.interval.state == Activity::Sending {
            self.machine.interval.until = at;
        }
    }

    /// State of the transmitter at `now`.
    #[must_use]
    pub fn state(&self, now: Ps) -> LpiState {
        let mut machine = self.machine;
        machine.advance(now);
        machine.state()
    }

    /// Time in state up to `now`.
    #[must_use]
    pub fn ledger(&self, now: Ps) -> Ledger {
        let mut machine = self.machine;
        machine.advance(now);
        machine.add_time(now.saturating_sub(machine.interval.from));
        let mut up_by_mbps = self.up_by_mbps.clone();
        if machine.interval.state != Activity::Down {
            *up_by_mbps.entry(self.speed_mbps).or_default() += now - self.up_since;
        }
        let totals = machine.totals;
        Ledger {
            down_ps: totals.down,
            active_ps: totals.active,
            transmit_ps: totals.transmit,
            sleep_ps: totals.sleep,
            quiet_ps: totals.quiet,
            refresh_ps: totals.refresh,
            wake_ps: totals.wake,
            fast_ps: totals.fast,
            total_ps: now - self.born,
            wakes: totals.wakes,
            lpi_events: totals.lpi_events,
            up_by_mbps,
        }
    }

    /// Present mode.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.machine.mode
    }

    /// Present times.
    #[must_use]
    pub const fn timing(&self) -> &Timing {
        &self.machine.timing
    }
}

impl Machine {
    fn set_policy(&mut self, now: Ps, mode: Mode, timing: Timing) {
        self.advance(now);
        self.mode = mode;
        self.timing = timing;
        match self.interval.state {
            Activity::Down | Activity::Sending | Activity::Waking => return,
            Activity::Hold | Activity::Fast => {
                self.interval.until = self
                    .natural_until(self.interval.state, self.interval.from)
                    .max(now);
            }
            Activity::Sleep | Activity::Quiet | Activity::Refresh => {}
        }
        let leaves = match self.interval.state {
            Activity::Sleep | Activity::Quiet | Activity::Refresh => {
                matches!(mode, Mode::Off | Mode::Fast)
            }
            Activity::Fast => mode == Mode::Off,
            _ => false,
        };
        if leaves {
            self.wake_at = self.wake_at.min(now);
        } else {
            self.plan_wake(now);
        }
        self.advance(now);
    }

    fn request(&mut self, now: Ps, queued_byte: u32) -> Start {
        self.advance(now);
        match self.interval.state {
            Activity::Down => return Start::NoLink,
            Activity::Hold => return Start::At(now),
            Activity::Sending | Activity::Waking => return Start::At(self.interval.until),
            Activity::Sleep | Activity::Quiet | Activity::Refresh | Activity::Fast => {}
        }
        let since = self.waiting.map_or(now, |waiting| waiting.since);
        self.waiting = Some(Waiting { since, queued_byte });
        self.plan_wake(now);
        self.advance(now);
        match self.interval.state {
            Activity::Waking => Start::At(self.interval.until),
            // A wake of zero length is over at once.
            Activity::Hold => Start::At(now),
            Activity::Sleep if self.wake_at <= now => {
                let wake = *self
                    .scheduled_wake
                    .get_or_insert(self.timing.wake_during_sleep);
                Start::At(self.interval.until.saturating_add(wake))
            }
            _ => Start::Coalescing {
                until: self.wake_at,
            },
        }
    }

    /// Set `wake_at` from what waits and the coalescing limits. A wake that is due stays due.
    fn plan_wake(&mut self, now: Ps) {
        let Some(waiting) = self.waiting else {
            return;
        };
        if self.wake_at <= now {
            return;
        }
        let limit_byte = self.timing.coalesce_byte;
        let limit = self.timing.coalesce;
        let urgent = waiting.queued_byte == u32::MAX;
        let enough = urgent || limit_byte != 0 && waiting.queued_byte >= limit_byte;
        self.wake_at = if enough || limit_byte == 0 && limit == 0 {
            now
        } else if limit == 0 {
            Ps::MAX
        } else {
            waiting.since.saturating_add(limit).max(now)
        };
    }

    fn forget_wake(&mut self) {
        self.wake_at = Ps::MAX;
        self.scheduled_wake = None;
        self.waiting = None;
    }

    /// End of an interval that begins at `from`, if nothing wakes the transmitter.
    fn natural_until(&self, state: Activity, from: Ps) -> Ps {
        let timing = &self.timing;
        match state {
            Activity::Down | Activity::Sending => Ps::MAX,
            Activity::Hold if self.mode == Mode::Off || !self.eee_active => Ps::MAX,
            Activity::Hold => from
                .saturating_add(timing.hold)
                .max(self.lpi_permitted_from),
            Activity::Sleep => from.saturating_add(timing.sleep),
            Activity::Quiet if timing.quiet == 0 => Ps::MAX,
            Activity::Quiet => from.saturating_add(timing.quiet),
            Activity::Refresh => from.saturating_add(timing.refresh),
            Activity::Fast => match self.mode {
                Mode::Deep => from,
                Mode::Hybrid => from.saturating_add(timing.deep_after),
                Mode::Off | Mode::Fast => Ps::MAX,
            },
            // The length of a wake depends on where it starts: see `wake_up`.
            Activity::Waking => from,
        }
    }

    /// Account for the present interval up to `from` and begin another there.
    fn enter(&mut self, state: Activity, from: Ps) {
        self.add_time(from - self.interval.from);
        self.interval = Interval {
            state,
            from,
            until: self.natural_until(state, from),
        };
    }

    fn wake_up(&mut self, from: Ps, length: Ps) {
        self.enter(Activity::Waking, from);
        self.interval.until = from.saturating_add(length);
        self.totals.wakes += 1;
        self.forget_wake();
    }

    /// What the hold ends in.
    fn low(&self) -> Activity {
        match self.mode {
            Mode::Fast | Mode::Hybrid => Activity::Fast,
            Mode::Off | Mode::Deep => Activity::Sleep,
        }
    }

    /// Advance to `to`, interval by interval.
    fn advance(&mut self, to: Ps) {
        loop {
            let Interval { state, until, .. } = self.interval;
            match state {
                Activity::Down => return,
                Activity::Hold => {
                    if to <= until {
                        return;
                    }
                    self.enter(self.low(), until);
                    self.totals.lpi_events += 1;
                }
                Activity::Sending | Activity::Waking => {
                    if to < until {
                        return;
                    }
                    self.enter(Activity::Hold, until);
                }
                Activity::Sleep => {
                    if to < until {
                        return;
                    }
                    if self.wake_at < until {
                        let wake = self.scheduled_wake.unwrap_or(self.timing.wake_during_sleep);
                        self.wake_up(until, wake);
                    } else {
                        self.enter(Activity::Quiet, until);
                        self.skip_cycles(to);
                    }
                }
                Activity::Quiet | Activity::Refresh => {
                    if to < until.min(self.wake_at) {
                        return;
                    }
                    if self.wake_at <= until {
                        self.wake_up(self.wake_at, self.timing.wake);
                    } else if state == Activity::Quiet {
                        self.enter(Activity::Refresh, until);
                    } else {
                        self.enter(Activity::Quiet, until);
                        self.skip_cycles(to);
                    }
                }
                Activity::Fast => {
                    if self.wake_at <= until {
                        if to < self.wake_at {
                            return;
                        }
                        self.wake_up(self.wake_at, self.timing.fast_wake);
                    } else if to <= until {
                        return;
                    } else {
                        self.enter(Activity::Sleep, until);
                    }
                }
            }
        }
    }

    /// At the start of a Quiet interval: account for all whole cycles up to `to` or the planned wake at once.
    fn skip_cycles(&mut self, to: Ps) {
        let Timing { quiet, refresh, .. } = self.timing;
        if quiet == 0 {
            return;
        }
        let cycle = quiet.saturating_add(refresh);
        let cycles = to.min(self.wake_at).saturating_sub(self.interval.from) / cycle;
        self.totals.quiet += cycles * quiet;
        self.totals.refresh += cycles * refresh;
        let from = self.interval.from + cycles * cycle;
        self.interval.from = from;
        self.interval.until = self.natural_until(Activity::Quiet, from);
    }

    /// Add `ps` to the time of the present activity.
    fn add_time(&mut self, ps: Ps) {
        let totals = &mut self.totals;
        match self.interval.state {
            Activity::Down => totals.down += ps,
            Activity::Sending => {
                totals.active += ps;
                totals.transmit += ps;
            }
            Activity::Hold => totals.active += ps,
            Activity::Sleep => totals.sleep += ps,
            Activity::Quiet => totals.quiet += ps,
            Activity::Refresh => totals.refresh += ps,
            Activity::Fast => totals.fast += ps,
            Activity::Waking => totals.wake += ps,
        }
    }

    fn state(&self) -> LpiState {
        match self.interval.state {
            Activity::Down => LpiState::Off,
            Activity::Sending => LpiState::Active,
            Activity::Hold if self.mode == Mode::Off || !self.eee_active => LpiState::Off,
            Activity::Hold => LpiState::Hold,
            Activity::Sleep => LpiState::Sleeping,
            Activity::Quiet => LpiState::Quiet,
            Activity::Refresh => LpiState::Refresh,
            Activity::Fast => LpiState::Fast,
            Activity::Waking => LpiState::Waking,
        }
    }
}
