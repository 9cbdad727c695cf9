//! How a vector is cut: into the ranks' blocks, into nearly equal parts, into segments.

use std::sync::Arc;

/// The ranks' blocks of a vector, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    /// Every rank has as much.
    Equal { bytes: u64, ranks: u32 },
    /// The first have an element more where it does not come out even (`COLL_BASE_COMPUTE_BLOCKCOUNT`).
    Even {
        elements: u64,
        element: u64,
        ranks: u32,
    },
    /// Bytes, rank by rank; those of the first rank stand at `first`.
    Each {
        sizes: Arc<[u64]>,
        first: u32,
        ranks: u32,
    },
}

impl Blocks {
    pub fn ranks(&self) -> u32 {
        match self {
            Self::Equal { ranks, .. } | Self::Even { ranks, .. } | Self::Each { ranks, .. } => {
                *ranks
            }
        }
    }

    /// The block of a rank.
    pub fn of(&self, rank: u32) -> u64 {
        match self {
            Self::Equal { bytes, .. } => *bytes,
            Self::Even {
                elements,
                element,
                ranks,
            } => {
                let ranks = u64::from(*ranks);
                (elements / ranks + u64::from(u64::from(rank) < elements % ranks)) * element
            }
            Self::Each { sizes, first, .. } => sizes[(first + rank) as usize],
        }
    }

    /// So many blocks, from that of `first` on, round the end.
    pub fn sum(&self, first: u32, count: u32) -> u64 {
        if let Self::Equal { bytes, .. } = self {
            return u64::from(count) * bytes;
        }
        let ranks = self.ranks();
        (0..count).map(|i| self.of((first + i) % ranks)).sum()
    }

    /// The whole vector.
    pub fn total(&self) -> u64 {
        self.sum(0, self.ranks())
    }
}

/// A vector in segments for a pipeline: all have the same bytes but the last.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    pub count: u32,
    bytes: u64,
    last: u64,
}

impl Segments {
    /// As `COLL_BASE_COMPUTED_SEGCOUNT` (coll_base_functions.h of Open MPI 4.1.8): 0, or less than an element, is one
    /// segment of everything; elements are not cut.
    pub fn new(bytes: u64, element: u64, segment: u64) -> Self {
        let size = segment_elements(bytes, element, segment) * element;
        let count = bytes.div_ceil(size.max(1)).max(1);
        Self {
            count: count as u32,
            bytes: size,
            last: bytes - (count - 1) * size,
        }
    }

    pub fn of(&self, segment: u32) -> u64 {
        if segment + 1 == self.count {
            self.last
        } else {
            self.bytes
        }
    }
}

/// Elements in a segment.
pub(super) fn segment_elements(bytes: u64, element: u64, segment: u64) -> u64 {
    if segment >= element && segment < bytes {
        segment / element + u64::from(segment % element > element / 2)
    } else {
        bytes / element
    }
}
