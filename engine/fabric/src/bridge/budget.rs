//! A limit on the frames that a fabric forwards per second. It contains broadcast storms.
//!
//! Simplification: no switch has such a limit. It keeps a loop in a virtual lab from overloading the machine. It is a
//! token bucket over egress copies with a burst of a tenth of a second. A measurement of a lab within the limit sees
//! no difference; beyond it `storm_drops` and an alarm show it.

use crate::time::{PS_PER_S, Ps};

const BURST: Ps = PS_PER_S / 10;
/// A storm is over when no frame was dropped for this time.
const CALM: Ps = PS_PER_S;

/// The token bucket of one fabric, stored as the moment up to which past forwarding is paid for.
#[derive(Debug)]
pub(crate) struct Budget {
    per_frame: Ps,
    frames_per_s: u64,
    paid_until: Ps,
    refused_at: Option<Ps>,
}

/// Decision about a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Forward,
    /// Over budget.
    Drop {
        /// This is the first drop of a storm.
        storm_begins: bool,
    },
}

impl Budget {
    pub(crate) fn new(frames_per_s: u64) -> Self {
        Self {
            per_frame: PS_PER_S.checked_div(frames_per_s).unwrap_or(0),
            frames_per_s,
            paid_until: 0,
            refused_at: None,
        }
    }

    pub(crate) const fn frames_per_s(&self) -> u64 {
        self.frames_per_s
    }

    /// Whether one more frame may be forwarded.
    pub(crate) fn admit(&mut self, now: Ps) -> Verdict {
        if self.per_frame == 0 {
            return Verdict::Forward;
        }
        if self.paid_until > now + BURST {
            let storm_begins = self.refused_at.is_none_or(|at| now - at >= CALM);
            self.refused_at = Some(now);
            return Verdict::Drop { storm_begins };
        }
        Verdict::Forward
    }

    /// Charge the egress copies of a frame.
    pub(crate) fn charge(&mut self, now: Ps, copies: u32) {
        self.paid_until = self.paid_until.max(now) + self.per_frame * Ps::from(copies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_overload_passes_the_budget_and_a_tenth_of_a_second_of_burst() {
        let mut budget = Budget::new(1_000);
        let mut passed = 0;
        for step in 0..100_000 {
            let now = step * (PS_PER_S / 10_000);
            if budget.admit(now) == Verdict::Forward {
                budget.charge(now, 1);
                passed += 1;
            }
        }
        assert!((10_090..=10_110).contains(&passed), "{passed} in 10 s");
    }

    #[test]
    fn one_storm_begins_once_and_a_later_one_again() {
        let mut budget = Budget::new(1_000);
        let mut begins = 0;
        let mut flood = |from: Ps| {
            for step in 0..1_000 {
                let now = from + step * 1_000;
                match budget.admit(now) {
                    Verdict::Forward => budget.charge(now, 1),
                    Verdict::Drop { storm_begins } => begins += u32::from(storm_begins),
                }
            }
        };
        flood(0);
        flood(PS_PER_S / 2);
        flood(3 * PS_PER_S);
        assert_eq!(begins, 2);
    }

    #[test]
    fn no_budget_never_refuses() {
        let mut budget = Budget::new(0);
        budget.charge(0, u32::MAX);
        assert_eq!(budget.admit(0), Verdict::Forward);
    }
}
