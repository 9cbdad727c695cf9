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
//! Nothing here runs by itself. The machine holds the *leg* it was last seen in (state, start, planned end) and
//! walks on, leg by leg, when someone asks; whole quiet/refresh cycles are computed with one division. So a link
//! that idles for a year costs nothing, and the answer is the same as that of a machine that was stepped.
//!
//! Rules that the text above leaves open, and how they are settled:
//! - A frame that is there at the very instant the hold runs out is in time.
//! - Ts cannot be cut short: a frame that comes in Ts waits for its end, then `wake_during_sleep`.
//! - A wake may begin at any moment of Quiet or Refresh. (A PHY finishes a refresh symbol first: tens of ns.)
//! - Coalescing holds frames back only in LPI and in Ts. In Hold and Waking the first frame goes as soon as it can.
//! - A promise stands: once `request` has said [`Start::At`], a change of policy does not move it.

use std::collections::BTreeMap;

pub use crate::ledger::{Ledger, LpiState};
use crate::time::Ps;

/// Which low-power modes the transmitter uses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Never asserts LPI.
    #[default]
    Off,
    /// Hold, then deep sleep.
    Deep,
    /// Hold, then fast wake's low power.
    Fast,
    /// Hold, then fast wake's low power, then deep sleep.
    Hybrid,
}

/// Times of the machine, all in picoseconds. Zero is allowed everywhere.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Timing {
    /// Idle time before LPI is asserted.
    pub hold: Ps,
    /// Ts.
    pub sleep: Ps,
    /// Tq; zero: no refresh, quiet until woken.
    pub quiet: Ps,
    /// Tr.
    pub refresh: Ps,
    /// Tw after Quiet or Refresh.
    pub wake: Ps,
    /// Tw when the wake was asked for during Ts.
    pub wake_during_sleep: Ps,
    /// Tw after Fast.
    pub fast_wake: Ps,
    /// Hybrid: time in Fast before Ts begins.
    pub deep_after: Ps,
    /// Wake when so many bytes wait; zero: no such limit.
    pub coalesce_byte: u32,
    /// Wake when the first frame has waited so long; zero: no such limit. With both limits zero nothing coalesces;
    /// with bytes alone a single short frame may wait for ever, as asked.
    pub coalesce: Ps,
}

/// When a transmitter can send.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// Bits may start at this moment, not earlier; it is not before the `now` of the request.
    At(Ps),
    /// In LPI, and too little waits to wake. Ask again when more bytes queue up, and at `until` (`Ps::MAX`: no
    /// timer), when the wake begins by itself.
    Coalescing {
        /// When the wake begins without further bytes.
        until: Ps,
    },
    /// There is no link.
    NoLink,
}

/// One stretch of time in one state. `until` is where it ends if nobody interferes.
#[derive(Copy, Clone, Debug)]
struct Leg {
    state: LegState,
    from: Ps,
    until: Ps,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum LegState {
    Down,
    Sending,
    /// Idle and ready; ends when LPI is asserted.
    Hold,
    Sleep,
    Quiet,
    Refresh,
    Fast,
    Waking,
}

/// Frames that wait for a wake, from the first request on.
#[derive(Copy, Clone, Debug)]
struct Waiting {
    since: Ps,
    queued_byte: u32,
}

/// Time spent, without the map by speed: small enough to copy for a look ahead.
#[derive(Copy, Clone, Debug, Default)]
struct Account {
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

/// The part that walks. Copied to answer `&self` questions about a later moment.
#[derive(Copy, Clone, Debug)]
struct Walker {
    mode: Mode,
    timing: Timing,
    /// Both ends agreed on EEE for the present link.
    eee_active: bool,
    lpi_permitted_from: Ps,
    leg: Leg,
    /// When the wake begins at the latest; `Ps::MAX`: none planned. Only in Sleep, Quiet, Refresh and Fast.
    wake_at: Ps,
    /// Length of a promised wake that waits for the end of Ts.
    promised_wake: Option<Ps>,
    waiting: Option<Waiting>,
    account: Account,
}

/// The transmitter of one direction. All calls come in order of time.
#[derive(Clone, Debug)]
pub struct LpiTx {
    walker: Walker,
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
            walker: Walker {
                mode: Mode::Off,
                timing: Timing::default(),
                eee_active: false,
                lpi_permitted_from: Ps::MAX,
                leg: Leg {
                    state: LegState::Down,
                    from: now,
                    until: Ps::MAX,
                },
                wake_at: Ps::MAX,
                promised_wake: None,
                waiting: None,
                account: Account::default(),
            },
            born: now,
            speed_mbps: 0,
            up_since: now,
            up_by_mbps: BTreeMap::new(),
        }
    }

