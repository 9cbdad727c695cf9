//! How the live thread shares the machine: its scheduling class, when it spins and when it sleeps.
//!
//! Measured on two virtual cores of an AMD EPYC (kernel 6.18, HZ 250): stalls longer than 1 ms in 3 s of a loop that
//! only spins, beside two busy processes, and the longest stall. Ordinary class: 250 stalls, 12 ms. Nice −20: 42
//! stalls, 4 ms. SCHED_FIFO: rare stalls, but the throttling of real-time threads (`sched_rt_runtime_us`) stopped it
//! for 50 ms once a second. SCHED_DEADLINE with 198 of each 200 µs, and a short sleep of its own each 5 ms: 0 to 3
//! stalls, 1 to 4 ms; the kernel limits it to its share of one core, so nothing can freeze.
//!
//! What it runs beyond its share the kernel notices at a tick (4 ms) only, and then stops it for all of that at once: of
//! 198 in 200 µs for 40 µs. And a sleep keeps an echo that meets it waiting for some 50 µs. So one echo in a hundred was
//! late: with gaps of 0.1 to 1 ms, on two virtual cores of an Intel Xeon (2,000 echoes each time), 99 % took at most 42 to
//! 68 µs, 99.9 % at most 213 to 458 µs (six times); with 199.8 in 200 µs 45 to 60 and 100 to 122 µs (six times); and with
//! a sleep each 20 ms only 20 to 59 and 58 to 226 µs (six times), beside two busy processes 54 to 63 and 92 to 145 µs; with
//! that sleep and 198 in 200 µs 50 to 68 and 534 to 737 µs (three times).
//!
//! So the thread uses SCHED_DEADLINE. If the kernel refuses it (no CAP_SYS_NICE, one core, another live engine has the
//! bandwidth) the thread uses nice −20, and without that right the ordinary class; the lateness histogram shows the
//! effect. One second after the last frame the thread leaves SCHED_DEADLINE and sleeps at nice −20.

//! All spans here but that of spinning after a frame are the wall's, as they are those of the machine; the clock may be a
//! lab's ([`Pace::set_rate`]). At a slow rate the thread sleeps between frames: what a wake-up costs is little in lab time,
//! and the hosts get its core. Where quotas leave it a core it spins, as a host that sends would pay for its wake-up: of HPL
//! of order 2000 at 1/50 on 12 hosts with half a core each, 0.05 s of 0.31 s a rank.

use fabric::Ps;
use fabric::time::{PS_PER_MS, PS_PER_S, PS_PER_US};

use crate::live::room::own_core;
use crate::os::sched::SchedAttr;

/// Spin instead of sleeping when the next event is nearer than this: it covers the wake-up time of a timer.
const SPIN_AHEAD: Ps = 120 * PS_PER_US;
/// After spinning this long the thread sleeps for [`SHORT_SLEEP`] as soon as no frame is near: kernel threads bound to
/// its core get to run, and its runtime is not used up in the middle of a delivery.
const SLEEP_WANTED_AFTER: Ps = 20 * PS_PER_MS;
/// After spinning this long it sleeps even if a frame is near.
const SLEEP_FORCED_AFTER: Ps = 50 * PS_PER_MS;
const SHORT_SLEEP: Ps = 20 * PS_PER_US;
/// No frame is near: the last one was this long ago, and the next event is this far away.
const QUIET: Ps = 300 * PS_PER_US;
/// Runtime that the scheduler guarantees in each period, and the limit while others want the core.
const SHARE_NS: u64 = 199_800;
const PERIOD_NS: u64 = 200_000;
const NICE: i32 = -20;
/// After this long without a frame the thread leaves SCHED_DEADLINE.
const SILENCE: Ps = PS_PER_S;
/// Slower than this the thread does not spin after a frame, unless quotas leave it a core: a wake-up of 30 µs is 1.5 µs of
/// lab time or less.
const SPINS_FROM_RATE: f64 = 0.05;
/// So long after a frame (lab time) a slow lab is taken to be in use: HPL computes for a tenth of a second between messages.
const IN_USE: Ps = PS_PER_S;
/// Interval at which the thread requests SCHED_DEADLINE again while it is refused.
const ATTEMPT_EVERY: Ps = 100 * PS_PER_MS;

