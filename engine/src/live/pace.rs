//! How the live thread shares the machine: its scheduling class, when it spins, and when it takes a breath.
//!
//! Measured on two virtual cores of an AMD EPYC (kernel 6.18, HZ 250): how often a loop that only spins, beside two
//! busy processes, stood still for more than 1 ms in 3 s, and the longest.
//! Ordinary class 250 times, 12 ms. Nice −20 42 times, 4 ms. SCHED_FIFO rarely, but the kernel's guard against
//! real-time threads that take a whole core (`sched_rt_runtime_us`) stopped it for 50 ms once a second.
//! SCHED_DEADLINE with 198 of each 200 µs, and a sleep of its own each 5 ms, never to three times, 1 to 4 ms; the
//! kernel bounds it to 99 % of one core, so that nothing can freeze. So: SCHED_DEADLINE; where it is not granted (no
//! CAP_SYS_NICE, one core, another live engine has the bandwidth) nice −20; without that right the ordinary class,
//! and lateness tells. A second after the last frame the thread gives its share back and sleeps as nice −20.

use fabric::Ps;
use fabric::time::{PS_PER_MS, PS_PER_S, PS_PER_US};

use crate::live::room::own_core;
use crate::os::sched::SchedAttr;

/// Before this span is left the thread stops sleeping and spins towards the moment: it covers the time that a
/// timer's wake-up takes.
const SPIN_AHEAD: Ps = 120 * PS_PER_US;
/// After spinning for so long the thread sleeps for [`BREATH`] as soon as nothing is near: kernel threads bound to its
/// core get to run, and its share of the core is not used up in the middle of a delivery.
const BREATH_WANTED_AFTER: Ps = 5 * PS_PER_MS;
/// After spinning for so long it does so even if something is near.
const BREATH_FORCED_AFTER: Ps = 50 * PS_PER_MS;
const BREATH: Ps = 20 * PS_PER_US;
/// Nothing is near: no frame for so long, and none due for so long.
const QUIET: Ps = 300 * PS_PER_US;
/// Of each period the scheduler guarantees so much, and grants no more while others want the core.
const SHARE_NS: u64 = 198_000;
const PERIOD_NS: u64 = 200_000;
const NICE: i32 = -20;
/// After so long without a frame the thread gives its share back.
const SILENCE: Ps = PS_PER_S;
/// While it is not granted the thread asks again, not more often than this.
const ATTEMPT_EVERY: Ps = 100 * PS_PER_MS;

/// How long the thread may wait for events.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Not at all: look and go on.
    Spin,
    /// At most so long.
    For(Ps),
    /// Until something comes.
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
    last_frame: Ps,
    last_sleep: Ps,
    last_attempt: Ps,
    class: Class,
}

impl Pace {
    /// For the calling thread; takes the best scheduling class that is granted. It spins for `spin` after a frame.
    #[must_use]
    pub fn take(spin: Ps, now: Ps) -> Self {
        // SAFETY: a plain call without memory. Timers of this thread end when they are due, not up to 50 µs later.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
        set_class(Class::Ordinary);
        Self {
            spin,
            last_frame: 0,
            last_sleep: now,
            last_attempt: 0,
            class: Class::Ordinary,
        }
    }

    /// A frame was read or written.
    pub fn frame_at(&mut self, now: Ps) {
        self.last_frame = now;
        let again = self.last_attempt == 0 || now.saturating_sub(self.last_attempt) > ATTEMPT_EVERY;
        if self.class == Class::Ordinary && again {
            self.last_attempt = now;
            if set_class(Class::Deadline) {
                self.class = Class::Deadline;
            }
        }
    }

    /// The thread is about to wait. After a long silence it gives its share of the core back.
    pub fn rest(&mut self, now: Ps) {
        if self.class == Class::Deadline && now.saturating_sub(self.last_frame) >= SILENCE {
            set_class(Class::Ordinary);
            self.class = Class::Ordinary;
            self.last_attempt = 0;
        }
    }

    /// The core that the calling thread has for itself, if it has one.
    #[must_use]
    pub fn own_core(&self) -> Option<i32> {
        (self.class == Class::Deadline).then(own_core)
    }

    /// The thread slept until now.
    pub fn slept_until(&mut self, now: Ps) {
        self.last_sleep = now;
    }