    /// Change mode and times, in whatever state the machine is.
    ///
    /// A stretch that has begun and has an end of its own (Ts, Tw, one Tq or Tr) runs out as it began; hold and
    /// `deep_after` are measured anew from where the idle time or the fast wake began, but never end before `now`.
    /// A state that the new mode does not know is left by a wake (deep to fast, anything to off) or, from Fast to
    /// Deep, by going on to sleep. If frames wait, ask [`Self::request`] again: the start may have come nearer.
    pub fn set_policy(&mut self, now: Ps, mode: Mode, timing: Timing) {
        self.walker.set_policy(now, mode, timing);
    }

    /// The link comes up. LPI is asserted only if both ends agreed (`eee_active`), and not before
    /// `lpi_permitted_from`. A link that was up is taken down first.
    pub fn link_up(&mut self, now: Ps, lpi_permitted_from: Ps, eee_active: bool, speed_mbps: u32) {
        self.link_down(now);
        self.speed_mbps = speed_mbps;
        self.up_since = now;
        let walker = &mut self.walker;
        walker.eee_active = eee_active;
        walker.lpi_permitted_from = lpi_permitted_from;
        walker.enter(LegState::Hold, now);
    }

    /// The link is lost, in the middle of whatever it did; promises are void.
    pub fn link_down(&mut self, now: Ps) {
        let walker = &mut self.walker;
        walker.advance(now);
        if walker.leg.state == LegState::Down {
            return;
        }
        *self.up_by_mbps.entry(self.speed_mbps).or_default() += now - self.up_since;
        walker.enter(LegState::Down, now);
        walker.forget_wake();
    }

    /// Something waits: when may its bits start? Called when the first frame queues up at an idle transmitter, again
    /// when more queue up, when a promised or coalescing moment has come, and before each [`Self::began`] that is
    /// later than the promise (a transmitter that is ready and does not send may fall asleep again). `u32::MAX` bytes
    /// are urgent: nothing coalesces then, not even by time alone.
    pub fn request(&mut self, now: Ps, queued_byte: u32) -> Start {
        self.walker.request(now, queued_byte)
    }

    /// The first bit of a frame leaves at `at`: now, at which the machine is ready.
    ///
    /// # Panics
    /// In debug builds, if the machine is not ready at `at`.
    pub fn began(&mut self, at: Ps) {
        self.walker.advance(at);
        debug_assert_eq!(
            self.walker.leg.state,
            LegState::Hold,
            "a frame began at {at} ps on a transmitter that was not ready"
        );
        self.walker.enter(LegState::Sending, at);
    }

    /// The last bit of the frame leaves at `at`, which may lie ahead. Idle time counts from there.
    pub fn ended(&mut self, at: Ps) {
        if self.walker.leg.state == LegState::Sending {
            self.walker.leg.until = at;
        }
    }

    /// What the transmitter is doing at `now`.
    #[must_use]
    pub fn state(&self, now: Ps) -> LpiState {
        let mut walker = self.walker;
        walker.advance(now);
        walker.state()
    }