/// How long the thread may wait for events.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all: poll and continue.
    Spin,
    /// At most this long.
    For(Ps),
    /// Until an event.
    Forever,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Class {
    Ordinary,
    Deadline,
}

/// The pace of one thread.
#[derive(Debug)]
pub struct Pace {
    spin: Ps,
    /// Clock time per wall time.
    rate: f64,
    /// The hosts' quotas leave this thread a core.
    core_left: bool,
    last_frame: Ps,
    last_sleep: Ps,
    last_attempt: Ps,
    class: Class,
}

impl Pace {
    /// For the calling thread; takes the best scheduling class that the kernel grants. The thread spins for `spin`
    /// after a frame.
    #[must_use]
    pub fn take(spin: Ps, now: Ps) -> Self {
        // SAFETY: a plain call without memory. Timers of this thread expire on time, not up to 50 µs later.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
        set_class(Class::Ordinary);
        Self {
            spin,
            rate: 1.0,
            core_left: false,
            last_frame: 0,
            last_sleep: now,
            last_attempt: 0,
            class: Class::Ordinary,
        }
    }

    /// The clock runs at this rate: clock time per wall time; whether the hosts' quotas leave this thread a core at it.
    pub fn set_rate(&mut self, rate: f64, core_left: bool) {
        self.rate = rate;
        self.core_left = core_left;
    }

    /// Whether it spins after a frame.
    fn spins(&self) -> bool {
        self.rate >= SPINS_FROM_RATE || self.core_left
    }

    /// A span of the wall on the clock.
    #[must_use]
    pub fn on_clock(&self, span: Ps) -> Ps {
        if self.rate == 1.0 {
            span
        } else {
            (span as f64 * self.rate) as Ps
        }
    }

    /// How long the thread spins after a frame: a span of traffic, so not shorter where the clock is slow.
    fn spin(&self) -> Ps {
        if self.spins() {
            self.on_clock(self.spin).max(self.spin)
        } else {
            0
        }
    }

    /// Whether programs use the lab: what they compute between messages should not find processors that slept.
    #[must_use]
    pub fn in_use(&self, now: Ps) -> bool {
        self.use_left(now) > 0
    }

    /// How much longer the lab is taken to be in use, of which the last frame tells.
    fn use_left(&self, now: Ps) -> Ps {
        if self.last_frame == 0 {
            return 0;
        }
        let span = if self.rate < 1.0 { IN_USE } else { self.spin() };
        span.saturating_sub(now.saturating_sub(self.last_frame))
    }

    /// A frame was read or written.
    pub fn frame_at(&mut self, now: Ps) {
        self.last_frame = now;
        let again = self.last_attempt == 0
            || now.saturating_sub(self.last_attempt) > self.on_clock(ATTEMPT_EVERY);
        if self.class == Class::Ordinary && again {
            self.last_attempt = now;
            if set_class(Class::Deadline) {
                self.class = Class::Deadline;
            }
        }
    }

    /// The thread is about to wait. After a long silence it leaves SCHED_DEADLINE.
    pub fn rest(&mut self, now: Ps) {
        if self.class == Class::Deadline
            && now.saturating_sub(self.last_frame) >= self.on_clock(SILENCE)
        {
            set_class(Class::Ordinary);
            self.class = Class::Ordinary;
            self.last_attempt = 0;
        }
    }

    /// The core that the calling thread has claimed, if any: none while it sleeps between frames.
    #[must_use]
    pub fn own_core(&self) -> Option<i32> {
        (self.class == Class::Deadline && self.spins()).then(own_core)
    }

    /// The thread slept until now.
    pub fn slept_until(&mut self, now: Ps) {
        self.last_sleep = now;
    }

    /// Whether no frame is near, as far as one can tell.
    #[must_use]
    pub fn is_quiet(&self, now: Ps, next: Option<Ps>, at_work: bool) -> bool {
        let quiet = self.on_clock(QUIET);
        !at_work
            && now.saturating_sub(self.last_frame) > quiet
            && next.is_none_or(|next| next.saturating_sub(now) > quiet)
    }

