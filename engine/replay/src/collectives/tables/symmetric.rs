//! Operations without a root.

use super::super::Algorithm::{
    self, Bruck, Linear, Neighbour, NonOverlapping, Pairwise, Rabenseifner, RecursiveDoubling,
    Ring, SegmentedRing, TwoRanks, UpAndDown,
};
use super::{K, M, Table};

/// A segmented ring that is called without a size of segments.
const RING_WHOLE: Algorithm = SegmentedRing { segment: 0 };

/// Line 464.
pub(super) const BARRIER: Table = &[
    (0, &[(0, RecursiveDoubling)]),
    (4, &[(0, Linear)]),
    (8, &[(0, RecursiveDoubling)]),
    (64, &[(0, Bruck)]),
    (256, &[(0, UpAndDown)]),
    (512, &[(0, Bruck)]),
    (1024, &[(0, UpAndDown)]),
    (4096, &[(0, Bruck)]),
];

/// Line 55; an operation that commutes.
pub(super) const ALLREDUCE: Table = &[
    (
        0,
        &[
            (0, Ring),
            (8, RecursiveDoubling),
            (4 * K, Ring),
            (8 * K, RecursiveDoubling),
            (16 * K, Ring),
            (64 * K, RING_WHOLE),
            (256 * K, Rabenseifner),
        ],
    ),
    (
        4,
        &[(0, Ring), (16, RecursiveDoubling), (8 * K, Rabenseifner)],
    ),
    (8, &[(0, RecursiveDoubling), (8 * K, Rabenseifner)]),
    (
        16,
        &[
            (0, RING_WHOLE),
            (64, RecursiveDoubling),
            (4 * K, Rabenseifner),
        ],
    ),
    (32, &[(0, RING_WHOLE), (128, Rabenseifner)]),
    (64, &[(0, RecursiveDoubling), (256 * K, Rabenseifner)]),
    (
        128,
        &[
            (0, NonOverlapping),
            (128 * K, RecursiveDoubling),
            (256 * K, Rabenseifner),
        ],
    ),
    (256, &[(0, NonOverlapping), (4 * K, Rabenseifner)]),
    (
        512,
        &[
            (0, NonOverlapping),
            (2 * K, RecursiveDoubling),
            (16 * K, Rabenseifner),
        ],
    ),
    (
        2048,
        &[
            (0, NonOverlapping),
            (2 * K, RING_WHOLE),
            (4 * K, RecursiveDoubling),
            (16 * K, Rabenseifner),
        ],
    ),
    (
        4096,
        &[
            (0, NonOverlapping),
            (2 * K, RING_WHOLE),
            (16 * K, RecursiveDoubling),
            (32 * K, Rabenseifner),
        ],
    ),
];

/// Line 55; one that does not.
pub(super) const ALLREDUCE_IN_ORDER: Table = &[
    (0, &[(0, RecursiveDoubling), (128 * K, Linear)]),
    (4, &[(0, RecursiveDoubling)]),
    (8, &[(0, RecursiveDoubling), (M, NonOverlapping)]),
    (16, &[(0, RecursiveDoubling)]),
    (
        128,
        &[
            (0, NonOverlapping),
            (128 * K, RecursiveDoubling),
            (512 * K, NonOverlapping),
        ],
    ),
    (
        256,
        &[
            (0, NonOverlapping),
            (4 * K, RecursiveDoubling),
            (512 * K, NonOverlapping),
        ],
    ),
    (512, &[(0, NonOverlapping), (2 * K, RecursiveDoubling)]),
];