    /// Time in state up to `now`.
    #[must_use]
    pub fn ledger(&self, now: Ps) -> Ledger {
        let mut walker = self.walker;
        walker.advance(now);
        walker.book(now.saturating_sub(walker.leg.from));
        let mut up_by_mbps = self.up_by_mbps.clone();
        if walker.leg.state != LegState::Down {
            *up_by_mbps.entry(self.speed_mbps).or_default() += now - self.up_since;
        }
        let account = walker.account;
        Ledger {
            down_ps: account.down,
            active_ps: account.active,
            transmit_ps: account.transmit,
            sleep_ps: account.sleep,
            quiet_ps: account.quiet,
            refresh_ps: account.refresh,
            wake_ps: account.wake,
            fast_ps: account.fast,
            total_ps: now - self.born,
            wakes: account.wakes,
            lpi_events: account.lpi_events,
            up_by_mbps,
        }
    }

    /// Present mode.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.walker.mode
    }

    /// Present times.
    #[must_use]
    pub const fn timing(&self) -> &Timing {
        &self.walker.timing
    }
}

impl Walker {
    fn set_policy(&mut self, now: Ps, mode: Mode, timing: Timing) {
        self.advance(now);
        self.mode = mode;
        self.timing = timing;
        match self.leg.state {
            LegState::Down | LegState::Sending | LegState::Waking => return,
            LegState::Hold | LegState::Fast => {
                self.leg.until = self.natural_until(self.leg.state, self.leg.from).max(now);
            }
            LegState::Sleep | LegState::Quiet | LegState::Refresh => {}
        }
        let leaves = match self.leg.state {
            LegState::Sleep | LegState::Quiet | LegState::Refresh => {
                matches!(mode, Mode::Off | Mode::Fast)
            }
            LegState::Fast => mode == Mode::Off,
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
        match self.leg.state {
            LegState::Down => return Start::NoLink,
            LegState::Hold => return Start::At(now),
            LegState::Sending | LegState::Waking => return Start::At(self.leg.until),
            LegState::Sleep | LegState::Quiet | LegState::Refresh | LegState::Fast => {}
        }
        let since = self.waiting.map_or(now, |waiting| waiting.since);
        self.waiting = Some(Waiting { since, queued_byte });
        self.plan_wake(now);
        self.advance(now);
        match self.leg.state {
            LegState::Waking => Start::At(self.leg.until),
            // A wake of no length is over at once.
            LegState::Hold => Start::At(now),
            LegState::Sleep if self.wake_at <= now => {
                let wake = *self
                    .promised_wake
                    .get_or_insert(self.timing.wake_during_sleep);
                Start::At(self.leg.until.saturating_add(wake))
            }
            _ => Start::Coalescing {
                until: self.wake_at,
            },
        }
    }

    /// Set `wake_at` by what waits and the limits of coalescing. A wake that is due stays due.
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
        self.promised_wake = None;
        self.waiting = None;
    }

    /// Where a leg ends that begins at `from`, if nothing wakes the transmitter.
    fn natural_until(&self, state: LegState, from: Ps) -> Ps {
        let timing = &self.timing;
        match state {
            LegState::Down | LegState::Sending => Ps::MAX,
            LegState::Hold if self.mode == Mode::Off || !self.eee_active => Ps::MAX,
            LegState::Hold => from
                .saturating_add(timing.hold)
                .max(self.lpi_permitted_from),
            LegState::Sleep => from.saturating_add(timing.sleep),
            LegState::Quiet if timing.quiet == 0 => Ps::MAX,
            LegState::Quiet => from.saturating_add(timing.quiet),
            LegState::Refresh => from.saturating_add(timing.refresh),
            LegState::Fast => match self.mode {
                Mode::Deep => from,
                Mode::Hybrid => from.saturating_add(timing.deep_after),
                Mode::Off | Mode::Fast => Ps::MAX,
            },
            // The length of a wake depends on where it starts: see `wake_up`.
            LegState::Waking => from,
        }
    }

