//! Holds that links set by themselves: the shortest with which their wakes delay no more than a share of the time.
//!
//! After PerfBound (IEEE Transactions on Computers 2018): a link counts its idle gaps by their length, in powers of two. At the end of an
//! epoch it takes the shortest hold, a power of two, for which the gaps of that epoch that would have been longer, times
//! the wake, are at most the allowed share of the epoch. So a link with few long gaps sleeps soon, and one with many that
//! are a little longer than a short hold stays awake. Each link bounds its own delay; a path of several links may add up
//! theirs, which the paper's bound on a program's run time would have to share out.

/// How much delay links may add, and how often they choose their hold.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct DelayBound {
    /// Share of the time that the wakes of a link may take, from 0 to 1.
    pub share: f64,
    /// Cycles between two choices.
    pub epoch: u64,
}

/// Lengths of gaps that are told apart: up to 2^31 cycles.
const LENGTHS: usize = 32;

/// What a link knows of its gaps.
#[derive(Copy, Clone, Debug)]
struct Gaps {
    hold: u64,
    /// The epoch ends here.
    until: u64,
    /// Gaps of the epoch, by the power of two that they reach.
    counts: [u32; LENGTHS],
}

/// The holds of all links.
#[derive(Clone, Debug)]
pub(super) struct Holds {
    bound: DelayBound,
    wake: u64,
    links: Vec<Gaps>,
}

impl Holds {
    /// Links begin with this hold, and take so long to wake.
    pub(super) fn new(bound: DelayBound, links: usize, hold: u64, wake: u64, now: u64) -> Self {
        let begin = Gaps {
            hold,
            until: now + bound.epoch,
            counts: [0; LENGTHS],
        };
        Self {
            bound,
            wake,
            links: vec![begin; links],
        }
    }

    /// The hold of a link now.
    pub(super) fn of(&self, link: u32) -> u64 {
        self.links[link as usize].hold
    }

    /// A link that was idle from `free` on is asked for at `at`. The hold that it had meanwhile.
    pub(super) fn asked(&mut self, link: u32, free: u64, at: u64) -> u64 {
        let own = &mut self.links[link as usize];
        let hold = own.hold;
        if at > free {
            let length = (at - free).ilog2() as usize;
            own.counts[length.min(LENGTHS - 1)] += 1;
        }
        if at >= own.until {
            own.hold = shortest(&own.counts, self.bound, self.wake);
            own.counts = [0; LENGTHS];
            own.until = at + self.bound.epoch;
        }
        hold
    }
}

/// The shortest hold that keeps the bound, by the gaps of an epoch.
fn shortest(counts: &[u32; LENGTHS], bound: DelayBound, wake: u64) -> u64 {
    let allowed = bound.share * bound.epoch as f64;
    let mut longer = 0;
    let mut hold = u64::MAX;
    for (length, &count) in counts.iter().enumerate().rev() {
        longer += u64::from(count);
        if (longer * wake) as f64 > allowed {
            return hold;
        }
        hold = 1 << length;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(gaps: &[(usize, u32)]) -> [u32; LENGTHS] {
        let mut counts = [0; LENGTHS];
        for &(length, count) in gaps {
            counts[length] = count;
        }
        counts
    }

    #[test]
    fn the_hold_is_the_shortest_that_keeps_the_bound() {
        let bound = DelayBound {
            share: 0.01,
            epoch: 100_000,
        };
        // 1,000 cycles of delay are allowed: ten wakes of 100.
        for (gaps, hold) in [
            (counts(&[]), 0),
            (counts(&[(12, 10)]), 0),
            (counts(&[(12, 11)]), 1 << 13),
            (counts(&[(3, 500), (12, 9)]), 1 << 4),
            (counts(&[(31, 11)]), u64::MAX),
        ] {
            assert_eq!(shortest(&gaps, bound, 100), hold);
        }
    }

    #[test]
    fn a_choice_holds_from_the_next_gap_on() {
        let bound = DelayBound {
            share: 0.001,
            epoch: 1000,
        };
        let mut holds = Holds::new(bound, 1, 7, 50, 0);
        assert_eq!(holds.asked(0, 0, 600), 7);
        assert_eq!(holds.asked(0, 600, 1200), 7);
        assert_eq!(holds.of(0), 1 << 10, "gaps of 600 cycles are too dear");
        assert_eq!(holds.asked(0, 1200, 1900), 1 << 10);
    }
}
