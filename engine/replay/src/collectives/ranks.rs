//! Counting of ranks: round the ring, in powers of two.

/// The rank `by` places after `rank`.
pub(super) fn after(rank: u32, by: u32, ranks: u32) -> u32 {
    ((u64::from(rank) + u64::from(by)) % u64::from(ranks)) as u32
}

/// The rank `by` places below `rank`.
pub(super) fn below(rank: u32, by: u32, ranks: u32) -> u32 {
    after(rank, ranks - by % ranks, ranks)
}

/// The greatest power of two that is not above `ranks`.
pub(super) fn power_below(ranks: u32) -> u32 {
    1 << ranks.ilog2()
}

/// 1, 2, 4 … below `ranks`.
pub(super) fn distances(ranks: u32) -> impl DoubleEndedIterator<Item = (u32, u32)> + Send {
    (0..ranks.next_power_of_two().ilog2()).map(|round| (round, 1 << round))
}

/// `rank` is removed from the first 2·`surplus` ranks, of which pairs become one.
#[derive(Copy, Clone, Debug)]
pub(super) struct Folded {
    /// Pairs that become one.
    pub surplus: u32,
    /// Ranks that are left: a power of two.
    pub left: u32,
    /// Which rank of a pair stays: 0 or 1.
    pub stays: u32,
}

impl Folded {
    pub fn new(ranks: u32, stays: u32) -> Self {
        let left = power_below(ranks);
        Self {
            surplus: ranks - left,
            left,
            stays,
        }
    }

    /// The other rank of its pair, if `rank` is in one.
    pub fn partner(&self, rank: u32) -> Option<u32> {
        (rank < 2 * self.surplus).then_some(rank ^ 1)
    }

    /// Number among those left; `None` if the other rank of the pair stays.
    pub fn number(&self, rank: u32) -> Option<u32> {
        if rank >= 2 * self.surplus {
            Some(rank - self.surplus)
        } else {
            (rank % 2 == self.stays).then_some(rank / 2)
        }
    }

    /// The rank with this number.
    pub fn rank(&self, number: u32) -> u32 {
        if number < self.surplus {
            2 * number + self.stays
        } else {
            number + self.surplus
        }
    }

    /// The first of the ranks that this number stands for.
    pub fn first(&self, number: u32) -> u32 {
        if number < self.surplus {
            2 * number
        } else {
            number + self.surplus
        }
    }
}