    /// How long to wait for events. `next`: the next scheduled one; `at_work`: TAPs are readable.
    pub fn wait_limit(&self, now: Ps, next: Option<Ps>, at_work: bool) -> Wait {
        let until_next = next.map(|next| next.saturating_sub(now));
        let since_frame = now.saturating_sub(self.last_frame);
        let spinning = now.saturating_sub(self.last_sleep);
        let ahead = self.on_clock(SPIN_AHEAD);
        let busy = at_work || (self.last_frame > 0 && since_frame < self.spin());
        let wait_limit = match until_next {
            _ if busy => Wait::Spin,
            Some(left) if left <= ahead => Wait::Spin,
            Some(left) => Wait::For((left - ahead).min(self.until_rest(now))),
            None => match self.until_rest(now) {
                Ps::MAX => Wait::Forever,
                left => Wait::For(left),
            },
        };
        let must_sleep = spinning > self.on_clock(SLEEP_FORCED_AFTER)
            || (spinning > self.on_clock(SLEEP_WANTED_AFTER) && self.is_quiet(now, next, at_work));
        if wait_limit == Wait::Spin && must_sleep {
            return Wait::For(self.on_clock(SHORT_SLEEP));
        }
        wait_limit
    }

    /// Time left before the thread leaves SCHED_DEADLINE, or the lab is not in use any more; `Ps::MAX` if neither is to come.
    fn until_rest(&self, now: Ps) -> Ps {
        let least = self.on_clock(PS_PER_US);
        let unused = match self.use_left(now) {
            0 => Ps::MAX,
            left => left.max(least),
        };
        let silent = match self.class {
            Class::Deadline => self
                .on_clock(SILENCE)
                .saturating_sub(now.saturating_sub(self.last_frame))
                .max(least),
            Class::Ordinary => Ps::MAX,
        };
        unused.min(silent)
    }
}