/// Line 228, by a block. `linear_sync` is linear, too: it has no limit on requests.
pub(super) const ALLTOALL: Table = &[
    (
        0,
        &[
            (0, Pairwise),
            (2, TwoRanks),
            (4, Pairwise),
            (16, TwoRanks),
            (64, Pairwise),
            (256, TwoRanks),
            (4 * K, Pairwise),
            (32 * K, Linear),
            (256 * K, TwoRanks),
            (M, Pairwise),
        ],
    ),
    (3, &[(0, Linear), (512 * K, Pairwise), (M, Linear)]),
    (8, &[(0, Linear)]),
    (16, &[(0, Linear), (4, Bruck), (512, Linear)]),
    (32, &[(0, Bruck), (512, Linear)]),
    (64, &[(0, Bruck), (K, Linear), (256 * K, Pairwise)]),
    (256, &[(0, Bruck), (K, Linear), (32 * K, Pairwise)]),
    (512, &[(0, Bruck), (512, Linear), (256 * K, Pairwise)]),
    (1024, &[(0, Bruck), (512, Linear)]),
    (2048, &[(0, Bruck), (K, Linear)]),
    (4096, &[(0, Bruck), (2 * K, Linear)]),
];

/// Line 418.
pub(super) const ALLTOALLV: Table = &[
    (0, &[(0, Pairwise)]),
    (4, &[(0, Linear)]),
    (64, &[(0, Pairwise)]),
    (128, &[(0, Linear)]),
    (256, &[(0, Pairwise)]),
    (1024, &[(0, Linear)]),
];

/// Line 1093, by a block.
pub(super) const ALLGATHER: Table = &[
    (0, &[(0, TwoRanks)]),
    (3, &[(0, RecursiveDoubling)]),
    (
        32,
        &[(0, RecursiveDoubling), (K, Neighbour), (64 * K, Ring)],
    ),
    (
        64,
        &[(0, RecursiveDoubling), (512, Neighbour), (64 * K, Ring)],
    ),
    (
        128,
        &[
            (0, RecursiveDoubling),
            (512, Neighbour),
            (128 * K, Ring),
            (512 * K, Neighbour),
            (M, Ring),
        ],
    ),
    (
        256,
        &[
            (0, RecursiveDoubling),
            (32, Bruck),
            (128, RecursiveDoubling),
            (K, Neighbour),
            (128 * K, Ring),
            (512 * K, Neighbour),
            (M, Ring),
        ],
    ),
    (
        512,
        &[
            (0, RecursiveDoubling),
            (64, Bruck),
            (256, RecursiveDoubling),
            (2 * K, Neighbour),
        ],
    ),
    (
        1024,
        &[
            (0, RecursiveDoubling),
            (4, Bruck),
            (8, RecursiveDoubling),
            (16, Bruck),
            (32, RecursiveDoubling),
            (256, Bruck),
            (512, RecursiveDoubling),
            (4 * K, Neighbour),
        ],
    ),
    (
        2048,
        &[
            (0, Bruck),
            (32, RecursiveDoubling),
            (128, Bruck),
            (512, RecursiveDoubling),
            (4 * K, Neighbour),
        ],
    ),
    (
        4096,
        &[
            (0, RecursiveDoubling),
            (2, Bruck),
            (8, RecursiveDoubling),
            (16, Bruck),
            (512, RecursiveDoubling),
            (4 * K, Neighbour),
        ],
    ),
];

/// Line 1239, by the mean block.
pub(super) const ALLGATHERV: Table = &[
    (
        0,
        &[
            (0, Ring),
            (2 * K, TwoRanks),
            (4 * K, Ring),
            (8 * K, TwoRanks),
        ],
    ),
    (
        3,
        &[
            (0, NonOverlapping),
            (256, Neighbour),
            (4 * K, Ring),
            (8 * K, Neighbour),
            (16 * K, Bruck),
            (256 * K, Neighbour),
        ],
    ),
    (8, &[(0, NonOverlapping), (K, Bruck)]),
    (16, &[(0, NonOverlapping), (128, Bruck), (256 * K, Ring)]),
    (32, &[(0, NonOverlapping), (256, Bruck), (8 * K, Ring)]),
    (64, &[(0, NonOverlapping), (256, Bruck), (4 * K, Ring)]),
    (128, &[(0, Bruck), (K, Neighbour), (64 * K, Ring)]),
    (256, &[(0, Bruck), (K, Ring)]),
    (
        512,
        &[
            (0, Bruck),
            (512, NonOverlapping),
            (K, Bruck),
            (4 * K, Neighbour),
            (M, Ring),
        ],
    ),
    (1024, &[(0, Bruck), (4 * K, Neighbour)]),
];