    /// How long to wait for events, if the next scheduled one is at `next`, and there is work at hand or not.
    pub fn patience(&self, now: Ps, next: Option<Ps>, at_work: bool) -> Patience {
        let until_next = next.map(|next| next.saturating_sub(now));
        let since_frame = now.saturating_sub(self.last_frame);
        let spinning = now.saturating_sub(self.last_sleep);
        let busy = at_work || (self.last_frame > 0 && since_frame < self.spin);
        let patience = match until_next {
            _ if busy => Patience::Spin,
            Some(left) if left <= SPIN_AHEAD => Patience::Spin,
            Some(left) => Patience::For((left - SPIN_AHEAD).min(self.until_rest(since_frame))),
            None => match self.until_rest(since_frame) {
                Ps::MAX => Patience::Forever,
                left => Patience::For(left),
            },
        };
        let quiet = !at_work && since_frame > QUIET && until_next.is_none_or(|left| left > QUIET);
        let breathe = spinning > BREATH_FORCED_AFTER || (spinning > BREATH_WANTED_AFTER && quiet);
        if patience == Patience::Spin && breathe {
            return Patience::For(BREATH);
        }
        patience
    }
    /// Time left before the share of the core is to be given back; `Ps::MAX` if there is none.
    fn until_rest(&self, since_frame: Ps) -> Ps {
        match self.class {
            Class::Deadline => SILENCE.saturating_sub(since_frame).max(PS_PER_US),
            Class::Ordinary => Ps::MAX,
        }
    }
}

/// Put the calling thread into a class; whether that was granted.
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
    .give(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pace that leaves the test's thread as it is.
    fn pace(spin: Ps) -> Pace {
        Pace {
            spin,
            last_frame: 0,
            last_sleep: 0,
            last_attempt: 0,
            class: Class::Ordinary,
        }
    }

    #[test]
    fn a_quiet_lab_sleeps_until_something_comes() {
        assert_eq!(
            pace(PS_PER_MS).patience(5 * PS_PER_US, None, false),
            Patience::Forever
        );
    }

    #[test]
    fn it_spins_after_a_frame_and_towards_a_moment() {
        let mut pace = pace(6 * PS_PER_MS);
        pace.last_frame = 10 * PS_PER_MS;
        pace.slept_until(10 * PS_PER_MS);
        assert_eq!(pace.patience(15 * PS_PER_MS, None, false), Patience::Spin);
        let later = 20 * PS_PER_MS;
        assert_eq!(pace.patience(later, None, false), Patience::Forever);
        assert_eq!(
            pace.patience(later, Some(later + 100 * PS_PER_US), false),
            Patience::Spin
        );
        assert_eq!(
            pace.patience(later, Some(later + PS_PER_MS), false),
            Patience::For(PS_PER_MS - SPIN_AHEAD)
        );
        assert_eq!(
            pace.patience(later, Some(later - PS_PER_MS), false),
            Patience::Spin
        );
    }

    #[test]
    fn it_breathes_when_it_has_spun_for_long() {
        let mut pace = pace(PS_PER_MS * 6);
        pace.last_frame = 4 * PS_PER_MS;
        assert_eq!(
            pace.patience(6 * PS_PER_MS, None, false),
            Patience::For(BREATH)
        );
        pace.last_frame = 21 * PS_PER_MS;
        assert_eq!(
            pace.patience(21 * PS_PER_MS, None, false),
            Patience::Spin,
            "a frame was just here"
        );
        pace.last_frame = 51 * PS_PER_MS;
        assert_eq!(
            pace.patience(51 * PS_PER_MS, None, false),
            Patience::For(BREATH),
            "whatever happens"
        );
        pace.slept_until(51 * PS_PER_MS);
        assert_eq!(pace.patience(51 * PS_PER_MS, None, false), Patience::Spin);
    }

    #[test]
    fn it_wakes_once_to_give_its_share_back() {
        let mut pace = pace(6 * PS_PER_MS);
        pace.class = Class::Deadline;
        pace.last_frame = PS_PER_S;
        let now = PS_PER_S + 100 * PS_PER_MS;
        assert_eq!(
            pace.patience(now, None, false),
            Patience::For(900 * PS_PER_MS)
        );
        let far = Some(10 * PS_PER_S);
        assert_eq!(
            pace.patience(now, far, false),
            Patience::For(900 * PS_PER_MS)
        );
        pace.class = Class::Ordinary;
        assert_eq!(pace.patience(now, None, false), Patience::Forever);
    }
}