    /// Book the present leg up to `from` and begin another there.
    fn enter(&mut self, state: LegState, from: Ps) {
        self.book(from - self.leg.from);
        self.leg = Leg {
            state,
            from,
            until: self.natural_until(state, from),
        };
    }

    fn wake_up(&mut self, from: Ps, length: Ps) {
        self.enter(LegState::Waking, from);
        self.leg.until = from.saturating_add(length);
        self.account.wakes += 1;
        self.forget_wake();
    }

    /// Walk to `to`, leg by leg.
    fn advance(&mut self, to: Ps) {
        loop {
            let Leg { state, until, .. } = self.leg;
            match state {
                LegState::Down => return,
                LegState::Hold => {
                    if to <= until {
                        return;
                    }
                    let low = match self.mode {
                        Mode::Fast | Mode::Hybrid => LegState::Fast,
                        Mode::Off | Mode::Deep => LegState::Sleep,
                    };
                    self.enter(low, until);
                    self.account.lpi_events += 1;
                }
                LegState::Sending | LegState::Waking => {
                    if to < until {
                        return;
                    }
                    self.enter(LegState::Hold, until);
                }
                LegState::Sleep => {
                    if to < until {
                        return;
                    }
                    if self.wake_at < until {
                        let wake = self.promised_wake.unwrap_or(self.timing.wake_during_sleep);
                        self.wake_up(until, wake);
                    } else {
                        self.enter(LegState::Quiet, until);
                        self.skip_cycles(to);
                    }
                }
                LegState::Quiet | LegState::Refresh => {
                    if to < until.min(self.wake_at) {
                        return;
                    }
                    if self.wake_at <= until {
                        self.wake_up(self.wake_at, self.timing.wake);
                    } else if state == LegState::Quiet {
                        self.enter(LegState::Refresh, until);
                    } else {
                        self.enter(LegState::Quiet, until);
                        self.skip_cycles(to);
                    }
                }
                LegState::Fast => {
                    if self.wake_at <= until {
                        if to < self.wake_at {
                            return;
                        }
                        self.wake_up(self.wake_at, self.timing.fast_wake);
                    } else if to <= until {
                        return;
                    } else {
                        self.enter(LegState::Sleep, until);
                    }
                }
            }
        }
    }

    /// At the start of a Quiet leg: book the whole cycles up to `to` or the planned wake at once.
    fn skip_cycles(&mut self, to: Ps) {
        let Timing { quiet, refresh, .. } = self.timing;
        if quiet == 0 {
            return;
        }
        let cycle = quiet.saturating_add(refresh);
        let cycles = to.min(self.wake_at).saturating_sub(self.leg.from) / cycle;
        self.account.quiet += cycles * quiet;
        self.account.refresh += cycles * refresh;
        let from = self.leg.from + cycles * cycle;
        self.leg.from = from;
        self.leg.until = self.natural_until(LegState::Quiet, from);
    }

    /// Add `ps` of the present leg's state to the account.
    fn book(&mut self, ps: Ps) {
        let account = &mut self.account;
        match self.leg.state {
            LegState::Down => account.down += ps,
            LegState::Sending => {
                account.active += ps;
                account.transmit += ps;
            }
            LegState::Hold => account.active += ps,
            LegState::Sleep => account.sleep += ps,
            LegState::Quiet => account.quiet += ps,
            LegState::Refresh => account.refresh += ps,
            LegState::Fast => account.fast += ps,
            LegState::Waking => account.wake += ps,
        }
    }

    fn state(&self) -> LpiState {
        match self.leg.state {
            LegState::Down => LpiState::Off,
            LegState::Sending => LpiState::Active,
            LegState::Hold if self.mode == Mode::Off || !self.eee_active => LpiState::Off,
            LegState::Hold => LpiState::Hold,
            LegState::Sleep => LpiState::Sleeping,
            LegState::Quiet => LpiState::Quiet,
            LegState::Refresh => LpiState::Refresh,
            LegState::Fast => LpiState::Fast,
            LegState::Waking => LpiState::Waking,
        }
    }
}