/// Set the class of the calling thread; false if the kernel refuses.
fn set_class(class: Class) -> bool {
    const SCHED_DEADLINE: u32 = 6;
    match class {
        Class::Deadline => SchedAttr {
            policy: SCHED_DEADLINE,
            runtime_ns: SHARE_NS,
            deadline_ns: PERIOD_NS,
            period_ns: PERIOD_NS,
            ..SchedAttr::default()
        },
        Class::Ordinary => SchedAttr {
            policy: libc::SCHED_OTHER as u32,
            nice: NICE,
            ..SchedAttr::default()
        },
    }
    .set(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pace that leaves the test's thread as it is.
    fn pace(spin: Ps) -> Pace {
        Pace {
            spin,
            rate: 1.0,
            core_left: false,
            last_frame: 0,
            last_sleep: 0,
            last_attempt: 0,
            class: Class::Ordinary,
        }
    }

    #[test]
    fn a_quiet_lab_sleeps_until_something_comes() {
        assert_eq!(
            pace(PS_PER_MS).wait_limit(5 * PS_PER_US, None, false),
            Wait::Forever
        );
    }

    #[test]
    fn it_spins_after_a_frame_and_towards_a_moment() {
        let mut pace = pace(6 * PS_PER_MS);
        pace.last_frame = 10 * PS_PER_MS;
        pace.slept_until(10 * PS_PER_MS);
        assert_eq!(pace.wait_limit(15 * PS_PER_MS, None, false), Wait::Spin);
        let later = 20 * PS_PER_MS;
        assert_eq!(pace.wait_limit(later, None, false), Wait::Forever);
        assert_eq!(
            pace.wait_limit(later, Some(later + 100 * PS_PER_US), false),
            Wait::Spin
        );
        assert_eq!(
            pace.wait_limit(later, Some(later + PS_PER_MS), false),
            Wait::For(PS_PER_MS - SPIN_AHEAD)
        );
        assert_eq!(
            pace.wait_limit(later, Some(later - PS_PER_MS), false),
            Wait::Spin
        );
    }

    #[test]
    fn it_is_quiet_between_frames() {
        let mut pace = pace(6 * PS_PER_MS);
        pace.last_frame = 10 * PS_PER_MS;
        let now = 11 * PS_PER_MS;
        assert!(pace.is_quiet(now, None, false));
        assert!(pace.is_quiet(now, Some(now + PS_PER_MS), false));
        assert!(
            !pace.is_quiet(now, Some(now + 100 * PS_PER_US), false),
            "one is due"
        );
        assert!(!pace.is_quiet(now, None, true), "one is read");
        assert!(
            !pace.is_quiet(pace.last_frame + QUIET, None, false),
            "one was just here"
        );
        pace.set_rate(0.1, false);
        assert!(
            pace.is_quiet(now, Some(now + 100 * PS_PER_US), false),
            "of the wall's time"
        );
    }

    #[test]
    fn it_sleeps_when_it_has_spun_for_long() {
        let mut pace = pace(PS_PER_MS * 6);
        pace.last_frame = 19 * PS_PER_MS;
        assert_eq!(
            pace.wait_limit(21 * PS_PER_MS, None, false),
            Wait::For(SHORT_SLEEP)
        );
        pace.last_frame = 22 * PS_PER_MS;
        assert_eq!(
            pace.wait_limit(22 * PS_PER_MS, None, false),
            Wait::Spin,
            "a frame was just here"
        );
        pace.last_frame = 51 * PS_PER_MS;
        assert_eq!(
            pace.wait_limit(51 * PS_PER_MS, None, false),
            Wait::For(SHORT_SLEEP),
            "whatever happens"
        );
        pace.slept_until(51 * PS_PER_MS);
        assert_eq!(pace.wait_limit(51 * PS_PER_MS, None, false), Wait::Spin);
    }

    #[test]
    fn it_wakes_once_to_give_its_share_back() {
        let mut pace = pace(6 * PS_PER_MS);
        pace.class = Class::Deadline;
        pace.last_frame = PS_PER_S;
        let now = PS_PER_S + 100 * PS_PER_MS;
        assert_eq!(
            pace.wait_limit(now, None, false),
            Wait::For(900 * PS_PER_MS)
        );
        let far = Some(10 * PS_PER_S);
        assert_eq!(pace.wait_limit(now, far, false), Wait::For(900 * PS_PER_MS));
        pace.class = Class::Ordinary;
        assert_eq!(pace.wait_limit(now, None, false), Wait::Forever);
    }

    #[test]
    fn spans_follow_the_rate_of_the_clock_and_a_slow_clock_lets_the_thread_sleep() {
        let mut pace = pace(6 * PS_PER_MS);
        pace.last_frame = 10 * PS_PER_MS;
        pace.slept_until(10 * PS_PER_MS);
        pace.set_rate(0.1, false);
        let soon = 10 * PS_PER_MS + 400 * PS_PER_US;
        assert_eq!(pace.wait_limit(soon, None, false), Wait::Spin);
        let must = Wait::For(SHORT_SLEEP / 10);
        let quiet = soon + 2 * PS_PER_MS;
        assert_eq!(pace.wait_limit(quiet, None, false), must);
        let later = 10 * PS_PER_MS + 7 * PS_PER_MS;
        let next = Some(later + 100 * PS_PER_US);
        assert_eq!(
            pace.wait_limit(later, next, false),
            Wait::For(88 * PS_PER_US)
        );
        pace.set_rate(0.01, true);
        pace.slept_until(soon);
        assert_eq!(pace.wait_limit(soon, None, false), Wait::Spin);
        pace.set_rate(0.01, false);
        let next = Some(soon + 100 * PS_PER_US);
        let limit = Wait::For(100 * PS_PER_US - 12 * PS_PER_US / 10);
        assert_eq!(pace.wait_limit(soon, next, false), limit);
        pace.class = Class::Deadline;
        assert_eq!(pace.own_core(), None);
        pace.set_rate(0.01, true);
        assert!(pace.own_core().is_some());
    }

    #[test]
    fn a_slow_lab_is_in_use_for_a_while_after_a_frame() {
        let mut pace = pace(6 * PS_PER_MS);
        assert!(!pace.in_use(PS_PER_S), "no frame yet");
        pace.last_frame = 10 * PS_PER_MS;
        let soon = 17 * PS_PER_MS;
        assert!(!pace.in_use(soon), "at the wall's pace while it spins");
        for rate in [0.1, 0.01] {
            pace.set_rate(rate, false);
            assert!(pace.in_use(soon));
            let left = Wait::For(IN_USE - 7 * PS_PER_MS);
            assert_eq!(pace.wait_limit(soon, None, false), left, "it sees the end");
            let end = pace.last_frame + IN_USE;
            assert!(!pace.in_use(end));
            assert_eq!(pace.wait_limit(end, None, false), Wait::Forever);
        }
    }
}
