//! How the live thread shares the machine: its scheduling class, when it spins, and when it takes a breath.
//!
//! Measured on two virtual cores of an AMD EPYC (kernel 6.18, HZ 250), a loop that only spins, over 2 s, beside two
//! busy processes: in the ordinary class it stood still for more than 1 ms 169 times (worst 12 ms); at nice −20 28
//! times (worst 4 ms); in SCHED_FIFO never, but for the kernel's guard against real-time threads that take a whole
//! core, which stopped it for 50 ms once a second. So: SCHED_FIFO at its lowest priority for 93 of each 100 ms, below
//! the guard's 95 %, and nice −20 for the other 7. Without the right to either (no CAP_SYS_NICE, no real-time share
//! for the control group) the thread stays in the ordinary class, and lateness tells.

use fabric::Ps;
use fabric::time::{PS_PER_MS, PS_PER_US};

/// Before this span is left the thread stops sleeping and spins towards the moment: it covers the time that a
/// timer's wake-up takes.
const SPIN_AHEAD: Ps = 120 * PS_PER_US;
/// After spinning for so long the thread sleeps for [`BREATH`] as soon as nothing is near, so that kernel threads
/// bound to its core get to run.
const BREATH_WANTED_AFTER: Ps = 20 * PS_PER_MS;
/// After spinning for so long it does so even if something is near.
const BREATH_FORCED_AFTER: Ps = 50 * PS_PER_MS;
const BREATH: Ps = 20 * PS_PER_US;
/// Nothing is near: no frame for so long, and none due for so long.
const QUIET: Ps = 300 * PS_PER_US;
const CLASS_PERIOD: Ps = 100 * PS_PER_MS;
const REAL_TIME_PART: Ps = 93 * PS_PER_MS;
const NICE: libc::c_int = -20;

/// What the scheduler lets the thread do.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Class {
    /// SCHED_FIFO, now in force.
    RealTime,
    /// The ordinary class for a while.
    Resting,
    /// SCHED_FIFO is not granted.
    Ordinary,
}

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

/// The pace of one thread.
#[derive(Debug)]
pub struct Pace {
    spin: Ps,
    class: Class,
    last_frame: Ps,
    last_sleep: Ps,
}

impl Pace {
    /// For the calling thread; takes the best scheduling class that is granted. It spins for `spin` after a frame.
    #[must_use]
    pub fn take(spin: Ps, now: Ps) -> Self {
        // SAFETY: plain calls without memory. Timers of this thread end when they are due, not up to 50 µs later.
        unsafe {
            libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64);
            libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
        }
        let class = if set_class(libc::SCHED_FIFO, 1) {
            Class::RealTime
        } else {
            Class::Ordinary
        };
        Self {
            spin,
            class,
            last_frame: 0,
            last_sleep: now,
        }
    }

    /// A frame was read or written.
    pub fn frame_at(&mut self, now: Ps) {
        self.last_frame = now;
    }

    /// The thread slept until now.
    pub fn slept_until(&mut self, now: Ps) {
        self.last_sleep = now;
    }

    /// How long to wait for events, if the next scheduled one is at `next`.
    pub fn patience(&mut self, now: Ps, next: Option<Ps>) -> Patience {
        self.change_class(now);
        let until_next = next.map(|next| next.saturating_sub(now));
        let since_frame = now.saturating_sub(self.last_frame);
        let spinning = now.saturating_sub(self.last_sleep);
        let quiet = since_frame > QUIET && until_next.is_none_or(|left| left > QUIET);
        if spinning > BREATH_FORCED_AFTER || (spinning > BREATH_WANTED_AFTER && quiet) {
            return Patience::For(BREATH);
        }
        let busy = self.last_frame > 0 && since_frame < self.spin;
        match until_next {
            _ if busy => Patience::Spin,
            Some(left) if left <= SPIN_AHEAD => Patience::Spin,
            Some(left) => Patience::For(left - SPIN_AHEAD),
            None => Patience::Forever,
        }
    }

    fn change_class(&mut self, now: Ps) {
        let resting = now % CLASS_PERIOD >= REAL_TIME_PART;
        match self.class {
            Class::RealTime if resting => {
                set_class(libc::SCHED_OTHER, 0);
                self.class = Class::Resting;
            }
            Class::Resting if !resting => {
                set_class(libc::SCHED_FIFO, 1);
                self.class = Class::RealTime;
            }
            _ => {}
        }
    }
}

fn set_class(policy: libc::c_int, priority: libc::c_int) -> bool {
    let parameter = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: `parameter` is read only.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pace that leaves the test's thread as it is.
    fn pace(spin: Ps) -> Pace {
        Pace {
            spin,
            class: Class::Ordinary,
            last_frame: 0,
            last_sleep: 0,
        }
    }

    #[test]
    fn a_quiet_lab_sleeps_until_something_comes() {
        assert_eq!(
            pace(PS_PER_MS).patience(5 * PS_PER_US, None),
            Patience::Forever
        );
    }

    #[test]
    fn it_spins_after_a_frame_and_towards_a_moment() {
        let mut pace = pace(6 * PS_PER_MS);
        pace.frame_at(10 * PS_PER_MS);
        pace.slept_until(10 * PS_PER_MS);
        assert_eq!(pace.patience(15 * PS_PER_MS, None), Patience::Spin);
        let later = 20 * PS_PER_MS;
        assert_eq!(pace.patience(later, None), Patience::Forever);
        assert_eq!(
            pace.patience(later, Some(later + 100 * PS_PER_US)),
            Patience::Spin
        );
        assert_eq!(
            pace.patience(later, Some(later + PS_PER_MS)),
            Patience::For(PS_PER_MS - SPIN_AHEAD)
        );
        assert_eq!(
            pace.patience(later, Some(later - PS_PER_MS)),
            Patience::Spin
        );
    }

    #[test]
    fn it_breathes_when_it_has_spun_for_long() {
        let mut pace = pace(PS_PER_MS * 6);
        pace.frame_at(19 * PS_PER_MS);
        assert_eq!(pace.patience(21 * PS_PER_MS, None), Patience::For(BREATH));
        pace.frame_at(21 * PS_PER_MS);
        assert_eq!(
            pace.patience(21 * PS_PER_MS, None),
            Patience::Spin,
            "a frame was just here"
        );
        pace.frame_at(51 * PS_PER_MS);
        assert_eq!(
            pace.patience(51 * PS_PER_MS, None),
            Patience::For(BREATH),
            "whatever happens"
        );
        pace.slept_until(51 * PS_PER_MS);
        assert_eq!(pace.patience(51 * PS_PER_MS, None), Patience::Spin);
    }
}
